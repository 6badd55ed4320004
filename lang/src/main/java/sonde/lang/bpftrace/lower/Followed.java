package sonde.lang.bpftrace.lower;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;

/**
 * Members that are reached from the context by loads alone: of such addresses the verifier knows
 * the type, and helpers that want one take them where the kernel vouches for them ({@code vm_file}
 * of a vm_area_struct).
 *
 * @param nothing where a null pointer on the way leads to
 */
record Followed(Lowerer lowerer, Block nothing) {
    /** Where a member lies; null where that is found otherwise. */
    @Nullable Place member(Expression e) {
        return !lowerer.portable().isWanted() && e instanceof Expression.Field f && pointers(f) > 1
                ? place(f)
                : null;
    }

    /** How many pointers lead to a member from ctx or args; 0 where it does not begin there. */
    private int pointers(Expression.Field f) {
        int here = lowerer.type(f.of()) instanceof Type.Pointer ? 1 : 0;
        return switch (f.of()) {
            case Expression.Field inner when isContext(inner.of()) -> here;
            case Expression.Field inner -> {
                int before = pointers(inner);
                yield before == 0 ? 0 : before + here;
            }
            default -> 0;
        };
    }

    private static boolean isContext(Expression e) {
        return e instanceof Expression.Name n
                && (n.name().equals("ctx") || n.name().equals("args"));
    }

    private @Nullable Place place(Expression.Field f) {
        Type of = lowerer.type(f.of());
        if (!(f.of() instanceof Expression.Field inner)) {
            return null;
        }
        Place base = of instanceof Type.Pointer ? target(inner) : place(inner);
        Type type = of instanceof Type.Pointer p ? p.to() : of;
        if (base == null || !(type instanceof Struct struct)) {
            return null;
        }
        Field field = struct.field(f.name());
        return field == null ? null : base.plus(field.offsetBytes());
    }

    /** What a pointer points to. */
    private @Nullable Place target(Expression.Field pointer) {
        Vreg address;
        if (isContext(pointer.of())) {
            address = lowerer.emit().register(lowerer.number(pointer));
        } else {
            Place at = place(pointer);
            if (at == null) {
                return null;
            }
            address = lowerer.emit().load(Width.U64, false, at.base(), at.offset());
        }
        lowerer.emit().when(Condition.EQUAL, address, 0, nothing);
        return new Place(address, 0, Where.KERNEL);
    }
}
