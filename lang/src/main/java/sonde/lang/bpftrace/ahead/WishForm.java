package sonde.lang.bpftrace.ahead;

import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.bpf.core.CoreKind;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.NamedNumber;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.TypeNumber;
import sonde.lang.bpftrace.ahead.AotFile.NumberSlot;
import sonde.lang.bpftrace.ahead.AotFile.TypeQuestion;
import sonde.lang.bpftrace.lower.PortableReference;
import sonde.lang.bpftrace.lower.PortableReference.ArgumentReference;
import sonde.lang.bpftrace.lower.PortableReference.MemberAspect;
import sonde.lang.bpftrace.lower.PortableReference.MemberReference;
import sonde.lang.bpftrace.lower.PortableReference.OptionReference;
import sonde.lang.bpftrace.lower.PortableReference.RunFact;
import sonde.lang.bpftrace.lower.PortableReference.RunReference;
import sonde.lang.bpftrace.lower.PortableReference.SizeReference;
import sonde.lang.bpftrace.lower.PortableReference.SymbolReference;
import sonde.lang.bpftrace.lower.PortableReference.VariableReference;

/** Missing numbers, as bytes. */
final class WishForm {
    private static final int MOST_BYTES = 1 << 24;

    private WishForm() {}

    static void write(AotOutput out, NumberSlot wish) {
        out.u32(wish.slot()).span(wish.span());
        switch (wish.want()) {
            case TypeNumber(TypeQuestion q) ->
                    out.u8(0)
                            .u32(q.root())
                            .text(q.access())
                            .text(q.kind().name())
                            .u32(q.leastBytes());
            case NamedNumber(PortableReference reference) -> write(out, reference);
        }
    }

    private static void write(AotOutput out, PortableReference reference) {
        switch (reference) {
            case PortableReference.EventField r ->
                    out.u8(1)
                            .text(r.subsystem())
                            .text(r.event())
                            .text(r.field())
                            .text(r.aspect().name())
                            .u32(r.leastBytes());
            case ArgumentReference r ->
                    out.u8(2).text(r.module()).text(r.function()).text(r.name());
            case PortableReference.EventArgument r -> out.u8(3).text(r.event()).text(r.name());
            case SymbolReference r -> out.u8(4).text(r.name());
            case VariableReference r -> out.u8(5).text(r.name());
            case PortableReference.ControlGroup r -> out.u8(6).text(r.path());
            case RunReference r -> out.u8(7).text(r.fact().name());
            case OptionReference r -> out.u8(8).text(r.name());
            case MemberReference _, SizeReference _ ->
                    throw new IllegalArgumentException(reference + " is a question");
        }
    }

    static NumberSlot read(AotInput in) throws MalformedInputException {
        int slot = in.number("slot", 0, 1_000_000);
        var span = in.span();
        int form = in.u8("reference");
        MissingNumber want =
                form == 0
                        ? new TypeNumber(
                                new TypeQuestion(
                                        in.number("type", 1, MOST_BYTES),
                                        in.text("access"),
                                        in.constant(CoreKind.class, "kind"),
                                        in.number("bytes", 0, MOST_BYTES)))
                        : new NamedNumber(reference(in, form));
        return new NumberSlot(slot, span, want);
    }

    private static PortableReference reference(AotInput in, int form)
            throws MalformedInputException {
        return switch (form) {
            case 1 ->
                    new PortableReference.EventField(
                            in.text("subsystem"),
                            in.text("event"),
                            in.text("field"),
                            in.constant(MemberAspect.class, "aspect"),
                            in.number("bytes", 0, MOST_BYTES));
            case 2 ->
                    new ArgumentReference(
                            in.text("module"), in.text("function"), in.text("argument"));
            case 3 -> new PortableReference.EventArgument(in.text("event"), in.text("argument"));
            case 4 -> new SymbolReference(in.text("symbol"));
            case 5 -> new VariableReference(in.text("variable"));
            case 6 -> new PortableReference.ControlGroup(in.text("path"));
            case 7 -> new RunReference(in.constant(RunFact.class, "fact"));
            case 8 -> new OptionReference(in.text("option"));
            default -> throw in.malformed("reference", form + " is none");
        };
    }

    /** All, as bytes. */
    static void write(AotOutput out, List<NumberSlot> wishes) {
        out.list(wishes, WishForm::write);
    }
}
