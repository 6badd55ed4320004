package sonde.cli;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.format.JsonString;

/** Values under bpftool's keys as JSON: Map, List, String, Boolean, Long, null. */
final class BpfJson {
    private BpfJson() {}

    /** One line, with a line feed. */
    static String of(@Nullable Object value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.append('\n').toString();
    }

    private static void append(StringBuilder out, @Nullable Object value) {
        switch (value) {
            case null -> out.append("null");
            case Map<?, ?> map -> {
                String comma = "{";
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    out.append(comma);
                    JsonString.append(out, String.valueOf(entry.getKey()));
                    out.append(':');
                    append(out, entry.getValue());
                    comma = ",";
                }
                out.append(map.isEmpty() ? "{}" : "}");
            }
            case List<?> list -> {
                String comma = "[";
                for (Object one : list) {
                    out.append(comma);
                    append(out, one);
                    comma = ",";
                }
                out.append(list.isEmpty() ? "[]" : "]");
            }
            case Boolean flag -> out.append(flag);
            case Number number -> out.append(number);
            default -> JsonString.append(out, value.toString());
        }
    }
}
