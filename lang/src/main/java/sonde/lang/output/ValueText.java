package sonde.lang.output;

import java.math.BigInteger;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
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
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/**
 * Values as text: {@code 5}, {@code true}, {@code 0x1f}, {@code [1,2]}, {@code (1, abc)}, {@code {
 * .a = 1 }}. Bytes that are missing count as 0.
 */
public final class ValueText {
    /** Deeper than any type nests. */
    static final int MAX_DEPTH = 64;

    private final ValueNames names;
    private final TextSink out;
    private final long divisor;

    /** Whether there are no spaces but those of texts and names. */
    private final boolean dense;

    private ValueText(ValueNames names, TextSink out, long divisor, boolean dense) {
        this.names = names;
        this.out = out;
        this.divisor = divisor;
        this.dense = dense;
    }

    /** As print shows it, control characters made harmless. */
    public static String text(ValueType type, byte[] bytes, int offset, ValueNames names) {
        TextSink out = TextSink.forTerminal();
        write(type, bytes, offset, names, out);
        return out.toString();
    }

    /** As print shows it. */
    public static void write(
            ValueType type, byte[] bytes, int offset, ValueNames names, TextSink out) {
        write(type, bytes, offset, names, out, 1);
    }

    /** As a map shows it: numbers divided. */
    static void write(
            ValueType type,
            byte[] bytes,
            int offset,
            ValueNames names,
            TextSink out,
            long divisor) {
        new ValueText(names, out, divisor, false).value(type, bytes, offset, 0);
    }

    /** As the key of a member in JSON: without spaces of our own. */
    static void key(ValueType type, byte[] bytes, ValueNames names, TextSink out) {
        new ValueText(names, out, 1, true).value(type, bytes, 0, 0);
    }

    private void value(ValueType type, byte[] bytes, int at, int depth) {
        if (depth > MAX_DEPTH) {
            out.put("...");
            return;
        }
        switch (type) {
            case VoidType _, FloatType _ -> out.put("null");
            case IntType integer -> integer(integer, bytes, at);
            case BoolType _ -> truth(ValueBytes.integer(bytes, at, 1, false));
            case TextType text -> text(bytes, at, text.sizeBytes(), names, out);
            case BytesType buffer -> buffer(buffer, bytes, at, true, true, out);
            case PointerType _ -> {
                out.put("0x");
                out.hex(ValueBytes.u64(bytes, at), false);
            }
            case ArrayType array -> array(array, bytes, at, depth);
            case EnumType constant -> constant(constant, number(constant, bytes, at), out);
            case SpecialType named -> named(named.kind(), bytes, at);
            case StackType stack -> StackFrames.write(stack, bytes, at, names, dense, out);
            case CompositeType composite -> composite(composite, bytes, at, depth);
            case AggregateType aggregate -> aggregate(aggregate, bytes, at);
        }
    }

    private void integer(IntType type, byte[] bytes, int at) {
        if (type.sizeBytes() > 8) {
            out.put(wide(type, bytes, at).toString());
            return;
        }
        number(ValueBytes.integer(bytes, at, type.sizeBytes(), type.signed()), type.signed());
    }

    /** An integer of more than 8 bytes. */
    static BigInteger wide(IntType type, byte[] bytes, int at) {
        BigInteger low = new BigInteger(Long.toUnsignedString(ValueBytes.u64(bytes, at)));
        long upper = ValueBytes.u64(bytes, at + 8);
        BigInteger high =
                type.signed()
                        ? BigInteger.valueOf(upper)
                        : new BigInteger(Long.toUnsignedString(upper));
        return high.shiftLeft(64).add(low);
    }

    private void number(long value, boolean signed) {
        if (signed) {
            out.decimal(value / divisor);
        } else {
            out.unsigned(Long.divideUnsigned(value, divisor));
        }
    }

    private void truth(long value) {
        out.put(value != 0 ? "true" : "false");
    }

    /** Bytes up to a NUL; where there is none the text was cut, which is marked. */
    static void text(byte[] bytes, int at, int sizeBytes, ValueNames names, TextSink out) {
        int end = ValueBytes.textEnd(bytes, at, sizeBytes);
        out.foreign(bytes, Math.min(at, end), end);
        if (sizeBytes > 0 && end - at == sizeBytes) {
            out.put(names.truncated());
        }
    }

    /** The bytes of a buffer. */
    static void buffer(
            BytesType type,
            byte[] bytes,
            int at,
            boolean printable,
            boolean escaped,
            TextSink out) {
        out.buffer(bytes, at + 4, length(type, bytes, at), printable, escaped);
    }

    /** How many bytes of a buffer there are. */
    static int length(BytesType type, byte[] bytes, int at) {
        int left = Math.max(0, bytes.length - at - 4);
        int count = ValueBytes.s32(bytes, at);
        return Math.clamp(count < 0 ? type.capacity() : count, 0, Math.min(left, type.capacity()));
    }

    /** The number of an enumeration, without sign as bpftrace has it. */
    static long number(EnumType type, byte[] bytes, int at) {
        return ValueBytes.integer(bytes, at, type.sizeBytes(), false);
    }

    /** The name of an enumeration's number, else the number. */
    static void constant(EnumType type, long number, TextSink out) {
        int unused = 64 - 8 * Math.clamp(type.sizeBytes(), 1, 8);
        String name = type.names().get(type.signed() ? number << unused >> unused : number);
        if (name != null) {
            out.foreign(name);
        } else {
            out.unsigned(number);
        }
    }

