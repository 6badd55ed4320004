package sonde.lang.bpftrace.ahead;

import sonde.binary.MalformedInputException;
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.EventAction.CatAction;
import sonde.lang.bpftrace.lower.EventAction.ExitAction;
import sonde.lang.bpftrace.lower.EventAction.FaultAction;
import sonde.lang.bpftrace.lower.EventAction.JoinAction;
import sonde.lang.bpftrace.lower.EventAction.PacketAction;
import sonde.lang.bpftrace.lower.EventAction.PatternAction;
import sonde.lang.bpftrace.lower.EventAction.PrintAction;
import sonde.lang.bpftrace.lower.EventAction.PutAction;
import sonde.lang.bpftrace.lower.EventAction.ReportAction;
import sonde.lang.bpftrace.lower.EventAction.SystemAction;
import sonde.lang.bpftrace.lower.EventAction.TimeAction;
import sonde.lang.bpftrace.lower.EventAction.UnwatchAction;
import sonde.lang.output.FormatException;
import sonde.lang.output.PrintFormat;
import sonde.lang.output.RuntimeFault;
import sonde.lang.type.TupleType;

/** What events ask for, as bytes. */
final class ActionForm {
    private static final int MOST_JOINED = 1024;
    private static final int MOST_TEXT = 1 << 20;

    private ActionForm() {}

    static void write(AotOutput out, EventAction action) {
        switch (action) {
            case PrintAction a -> formatted(out.u8(1), a.format(), a.arguments());
            case EventAction.PrintValue a -> TypeForm.write(out.u8(2), a.type());
            case EventAction.PrintMap a -> out.u8(3).text(a.map()).u32(a.top()).u64(a.divisor());
            case EventAction.EmptyMap a -> out.u8(4).text(a.map()).flag(a.keepKeys());
            case ExitAction _ -> out.u8(5);
            case TimeAction a -> out.u8(6).text(a.format());
            case CatAction a -> formatted(out.u8(7), a.format(), a.arguments());
            case SystemAction a -> formatted(out.u8(8), a.format(), a.arguments());
            case JoinAction a -> out.u8(9).text(a.separator()).u32(a.most()).u32(a.textBytes());
            case ReportAction a ->
                    formatted(out.u8(10).flag(a.error()).span(a.span()), a.format(), a.arguments());
            case EventAction.HelperError a -> out.u8(11).text(a.helper()).span(a.span());
            case FaultAction a -> out.u8(12).text(a.fault().name()).span(a.span());
            case UnwatchAction _ -> out.u8(13);
            case PatternAction a -> out.u8(14).text(a.text());
            case PutAction a -> out.u8(16).text(a.map());
            case PacketAction a -> out.u8(15).text(a.path()).u32(a.offset());
        }
    }

    private static void formatted(AotOutput out, String format, TupleType arguments) {
        TypeForm.write(out.text(format), arguments);
    }

    static EventAction read(AotInput in) throws MalformedInputException {
        int form = in.u8("action");
        return switch (form) {
            case 1 -> new PrintAction(format(in), arguments(in));
            case 2 -> new EventAction.PrintValue(TypeForm.read(in));
            case 3 ->
                    new EventAction.PrintMap(
                            in.text("map"),
                            in.number("rows", 0, Integer.MAX_VALUE),
                            Math.max(1, in.u64("divisor")));
            case 4 -> new EventAction.EmptyMap(in.text("map"), in.flag("keys"));
            case 5 -> new ExitAction();
            case 6 -> new TimeAction(in.text("format"));
            case 7 -> new CatAction(format(in), arguments(in));
            case 8 -> new SystemAction(format(in), arguments(in));
            case 9 ->
                    new JoinAction(
                            in.text("separator"),
                            in.number("words", 0, MOST_JOINED),
                            in.number("bytes", 1, MOST_TEXT));
            case 10 -> {
                boolean error = in.flag("error");
                var span = in.knownSpan();
                yield new ReportAction(error, format(in), arguments(in), span);
            }
            case 11 -> new EventAction.HelperError(in.text("helper"), in.knownSpan());
            case 12 -> new FaultAction(in.constant(RuntimeFault.class, "fault"), in.knownSpan());
            case 13 -> new UnwatchAction();
            case 14 -> new PatternAction(in.text("pattern"));
            case 15 -> new PacketAction(in.text("file"), in.number("offset", 0, Integer.MAX_VALUE));
            case 16 -> new PutAction(in.text("map"));
            default -> throw in.malformed("action", form + " is none");
        };
    }

    private static String format(AotInput in) throws MalformedInputException {
        String format = in.text("format");
        try {
            PrintFormat.parse(format);
        } catch (FormatException e) {
            throw in.malformed("format", String.valueOf(e.getMessage()));
        }
        return format;
    }

    private static TupleType arguments(AotInput in) throws MalformedInputException {
        if (TypeForm.read(in) instanceof TupleType tuple) {
            return tuple;
        }
        throw in.malformed("arguments", "no tuple");
    }
}
