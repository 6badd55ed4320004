package sonde.tools.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The options of {@code perf probe} that say what is to be done, in any order with others: {@code
 * -x FILE -F}, {@code --add 'f a'}, {@code -D f}, as our words.
 */
public final class PerfProbeSyntax {
    private static final Map<String, String> ACTIONS =
            Map.ofEntries(
                    Map.entry("-F", "funcs"),
                    Map.entry("--funcs", "funcs"),
                    Map.entry("-L", "lines"),
                    Map.entry("--line", "lines"),
                    Map.entry("-V", "vars"),
                    Map.entry("--vars", "vars"),
                    Map.entry("-a", "add"),
                    Map.entry("--add", "add"),
                    Map.entry("-D", "add"),
                    Map.entry("--definition", "add"),
                    Map.entry("-l", "list"),
                    Map.entry("--list", "list"),
                    Map.entry("-d", "del"),
                    Map.entry("--del", "del"));

    /** Those of ours that have a word behind them. */
    private static final Set<String> WITH_VALUE =
            Set.of(
                    """
                    -x --exec -m --module -k --vmlinux -s --source -p --pid \
                    --symbols --debug-dir --group --name\
                    """
                            .split(" "));

    private PerfProbeSyntax() {}

    /** The arguments, {@code probe} first, with the action as the second word where one is said. */
    public static List<String> of(List<String> args, List<String> commands) {
        if (args.size() > 1 && commands.contains(args.get(1))) {
            return args;
        }
        String action = "";
        boolean place = false;
        List<String> rest = new ArrayList<>();
        for (int i = 1; i < args.size(); i++) {
            String word = args.get(i);
            int equals = word.startsWith("--") ? word.indexOf('=') : -1;
            String option = equals > 0 ? word.substring(0, equals) : word;
            String attached = equals > 0 ? word.substring(equals + 1) : "";
            if (option.matches("-[FLVaDld].+")) {
                attached = option.substring(2);
                option = option.substring(0, 2);
            }
            String said = ACTIONS.get(option);
            if (said != null) {
                action = action.isEmpty() ? said : action;
                if (option.equals("-D") || option.equals("--definition")) {
                    rest.add("--dry-run");
                }
                if (!attached.isEmpty()) {
                    rest.add(attached);
                }
                continue;
            }
            rest.add(word);
            place |= !word.startsWith("-");
            boolean server = word.equals("--debuginfod") && i + 1 < args.size();
            boolean valued =
                    WITH_VALUE.contains(word)
                            || server && args.get(i + 1).matches("(?i)https?://.*");
            if (valued && i + 1 < args.size()) {
                rest.add(args.get(++i));
            }
        }
        if (action.isEmpty() && place && WITH_VALUE.contains(args.get(1))) {
            action = "add"; // as perf: -x FILE PLACE
        }
        if (action.isEmpty()) {
            return args;
        }
        List<String> words = new ArrayList<>(List.of(args.getFirst(), action));
        words.addAll(rest);
        return words;
    }
}
