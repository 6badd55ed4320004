package sonde.tools.kernel;

import java.util.HashMap;
import java.util.Map;

/**
 * How a kernel was built.
 *
 * @param source the file that says it; empty where none does
 * @param values by name, without {@code CONFIG_}; those that are not set are left out
 */
record KernelConfig(String source, Map<String, String> values) {
    static final KernelConfig UNKNOWN = new KernelConfig("", Map.of());
    private static final String PREFIX = "CONFIG_";

    static KernelConfig parse(String source, String text) {
        Map<String, String> values = new HashMap<>();
        text.lines()
                .filter(line -> line.startsWith(PREFIX))
                .map(line -> line.substring(PREFIX.length()).split("=", 2))
                .filter(parts -> parts.length == 2)
                .forEach(parts -> values.put(parts[0], parts[1].replace("\"", "")));
        return values.isEmpty() ? UNKNOWN : new KernelConfig(source, values);
    }

    boolean isKnown() {
        return !source.isEmpty();
    }

    /** "y", "m", a number or a text; "n" for what is not set. */
    String value(String name) {
        return values.getOrDefault(name, "n");
    }

    boolean isSet(String name) {
        return !value(name).equals("n");
    }
}
