package sonde.lang.bpftrace.check;

import java.util.List;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/**
 * What the pointers of functions in C point to. As in C a {@code void *} fits all; here bytes do
 * too, numbers of one size whatever their sign, and records that lie as a structure does.
 */
final class Pointed {
    private Pointed() {}

    /**
     * Whether a function that expects one type may look at another.
     *
     * @param own whether it is a variable of the script, which ends where its type ends; of what
     *     the kernel has, C may declare another part than this machine's BTF
     */
    static boolean fits(Type given, Type wanted, boolean own) {
        if (wanted instanceof Type.Void || given instanceof Type.Void || isByte(wanted)) {
            return true;
        }
        return switch (wanted) {
            case Type.Pointer to ->
                    given instanceof Type.Pointer from && fits(from.to(), to.to(), false);
            case Type.Array to -> isArray(given, to, own);
            case Struct to ->
                    switch (given) {
                        case Struct from -> isSame(from, to, own);
                        case Tuple from -> liesAs(from, to);
                        default -> false;
                    };
            default ->
                    given instanceof Type.Array from
                            ? from.count() > 0 && fits(from.element(), wanted, own)
                            : isNumber(wanted)
                                    && isNumber(given)
                                    && given.sizeBytes() == wanted.sizeBytes();
        };
    }

    /** How a variable is declared that fits; empty where none can be. */
    static String declaration(Type wanted) {
        if (wanted instanceof Type.Array array && isByte(array.element()) && array.count() > 0) {
            return new Type.Text(array.sizeBytes()).toString();
        }
        return wanted instanceof Int || wanted instanceof Type.Bool ? wanted.toString() : "";
    }

    private static boolean isByte(Type type) {
        return type instanceof Int number && number.sizeBytes() == 1;
    }

    private static boolean isNumber(Type type) {
        return type instanceof Int || type instanceof Type.Bool || type instanceof Type.Enum;
    }

    private static boolean isArray(Type given, Type.Array wanted, boolean own) {
        boolean elements =
                switch (given) {
                    case Type.Text _ -> isByte(wanted.element());
                    case Type.Array from -> fits(from.element(), wanted.element(), own);
                    default -> false;
                };
        return elements && given.sizeBytes() >= wanted.sizeBytes();
    }

    private static boolean isSame(Struct given, Struct wanted, boolean own) {
        boolean size =
                own
                        ? given.sizeBytes() >= wanted.sizeBytes()
                        : given.sizeBytes() == wanted.sizeBytes();
        boolean named = !wanted.name().isEmpty();
        return given.isUnion() == wanted.isUnion()
                && given.name().equals(wanted.name())
                && (size || named && !own);
    }

    private static boolean liesAs(Composite given, Struct wanted) {
        List<Field> from = given.fields();
        List<Field> to = wanted.fields();
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
