package sonde.recording.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.recording.JsonString;

/**
 * A JSON value. Asking for what is not there gives a value of kind null, an empty list or the
 * number or text that was named: whoever reads a hostile file need not ask first.
 */
public final class JsonTree {
    /** What stands where nothing is. */
    public static final JsonTree NULL = new JsonTree(null);

    private static final int MOST_DEPTH = 200;

    private static final int NODE_BYTES = 96;
    private static final int MOST_EVENT_BYTES = 256 << 20;

    private static final JsonFactory FACTORY =
            JsonFactory.builder()
                    .streamReadConstraints(
                            StreamReadConstraints.builder()
                                    .maxNestingDepth(MOST_DEPTH)
                                    .maxStringLength(64 << 20)
                                    .build())
                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                    .build();

    /** Null, String, Double, Long, Boolean, Map, List or double[]. */
    private final @Nullable Object value;

    private JsonTree(@Nullable Object value) {
        this.value = value;
    }

    /** A parser over bytes, for formats that are read as they go by. */
    public static JsonParser parser(MemorySegment bytes) throws IOException {
        return FACTORY.createParser(new JsonInput(bytes));
    }

    /**
     * A whole text.
     *
     * @throws MalformedInputException when it is no JSON
     */
    public static JsonTree read(String format, Input input) throws IOException {
        try (JsonParser parser = parser(input.segment())) {
            parser.nextToken();
            return of(parser, new TreeBudget(Runtime.getRuntime().maxMemory() / 2));
        } catch (MalformedInputException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            throw new MalformedInputException(format, "JSON", -1, firstLine(e));
        }
    }

    /** What a parser's exception says, without the place it names. */
    public static String firstLine(Exception e) {
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf('\n');
        return end < 0 ? message : message.substring(0, end);
    }

    /** The value whose first token the parser stands at; the parser stays at its last one. */
    public static JsonTree of(JsonParser parser) throws IOException {
        return of(parser, new TreeBudget(MOST_EVENT_BYTES));
    }

    /** Bytes that a tree may take. */
    private static final class TreeBudget {
        private long left;

        TreeBudget(long bytes) {
            left = bytes;
        }

        void take(long bytes) throws IOException {
            left -= bytes;
            if (left < 0) {
                throw new IOException("more values than there is memory for");
            }
        }
    }

