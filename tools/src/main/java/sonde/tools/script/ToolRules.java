package sonde.tools.script;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the words of a tool's command line mean, as lines of the comment on top of its script say:
 *
 * <ul>
 *   <li>{@code // time: NAME UNIT}: the option is a time, the script takes nanoseconds; with {@code
 *       whole} behind it, it counts seconds;
 *   <li>{@code // signal: NAME}: the option is a signal, its number or its name;
 *   <li>{@code // choice: NAME WORD…}: the option is one of these;
 *   <li>{@code // takes: PROBE} or {@code FUNCTION}: the word it needs, see {@link ProbeWord};
 *   <li>{@code // first word: NAME}: {@code $1} is the value of this option;
 *   <li>{@code // prints: rows}: a line for each event, below one with the names of the columns;
 *   <li>{@code // sorted: COLUMN… OPTION}: its lines are lists, each with an empty line behind it;
 *       first come those with the largest sum of these columns, and as many as the option says;
 *   <li>{@code // folded: PART…}: its maps are of stacks and can be folded for flame graphs; the
 *       parts are numbers of a key's parts, with {@code -} innermost first, or {@code by kind};
 *   <li>{@code // no pid: REASON}: what it shows belongs to no process;
 *   <li>{@code // command: WORDS}: whom {@code -c} is about, where not the command and what it
 *       starts.
 * </ul>
 *
 * @param takes empty for a tool that takes no words
 * @param firstWord empty for none
 * @param rows whether it prints a line for each event, below one with the names of the columns
 * @param sorted by which columns its lists are, then the option that says how many rows they have;
 *     empty where there are no lists
 * @param folded in which order its keys are folded, none for by kind; empty where they have no
 *     stacks
 * @param withoutPid empty where {@code -p} holds
 * @param command empty for the command and what it starts
 */
public record ToolRules(
        Map<String, TimeOption> times,
        Set<String> signals,
        Map<String, List<String>> choices,
        String takes,
        String firstWord,
        boolean rows,
        List<String> sorted,
        Optional<List<String>> folded,
        String withoutPid,
        String command) {

    /** Reads lines one by one. */
    static final class Reader {
        private final Map<String, TimeOption> times = new LinkedHashMap<>();
        private final Set<String> signals = new HashSet<>();
        private final Map<String, List<String>> choices = new LinkedHashMap<>();
        private String takes = "";
        private String firstWord = "";
        private boolean rows;
        private List<String> sorted = List.of();
        private Optional<List<String>> folded = Optional.empty();
        private String withoutPid = "";
        private String command = "";

        /** False for a line that says something else. */
        boolean accept(String key, String value) {
            String[] words = value.split(" ", -1);
            switch (key) {
                case "time" -> times.put(words[0], new TimeOption(words[1], words.length > 2));
                case "signal" -> signals.add(value);
                case "choice" -> choices.put(words[0], List.of(words).subList(1, words.length));
                case "takes" -> takes = value;
                case "first word" -> firstWord = value;
                case "prints" -> rows = value.equals("rows");
                case "sorted" -> sorted = List.of(words);
                case "folded" ->
                        folded = Optional.of(value.equals("by kind") ? List.of() : List.of(words));
                case "no pid" -> withoutPid = value;
                case "command" -> command = value;
                default -> {
                    return false;
                }
            }
            return true;
        }

        ToolRules rules() {
            return new ToolRules(
                    Map.copyOf(times),
                    Set.copyOf(signals),
                    Map.copyOf(choices),
                    takes,
                    firstWord,
                    rows,
                    sorted,
                    folded,
                    withoutPid,
                    command);
        }
    }
}
