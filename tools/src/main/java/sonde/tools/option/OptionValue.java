package sonde.tools.option;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The value of an option. Range, default and repetition are read from the end of its help, so that
 * help cannot say something else: {@code (1..100000, default 999)}, {@code (at least 1)}, {@code
 * (repeatable)}.
 *
 * @param label what help calls it; it has the unit: {@code HZ}, {@code MIB}, {@code TIME}
 * @param optional whether the option may stand without it: {@code [URL]}
 * @param attached whether it must stand behind an equals sign: {@code [=EVENT]}
 * @param list whether it takes several, separated by commas: {@code PID,...}
 * @param repeatable whether all values count when the option is given again; else the last one
 * @param least the smallest number, or {@link Long#MIN_VALUE}
 * @param most the greatest number, or {@link Long#MAX_VALUE}
 * @param standard the value when the option is not given; empty for none
 */
public record OptionValue(
        String label,
        ValueKind kind,
        boolean optional,
        boolean attached,
        boolean list,
        boolean repeatable,
        long least,
        long most,
        String standard) {
    private static final Pattern RANGE = Pattern.compile("\\b(\\d{1,18})\\.\\.(\\d{1,18})\\b");
    private static final Pattern LEAST = Pattern.compile("\\bat least (\\d{1,18})\\b");
    private static final Pattern STANDARD = Pattern.compile("\\bdefault ([^\\s,;()]+)[,;)]");

    /** The value of a label, as help has it, and of the help. */
    static OptionValue of(String shown, String help) {
        boolean optional = shown.startsWith("[");
        String label = optional ? shown.substring(1, shown.length() - 1) : shown;
        boolean attached = label.startsWith("=");
        label = attached ? label.substring(1) : label;
        boolean list = label.endsWith(",...");
        label = list ? label.substring(0, label.length() - 4) : label;
        int open = help.endsWith(")") ? help.lastIndexOf('(') : -1;
        String facts = open < 0 ? "" : help.substring(open);
        ValueKind kind = ValueKind.of(label);
        long least = kind == ValueKind.PROCESS ? 1 : Long.MIN_VALUE;
        least = kind == ValueKind.NUMBER && !label.equals("NANOS") ? 0 : least;
        long most = kind == ValueKind.PROCESS ? 4 << 20 : Long.MAX_VALUE;
        Matcher range = RANGE.matcher(facts);
        Matcher atLeast = LEAST.matcher(facts);
        if (range.find()) {
            least = Long.parseLong(range.group(1));
            most = Long.parseLong(range.group(2));
        } else if (atLeast.find()) {
            least = Long.parseLong(atLeast.group(1));
        }
        Matcher standard = STANDARD.matcher(facts);
        return new OptionValue(
                label,
                kind,
                optional,
                attached,
                list,
                list || facts.contains("repeatable"),
                least,
                most,
                standard.find() ? standard.group(1) : "");
    }

    /** As help shows it, a blank first; empty for a flag. */
    String shown() {
        String text = label + (list ? ",..." : "");
        return kind == ValueKind.FLAG
                ? ""
                : attached ? "[=" + text + "]" : optional ? " [" + text + "]" : " " + text;
    }

    /** The words of a {@link ValueKind#CHOICE}. */
    public List<String> choices() {
        return kind == ValueKind.CHOICE ? List.of(label.split("\\|")) : List.of();
    }

    /** Whether a word behind the option is its value, where it may have none. */
    public boolean mayBe(String word) {
        boolean fits =
                kind == ValueKind.URL ? word.matches("(?i)https?://.*") : !word.startsWith("-");
        return fits && !attached;
    }

    /**
     * Checks a word.
     *
     * @param option with its dashes, for the message
     */
    void check(String option, String word) {
        if (optional && word.isEmpty()) {
            return;
        }
        switch (kind) {
            case NUMBER, PROCESS -> number(option, word);
            case TIME -> TimeOption.SECONDS.nanos(option, word);
            case CHOICE -> {
                if (!choices().contains(word)) {
                    throw new OptionException(
                            "%s: '%s' is none of %s"
                                    .formatted(option, word, String.join(", ", choices())));
                }
            }
            case FLAG, TEXT, FILE, FOLDER, URL -> {}
        }
    }

    /**
     * A number within its range.
     *
     * @param option with its dashes, for the message
     */
    public long number(String option, String word) {
        if (!word.matches("-?[0-9]{1,18}")) {
            throw new OptionException(option + ": '" + word + "' is not a number");
        }
        long number = Long.parseLong(word);
        if (number < least || number > most) {
            String range =
                    most == Long.MAX_VALUE
                            ? ": the least there can be is " + least
                            : " is not within " + least + ".." + most;
            throw new OptionException(option + " " + word + range);
        }
        return number;
    }
}
