package sonde.lang.output;

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
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/**
 * Values as JSON: records are objects, tuples and buffers arrays, enumerations and pointers
 * numbers, what text shows as words strings. Whole numbers that a double cannot hold are strings.
 */
public final class JsonValueText {
    private final ValueNames names;
    private final TextSink out;
    private final long divisor;

    private JsonValueText(ValueNames names, TextSink out, long divisor) {
        this.names = names;
        this.out = out;
        this.divisor = divisor;
    }

    /** As print shows it. */
    public static String text(ValueType type, byte[] bytes, int offset, ValueNames names) {
        TextSink out = TextSink.raw();
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
        new JsonValueText(names, out, divisor).value(type, bytes, offset, 0);
    }

    /** A key of a map: its text without spaces of our own, a tuple without its parentheses. */
    static void key(ValueType type, byte[] bytes, ValueNames names, TextSink out) {
        TextSink text = TextSink.raw();
        ValueText.key(type, bytes, names, text);
        if (type instanceof TupleType tuple && !tuple.named()) {
            text.stripParentheses(0);
        }
        out.json(text);
    }

    /** A number, in quotes when a double cannot hold it. */
    static void number(long value, boolean signed, TextSink out) {
        long size = signed ? Math.abs(value) : value;
        int digits = 64 - Long.numberOfLeadingZeros(size) - Long.numberOfTrailingZeros(size);
        boolean quoted = digits > 53;
        if (quoted) {
            out.put('"');
        }
        if (signed) {
            out.decimal(value);
        } else {
            out.unsigned(value);
        }
        if (quoted) {
            out.put('"');
        }
    }

    private void divided(long value, boolean signed) {
        number(signed ? value / divisor : Long.divideUnsigned(value, divisor), signed, out);
    }

    private void value(ValueType type, byte[] bytes, int at, int depth) {
        if (depth > ValueText.MAX_DEPTH) {
            out.put("null");
            return;
        }
        switch (type) {
            case VoidType _, FloatType _ -> out.put("null");
            case IntType integer -> integer(integer, bytes, at);
            case BoolType _ -> truth(ValueBytes.integer(bytes, at, 1, false));
            case BytesType buffer -> buffer(buffer, bytes, at);
            case PointerType _ -> number(ValueBytes.u64(bytes, at), false, out);
            case ArrayType array -> array(array, bytes, at, depth);
            case EnumType constant -> number(ValueText.number(constant, bytes, at), false, out);
            case TextType _, SpecialType _, StackType _ -> words(type, bytes, at);
            case CompositeType composite -> composite(composite, bytes, at, depth);
            case AggregateType aggregate -> aggregate(aggregate, bytes, at);
        }
    }

    private void integer(IntType type, byte[] bytes, int at) {
        if (type.sizeBytes() > 8) {
            out.json(ValueText.wide(type, bytes, at).toString());
            return;
        }
        divided(ValueBytes.integer(bytes, at, type.sizeBytes(), type.signed()), type.signed());
    }

    private void truth(long value) {
        out.put(value != 0 ? "true" : "false");
    }

    private void words(ValueType type, byte[] bytes, int at) {
        TextSink text = TextSink.raw();
        ValueText.write(type, bytes, at, names, text);
        out.json(text);
    }

    private void buffer(BytesType type, byte[] bytes, int at) {
        out.put('[');
        int count = ValueText.length(type, bytes, at);
        for (int i = 0; i < count; i++) {
            if (i > 0) {
                out.put(',');
            }
            out.decimal(bytes[at + 4 + i]);
        }
        out.put(']');
    }

    private void array(ArrayType type, byte[] bytes, int at, int depth) {
        if (ValueText.isText(type)) {
            words(type, bytes, at);
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

    private void composite(CompositeType type, byte[] bytes, int at, int depth) {
        boolean isList = type instanceof TupleType tuple && !tuple.named();
        out.put(isList ? '[' : '{');
        int empty = out.size();
        members(type, bytes, at * 8L, empty, depth + 1);
        out.put(isList ? ']' : '}');
    }

    private void members(CompositeType type, byte[] bytes, long bitOffset, int empty, int depth) {
        boolean isList = type instanceof TupleType tuple && !tuple.named();
        for (TypeField field : type.fields()) {
            if (field.place() == FieldPlace.CLOSED) {
                continue;
            }
            if (isList || !field.name().isEmpty()) {
                if (out.size() > empty) {
                    out.put(isList ? "," : ", ");
                }
                if (!isList) {
                    out.json(field.name());
                    out.put(": ");
                }
                field(field, bytes, bitOffset, depth);
            } else if (field.type() instanceof StructType inner && depth <= ValueText.MAX_DEPTH) {
                members(inner, bytes, bitOffset + field.bitOffset(), empty, depth + 1);
            }
        }
    }

    private void field(TypeField field, byte[] bytes, long base, int depth) {
        long from = base + field.bitOffset();
        int at = Math.clamp(from >> 3, 0, Integer.MAX_VALUE / 2);
        if (field.place() != FieldPlace.HERE) {
            number(ValueBytes.integer(bytes, at, 4, false), false, out);
        } else if (field.bits() == 0) {
            value(field.type(), bytes, at, depth);
        } else if (field.type() instanceof BoolType) {
            truth(ValueBytes.bits(bytes, from, field.bits(), false));
        } else {
            boolean signed = field.type() instanceof IntType integer && integer.signed();
            divided(ValueBytes.bits(bytes, from, field.bits(), signed), signed);
        }
    }

    private void aggregate(AggregateType type, byte[] bytes, int at) {
        switch (type) {
            case CountType _, SumType _, ExtremeType _ ->
                    divided(AggregateValues.number(type, bytes, at), AggregateValues.signed(type));
            case AverageType average -> {
                if (average.full()) {
                    out.put("{\"count\": ");
                    number(AggregateValues.count(bytes, at), false, out);
                    out.put(", \"average\": ");
                }
                divided(AggregateValues.number(type, bytes, at), average.signed());
                if (average.full()) {
                    out.put(", \"total\": ");
                    number(ValueBytes.u64(bytes, at), average.signed(), out);
                    out.put('}');
                }
            }
            case HistType hist ->
                    BucketHistogram.writeJson(
                            BucketHistogram.of("", hist, bytes, at, divisor), out);
            case LhistType lhist ->
                    BucketHistogram.writeJson(BucketHistogram.of("", lhist, bytes, at), out);
            case SeriesType series -> {
                SeriesTable table = SeriesTable.of(series, bytes, at);
                table.writeJson(table.latest(), out);
            }
        }
    }
}
