package sonde.lang.bpftrace.check;

import java.util.List;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/**
 * What the pointers of functions in C point to. As in C a {@code void *} fits all; here bytes do
 * too, numbers of one size whatever their sign, and records that lie as a structure does.
 */
final class PointerTargets {
    private PointerTargets() {}

    /**
     * Whether a function that expects one type may look at another.
     *
     * @param own whether it is a variable of the script, which ends where its type ends; of what
     *     the kernel has, C may declare another part than this machine's BTF
     */
    static boolean fits(ValueType given, ValueType wanted, boolean own) {
        if (wanted instanceof VoidType || given instanceof VoidType || isByte(wanted)) {
            return true;
        }
        return switch (wanted) {
            case PointerType to ->
                    given instanceof PointerType from && fits(from.to(), to.to(), false);
            case ArrayType to -> isArray(given, to, own);
            case StructType to ->
                    switch (given) {
                        case StructType from -> isSame(from, to, own);
                        case TupleType from -> liesAs(from, to);
                        default -> false;
                    };
            default ->
                    given instanceof ArrayType from
                            ? from.count() > 0 && fits(from.element(), wanted, own)
                            : isNumber(wanted)
                                    && isNumber(given)
                                    && given.sizeBytes() == wanted.sizeBytes();
        };
    }

    /** How a variable is declared that fits; empty where none can be. */
    static String declaration(ValueType wanted) {
        if (wanted instanceof ArrayType array && isByte(array.element()) && array.count() > 0) {
            return new TextType(array.sizeBytes()).toString();
        }
        return wanted instanceof IntType || wanted instanceof BoolType ? wanted.toString() : "";
    }

    private static boolean isByte(ValueType type) {
        return type instanceof IntType number && number.sizeBytes() == 1;
    }

    private static boolean isNumber(ValueType type) {
        return type instanceof IntType || type instanceof BoolType || type instanceof EnumType;
    }

    private static boolean isArray(ValueType given, ArrayType wanted, boolean own) {
        boolean elements =
                switch (given) {
                    case TextType _ -> isByte(wanted.element());
                    case ArrayType from -> fits(from.element(), wanted.element(), own);
                    default -> false;
                };
        return elements && given.sizeBytes() >= wanted.sizeBytes();
    }

    private static boolean isSame(StructType given, StructType wanted, boolean own) {
        boolean size =
                own
                        ? given.sizeBytes() >= wanted.sizeBytes()
                        : given.sizeBytes() == wanted.sizeBytes();
        boolean named = !wanted.name().isEmpty();
        return given.isUnion() == wanted.isUnion()
                && given.name().equals(wanted.name())
                && (size || named && !own);
    }

    private static boolean liesAs(CompositeType given, StructType wanted) {
        List<TypeField> from = given.fields();
        List<TypeField> to = wanted.fields();
        boolean same = from.size() == to.size() && given.sizeBytes() >= wanted.sizeBytes();
        for (int i = 0; same && i < to.size(); i++) {
            same =
                    from.get(i).bitOffset() == to.get(i).bitOffset()
                            && to.get(i).bits() == 0
                            && from.get(i).type().sizeBytes() == to.get(i).type().sizeBytes();
        }
        return same;
    }
}
