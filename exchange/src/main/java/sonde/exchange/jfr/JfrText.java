package sonde.exchange.jfr;

import org.jspecify.annotations.Nullable;
import sonde.exchange.jfr.JfrMetadata.JfrClass;
import sonde.recording.JsonString;

/** Values of classes as text: a method as its name, other things by their fields. */
final class JfrText {
    private static final int MOST_DEPTH = 8;
    private static final int MOST_CHARS = 1 << 16;

    private final JfrChunk chunk;

    JfrText(JfrChunk chunk) {
        this.chunk = chunk;
    }

    /** A text; empty for null. */
    String of(JfrClass type, @Nullable Object value) {
        return of(type, value, 0);
    }

    private String of(JfrClass type, @Nullable Object given, int depth) {
        Object value = chunk.resolve(given);
        if (value == null || depth > MOST_DEPTH) {
            return "";
        }
        if (!(value instanceof Object[] fields)) {
            return value.toString();
        }
        switch (type.name()) {
            case "java.lang.Class" -> {
                return part(type, value, "name", depth).replace('/', '.');
            }
            case "jdk.types.Method" -> {
                String in = part(type, value, "type", depth);
                return in + "." + part(type, value, "name", depth);
            }
            case "java.lang.Thread" -> {
                String name = part(type, value, "javaName", depth);
                return name.isEmpty() ? part(type, value, "osName", depth) : name;
            }
            case "jdk.types.Symbol" -> {
                return part(type, value, "string", depth);
            }
            default -> {}
        }
        if (type.fields().size() == 1 && fields.length == 1) {
            return part(type, value, type.fields().getFirst().name(), depth);
        }
        StringBuilder out = new StringBuilder("{");
        for (int i = 0; i < fields.length && out.length() < MOST_CHARS; i++) {
            String name = type.fields().get(i).name();
            JsonString.append(out.append(i == 0 ? "" : ","), name).append(':');
            JsonString.append(out, part(type, value, name, depth));
        }
        return out.append('}').toString();
    }

    /** A member as text. */
    String part(JfrClass type, @Nullable Object value, String name, int depth) {
        JfrClass of = chunk.memberType(type, name);
        Object member = chunk.member(type, value, name);
        if (of == null) {
            return "";
        }
        if (chunk.resolve(member) instanceof Object[] array && isArray(type, name)) {
            StringBuilder out = new StringBuilder("[");
            for (int i = 0; i < array.length && out.length() < MOST_CHARS; i++) {
                JsonString.append(out.append(i == 0 ? "" : ","), of(of, array[i], depth + 1));
            }
            return out.append(']').toString();
        }
        return of(of, member, depth + 1);
    }

    private static boolean isArray(JfrClass type, String name) {
        return type.fields().stream().anyMatch(field -> field.name().equals(name) && field.array());
    }
}
