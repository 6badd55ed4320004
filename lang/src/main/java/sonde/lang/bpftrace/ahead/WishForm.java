package sonde.lang.bpftrace.ahead;

import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.bpf.core.CoreKind;
import sonde.lang.bpftrace.ahead.ScriptFile.Question;
import sonde.lang.bpftrace.ahead.ScriptFile.Want;
import sonde.lang.bpftrace.ahead.ScriptFile.Wish;
import sonde.lang.bpftrace.lower.Reference;

/** Missing numbers, as bytes. */
final class WishForm {
    private static final int MOST_BYTES = 1 << 24;

    private WishForm() {}

    static void write(Out out, Wish wish) {
        out.u32(wish.slot()).span(wish.span());
        switch (wish.want()) {
            case Want.Type(Question q) ->
                    out.u8(0)
                            .u32(q.root())
                            .text(q.access())
                            .text(q.kind().name())
                            .u32(q.leastBytes());
            case Want.Named(Reference reference) -> write(out, reference);
        }
    }

    private static void write(Out out, Reference reference) {
        switch (reference) {
            case Reference.EventField r ->
                    out.u8(1)
                            .text(r.subsystem())
                            .text(r.event())
                            .text(r.field())
                            .text(r.aspect().name())
                            .u32(r.leastBytes());
            case Reference.Argument r ->
                    out.u8(2).text(r.module()).text(r.function()).text(r.name());
            case Reference.EventArgument r -> out.u8(3).text(r.event()).text(r.name());
            case Reference.Symbol r -> out.u8(4).text(r.name());
            case Reference.Variable r -> out.u8(5).text(r.name());
            case Reference.ControlGroup r -> out.u8(6).text(r.path());
            case Reference.Run r -> out.u8(7).text(r.fact().name());
            case Reference.Option r -> out.u8(8).text(r.name());
            case Reference.Member _, Reference.Size _ ->
                    throw new IllegalArgumentException(reference + " is a question");
        }
    }

    static Wish read(In in) throws MalformedInputException {
        int slot = in.number("slot", 0, 1_000_000);
        var span = in.span();
        int form = in.u8("reference");
        Want want =
                form == 0
                        ? new Want.Type(
                                new Question(
                                        in.number("type", 1, MOST_BYTES),
                                        in.text("access"),
                                        in.constant(CoreKind.class, "kind"),
                                        in.number("bytes", 0, MOST_BYTES)))
                        : new Want.Named(reference(in, form));
        return new Wish(slot, span, want);
    }

    private static Reference reference(In in, int form) throws MalformedInputException {
        return switch (form) {
            case 1 ->
                    new Reference.EventField(
                            in.text("subsystem"),
                            in.text("event"),
                            in.text("field"),
                            in.constant(Reference.Aspect.class, "aspect"),
                            in.number("bytes", 0, MOST_BYTES));
            case 2 ->
                    new Reference.Argument(
                            in.text("module"), in.text("function"), in.text("argument"));
            case 3 -> new Reference.EventArgument(in.text("event"), in.text("argument"));
            case 4 -> new Reference.Symbol(in.text("symbol"));
            case 5 -> new Reference.Variable(in.text("variable"));
            case 6 -> new Reference.ControlGroup(in.text("path"));
            case 7 -> new Reference.Run(in.constant(Reference.Fact.class, "fact"));
            case 8 -> new Reference.Option(in.text("option"));
            default -> throw in.malformed("reference", form + " is none");
        };
    }

    /** All, as bytes. */
    static void write(Out out, List<Wish> wishes) {
        out.list(wishes, WishForm::write);
    }
}
