package sonde.view;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.PrettyPrinter;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.result.ValueOutput;

/** Nested values as JSON. */
record JsonValueOutput(JsonGenerator json) implements ValueOutput {
    @Override
    public void beginObject() throws IOException {
        json.writeStartObject();
    }

    @Override
    public void endObject() throws IOException {
        json.writeEndObject();
    }

    @Override
    public void beginArray() throws IOException {
        json.writeStartArray();
    }

    @Override
    public void endArray() throws IOException {
        json.writeEndArray();
    }

    @Override
    public void name(String name) throws IOException {
        json.writeFieldName(TextEscape.wellFormed(name));
    }

    @Override
    public void value(long number) throws IOException {
        json.writeNumber(number);
    }

    @Override
    public void value(@Nullable Object value) throws IOException {
        switch (value) {
            case null -> json.writeNull();
            case Map<?, ?> map -> {
                beginObject();
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    field(String.valueOf(entry.getKey()), entry.getValue());
                }
                endObject();
            }
            case Iterable<?> list -> {
                beginArray();
                for (Object one : list) {
                    value(one);
                }
                endArray();
            }
            case Boolean flag -> json.writeBoolean(flag);
            case Double number when !Double.isFinite(number) -> json.writeNull();
            case Double number -> json.writeNumber(number);
            case BigInteger number -> json.writeNumber(number);
            case Number number -> json.writeNumber(number.longValue());
            default -> json.writeString(TextEscape.wellFormed(value.toString()));
        }
    }

    /**
     * A line for each element of the arrays at a depth, and spaces behind commas and colons.
     *
     * <p>An array above them has each element on a line, too, but does not begin with one. An
     * object beside such an array has no spaces.
     */
    static final class RowPrinter implements PrettyPrinter {
        private final int rowDepth;
        private int depth;

        RowPrinter(int rowDepth) {
            this.rowDepth = rowDepth;
        }

        @Override
        public void writeRootValueSeparator(JsonGenerator json) throws IOException {
            json.writeRaw(' ');
        }

        @Override
        public void writeStartObject(JsonGenerator json) throws IOException {
            depth++;
            json.writeRaw('{');
        }

        @Override
        public void writeEndObject(JsonGenerator json, int count) throws IOException {
            depth--;
            json.writeRaw('}');
        }

        @Override
        public void writeObjectEntrySeparator(JsonGenerator json) throws IOException {
            json.writeRaw(depth == rowDepth ? "," : ", ");
        }

        @Override
        public void writeObjectFieldValueSeparator(JsonGenerator json) throws IOException {
            json.writeRaw(depth == rowDepth ? ":" : ": ");
        }

        @Override
        public void writeStartArray(JsonGenerator json) throws IOException {
            depth++;
            json.writeRaw('[');
        }

        @Override
        public void writeEndArray(JsonGenerator json, int count) throws IOException {
            json.writeRaw(depth == rowDepth ? "\n]" : "]");
            depth--;
        }

        @Override
        public void writeArrayValueSeparator(JsonGenerator json) throws IOException {
            json.writeRaw(depth == rowDepth ? ",\n  " : depth < rowDepth ? ",\n" : ", ");
        }

        @Override
        public void beforeArrayValues(JsonGenerator json) throws IOException {
            if (depth == rowDepth) {
                json.writeRaw("\n  ");
            }
        }

        @Override
        public void beforeObjectEntries(JsonGenerator json) {
            // they follow the brace
        }
    }
}
