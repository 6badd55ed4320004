package sonde.conformance;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A JSON document: an object whose members are asked for by name. */
record Json(Map<String, Object> members) {
    /** Reads one object. */
    static Json parse(String text) throws IOException {
        try (JsonParser parser = new JsonFactory().createParser(text)) {
            parser.nextToken();
            return (Json) value(parser);
        } catch (IOException e) {
            throw new IOException(
                    "no JSON: " + text.substring(0, Math.min(text.length(), 2000)), e);
        }
    }

    private static Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> {
                Map<String, Object> members = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    members.put(name, value(parser));
                }
                yield new Json(members);
            }
            case START_ARRAY -> {
                List<Object> items = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    items.add(value(parser));
                }
                yield items;
            }
            case VALUE_NUMBER_INT -> parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_NULL -> "";
            case null, default -> parser.getText();
        };
    }

    private Object member(String name) {
        Object found = members.get(name);
        if (found == null) {
            throw new AssertionError("no " + name + " in " + members.keySet());
        }
        return found;
    }

    boolean has(String name) {
        return members.containsKey(name);
    }

    Json object(String name) {
        return (Json) member(name);
    }

    String text(String name) {
        return member(name).toString();
    }

    /** A number; 0 where the document has null. */
    long number(String name) {
        return member(name) instanceof Number number ? number.longValue() : 0;
    }

    /** Items of an array of objects; none when there is no such member. */
    List<Json> objects(String name) {
        return items(name).stream().map(Json.class::cast).toList();
    }

    /** Items of an array of texts or numbers, as text. */
    List<String> texts(String name) {
        return items(name).stream().map(Object::toString).toList();
    }

    private List<?> items(String name) {
        return members.get(name) instanceof List<?> list ? list : List.of();
    }
}
