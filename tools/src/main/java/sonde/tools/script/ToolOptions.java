package sonde.tools.script;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import sonde.lang.bpftrace.expand.Option;

/** What a tool's help says of its options. */
public final class ToolOptions {
    private static final String PID = "pid";

    private ToolOptions() {}

    /**
     * An option in a list.
     *
     * @param option with its dashes and the kind of its value: {@code --min TIME}
     */
    public record Line(String option, String text) {}

    /** The options of a tool's own, {@code --pid} excepted. */
    public static List<Line> lines(ScriptTool tool) {
        List<Line> lines = new ArrayList<>();
        tool.options().stream()
                .filter(option -> !option.name().equals(PID))
                .forEach(option -> lines.add(line(option, tool)));
        flags(tool).forEach((name, text) -> lines.add(new Line(names(tool, name), text)));
        return lines;
    }

    /** Options whose values may be given without their names. */
    static List<String> bare(ScriptTool tool) {
        List<String> words = tool.rules().words();
        return words.isEmpty() && has(tool, "interval") ? List.of("interval", "lists") : words;
    }

    /** The same as a usage line has them: {@code " [INTERVAL [LISTS]]"}. */
    public static String words(ScriptTool tool) {
        StringBuilder all = new StringBuilder();
        List<String> bare = bare(tool);
        bare.forEach(name -> all.append(" [").append(name.toUpperCase(Locale.ROOT)));
        return all + "]".repeat(bare.size());
    }

    /** Whether a tool has an option of its own. */
    static boolean has(ScriptTool tool, String name) {
        return flags(tool).containsKey(name)
                || tool.options().stream().anyMatch(option -> option.name().equals(name));
    }

    /** Those without a value that are none of the script's, and what their help says. */
    static Map<String, String> flags(ScriptTool tool) {
        Map<String, String> flags = new LinkedHashMap<>();
        ToolRules rules = tool.rules();
        rules.columns().forEach(column -> flags.put(column.option(), column.text()));
        for (TimeUnits unit : TimeUnits.values()) {
            if (rules.unit() && unit != TimeUnits.MICROSECONDS) {
                flags.put(unit.option(), "times in " + unit.option());
            }
        }
        if (rules.clears()) {
            flags.put("noclear", "a list below the other, also on a terminal");
        }
        return flags;
    }

    private static String names(ScriptTool tool, String option) {
        String letter = ToolLetters.letter(tool, option);
        return (letter.isEmpty() ? "" : letter + ", ") + "--" + option;
    }

    /** What a tool means by {@code --pid}; empty for one that leaves it to the tracer. */
    public static String pid(ScriptTool tool) {
        Optional<Option> own =
                tool.options().stream().filter(one -> one.name().equals(PID)).findFirst();
        return own.map(Option::help).orElse("");
    }

    private static Line line(Option option, ScriptTool tool) {
        ToolRules rules = tool.rules();
        String name = names(tool, option.name());
        TimeOption time = rules.times().get(option.name());
        if (time != null) {
            long standard = Long.parseLong(option.standard());
            String bare = "a bare number is " + time.unit();
            String usual = standard == 0 ? "" : "default " + TimeOption.text(standard) + ", ";
            return new Line(name + " TIME", option.help() + " (" + usual + bare + ")");
        }
        if (option.kind() == Option.Kind.BOOLEAN) {
            return new Line(name, option.help());
        }
        List<String> choices = rules.choices().get(option.name());
        String value = "N";
        String help = option.help();
        if (choices != null) {
            value = "WORD";
            help += ": " + String.join(", ", choices);
        } else if (rules.numbers().containsKey(option.name())) {
            value = rules.numbers().get(option.name()).word().toUpperCase(Locale.ROOT);
        } else if (rules.lists().containsKey(option.name())) {
            value = "N,...";
        } else if (option.kind() == Option.Kind.STRING) {
            value = "TEXT";
        }
        boolean none = List.of("", "0", "-1").contains(option.standard());
        String usual = none ? "" : " (default " + option.standard() + ")";
        return new Line(name + " " + value, help + usual);
    }
}
