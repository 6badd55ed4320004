package sonde.tools.script;

import static java.util.Map.entry;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.tools.option.CommandModel;
import sonde.tools.option.OptionModel;
import sonde.tools.option.TimeOption;
import sonde.tools.script.ToolRules.RulesReader;

/**
 * The options of a tool: those its script asks for with {@code getopt}, those that its rules add,
 * and those of every tool. A letter that the tool has itself is taken from those of every tool.
 */
public final class ToolModel {
    /** The part of a tool's own options. */
    private static final String OWN = "Options";

    /** Options of tools whose maps are their output. */
    private static final String EVERY =
            "  --maps-every TIME\n                  show all maps as tables and histograms at this"
                    + " interval, and at the end\n";

    /** Options of every tool, each as it holds for most of them. */
    private static final String GENERAL =
            """

            Options of every tool:
              -c, --cmd COMMAND
                              start a command; @COMMAND@
              -p, --pid PID,...
                              @PID@
              -d, --duration TIME
                              end after this time: 500ms, 10s, 5m
              --include-self  also show sonde's own process
              -f, --format @FORMATS@
                              print text, comma-separated values, or a JSON object per line or
                              list@FOLDED@ (default text)
              --json          same as --format json
              --folded        same as --format folded
            @EVERY@  --sort @SORT@
              -o, --output FILE
                              write to a new file
              --force         overwrite the file of --output if it exists
              --map-keys N    set the capacity of each map of the tool to N rows (1..10000000)
              -v, --verbose   print how many probes were attached, and why a tool cannot run
              --plan          show which script of the tool this kernel accepts, and why
              --script        print the script and exit

            Not in help:
              -q, --quiet
              -k, --warnings
              --no-warnings
              -B none|line|full
                              as in sonde trace (default line)
              --dry-run
              --include FILE  as in sonde trace (repeatable)
              --probe-filter REGEX
                              as in sonde trace
            """;

    /** Letters of options, where a tool has them; its script may say others. */
    private static final Map<String, String> LETTERS =
            Map.ofEntries(
                    entry("4", "ipv4"),
                    entry("6", "ipv6"),
                    entry("C", "noclear"),
                    entry("D", "disks"),
                    entry("F", "frequency"),
                    entry("L", "latency"),
                    entry("N", "nanoseconds"),
                    entry("P", "processes"),
                    entry("Q", "queued"),
                    entry("T", "time"),
                    entry("U", "print-uid"),
                    entry("i", "interval"),
                    entry("m", "milliseconds"),
                    entry("n", "name"),
                    entry("r", "rows"),
                    entry("t", "tid"),
                    entry("u", "uid"),
                    entry("x", "failed"));

    private final ScriptTool tool;
    private final Map<String, List<String>> letters = new TreeMap<>();

    private ToolModel(ScriptTool tool) {
        this.tool = tool;
        Set<String> own =
                Stream.concat(
                                tool.options().stream().map(ScriptOption::name),
                                flags(tool).keySet().stream())
                        .collect(Collectors.toSet());
        Map<String, String> all = new TreeMap<>();
        LETTERS.forEach((letter, name) -> {
            if (own.contains(name)) {
                all.put(letter, name);
            }
        });
        tool.rules().letters().forEach((letter, name) -> all.put(letter.toString(), name));
        all.forEach((letter, name) ->
                letters.computeIfAbsent(name, _ -> new ArrayList<>()).add("-" + letter));
    }

    /** The model of a tool. */
    public static CommandModel of(ScriptTool tool) {
        return new ToolModel(tool).model();
    }

    /** The options of a tool's own, {@code --pid} excepted. */
    public static List<OptionModel> own(ScriptTool tool) {
        return of(tool).groups().getOrDefault(OWN, List.of());
    }

    private CommandModel model() {
        Map<String, List<OptionModel>> groups = new LinkedHashMap<>();
        List<OptionModel> own = new ArrayList<>();
        tool.options().stream()
                .filter(option -> !option.name().equals("pid"))
                .forEach(option -> own.add(option(option)));
        flags(tool).forEach((name, text) -> own.add(OptionModel.of(head(name, ""), text)));
        if (!own.isEmpty()) {
            groups.put(OWN, own);
        }
        Set<String> taken =
                Stream.concat(
                                letters.values().stream().flatMap(List::stream),
                                own.stream().flatMap(OptionModel::spellings))
                        .collect(Collectors.toSet());
        List<OptionModel> hidden = new ArrayList<>();
        CommandModel general =
                CommandModel.parse(
                        "sonde tool NAME\n"
                                + general(tool.rules(), pid(tool))
                                + CommandModel.COMMON);
        general.groups()
                .forEach((title, options) -> {
                    boolean shown = !title.equals(CommandModel.HIDDEN);
                    for (OptionModel one : options) {
                        List<OptionModel> to =
                                shown && holds(one)
                                        ? groups.computeIfAbsent(title, _ -> new ArrayList<>())
                                        : hidden;
                        left(one, taken).ifPresent(to::add);
                    }
                });
        letters.getOrDefault("-", List.of())
                .forEach(letter -> hidden.add(OptionModel.of(letter, "")));
        groups.put(CommandModel.HIDDEN, hidden);
        String takes = tool.rules().takes();
        String words = (takes.isEmpty() ? "" : " " + takes) + words(tool);
        return new CommandModel(
                List.of("sonde tool " + tool.name() + " [OPTIONS]" + words),
                about(),
                List.of(),
                groups,
                Map.of(
                        "Examples",
                        tool.examples().stream().map(one -> "  sonde tool " + one).toList()));
    }

