package sonde.recording.ctf.json;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;

/** A JSON value of a fragment. */
final class JsonFragment {
    private static final BigInteger MOST_UNSIGNED =
            BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);

    private final @Nullable Object value;
    private final int at;

    private JsonFragment(@Nullable Object value, int at) {
        this.value = value;
        this.at = at;
    }

    /** A parsed value of the fragment that begins there. */
    static JsonFragment of(@Nullable Object value, int at) {
        return new JsonFragment(value, at);
    }

    @Nullable Object value() {
        return value;
    }

    MalformedInputException malformed(String found) {
        return new MalformedInputException("ctf", "metadata", at, found);
    }

    private Map<?, ?> object() throws MalformedInputException {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw malformed("an object wanted, " + value + " found");
    }

    boolean has(String name) throws MalformedInputException {
        return object().get(name) != null;
    }

    @Nullable JsonFragment member(String name) throws MalformedInputException {
        Object member = object().get(name);
        return member == null ? null : new JsonFragment(member, at);
    }

    /** Members in their order. */
    Map<String, JsonFragment> members() throws MalformedInputException {
        Map<String, JsonFragment> members = new LinkedHashMap<>();
        for (Map.Entry<?, ?> entry : object().entrySet()) {
            members.put(String.valueOf(entry.getKey()), new JsonFragment(entry.getValue(), at));
        }
        return members;
    }

    String text() throws MalformedInputException {
        if (value instanceof String text) {
            return text;
        }
        throw malformed("a string wanted, " + value + " found");
    }

    String text(String name) throws MalformedInputException {
        JsonFragment member = member(name);
        if (member == null) {
            throw malformed("no " + name);
        }
        return member.text();
    }

    String text(String name, String otherwise) throws MalformedInputException {
        JsonFragment member = member(name);
        return member == null ? otherwise : member.text();
    }

    /** An integer, its low 64 bits. */
    long integer() throws MalformedInputException {
        if (value instanceof BigInteger number
                && number.compareTo(LEAST) >= 0
                && number.compareTo(MOST_UNSIGNED) <= 0) {
            return number.longValue();
        }
        throw malformed("an integer of 64 bits wanted, " + value + " found");
    }

    BigInteger number() throws MalformedInputException {
        if (value instanceof BigInteger number) {
            return number;
        }
        throw malformed("an integer wanted, " + value + " found");
    }

    long integer(String name, long otherwise) throws MalformedInputException {
        JsonFragment member = member(name);
        return member == null ? otherwise : member.integer();
    }

    List<JsonFragment> list() throws MalformedInputException {
        if (!(value instanceof List<?> list)) {
            throw malformed("an array wanted, " + value + " found");
        }
        List<JsonFragment> values = new ArrayList<>();
        for (Object one : list) {
            values.add(new JsonFragment(one, at));
        }
        return values;
    }

    /** The elements; none where there is no such member. */
    List<JsonFragment> list(String name) throws MalformedInputException {
        JsonFragment member = member(name);
        return member == null ? List.of() : member.list();
    }

    /** Members that are integers (longs) or strings. */
    Map<String, Object> scalars() throws MalformedInputException {
        Map<String, Object> scalars = new LinkedHashMap<>();
        for (Map.Entry<String, JsonFragment> entry : members().entrySet()) {
            Object one = entry.getValue().value;
            if (one instanceof BigInteger number) {
                scalars.put(entry.getKey(), number.longValue());
            } else if (one instanceof String text) {
                scalars.put(entry.getKey(), text);
            }
        }
        return scalars;
    }
}