    private void array(ArrayType type, byte[] bytes, int at, int depth) {
        if (isText(type)) {
            text(bytes, at, type.count(), names, out);
            return;
        }
        out.put('[');
        int elementBytes = type.element().sizeBytes();
        for (int i = 0; i < type.count(); i++) {
            long from = at + (long) i * elementBytes;
            if (from >= bytes.length) {
                break;
            }
            if (i > 0) {
                out.put(',');
            }
            value(type.element(), bytes, (int) from, depth + 1);
        }
        out.put(']');
    }

    /** Whether the elements are characters of C. */
    static boolean isText(ArrayType type) {
        return type.element() instanceof IntType element
                && element.isChar()
                && element.sizeBytes() == 1;
    }

    private void named(SpecialValue kind, byte[] bytes, int at) {
        switch (kind) {
            case KERNEL_SYMBOL -> out.foreign(names.kernelSymbol(ValueBytes.u64(bytes, at)));
            case USER_SYMBOL ->
                    out.foreign(
                            names.userSymbol(
                                    ValueBytes.u64(bytes, at), ValueBytes.s32(bytes, at + 8)));
            case INET -> NetworkAddresses.inet(bytes, at, out);
            case MAC_ADDRESS -> NetworkAddresses.mac(bytes, at, out);
            case CGROUP_PATH ->
                    out.foreign(
                            names.cgroupPath(
                                    ValueBytes.u64(bytes, at), ValueBytes.u64(bytes, at + 8)));
            case USERNAME -> out.foreign(names.userName(ValueBytes.u64(bytes, at)));
            case TIMESTAMP ->
                    out.foreign(
                            names.timestamp(
                                    ValueBytes.s32(bytes, at),
                                    ValueBytes.s32(bytes, at + 4),
                                    ValueBytes.u64(bytes, at + 8)));
            case STRERROR -> out.put(ErrorText.of(ValueBytes.u64(bytes, at)));
        }
    }

    private void composite(CompositeType type, byte[] bytes, int at, int depth) {
        if (type instanceof TupleType tuple && !tuple.named()) {
            out.put('(');
            for (int i = 0; i < tuple.fields().size(); i++) {
                if (i > 0) {
                    out.put(dense ? "," : ", ");
                }
                field(tuple.fields().get(i), bytes, at * 8L, depth + 1);
            }
            out.put(')');
            return;
        }
        int start = out.size();
        out.put(dense ? "{" : "{ ");
        int empty = out.size();
        members(type, bytes, at * 8L, empty, depth + 1);
        if (out.size() == empty) {
            out.truncate(start);
            out.put("{}");
        } else {
            out.put(dense ? "}" : " }");
        }
    }

    /** The members, those of members without a name in their place. */
    private void members(CompositeType type, byte[] bytes, long bitOffset, int empty, int depth) {
        for (TypeField field : type.fields()) {
            long from = bitOffset + field.bitOffset();
            if (field.place() == FieldPlace.CLOSED) {
                continue;
            }
            if (!field.name().isEmpty()) {
                if (out.size() > empty) {
                    out.put(dense ? "," : ", ");
                }
                out.put('.');
                out.foreign(field.name());
                out.put(dense ? "=" : " = ");
                field(field, bytes, bitOffset, depth);
            } else if (field.type() instanceof StructType inner && depth <= MAX_DEPTH) {
                members(inner, bytes, from, empty, depth + 1);
            }
        }
    }

    private void field(TypeField field, byte[] bytes, long base, int depth) {
        long from = base + field.bitOffset();
        int at = Math.clamp(from >> 3, 0, Integer.MAX_VALUE / 2);
        if (field.place() != FieldPlace.HERE) {
            number(ValueBytes.integer(bytes, at, 4, false), false);
        } else if (field.bits() == 0) {
            value(field.type(), bytes, at, depth);
        } else {
            switch (field.type()) {
                case BoolType _ -> truth(ValueBytes.bits(bytes, from, field.bits(), false));
                case EnumType type ->
                        constant(
                                type,
                                ValueBytes.bits(bytes, from, field.bits(), type.signed()),
                                out);
                case ValueType type -> {
                    boolean signed = type instanceof IntType integer && integer.signed();
                    number(ValueBytes.bits(bytes, from, field.bits(), signed), signed);
                }
            }
        }
    }

    private void aggregate(AggregateType type, byte[] bytes, int at) {
        switch (type) {
            case CountType _, SumType _, ExtremeType _ ->
                    number(AggregateValues.number(type, bytes, at), AggregateValues.signed(type));
            case AverageType average -> {
                if (average.full()) {
                    out.put("{ .count = ");
                    out.unsigned(AggregateValues.count(bytes, at));
                    out.put(", .average = ");
                }
                number(AggregateValues.number(type, bytes, at), average.signed());
                if (average.full()) {
                    out.put(", .total = ");
                    long total = ValueBytes.u64(bytes, at);
                    if (average.signed()) {
                        out.decimal(total);
                    } else {
                        out.unsigned(total);
                    }
                    out.put(" }");
                }
            }
            case HistType hist ->
                    BucketHistogram.write(BucketHistogram.of("", hist, bytes, at, divisor), out);
            case LhistType lhist ->
                    BucketHistogram.write(BucketHistogram.of("", lhist, bytes, at), out);
            case SeriesType series -> {
                SeriesTable table = SeriesTable.of(series, bytes, at);
                table.write(table.latest(), names.zone(), out);
            }
        }
    }
}