    private static JsonTree of(JsonParser parser, TreeBudget budget) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == null) {
            return NULL;
        }
        budget.take(NODE_BYTES);
        return switch (token) {
            case START_OBJECT -> {
                Map<String, JsonTree> members = new LinkedHashMap<>();
                while (parser.nextToken() == JsonToken.FIELD_NAME) {
                    String key = parser.currentName();
                    parser.nextToken();
                    budget.take(NODE_BYTES + 2L * key.length());
                    members.put(key, of(parser, budget));
                }
                yield new JsonTree(members);
            }
            case START_ARRAY -> array(parser, budget);
            case VALUE_STRING -> {
                String text = parser.getText();
                budget.take(2L * text.length());
                yield new JsonTree(text);
            }
            case VALUE_NUMBER_INT -> {
                boolean small = parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
                yield new JsonTree(small ? parser.getLongValue() : parser.getDoubleValue());
            }
            case VALUE_NUMBER_FLOAT -> new JsonTree(parser.getDoubleValue());
            case VALUE_TRUE -> new JsonTree(Boolean.TRUE);
            case VALUE_FALSE -> new JsonTree(Boolean.FALSE);
            default -> NULL;
        };
    }

    /** An array; of numbers and nulls only: as numbers, null as NaN. */
    private static JsonTree array(JsonParser parser, TreeBudget budget) throws IOException {
        double[] numbers = new double[8];
        int count = 0;
        JsonToken token = parser.nextToken();
        while (token == JsonToken.VALUE_NULL || token != null && token.isNumeric()) {
            if (count == numbers.length) {
                budget.take(16L * count);
                numbers = Arrays.copyOf(numbers, 2 * count);
            }
            numbers[count++] = token == JsonToken.VALUE_NULL ? Double.NaN : parser.getDoubleValue();
            token = parser.nextToken();
        }
        if (token == JsonToken.END_ARRAY) {
            return new JsonTree(Arrays.copyOf(numbers, count));
        }
        List<JsonTree> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            elements.add(Double.isNaN(numbers[i]) ? NULL : new JsonTree(numbers[i]));
        }
        while (token != null && token != JsonToken.END_ARRAY) {
            elements.add(of(parser, budget));
            token = parser.nextToken();
        }
        return new JsonTree(elements);
    }

    /**
     * Whether a text begins, behind blanks, as an object or array, and has one of these words in
     * its first bytes.
     */
    public static boolean begins(Input input, int mostBytes, Set<String> words) {
        String head = head(input, mostBytes);
        String start = head.stripLeading();
        boolean json = start.startsWith("{") || start.startsWith("[");
        return json && words.stream().anyMatch(head::contains);
    }

    /** The first bytes as text, a byte order mark left out. */
    public static String head(Input input, int mostBytes) {
        int size = (int) Math.min(mostBytes, input.sizeBytes());
        byte[] bytes = input.segment().asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
        String text = new String(bytes, StandardCharsets.UTF_8);
        return text.startsWith("\ufeff") ? text.substring(1) : text;
    }

    /** Whether there is none. */
    public boolean isNull() {
        return value == null;
    }

    /** Whether it is an object. */
    public boolean isObject() {
        return value instanceof Map;
    }

    /** Whether it is a text. */
    public boolean isText() {
        return value instanceof String;
    }

    /** Whether it is an array. */
    public boolean isArray() {
        return value instanceof List || value instanceof double[];
    }

    /** The member of an object. */
    @SuppressWarnings("unchecked") // objects have texts for keys
    public JsonTree at(String key) {
        return value instanceof Map<?, ?> members
                ? ((Map<String, JsonTree>) members).getOrDefault(key, NULL)
                : NULL;
    }

    /** Names of an object's members. */
    @SuppressWarnings("unchecked") // objects have texts for keys
    public Set<String> keys() {
        return value instanceof Map<?, ?> members
                ? ((Map<String, JsonTree>) members).keySet()
                : Set.of();
    }

    /** Elements of an array. */
    public int size() {
        return switch (value) {
            case List<?> elements -> elements.size();
            case double[] numbers -> numbers.length;
            case null, default -> 0;
        };
    }

    /** The element of an array. */
    public JsonTree at(int index) {
        if (index < 0 || index >= size()) {
            return NULL;
        }
        if (value instanceof double[] numbers) {
            return Double.isNaN(numbers[index]) ? NULL : new JsonTree(numbers[index]);
        }
        return value instanceof List<?> elements ? (JsonTree) elements.get(index) : NULL;
    }

    /** The number at an index of an array; another one where there is none. */
    public double number(int index, double otherwise) {
        if (value instanceof double[] numbers && index >= 0 && index < numbers.length) {
            return Double.isNaN(numbers[index]) ? otherwise : numbers[index];
        }
        return at(index).number(otherwise);
    }

    /** The number at an index of an array as an index; -1 where there is none. */
    public int index(int index) {
        double number = number(index, -1);
        return number >= 0 && number < Integer.MAX_VALUE ? (int) number : -1;
    }

    /** The number that a member is; another one where it is none. */
    public double number(String key, double otherwise) {
        return at(key).number(otherwise);
    }

    /** The number it is, also when it is written as text. */
    public double number(double otherwise) {
        return switch (value) {
            case Long number -> number;
            case Double number -> number;
            case String text -> {
                try {
                    yield Double.parseDouble(text);
                } catch (NumberFormatException e) {
                    yield otherwise;
                }
            }
            case null, default -> otherwise;
        };
    }

    /** The text that a member is; empty where it is none. */
    public String text(String key) {
        return at(key).text();
    }

    /** The text it is; numbers as they are written, empty for anything else. */
    public String text() {
        return switch (value) {
            case String text -> text;
            case Long number -> number.toString();
            case Double number -> JsonString.append(new StringBuilder(), number).toString();
            case null, default -> "";
        };
    }

    /** As JSON without blanks; empty for null. */
    public String json() {
        return value == null ? "" : append(new StringBuilder()).toString();
    }

    private StringBuilder append(StringBuilder out) {
        switch (value) {
            case String text -> JsonString.append(out, text);
            case Double number -> JsonString.append(out, number);
            case double[] numbers -> {
                out.append('[');
                for (int i = 0; i < numbers.length; i++) {
                    JsonString.append(out.append(i == 0 ? "" : ","), numbers[i]);
                }
                out.append(']');
            }
            case List<?> elements -> {
                out.append('[');
                for (int i = 0; i < elements.size(); i++) {
                    at(i).append(out.append(i == 0 ? "" : ","));
                }
                out.append(']');
            }
            case Map<?, ?> members -> {
                char before = '{';
                for (Map.Entry<?, ?> member : members.entrySet()) {
                    JsonString.append(out.append(before), (String) member.getKey()).append(':');
                    ((JsonTree) member.getValue()).append(out);
                    before = ',';
                }
                out.append(members.isEmpty() ? "{}" : "}");
            }
            case null, default -> out.append(value);
        }
        return out;
    }
}