    private List<String> about() {
        String summary = tool.summary() + ".";
        String description = String.join("\n", tool.description());
        List<String> all = new ArrayList<>();
        all.add(Character.toUpperCase(summary.charAt(0)) + summary.substring(1));
        for (String paragraph : description.split("\n\\s*\n")) {
            if (!paragraph.isBlank()) {
                all.add(paragraph.strip().replaceAll("\\s*\n\\s*", " "));
            }
        }
        return all;
    }

    /** Whether an option of every tool has a meaning for this one. */
    private boolean holds(OptionModel option) {
        return switch (option.name()) {
            case "--pid", "--include-self" -> tool.rules().withoutPid().isEmpty();
            case "--folded" -> tool.rules().folded().isPresent();
            default -> true;
        };
    }

    /** An option of every tool without the names that the tool has itself, and with its letters. */
    private Optional<OptionModel> left(OptionModel option, Set<String> taken) {
        String bare = option.name().replaceFirst("^-+", "");
        List<String> names =
                Stream.concat(
                                letters.getOrDefault(bare, List.of()).stream(),
                                option.names().stream().filter(name -> !taken.contains(name)))
                        .toList();
        return names.isEmpty() ? Optional.empty() : Optional.of(option.named(names));
    }

    /** The options of every tool, as a part of a model. */
    public static String everyTool() {
        RulesReader rules = new RulesReader();
        rules.accept("folded", "by kind");
        return general(rules.rules(), "");
    }

    private static String general(ToolRules rules, String pid) {
        String ends = pid.isEmpty() ? "" : " if there is only one";
        String command =
                rules.command().isEmpty() ? "show only it and its descendants" : rules.command();
        boolean sorted = !rules.sorted().isEmpty();
        boolean folded = rules.folded().isPresent();
        return GENERAL.replace(
                        "@COMMAND@",
                        rules.withoutPid().isEmpty()
                                ? command + "; the tool ends with it"
                                : "the tool ends with it, but shows the whole machine")
                .replace(
                        "@PID@",
                        (pid.isEmpty() ? "show only this process" : pid)
                                + "; the tool ends with it"
                                + ends)
                .replace("PID,...", pid.isEmpty() ? "PID" : "PID,...")
                .replace("@FORMATS@", folded ? "text|csv|json|folded" : "text|csv|json")
                .replace("@FOLDED@", folded ? ", or stacks in lines for flame graph tools" : "")
                .replace("@EVERY@", rules.rows() ? "" : EVERY)
                .replace(
                        "@SORT@",
                        sorted
                                ? "COLUMN   sort lists by this column, the largest first"
                                : "ORDER    sort rows of maps by key, -key, value or -value");
    }

    /** Options whose values may be given without their names. */
    static List<String> bare(ScriptTool tool) {
        List<String> words = tool.rules().words();
        boolean repeats = tool.options().stream().anyMatch(one -> one.name().equals("interval"));
        return words.isEmpty() && repeats ? List.of("interval", "lists") : words;
    }

    /** The same as a usage line has them: {@code " [INTERVAL [LISTS]]"}. */
    static String words(ScriptTool tool) {
        StringBuilder all = new StringBuilder();
        List<String> bare = bare(tool);
        bare.forEach(name -> all.append(" [").append(name.toUpperCase(Locale.ROOT)));
        return all + "]".repeat(bare.size());
    }

    /** Those without a value that are none of the script's, and what their help says. */
    private static Map<String, String> flags(ScriptTool tool) {
        Map<String, String> flags = new LinkedHashMap<>();
        ToolRules rules = tool.rules();
        rules.columns().forEach(column -> flags.put(column.option(), column.text()));
        for (TimeUnits unit : TimeUnits.values()) {
            if (rules.unit() && unit != TimeUnits.MICROSECONDS) {
                flags.put(unit.option(), "print times in " + unit.option());
            }
        }
        if (rules.clears()) {
            flags.put("noclear", "a list below the other, also on a terminal");
        }
        return flags;
    }

    /** What a tool means by {@code --pid}; empty for one that leaves it to the tracer. */
    static String pid(ScriptTool tool) {
        return tool.options().stream()
                .filter(one -> one.name().equals("pid"))
                .findFirst()
                .map(ScriptOption::help)
                .orElse("");
    }

    private String head(String name, String label) {
        List<String> names = new ArrayList<>(letters.getOrDefault(name, List.of()));
        names.add("--" + name);
        return String.join(", ", names) + (label.isEmpty() ? "" : " " + label);
    }

    private OptionModel option(ScriptOption option) {
        ToolRules rules = tool.rules();
        String name = option.name();
        TimeOption time = rules.times().get(name);
        if (time != null) {
            long standard = Long.parseLong(option.standard());
            String bare = "a bare number is " + time.unit();
            String usual = standard == 0 ? "" : "default " + TimeOption.text(standard) + ", ";
            return OptionModel.of(head(name, "TIME"), option.help() + " (" + usual + bare + ")");
        }
        if (option.kind() == ScriptOption.Kind.BOOLEAN) {
            return OptionModel.of(head(name, ""), option.help());
        }
        List<String> choices = rules.choices().get(name);
        String value = option.kind() == ScriptOption.Kind.STRING ? "TEXT" : "N";
        String help = option.help();
        if (choices != null) {
            value = "WORD";
            help += ": " + String.join(", ", choices);
        } else if (rules.numbers().containsKey(name)) {
            value = rules.numbers().get(name).word().toUpperCase(Locale.ROOT);
        } else if (rules.lists().containsKey(name)) {
            value = "N,...";
        }
        value = name.equals("frequency") ? "HZ" : value;
        boolean none = List.of("", "0", "-1").contains(option.standard());
        String usual = none ? "" : " (default " + option.standard() + ")";
        return OptionModel.of(head(name, value), help + usual);
    }
}
