package sonde.tools.option;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An option of a command.
 *
 * @param names as help shows them, with dashes, letters first
 * @param hidden further spellings that are accepted
 * @param help what it does, with range and default at the end
 */
public record OptionModel(List<String> names, List<String> hidden, OptionValue value, String help) {
    private static final Pattern SEPARATOR = Pattern.compile(", ");

    /**
     * An option.
     *
     * @param head names and label: {@code -F, --frequency HZ}
     */
    public static OptionModel of(String head, String help) {
        int last = head.lastIndexOf(", ");
        int label = head.indexOf(' ', last < 0 ? 0 : last + 2);
        label = head.endsWith("]") && label < 0 ? head.indexOf('[') : label;
        String names = label < 0 ? head : head.substring(0, label);
        String shown = label < 0 ? "" : head.substring(label).strip();
        return new OptionModel(
                List.of(SEPARATOR.split(names)), List.of(), OptionValue.of(shown, help), help);
    }

    /** The same with other names. */
    public OptionModel named(List<String> others) {
        return new OptionModel(others, hidden, value, help);
    }

    /** The same with further spellings. */
    public OptionModel alias(String... spellings) {
        List<String> all = Stream.concat(hidden.stream(), Stream.of(spellings)).toList();
        return new OptionModel(names, all, value, help);
    }

    /** The name by which its values are asked for: the long one, where there is one. */
    public String name() {
        return names.getLast();
    }

    /** All names that are accepted. */
    public Stream<String> spellings() {
        return Stream.concat(names.stream(), hidden.stream());
    }

    /** Names and label, as help shows them: {@code -F, --frequency HZ}. */
    public String head() {
        return String.join(", ", names) + value.shown();
    }

    /** Whether it takes no value. */
    public boolean isFlag() {
        return value.kind() == ValueKind.FLAG;
    }
}
