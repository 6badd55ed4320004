package sonde.tools.script;

import java.util.List;
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
        return tool.options().stream()
                .filter(option -> !option.name().equals(PID))
                .map(option -> line(option, tool.rules()))
                .toList();
    }

    /** What a tool means by {@code --pid}; empty for one that leaves it to the tracer. */
    public static String pid(ScriptTool tool) {
        Optional<Option> own =
                tool.options().stream().filter(one -> one.name().equals(PID)).findFirst();
        return own.map(Option::help).orElse("");
    }

    private static Line line(Option option, ToolRules rules) {
        String letter = ToolWords.letter(option.name());
        String name = (letter.isEmpty() ? "" : letter + ", ") + "--" + option.name();
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
        } else if (rules.signals().contains(option.name())) {
            value = "SIGNAL";
        } else if (option.kind() == Option.Kind.STRING) {
            value = "TEXT";
        }
        boolean none = List.of("", "0", "-1").contains(option.standard());
        String usual = none ? "" : " (default " + option.standard() + ")";
        return new Line(name + " " + value, help + usual);
    }
}
