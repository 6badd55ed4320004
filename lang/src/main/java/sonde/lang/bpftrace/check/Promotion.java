package sonde.lang.bpftrace.check;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** The type that holds the values of two. */
public final class Promotion {
    private Promotion() {}

    /** Null when no type holds both. */
    public static @Nullable Type of(@Nullable Type known, Type other) {
        if (known == null) {
            return other instanceof Type.Aggregate a && isNumber(a)
                    ? new Int(8, isSigned(a))
                    : other;
        }
        if (known.equals(other)) {
            return other;
        }
        if (known instanceof Int && other instanceof Type.Aggregate b && isNumber(b)) {
            return integers((Int) known, new Int(8, isSigned(b)));
        }
        return same(known, other);
    }

    private static @Nullable Type same(Type known, Type other) {
        if (known.equals(other)) {
            return known;
        }
        return switch (known) {
            case Int a ->
                    other instanceof Int b
                            ? integers(a, b)
                            : other instanceof Type.Enum b ? integers(a, number(b)) : null;
            case Type.Enum a ->
                    switch (other) {
                        case Int b when b.either() -> a;
                        case Int b -> integers(number(a), b);
                        case Type.Enum b when b.name().equals(a.name()) -> b;
                        case Type.Enum b -> integers(number(a), number(b));
                        default -> null;
                    };
            case Type.Text a ->
                    other instanceof Type.Text b
                            ? new Type.Text(Math.max(a.sizeBytes(), b.sizeBytes()))
                            : null;
            case Type.Bytes a ->
                    other instanceof Type.Bytes b
                            ? new Type.Bytes(Math.max(a.capacity(), b.capacity()))
                            : null;
            case Tuple a -> other instanceof Tuple b ? tuples(a, b) : null;
            case Type.Pointer a -> other instanceof Type.Pointer b ? pointers(a, b) : null;
            case Type.Array a ->
                    other instanceof Type.Array b
                                    && a.element().equals(b.element())
                                    && (a.count() == b.count() || a.count() == 0 || b.count() == 0)
                            ? (a.count() == 0 ? b : a)
                            : null;
            case Type.Sum _, Type.Extreme _, Type.Average _ -> aggregates(known, other);
            case Type.Void _,
                    Type.Bool _,
                    Type.Float _,
                    Type.Named _,
                    Type.Stack _,
                    Struct _,
                    Type.Count _,
                    Type.Hist _,
                    Type.Lhist _,
                    Type.Series _ ->
                    null;
        };
    }

    private static Int number(Type.Enum e) {
        return new Int(e.sizeBytes(), e.signed());
    }

    private static @Nullable Type aggregates(Type known, Type other) {
        return switch (known) {
            case Type.Sum _ when other instanceof Type.Sum -> new Type.Sum(true);
            case Type.Extreme a when other instanceof Type.Extreme b && a.max() == b.max() ->
                    new Type.Extreme(a.max(), true);
            case Type.Average a when other instanceof Type.Average b && a.full() == b.full() ->
                    new Type.Average(a.full(), true);
            default -> null;
        };
    }

    private static @Nullable Type pointers(Type.Pointer a, Type.Pointer b) {
        if (a.to() instanceof Type.Void || b.to() instanceof Type.Void) {
            return a.to() instanceof Type.Void && b.to() instanceof Type.Void ? b : null;
        }
        Type to = same(a.to(), b.to());
        return to == null ? null : new Type.Pointer(to, b.space());
    }

    private static @Nullable Type tuples(Tuple a, Tuple b) {
        if (a.named() != b.named() || a.fields().size() != b.fields().size()) {
            return null;
        }
        List<Type> types = new ArrayList<>();
        for (int i = 0; i < a.fields().size(); i++) {
            Field right = a.named() ? b.field(a.fields().get(i).name()) : b.fields().get(i);
            Type promoted = right == null ? null : same(a.fields().get(i).type(), right.type());
            if (promoted == null) {
                return null;
            }
            types.add(promoted);
        }
        return a.named()
                ? Tuple.ofRecord(a.fields().stream().map(Field::name).toList(), types)
                : Tuple.of(types);
    }

    /** The integer that holds both; int64 when signs differ and none does. */
    public static Int integers(Int a, Int b) {
        boolean either = a.either() && b.either();
        int larger = Math.max(a.sizeBytes(), b.sizeBytes());
        if (a.signed() == b.signed()) {
            return new Int(larger, a.signed(), false, either);
        }
        if (a.either() || b.either()) {
            boolean signed = !a.either() && a.signed() || !b.either() && b.signed();
            return new Int(larger, signed, false, either);
        }
        Int signed = a.signed() ? a : b;
        Int unsigned = a.signed() ? b : a;
        if (signed.sizeBytes() > unsigned.sizeBytes()) {
            return new Int(signed.sizeBytes(), true);
        }
        return new Int(Math.min(8, larger * 2), true);
    }

    /** Whether an aggregate can be read as a number. */
    public static boolean isNumber(Type type) {
        return type instanceof Type.Count
                || type instanceof Type.Sum
                || type instanceof Type.Extreme
                || type instanceof Type.Average;
    }

    /** Whether a number, or what can be read as one, can be negative. */
    public static boolean isSigned(Type type) {
        return switch (type) {
            case Int i -> i.signed();
            case Type.Enum e -> e.signed();
            case Type.Sum s -> s.signed();
            case Type.Extreme e -> e.signed();
            case Type.Average a -> a.signed();
            case Type.Count _ -> true;
            default -> false;
        };
    }

    /** The smallest signed integer that holds a number that was written. */
    static Int literal(long value, boolean negative) {
        if (!negative && value < 0) {
            return Int.U64;
        }
        int size = value == (byte) value ? 1 : value == (short) value ? 2 : 8;
        if (size == 8 && value == (int) value) {
            size = 4;
        }
        return new Int(size, true, false, !negative);
    }
}
