package sonde.tools.script;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import sonde.tools.option.OptionException;

/**
 * Options that were given several numbers: {@code -P 80,443}. Where a script asks {@code port ==
 * getopt("port", 0)}, or {@code pid == $pid}, each of them is asked for.
 */
final class OptionLists {
    private static final int MOST = 64;

    private final Map<String, List<String>> numbers = new LinkedHashMap<>();

    /**
     * Keeps the numbers of an option.
     *
     * @param most the greatest that one may be
     * @return the first, which the script sees
     */
    String keep(String option, String words, int most) {
        List<String> all = List.of(words.split(",", -1));
        for (String word : all) {
            if (!word.matches("[0-9]{1,9}") || all.size() > MOST) {
                throw new OptionException(
                        "--"
                                + option
                                + ": '"
                                + words
                                + "' is not a number, and no list like 80,443");
            }
            if (Integer.parseInt(word) > most) {
                throw new OptionException(
                        "--" + option + " " + words + ": the greatest there can be is " + most);
            }
        }
        numbers.put(option, all);
        return all.getFirst();
    }

    /** The numbers of an option. */
    List<String> of(String option) {
        return numbers.getOrDefault(option, List.of());
    }

    /** A script that asks for all of them. */
    String put(String script) {
        String made = script;
        for (Map.Entry<String, List<String>> one : numbers.entrySet()) {
            Pattern asked =
                    Pattern.compile(
                            "([$\\w.]+) == (?:getopt\\(\""
                                    + one.getKey()
                                    + "\", 0(?:, \"[^\"]*\")?\\)|\\$"
                                    + one.getKey()
                                    + "\\b)");
            if (one.getValue().size() > 1) {
                made = asked.matcher(made).replaceAll(found -> any(found.group(1), one.getValue()));
            }
        }
        return made;
    }

    private static String any(String value, List<String> numbers) {
        return Matcher.quoteReplacement(
                numbers.stream()
                        .map(number -> value + " == " + number)
                        .collect(Collectors.joining(" || ", "(", ")")));
    }
}
