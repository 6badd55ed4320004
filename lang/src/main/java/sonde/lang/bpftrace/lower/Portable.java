package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Reference.Aspect;
import sonde.lang.bpftrace.lower.Reference.Fact;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;
import sonde.lang.probes.Probe;
import sonde.lang.source.Span;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;

/** What differs between kernels and runs, where programs are made for more than one. */
final class Portable {
    private static final int MOST_NUMBER = 8;

    private final Lowerer lowerer;
    private final @Nullable Predicate<Struct> kernel;

    Portable(Lowerer lowerer) {
        this.lowerer = lowerer;
        this.kernel = lowerer.unit().options().portable();
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** Whether the program is made for other machines too. */
    boolean isWanted() {
        return kernel != null;
    }

    private Vreg later(Reference reference) {
        Vreg to = emit().function().scalar();
        emit().function().add(new Operation.Later(to, reference));
        return to;
    }

    /** A fact of the run: now, or when the program is loaded. */
    Operand fact(Fact fact, long now) {
        return isWanted() ? later(new Reference.Run(fact)) : Operand.of(now);
    }

    /** A number that is found by a name when the program is loaded. */
    Value named(Reference reference) {
        return Value.of(later(reference));
    }

    /** The address of a variable of the kernel. */
    Vreg variable(String name) {
        Vreg to = emit().function().pointer();
        emit().function().add(new Operation.Later(to, new Reference.Variable(name)));
        return to;
    }

    /** Refuses what only this machine knows. */
    void refuse(Span span, String why) {
        if (isWanted()) {
            throw new UnportableException(span, why);
        }
    }

    /** Refuses copies of whole structures of the kernel, whose members lie elsewhere there. */
    void refuseWhole(Place from, Type type) {
        Span span = lowerer.emit().function().place();
        if (span != null
                && from.where() == Where.KERNEL
                && type instanceof Struct struct
                && isKernels(struct)) {
            refuse(
                    span,
                    "all of "
                            + struct
                            + " is copied, which only this kernel lays out so; read its"
                            + " members instead");
        }
    }

    private boolean isKernels(Struct struct) {
        return kernel != null && !struct.name().isEmpty() && kernel.test(struct);
    }

    /** Bytes of an element of an array or of what a pointer points to. */
    Operand size(Type element, int now) {
        return element instanceof Struct struct && isKernels(struct)
                ? later(new Reference.Size(struct.name(), struct.isUnion()))
                : Operand.of(now);
    }

    /** The size of a structure of the kernel, or where a member of it lies; null for others. */
    @Nullable Value measured(TypeSyntax type, List<String> path) {
        if (!(type instanceof TypeSyntax.Named named)
                || named.kind() != TypeSyntax.Kind.STRUCT
                        && named.kind() != TypeSyntax.Kind.UNION) {
            return null;
        }
        boolean union = named.kind() == TypeSyntax.Kind.UNION;
        if (!isKernels(new Struct(named.name(), union, -1, 1, List::of))) {
            return null;
        }
        return named(
                path.isEmpty()
                        ? new Reference.Size(named.name(), union)
                        : new Reference.Member(named.name(), union, path, Aspect.OFFSET, 0));
    }

    /** Makes references to one member. */
    @FunctionalInterface
    interface Root {
        Reference to(List<String> path, Aspect aspect, int leastBytes);
    }

    /** How members of what lies at a place are referred to; null where they lie the same always. */
    @Nullable Root root(Composite of, Place place, Span span) {
        if (!isWanted()) {
            return null;
        }
        if (place.where() == Where.CONTEXT && lowerer.clause().site().isArguments(of)) {
            return switch (lowerer.site().probe()) {
                case Probe.Tracepoint t ->
                        (path, aspect, least) ->
                                new Reference.EventField(
                                        t.subsystem(), t.event(), path.getFirst(), aspect, least);
                case Probe.RawTracepoint r ->
                        (path, aspect, least) ->
                                new Reference.EventArgument(r.event(), path.getFirst());
                case Probe.Fentry f ->
                        (path, aspect, least) ->
                                new Reference.Argument(f.module(), f.function(), path.getFirst());
                default -> null;
            };
        }
        if (place.where() != Where.KERNEL || !(of instanceof Struct struct)) {
            return null;
        }
        if (struct.name().isEmpty()) {
            throw new UnportableException(
                    span, "this structure has no name by which other kernels could find it");
        }
        return isKernels(struct)
                ? (path, aspect, least) ->
                        new Reference.Member(struct.name(), struct.isUnion(), path, aspect, least)
                : null;
    }

    /** Where a member of a task lies. */
    Place taskMember(Place task, String name) {
        Reference.Member member =
                new Reference.Member("task_struct", false, List.of(name), Aspect.OFFSET, 0);
        return new Place(
                emit().alu(AluOperation.ADD, emit().address(task), later(member)), 0, Where.KERNEL);
    }

    private static boolean isArgument(Root root) {
        return !(root.to(List.of(""), Aspect.OFFSET, 0) instanceof Reference.Member)
                && !(root.to(List.of(""), Aspect.OFFSET, 0) instanceof Reference.EventField);
    }

    /**
     * A member that is found by its name.
     *
     * @param field the last of the path, as it is here
     */
    Value member(Place of, Root root, List<String> path, Field field, Type type) {
        List<String> names = new ArrayList<>(path);
        boolean number = Memory.isNumber(type) && field.place() == Field.Place.HERE;
        boolean whole = !number || type instanceof Type.Pointer;
        int least = whole && field.place() == Field.Place.HERE ? field.type().sizeBytes() : 0;
        Vreg offset = later(root.to(names, Aspect.OFFSET, least));
        Vreg address = emit().alu(AluOperation.ADD, emit().address(of), offset);
        Place at = new Place(address, 0, Where.KERNEL);
        if (field.place() != Field.Place.HERE) {
            return lowerer.distant(of, at, field, type);
        }
        if (!number) {
            return lowerer.characters(at, field.type(), type);
        }
        if (type instanceof Type.Pointer || isArgument(root)) {
            return Value.of(lowerer.memory().load(at, type));
        }
        return Value.of(number(at, root, names, field, type));
    }

    /** A number of the width that it has there, with the sign that it has here. */
    private Vreg number(Place at, Root root, List<String> path, Field field, Type type) {
        StackObject slot = lowerer.frame().object(emit().function(), MOST_NUMBER, MOST_NUMBER);
        emit().store(Width.U64, slot, 0, Operand.of(0));
        Vreg result =
                emit().call(
                                KernelFunction.PROBE_READ_KERNEL,
                                emit().address(new Place(slot, 0, Where.OWN)),
                                later(root.to(path, Aspect.SIZE, 0)),
                                emit().address(at));
        lowerer.errors().check(result, KernelFunction.PROBE_READ_KERNEL);
        Vreg word = emit().load(Width.U64, false, slot, 0);
        Vreg up = emit().alu(AluOperation.SHIFT_LEFT, word, later(root.to(path, Aspect.LEFT, 0)));
        boolean signed = Memory.isSigned(field.bits() == 0 ? type : field.type());
        return emit().alu(
                        signed ? AluOperation.SHIFT_RIGHT_SIGNED : AluOperation.SHIFT_RIGHT,
                        up,
                        later(root.to(path, Aspect.RIGHT, 0)));
    }
}
