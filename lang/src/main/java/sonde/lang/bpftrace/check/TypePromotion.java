package sonde.lang.bpftrace.check;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** The type that holds the values of two. */
public final class TypePromotion {
    private TypePromotion() {}

    /** Null when no type holds both. */
    public static @Nullable ValueType of(@Nullable ValueType known, ValueType other) {
        if (known == null) {
            return other instanceof AggregateType a && isNumber(a)
                    ? new IntType(8, isSigned(a))
                    : other;
        }
        if (known.equals(other)) {
            return other;
        }
        if (known instanceof IntType && other instanceof AggregateType b && isNumber(b)) {
            return integers((IntType) known, new IntType(8, isSigned(b)));
        }
        return same(known, other);
    }

    private static @Nullable ValueType same(ValueType known, ValueType other) {
        if (known.equals(other)) {
            return known;
        }
        return switch (known) {
            case IntType a ->
                    other instanceof IntType b
                            ? integers(a, b)
                            : other instanceof EnumType b ? integers(a, number(b)) : null;
            case EnumType a ->
                    switch (other) {
                        case IntType b when b.either() -> a;
                        case IntType b -> integers(number(a), b);
                        case EnumType b when b.name().equals(a.name()) -> b;
                        case EnumType b -> integers(number(a), number(b));
                        default -> null;
                    };
            case TextType a ->
                    other instanceof TextType b
                            ? new TextType(Math.max(a.sizeBytes(), b.sizeBytes()))
                            : null;
            case BytesType a ->
                    other instanceof BytesType b
                            ? new BytesType(Math.max(a.capacity(), b.capacity()))
                            : null;
            case TupleType a -> other instanceof TupleType b ? tuples(a, b) : null;
            case PointerType a -> other instanceof PointerType b ? pointers(a, b) : null;
            case ArrayType a ->
                    other instanceof ArrayType b
                                    && a.element().equals(b.element())
                                    && (a.count() == b.count() || a.count() == 0 || b.count() == 0)
                            ? (a.count() == 0 ? b : a)
                            : null;
            case SumType _, ExtremeType _, AverageType _ -> aggregates(known, other);
            case VoidType _,
                    BoolType _,
                    FloatType _,
                    SpecialType _,
                    StackType _,
                    StructType _,
                    CountType _,
                    HistType _,
                    LhistType _,
                    SeriesType _ ->
                    null;
        };
    }

    private static IntType number(EnumType e) {
        return new IntType(e.sizeBytes(), e.signed());
    }

    private static @Nullable ValueType aggregates(ValueType known, ValueType other) {
        return switch (known) {
            case SumType _ when other instanceof SumType -> new SumType(true);
            case ExtremeType a when other instanceof ExtremeType b && a.max() == b.max() ->
                    new ExtremeType(a.max(), true);
            case AverageType a when other instanceof AverageType b && a.full() == b.full() ->
                    new AverageType(a.full(), true);
            default -> null;
        };
    }

    private static @Nullable ValueType pointers(PointerType a, PointerType b) {
        if (a.to() instanceof VoidType || b.to() instanceof VoidType) {
            return a.to() instanceof VoidType && b.to() instanceof VoidType ? b : null;
        }
        ValueType to = same(a.to(), b.to());
        return to == null ? null : new PointerType(to, b.space());
    }

    private static @Nullable ValueType tuples(TupleType a, TupleType b) {
        if (a.named() != b.named() || a.fields().size() != b.fields().size()) {
            return null;
        }
        List<ValueType> types = new ArrayList<>();
        for (int i = 0; i < a.fields().size(); i++) {
            TypeField right = a.named() ? b.field(a.fields().get(i).name()) : b.fields().get(i);
            ValueType promoted =
                    right == null ? null : same(a.fields().get(i).type(), right.type());
            if (promoted == null) {
                return null;
            }
            types.add(promoted);
        }
        return a.named()
                ? TupleType.ofRecord(a.fields().stream().map(TypeField::name).toList(), types)
                : TupleType.of(types);
    }

    /** The integer that holds both; int64 when signs differ and none does. */
    public static IntType integers(IntType a, IntType b) {
        boolean either = a.either() && b.either();
        int larger = Math.max(a.sizeBytes(), b.sizeBytes());
        if (a.signed() == b.signed()) {
            return new IntType(larger, a.signed(), false, either);
        }
        if (a.either() || b.either()) {
            boolean signed = !a.either() && a.signed() || !b.either() && b.signed();
            return new IntType(larger, signed, false, either);
        }
        IntType signed = a.signed() ? a : b;
        IntType unsigned = a.signed() ? b : a;
        if (signed.sizeBytes() > unsigned.sizeBytes()) {
            return new IntType(signed.sizeBytes(), true);
        }
        return new IntType(Math.min(8, larger * 2), true);
    }

    /** Whether an aggregate can be read as a number. */
    public static boolean isNumber(ValueType type) {
        return type instanceof CountType
                || type instanceof SumType
                || type instanceof ExtremeType
                || type instanceof AverageType;
    }

    /** Whether a number, or what can be read as one, can be negative. */
    public static boolean isSigned(ValueType type) {
        return switch (type) {
            case IntType i -> i.signed();
            case EnumType e -> e.signed();
            case SumType s -> s.signed();
            case ExtremeType e -> e.signed();
            case AverageType a -> a.signed();
            case CountType _ -> true;
            default -> false;
        };
    }

    /** The smallest signed integer that holds a number that was written. */
    static IntType literal(long value, boolean negative) {
        if (!negative && value < 0) {
            return IntType.U64;
        }
        int size = value == (byte) value ? 1 : value == (short) value ? 2 : 8;
        if (size == 8 && value == (int) value) {
            size = 4;
        }
        return new IntType(size, true, false, !negative);
    }
}
