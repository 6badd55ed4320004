package sonde.tools.script;

import java.util.Map;
import java.util.Optional;

/** Short names of options, where a tool has them; its script may say others. */
final class ToolLetters {
    /** Stands for what is always so. */
    static final String ALWAYS = "-";

    private static final Map<Character, String> USUAL =
            Map.ofEntries(
                    Map.entry('4', "ipv4"),
                    Map.entry('6', "ipv6"),
                    Map.entry('C', "noclear"),
                    Map.entry('D', "disks"),
                    Map.entry('F', "frequency"),
                    Map.entry('L', "latency"),
                    Map.entry('N', "nanoseconds"),
                    Map.entry('P', "processes"),
                    Map.entry('Q', "queued"),
                    Map.entry('T', "time"),
                    Map.entry('U', "print-uid"),
                    Map.entry('i', "interval"),
                    Map.entry('m', "milliseconds"),
                    Map.entry('n', "name"),
                    Map.entry('r', "rows"),
                    Map.entry('t', "tid"),
                    Map.entry('u', "uid"),
                    Map.entry('x', "failed"));

    private ToolLetters() {}

    /** The option that a letter means, without dashes; empty for none. */
    static Optional<String> option(ScriptTool tool, char letter) {
        String own = tool.rules().letters().get(letter);
        return own != null
                ? Optional.of(own)
                : Optional.ofNullable(USUAL.get(letter))
                        .filter(name -> ToolOptions.has(tool, name));
    }

    /** The short name of an option, with its dash; empty where it has none. */
    static String letter(ScriptTool tool, String option) {
        return "46ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                .chars()
                .filter(letter -> option(tool, (char) letter).equals(Optional.of(option)))
                .mapToObj(letter -> "-" + (char) letter)
                .findFirst()
                .orElse("");
    }
}
