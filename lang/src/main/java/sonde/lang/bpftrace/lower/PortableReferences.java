package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.PortableReference.ArgumentReference;
import sonde.lang.bpftrace.lower.PortableReference.MemberAspect;
import sonde.lang.bpftrace.lower.PortableReference.MemberReference;
import sonde.lang.bpftrace.lower.PortableReference.RunFact;
import sonde.lang.bpftrace.lower.PortableReference.RunReference;
import sonde.lang.bpftrace.lower.PortableReference.SizeReference;
import sonde.lang.bpftrace.lower.PortableReference.VariableReference;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrLoadTime;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.PointerType;

/** What differs between kernels and runs, where programs are made for more than one. */
final class PortableReferences {
    private static final int MOST_NUMBER = 8;

    private final ProgramLowering lowerer;
    private final @Nullable Predicate<StructType> kernel;

    PortableReferences(ProgramLowering lowerer) {
        this.lowerer = lowerer;
        this.kernel = lowerer.unit().options().portable();
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** Whether the program is made for other machines too. */
    boolean isWanted() {
        return kernel != null;
    }

    private VirtualRegister later(PortableReference reference) {
        VirtualRegister to = emit().function().scalar();
        emit().function().add(new IrLoadTime(to, reference));
        return to;
    }

    /** A fact of the run: now, or when the program is loaded. */
    IrOperand fact(RunFact fact, long now) {
        return isWanted() ? later(new RunReference(fact)) : IrOperand.of(now);
    }

    /** A number that is found by a name when the program is loaded. */
    LoweredValue named(PortableReference reference) {
        return LoweredValue.of(later(reference));
    }

    /** The address of a variable of the kernel. */
    VirtualRegister variable(String name) {
        VirtualRegister to = emit().function().pointer();
        emit().function().add(new IrLoadTime(to, new VariableReference(name)));
        return to;
    }

    /** Refuses what only this machine knows. */
    void refuse(SourceSpan span, String why) {
        if (isWanted()) {
            throw new UnportableException(span, why);
        }
    }

    /** Refuses copies of whole structures of the kernel, whose members lie elsewhere there. */
    void refuseWhole(PlaceValue from, ValueType type) {
        SourceSpan span = lowerer.emit().function().place();
        if (span != null
                && from.where() == MemoryOwner.KERNEL
                && type instanceof StructType struct
                && isKernels(struct)) {
            refuse(
                    span,
                    "all of "
                            + struct
                            + " is copied, which only this kernel lays out so; read its"
                            + " members instead");
        }
    }

    private boolean isKernels(StructType struct) {
        return kernel != null && !struct.name().isEmpty() && kernel.test(struct);
    }

    /** Bytes of an element of an array or of what a pointer points to. */
    IrOperand size(ValueType element, int now) {
        return element instanceof StructType struct && isKernels(struct)
                ? later(new SizeReference(struct.name(), struct.isUnion()))
                : IrOperand.of(now);
    }

    /** The size of a structure of the kernel, or where a member of it lies; null for others. */
    @Nullable LoweredValue measured(TypeSyntax type, List<String> path) {
        if (!(type instanceof NamedSyntax named)
                || named.kind() != TypeSyntax.Kind.STRUCT
                        && named.kind() != TypeSyntax.Kind.UNION) {
            return null;
        }
        boolean union = named.kind() == TypeSyntax.Kind.UNION;
        if (!isKernels(new StructType(named.name(), union, -1, 1, List::of))) {
            return null;
        }
        return named(
                path.isEmpty()
                        ? new SizeReference(named.name(), union)
                        : new MemberReference(named.name(), union, path, MemberAspect.OFFSET, 0));
    }

    /** Makes references to one member. */
    @FunctionalInterface
    interface ReferenceFactory {
        PortableReference to(List<String> path, MemberAspect aspect, int leastBytes);
    }

    /** How members of what lies at a place are referred to; null where they lie the same always. */
    @Nullable ReferenceFactory root(CompositeType of, PlaceValue place, SourceSpan span) {
        if (!isWanted()) {
            return null;
        }
        if (place.where() == MemoryOwner.CONTEXT && lowerer.clause().site().isArguments(of)) {
            return switch (lowerer.site().probe()) {
                case TracepointProbe t ->
                        (path, aspect, least) ->
                                new PortableReference.EventField(
                                        t.subsystem(), t.event(), path.getFirst(), aspect, least);
                case Probe.RawTracepoint r ->
                        (path, aspect, least) ->
                                new PortableReference.EventArgument(r.event(), path.getFirst());
                case FentryProbe f ->
                        (path, aspect, least) ->
                                new ArgumentReference(f.module(), f.function(), path.getFirst());
                default -> null;
            };
        }
        if (place.where() != MemoryOwner.KERNEL || !(of instanceof StructType struct)) {
            return null;
        }
        if (struct.name().isEmpty()) {
            throw new UnportableException(
                    span, "this structure has no name by which other kernels could find it");
        }
        return isKernels(struct)
                ? (path, aspect, least) ->
                        new MemberReference(struct.name(), struct.isUnion(), path, aspect, least)
                : null;
    }

    /** Where a member of a task lies. */
    PlaceValue taskMember(PlaceValue task, String name) {
        MemberReference member =
                new MemberReference("task_struct", false, List.of(name), MemberAspect.OFFSET, 0);
        return new PlaceValue(
                emit().alu(AluOperation.ADD, emit().address(task), later(member)),
                0,
                MemoryOwner.KERNEL);
    }

    private static boolean isArgument(ReferenceFactory root) {
        return !(root.to(List.of(""), MemberAspect.OFFSET, 0) instanceof MemberReference)
                && !(root.to(List.of(""), MemberAspect.OFFSET, 0)
                        instanceof PortableReference.EventField);
    }

    /**
     * A member that is found by its name.
     *
     * @param field the last of the path, as it is here
     */
    LoweredValue member(
            PlaceValue of,
            ReferenceFactory root,
            List<String> path,
            TypeField field,
            ValueType type) {
        List<String> names = new ArrayList<>(path);
        boolean number = MemoryLowering.isNumber(type) && field.place() == FieldPlace.HERE;
        boolean whole = !number || type instanceof PointerType;
        int least = whole && field.place() == FieldPlace.HERE ? field.type().sizeBytes() : 0;
        VirtualRegister offset = later(root.to(names, MemberAspect.OFFSET, least));
        VirtualRegister address = emit().alu(AluOperation.ADD, emit().address(of), offset);
        PlaceValue at = new PlaceValue(address, 0, MemoryOwner.KERNEL);
        if (field.place() != FieldPlace.HERE) {
            return lowerer.distant(of, at, field, type);
        }
        if (!number) {
            return lowerer.characters(at, field.type(), type);
        }
        if (type instanceof PointerType || isArgument(root)) {
            return LoweredValue.of(lowerer.memory().load(at, type));
        }
        return LoweredValue.of(number(at, root, names, field, type));
    }

    /** A number of the width that it has there, with the sign that it has here. */
    private VirtualRegister number(
            PlaceValue at,
            ReferenceFactory root,
            List<String> path,
            TypeField field,
            ValueType type) {
        StackObject slot = lowerer.frame().object(emit().function(), MOST_NUMBER, MOST_NUMBER);
        emit().store(Width.U64, slot, 0, IrOperand.of(0));
        VirtualRegister result =
                emit().call(
                                HelperFunctionId.PROBE_READ_KERNEL,
                                emit().address(new PlaceValue(slot, 0, MemoryOwner.OWN)),
                                later(root.to(path, MemberAspect.SIZE, 0)),
                                emit().address(at));
        lowerer.errors().check(result, HelperFunctionId.PROBE_READ_KERNEL);
        VirtualRegister word = emit().load(Width.U64, false, slot, 0);
        VirtualRegister up =
                emit().alu(
                                AluOperation.SHIFT_LEFT,
                                word,
                                later(root.to(path, MemberAspect.LEFT, 0)));
        boolean signed = MemoryLowering.isSigned(field.bits() == 0 ? type : field.type());
        return emit().alu(
                        signed ? AluOperation.SHIFT_RIGHT_SIGNED : AluOperation.SHIFT_RIGHT,
                        up,
                        later(root.to(path, MemberAspect.RIGHT, 0)));
    }
}
