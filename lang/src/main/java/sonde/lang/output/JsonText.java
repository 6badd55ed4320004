package sonde.lang.output;

import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/**
 * Values as JSON: records are objects, tuples and buffers arrays, enumerations and pointers
 * numbers, what text shows as words strings. Whole numbers that a double cannot hold are strings.
 */
public final class JsonText {
    private final Names names;
    private final TextSink out;
    private final long divisor;

    private JsonText(Names names, TextSink out, long divisor) {
        this.names = names;
        this.out = out;
        this.divisor = divisor;
    }

    /** As print shows it. */
    public static String text(Type type, byte[] bytes, int offset, Names names) {
        TextSink out = TextSink.raw();
        write(type, bytes, offset, names, out);
        return out.toString();
    }

    /** As print shows it. */
    public static void write(Type type, byte[] bytes, int offset, Names names, TextSink out) {
        write(type, bytes, offset, names, out, 1);
    }

    /** As a map shows it: numbers divided. */
    static void write(
            Type type, byte[] bytes, int offset, Names names, TextSink out, long divisor) {
        new JsonText(names, out, divisor).value(type, bytes, offset, 0);
    }

    /** A key of a map: its text without spaces of our own, a tuple without its parentheses. */
    static void key(Type type, byte[] bytes, Names names, TextSink out) {
        TextSink text = TextSink.raw();
        ValueText.key(type, bytes, names, text);
        if (type instanceof Tuple tuple && !tuple.named()) {
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

    private void value(Type type, byte[] bytes, int at, int depth) {
        if (depth > ValueText.MAX_DEPTH) {
            out.put("null");
            return;
        }
        switch (type) {
            case Type.Void _, Type.Float _ -> out.put("null");
            case Type.Int integer -> integer(integer, bytes, at);
            case Type.Bool _ -> truth(ValueBytes.integer(bytes, at, 1, false));
            case Type.Bytes buffer -> buffer(buffer, bytes, at);
            case Type.Pointer _ -> number(ValueBytes.u64(bytes, at), false, out);
            case Type.Array array -> array(array, bytes, at, depth);
            case Type.Enum constant -> number(ValueText.number(constant, bytes, at), false, out);
            case Type.Text _, Type.Named _, Type.Stack _ -> words(type, bytes, at);
            case Composite composite -> composite(composite, bytes, at, depth);
            case Type.Aggregate aggregate -> aggregate(aggregate, bytes, at);
        }
    }

    private void integer(Type.Int type, byte[] bytes, int at) {
        if (type.sizeBytes() > 8) {
            out.json(ValueText.wide(type, bytes, at).toString());
            return;
        }
        divided(ValueBytes.integer(bytes, at, type.sizeBytes(), type.signed()), type.signed());
    }

    private void truth(long value) {
        out.put(value != 0 ? "true" : "false");
    }

    private void words(Type type, byte[] bytes, int at) {
        TextSink text = TextSink.raw();
        ValueText.write(type, bytes, at, names, text);
        out.json(text);
    }

    private void buffer(Type.Bytes type, byte[] bytes, int at) {
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

    private void array(Type.Array type, byte[] bytes, int at, int depth) {
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

    private void composite(Composite type, byte[] bytes, int at, int depth) {
        boolean isList = type instanceof Tuple tuple && !tuple.named();
        out.put(isList ? '[' : '{');
        int empty = out.size();
        members(type, bytes, at * 8L, empty, depth + 1);
        out.put(isList ? ']' : '}');
    }

    private void members(Composite type, byte[] bytes, long bitOffset, int empty, int depth) {
        boolean isList = type instanceof Tuple tuple && !tuple.named();
        for (Field field : type.fields()) {
            if (field.place() == Field.Place.CLOSED) {
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
            } else if (field.type() instanceof Struct inner && depth <= ValueText.MAX_DEPTH) {
                members(inner, bytes, bitOffset + field.bitOffset(), empty, depth + 1);
            }
        }
    }

    private void field(Field field, byte[] bytes, long base, int depth) {
        long from = base + field.bitOffset();
        int at = Math.clamp(from >> 3, 0, Integer.MAX_VALUE / 2);
        if (field.place() != Field.Place.HERE) {
            number(ValueBytes.integer(bytes, at, 4, false), false, out);
        } else if (field.bits() == 0) {
            value(field.type(), bytes, at, depth);
        } else if (field.type() instanceof Type.Bool) {
            truth(ValueBytes.bits(bytes, from, field.bits(), false));
        } else {
            boolean signed = field.type() instanceof Type.Int integer && integer.signed();
            divided(ValueBytes.bits(bytes, from, field.bits(), signed), signed);
        }
    }

    private void aggregate(Type.Aggregate type, byte[] bytes, int at) {
        switch (type) {
            case Type.Count _, Type.Sum _, Type.Extreme _ ->
                    divided(Aggregates.number(type, bytes, at), Aggregates.signed(type));
            case Type.Average average -> {
                if (average.full()) {
                    out.put("{\"count\": ");
                    number(Aggregates.count(bytes, at), false, out);
                    out.put(", \"average\": ");
                }
                divided(Aggregates.number(type, bytes, at), average.signed());
                if (average.full()) {
                    out.put(", \"total\": ");
                    number(ValueBytes.u64(bytes, at), average.signed(), out);
                    out.put('}');
                }
            }
            case Type.Hist hist -> Histogram.of(hist, bytes, at, divisor).writeJson(out);
            case Type.Lhist lhist -> Histogram.of(lhist, bytes, at).writeJson(out);
            case Type.Series series -> {
                SeriesTable table = SeriesTable.of(series, bytes, at);
                table.writeJson(table.latest(), out);
            }
        }
    }
}
