package sonde.lang.bpftrace.ahead;

import sonde.binary.MalformedInputException;
import sonde.lang.bpftrace.lower.Action;
import sonde.lang.output.FormatException;
import sonde.lang.output.PrintFormat;
import sonde.lang.output.RuntimeFault;
import sonde.lang.type.Tuple;

/** What events ask for, as bytes. */
final class ActionForm {
    private static final int MOST_JOINED = 1024;
    private static final int MOST_TEXT = 1 << 20;

    private ActionForm() {}

    static void write(Out out, Action action) {
        switch (action) {
            case Action.Print a -> formatted(out.u8(1), a.format(), a.arguments());
            case Action.PrintValue a -> TypeForm.write(out.u8(2), a.type());
            case Action.PrintMap a -> out.u8(3).text(a.map()).u32(a.top()).u64(a.divisor());
            case Action.EmptyMap a -> out.u8(4).text(a.map()).flag(a.keepKeys());
            case Action.Exit _ -> out.u8(5);
            case Action.Time a -> out.u8(6).text(a.format());
            case Action.Cat a -> formatted(out.u8(7), a.format(), a.arguments());
            case Action.System a -> formatted(out.u8(8), a.format(), a.arguments());
            case Action.Join a -> out.u8(9).text(a.separator()).u32(a.most()).u32(a.textBytes());
            case Action.Report a ->
                    formatted(out.u8(10).flag(a.error()).span(a.span()), a.format(), a.arguments());
            case Action.HelperError a -> out.u8(11).text(a.helper()).span(a.span());
            case Action.Fault a -> out.u8(12).text(a.fault().name()).span(a.span());
            case Action.Unwatch _ -> out.u8(13);
            case Action.Pattern a -> out.u8(14).text(a.text());
            case Action.Put a -> out.u8(16).text(a.map());
            case Action.Packet a -> out.u8(15).text(a.path()).u32(a.offset());
        }
    }

    private static void formatted(Out out, String format, Tuple arguments) {
        TypeForm.write(out.text(format), arguments);
    }

    static Action read(In in) throws MalformedInputException {
        int form = in.u8("action");
        return switch (form) {
            case 1 -> new Action.Print(format(in), arguments(in));
            case 2 -> new Action.PrintValue(TypeForm.read(in));
            case 3 ->
                    new Action.PrintMap(
                            in.text("map"),
                            in.number("rows", 0, Integer.MAX_VALUE),
                            Math.max(1, in.u64("divisor")));
            case 4 -> new Action.EmptyMap(in.text("map"), in.flag("keys"));
            case 5 -> new Action.Exit();
            case 6 -> new Action.Time(in.text("format"));
            case 7 -> new Action.Cat(format(in), arguments(in));
            case 8 -> new Action.System(format(in), arguments(in));
            case 9 ->
                    new Action.Join(
                            in.text("separator"),
                            in.number("words", 0, MOST_JOINED),
                            in.number("bytes", 1, MOST_TEXT));
            case 10 -> {
                boolean error = in.flag("error");
                var span = in.knownSpan();
                yield new Action.Report(error, format(in), arguments(in), span);
            }
            case 11 -> new Action.HelperError(in.text("helper"), in.knownSpan());
            case 12 -> new Action.Fault(in.constant(RuntimeFault.class, "fault"), in.knownSpan());
            case 13 -> new Action.Unwatch();
            case 14 -> new Action.Pattern(in.text("pattern"));
            case 15 ->
                    new Action.Packet(in.text("file"), in.number("offset", 0, Integer.MAX_VALUE));
            case 16 -> new Action.Put(in.text("map"));
            default -> throw in.malformed("action", form + " is none");
        };
    }

    private static String format(In in) throws MalformedInputException {
        String format = in.text("format");
        try {
            PrintFormat.parse(format);
        } catch (FormatException e) {
            throw in.malformed("format", String.valueOf(e.getMessage()));
        }
        return format;
    }

    private static Tuple arguments(In in) throws MalformedInputException {
        if (TypeForm.read(in) instanceof Tuple tuple) {
            return tuple;
        }
        throw in.malformed("arguments", "no tuple");
    }
}
