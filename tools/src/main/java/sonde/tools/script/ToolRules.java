package sonde.tools.script;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.tools.option.TimeOption;

/**
 * What the words of a tool's command line mean, as lines of the comment on top of its script say:
 *
 * <ul>
 *   <li>{@code // time: NAME UNIT}: the option is a time, the script takes nanoseconds; with {@code
 *       whole} behind it, it counts seconds;
 *   <li>{@code // signal: NAME}, {@code errno}, {@code user}, {@code syscall}, {@code flag} (of
 *       open), {@code state} (of a thread): the option is one, its number or its name;
 *   <li>{@code // choice: NAME WORD…}: the option is one of these;
 *   <li>{@code // list: NAME…}: the options take several numbers, see {@link OptionLists}; {@code
 *       // ports: NAME…}: the same of ports;
 *   <li>{@code // takes: PROBE} or {@code FUNCTION}: the word it needs, see {@link ProbeWord};
 *   <li>{@code // first word: NAME}: {@code $1} is the value of this option;
 *   <li>{@code // words: NAME…}: words without an option are the values of these; else of {@code
 *       interval} and {@code lists}, where it has them;
 *   <li>{@code // letters: LETTER=NAME…}: short names of options, besides those of {@link
 *       ToolModel}; {@code -} for what is always so;
 *   <li>{@code // column: HEADING NAME TEXT}: a column that is shown when this option is given;
 *       JSON has all;
 *   <li>{@code // unit: us}: its times are microseconds; other units can be asked for;
 *   <li>{@code // prints: rows}: a line for each event, below one with the names of the columns;
 *   <li>{@code // sorted: COLUMN… OPTION}: its lines are lists, each with an empty line behind it;
 *       first come those with the largest sum of these columns, and as many as the option says;
 *   <li>{@code // screen: cleared}: on a terminal a list takes the place of the one before;
 *   <li>{@code // folded: PART…}: its maps are of stacks and can be folded for flame graphs; the
 *       parts are numbers of a key's parts, with {@code -} innermost first, or {@code by kind};
 *   <li>{@code // stacks: PART…}: for people its maps are laid out as BCC does: stacks by their
 *       number in the key, {@code NAME=0} with its name in JSON, {@code waker:2,3} a line with a
 *       name and other parts, {@code --} a border; or {@code by kind};
 *   <li>{@code // no pid: REASON}: what it shows belongs to no process;
 *   <li>{@code // command: WORDS}: whom {@code -c} is about, where not the command and what it
 *       starts.
 * </ul>
 *
 * @param lists options that take several numbers, with the greatest that one may be
 * @param takes empty for a tool that takes no words
 * @param firstWord empty for none
 * @param words options whose values may be given without their names
 * @param unit whether times have a unit that can be chosen
 * @param clears whether a list takes the place of the one before
 * @param rows whether it prints a line for each event, below one with the names of the columns
 * @param sorted by which columns its lists are, then the option that says how many rows they have;
 *     empty where there are no lists
 * @param folded in which order its keys are folded, none for by kind; empty where they have no
 *     stacks
 * @param stacks how stacks are laid out for people: {@code kind}, or words; empty for the map's own
 *     layout
 * @param withoutPid empty where {@code -p} holds
 * @param command empty for the command and what it starts
 */
public record ToolRules(
        Map<String, TimeOption> times,
        Map<String, NumberKind> numbers,
        Map<String, List<String>> choices,
        Map<String, Integer> lists,
        Map<Character, String> letters,
        List<ToolColumn> columns,
        String takes,
        String firstWord,
        List<String> words,
        boolean unit,
        boolean rows,
        List<String> sorted,
        boolean clears,
        Optional<List<String>> folded,
        List<String> stacks,
        String withoutPid,
        String command) {

    /**
     * A column that is shown when an option is given.
     *
     * @param text what its help says
     */
    public record ToolColumn(String heading, String option, String text) {
        private static ToolColumn of(String[] words) {
            return new ToolColumn(
                    words[0], words[1], String.join(" ", List.of(words).subList(2, words.length)));
        }
    }

    /** Reads lines one by one. */
    static final class RulesReader {
        private static final int MOST = 999_999_999;
        private static final int MOST_PORT = 65_535;

        private final Map<String, TimeOption> times = new LinkedHashMap<>();
        private final Map<String, NumberKind> numbers = new LinkedHashMap<>();
        private final Map<String, List<String>> choices = new LinkedHashMap<>();
        private final Map<String, Integer> lists = new LinkedHashMap<>();
        private final Map<Character, String> letters = new LinkedHashMap<>();
        private final List<ToolColumn> columns = new ArrayList<>();
        private String takes = "";
        private String firstWord = "";
        private List<String> positional = List.of();
        private boolean unit;
        private boolean rows;
        private List<String> sorted = List.of();
        private boolean clears;
        private Optional<List<String>> folded = Optional.empty();
        private List<String> stacks = List.of();
        private String withoutPid = "";
        private String command = "";

        /** False for a line that says something else. */
        boolean accept(String key, String value) {
            String[] words = value.split(" ", -1);
            switch (key) {
                case "time" -> times.put(words[0], new TimeOption(words[1], words.length > 2));
                case "letters" -> {
                    for (String letter : words) {
                        letters.put(letter.charAt(0), letter.substring(2));
                    }
                }
                case "list" -> List.of(words).forEach(option -> lists.put(option, MOST));
                case "ports" -> List.of(words).forEach(option -> lists.put(option, MOST_PORT));
                case "column" -> columns.add(ToolColumn.of(words));
                case "words" -> positional = List.of(words);
                case "unit" -> unit = true;
                case "screen" -> clears = true;
                case "choice" -> choices.put(words[0], List.of(words).subList(1, words.length));
                case "takes" -> takes = value;
                case "first word" -> firstWord = value;
                case "prints" -> rows = value.equals("rows");
                case "sorted" -> sorted = List.of(words);
                case "folded" -> folded = Optional.of(layout(value, words));
                case "stacks" -> stacks = layout(value, words);
                case "no pid" -> withoutPid = value;
                case "command" -> command = value;
                default -> {
                    return isNumber(key, value);
                }
            }
            return true;
        }

        private static List<String> layout(String value, String[] words) {
            return value.equals("by kind") ? List.of("kind") : List.of(words);
        }

        private boolean isNumber(String key, String option) {
            for (NumberKind kind : NumberKind.values()) {
                if (kind.word().equals(key)) {
                    numbers.put(option, kind);
                    return true;
                }
            }
            return false;
        }

        ToolRules rules() {
            return new ToolRules(
                    Map.copyOf(times),
                    Map.copyOf(numbers),
                    Map.copyOf(choices),
                    Map.copyOf(lists),
                    Map.copyOf(letters),
                    List.copyOf(columns),
                    takes,
                    firstWord,
                    positional,
                    unit,
                    rows,
                    sorted,
                    clears,
                    folded,
                    stacks,
                    withoutPid,
                    command);
        }
    }
}
