package sonde.lang.bpftrace.lower;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.PointerType;

/**
 * Members that are reached from the context by loads alone: of such addresses the verifier knows
 * the type, and helpers that want one take them where the kernel vouches for them ({@code vm_file}
 * of a vm_area_struct).
 *
 * @param nothing where a null pointer on the way leads to
 */
record ContextMembers(ProgramLowering lowerer, BasicBlock nothing) {
    /** Where a member lies; null where that is found otherwise. */
    @Nullable PlaceValue member(Expression e) {
        return !lowerer.portable().isWanted() && e instanceof MemberAccess f && pointers(f) > 1
                ? place(f)
                : null;
    }

    /** How many pointers lead to a member from ctx or args; 0 where it does not begin there. */
    private int pointers(MemberAccess f) {
        int here = lowerer.type(f.of()) instanceof PointerType ? 1 : 0;
        return switch (f.of()) {
            case MemberAccess inner when isContext(inner.of()) -> here;
            case MemberAccess inner -> {
                int before = pointers(inner);
                yield before == 0 ? 0 : before + here;
            }
            default -> 0;
        };
    }

    private static boolean isContext(Expression e) {
        return e instanceof BareName n && (n.name().equals("ctx") || n.name().equals("args"));
    }

    private @Nullable PlaceValue place(MemberAccess f) {
        ValueType of = lowerer.type(f.of());
        if (!(f.of() instanceof MemberAccess inner)) {
            return null;
        }
        PlaceValue base = of instanceof PointerType ? target(inner) : place(inner);
        ValueType type = of instanceof PointerType p ? p.to() : of;
        if (base == null || !(type instanceof StructType struct)) {
            return null;
        }
        TypeField field = struct.field(f.name());
        return field == null ? null : base.plus(field.offsetBytes());
    }

    /** What a pointer points to. */
    private @Nullable PlaceValue target(MemberAccess pointer) {
        VirtualRegister address;
        if (isContext(pointer.of())) {
            address = lowerer.emit().register(lowerer.number(pointer));
        } else {
            PlaceValue at = place(pointer);
            if (at == null) {
                return null;
            }
            address = lowerer.emit().load(Width.U64, false, at.base(), at.offset());
        }
        lowerer.emit().when(JumpCondition.EQUAL, address, 0, nothing);
        return new PlaceValue(address, 0, MemoryOwner.KERNEL);
    }
}
