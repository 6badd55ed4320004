package sonde.tools.script;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.lang.output.RowStyle;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.OptionWords;
import sonde.tools.option.TimeOption;
import sonde.tools.script.ScriptTool.ToolVariant;
import sonde.tools.script.ToolRules.ToolColumn;

/**
 * The words behind {@code sonde tool NAME}, sorted and checked: options of {@code sonde trace},
 * options of the script in the script's own units, and the word that the script sees as {@code $1}.
 */
public final class ToolArguments {
    /** What {@code -f} takes. */
    private static final List<String> FORMATS = List.of("text", "csv", "json", "folded");

    private static final String OWN_PID = "pid";
    private static final String FREQUENCY = "frequency";
    private static final String INTERVAL = "interval";
    private static final String LISTS = "lists";
    private static final int MOST_DIGITS = 9;
    private static final int MOST_HERTZ = 100_000;

    private final ScriptTool tool;
    private final List<ScriptOption> options;
    private final CommandModel model;
    private final GivenOptions general;
    private final List<String> named = new ArrayList<>();
    private final List<String> positional = new ArrayList<>();
    private boolean help;
    private boolean script;
    private boolean kernelFunction;
    private List<String> sortedBy = List.of();
    private final Set<String> shown = new HashSet<>();
    private TimeUnits unit = TimeUnits.MICROSECONDS;
    private boolean clears;
    private OptionalInt mapKeys = OptionalInt.empty();
    private final OptionLists lists = new OptionLists();

    private ToolArguments(ScriptTool tool) {
        this.tool = tool;
        this.options = tool.options();
        this.model = ToolModel.of(tool);
        this.general = new GivenOptions(model);
        this.clears = tool.rules().clears();
    }

    /**
     * Sorts the words behind a tool's name.
     *
     * @throws OptionException for a word that the tool does not take, or one that it lacks
     */
    public static ToolArguments of(ScriptTool tool, List<String> words) {
        ToolArguments read = new ToolArguments(tool);
        try {
            read.read(OptionWords.read(read.model, words));
        } catch (OptionException e) {
            String name = e.spelling();
            boolean letter = name.length() == 2;
            throw new OptionException(
                    e.getMessage() + (letter ? read.elsewhere(name.charAt(1)) : ""));
        }
        if (!read.help && !read.script) {
            read.general.check();
            read.fold();
            read.check();
        }
        return read;
    }

    private void read(GivenOptions given) {
        given.options().forEach(this::option);
        positional.addAll(given.words());
    }

    /** The model of the tool. */
    public CommandModel model() {
        return model;
    }

    /** Whether help is asked for; then nothing else was checked. */
    public boolean help() {
        return help;
    }

    /** Whether the script itself is asked for; then nothing else was checked. */
    public boolean script() {
        return script;
    }

    /** The processes of {@code -p}. */
    public List<Integer> pids() {
        return lists.of(OWN_PID).stream().map(Integer::valueOf).toList();
    }

    /** The process of {@code -p} when it is one: the tool ends with it. */
    public OptionalInt pid() {
        List<Integer> all = pids();
        return all.size() == 1 ? OptionalInt.of(all.getFirst()) : OptionalInt.empty();
    }

    /** Whether the tracer is to look at that process only; else the script sees to it. */
    public boolean tracerKeepsToPid() {
        return !hasOwnPid() || !tool.rules().takes().isEmpty();
    }

    /** How stacks are laid out for people. */
    public List<String> stacks() {
        return tool.rules().stacks();
    }

    /** The options that every tool has. */
    public GivenOptions general() {
        return general;
    }

    /** {@code $1}, if the tool takes one, then {@code --} and the script's options. */
    public List<String> parameters() {
        List<String> all = new ArrayList<>(positional);
        all.add("--");
        all.addAll(named);
        return all;
    }

    /** By the sum of which columns lists are ordered; none for a tool without lists. */
    List<String> sortedBy() {
        List<String> sorted = tool.rules().sorted();
        List<String> by =
                sortedBy.isEmpty() && !sorted.isEmpty()
                        ? sorted.subList(0, sorted.size() - 1)
                        : sortedBy;
        return by.stream().map(unit::put).toList();
    }

    /** How lines are shown that the script prints. */
    public RowStyle rowStyle() {
        Set<String> hidden = new HashSet<>();
        for (ToolColumn column : tool.rules().columns()) {
            if (!shown.contains(column.option())) {
                hidden.add(column.heading());
            }
        }
        return new RowStyle(sortedBy(), rows(), clears, hidden);
    }

    /** How many keys a map has room for; empty for as many as the script says. */
    public OptionalInt mapKeys() {
        return mapKeys;
    }

    /** How many rows a list has; 0 for all. */
    int rows() {
        List<String> sorted = tool.rules().sorted();
        Optional<ScriptOption> option =
                sorted.isEmpty() ? Optional.empty() : option(sorted.getLast());
        return option.map(one -> Integer.parseInt(last(one))).orElse(0);
    }

    /** The scripts that fit what is asked for, the best first. */
    public List<ToolVariant> variants() {
        List<ToolVariant> all =
                tool.variants().stream()
                        .map(one -> one.text(lists.put(unit.put(one.text()))))
                        .toList();
        if (!tool.rules().takes().equals("FUNCTION")) {
            return all;
        }
        return kernelFunction ? all.subList(1, all.size()) : all.subList(0, 1);
    }

    /** The file of the program whose functions are looked at; empty where none is named. */
    public Optional<Path> program() {
        String word = positional.isEmpty() ? "" : positional.getFirst();
        int slash = word.indexOf('/');
        int colon = word.indexOf(':', Math.max(slash, 0));
        boolean named = word.startsWith("/") || word.matches("u(ret)?probe:/.*");
        return named && colon > slash && word.indexOf('*') < 0
                ? Optional.of(Path.of(word.substring(slash, colon)))
                : Optional.empty();
    }

    /** A flame graph is of all stacks, however many a list shows. */
    private void fold() {
        if (!general.text("--format", "text").equals("folded")) {
            return;
        }
        if (tool.rules().folded().isEmpty()) {
            throw new OptionException("--folded: " + tool.name() + " prints no stacks");
        }
        boolean asked = named.stream().anyMatch(word -> word.startsWith("--top="));
        if (option("top").isPresent() && !asked) {
            named.add("--top=0");
        }
    }

    private boolean hasOwnPid() {
        return option(OWN_PID).isPresent();
    }

    private Optional<ScriptOption> option(String name) {
        return options.stream().filter(one -> one.name().equals(name)).findFirst();
    }

    private void option(GivenOptions.Given given) {
        String name = given.option().name();
        String value = given.value();
        Optional<ScriptOption> own = option(name.substring(Math.min(2, name.length())));
        boolean isOwn = model.groups().getOrDefault("Options", List.of()).contains(given.option());
        if (name.equals("--pid")) {
            pid(value);
        } else if (isOwn && own.isEmpty()) {
            flag(name.substring(2));
        } else if (isOwn && given.option().isFlag()) {
            named.add(name + (value.isEmpty() ? "" : "=" + value));
        } else if (isOwn) {
            set(own.orElseThrow(), value);
        } else {
            general(given);
        }
    }

    private void general(GivenOptions.Given given) {
        String value = given.value();
        switch (given.option().name()) {
            case "--help" -> help = true;
            case "--script" -> script = true;
            case "--folded" -> general("--format", "folded");
            case "--map-keys" ->
                    mapKeys =
                            OptionalInt.of(
                                    (int) given.option().value().number("--map-keys", value));
            case "--sort" -> {
                if (tool.rules().sorted().isEmpty()) {
                    general.add(given.option(), given.spelling(), value);
                } else {
                    sort(value);
                }
            }
            default -> {
                checkLetter(given.spelling(), value);
                general.add(given.option(), given.spelling(), value);
            }
        }
    }

    private void general(String name, String value) {
        general.add(model.option(name).orElseThrow(), name, value);
    }

    /** BCC has letters for something else, which are those of every tool here. */
    private void checkLetter(String letter, String value) {
        switch (letter) {
            case "-c", "-o" -> checkWord(letter.charAt(1), value);
            case "-d" -> {
                if (!value.matches("[0-9].*")) {
                    throw new OptionException(
                            "-d " + value + ": that is not a time" + elsewhere('d'));
                }
            }
            case "-f" -> {
                if (!FORMATS.contains(value)) {
                    String flags =
                            option("flag").isPresent() ? "; --flag " + value + " for flags" : "";
                    throw new OptionException(
                            "-f "
                                    + value
                                    + ": it is the format, "
                                    + formats()
                                    + flags
                                    + elsewhere('f'));
                }
            }
            default -> {}
        }
    }

    /** An option that none of the script's is. */
    private void flag(String name) {
        Optional<TimeUnits> units = TimeUnits.of(name);
        if (units.isPresent()) {
            unit = units.get();
        } else if (name.equals("noclear")) {
            clears = false;
        } else {
            shown.add(name);
        }
    }

    /** BCC has letters for numbers, or for no value, that are for a command or a file here. */
    private void checkWord(char letter, String value) {
        String given = "-" + letter + " " + value + ": ";
        boolean number = value.matches("[0-9]+");
        if (letter == 'c' && number || value.matches("-.+")) {
            String what = letter == 'c' ? "that is no command" : "that is not a file";
            throw new OptionException(given + what + elsewhere(letter));
        }
        if (number && option("older").isPresent()) {
            throw new OptionException(
                    given + "it is the file to print to; --older " + value + "ms is an age");
        }
    }

    /** What BCC means by a letter that is another one's here. */
    private String elsewhere(char letter) {
        return switch (letter) {
            case 'c' ->
                    option("count").isPresent()
                            ? "; --count counts"
                            : option(FREQUENCY).isPresent()
                                    ? "; --frequency N says how often"
                                    : option("cpu").isPresent()
                                            ? "; --cpu N is a CPU, --lists N ends after so many"
                                            : option(LISTS).isPresent()
                                                    ? "; --lists N ends after so many lists"
                                                    : "";
            case 'o' -> option("older").isPresent() ? "; --older TIME is an age" : "";
            case 'd' ->
                    option("disk").isPresent()
                            ? "; --disk is a disk"
                            : option("histograms").isPresent() ? "; --histograms shows them" : "";
            case 'j' -> "; --json writes objects";
            case 'r' -> tool.rules().takes().equals("PROBE") ? "; patterns have *: 'vfs_*'" : "";
            case 's' -> tool.rules().rows() ? "; -f csv separates by commas" : "";
            case 'f' -> tool.rules().folded().isPresent() ? "; --folded folds stacks" : "";
            default -> "";
        };
    }

    private String formats() {
        return tool.rules().folded().isPresent()
                ? "text, csv, json or folded"
                : "text, csv or json";
    }

    private void set(ScriptOption option, String value) {
        if (option.name().equals(FREQUENCY)) {
            frequency(value);
        } else {
            named.add("--" + option.name() + "=" + scriptValue(option, value));
        }
    }

    /** The head line has the names of the columns. */
    private void sort(String column) {
        String text = tool.variants().getFirst().text();
        String heading = "\"" + column.toUpperCase(Locale.ROOT);
        if (!text.contains(heading + "\"") && !text.contains(heading + "(")) {
            throw new OptionException("--sort: there is no column " + column + columns(text));
        }
        int end = text.indexOf('"', text.indexOf(heading) + 1);
        sortedBy = List.of(text.substring(text.indexOf(heading) + 1, end));
    }

    /** Those of the script's first line, which are in capitals. */
    private static String columns(String text) {
        return Pattern.compile("\"([A-Z][A-Z_]*)(\\([a-z]+\\))?\"")
                .matcher(text.substring(0, text.indexOf("\n}")))
                .results()
                .map(name -> name.group(1).toLowerCase(Locale.ROOT))
                .distinct()
                .collect(Collectors.joining(", ", "; there are ", ""));
    }

    private void frequency(String word) {
        if (!isCount(word) || Integer.parseInt(word) == 0 || Integer.parseInt(word) > MOST_HERTZ) {
            throw new OptionException("-F " + word + " is not within 1.." + MOST_HERTZ + " Hz");
        }
        named.add("--" + FREQUENCY + "=" + word);
    }

    private void pid(String word) {
        for (String one : word.split(",", -1)) {
            if (!isCount(one) || Integer.parseInt(one) == 0) {
                throw new OptionException("-p " + word + " is not a process");
            }
        }
        lists.keep(OWN_PID, word, Integer.MAX_VALUE);
    }

    private static boolean isCount(String word) {
        return word.matches("[0-9]{1," + MOST_DIGITS + "}");
    }

    /** The value of an option as the script takes it. */
    private String scriptValue(ScriptOption option, String value) {
        ToolRules rules = tool.rules();
        String name = "--" + option.name();
        TimeOption time = rules.times().get(option.name());
        if (time != null) {
            return Long.toString(time.nanos(name, value));
        }
        NumberKind kind = rules.numbers().get(option.name());
        if (kind != null) {
            return Long.toString(kind.number(name, value));
        }
        Integer most = rules.lists().get(option.name());
        if (most != null) {
            return lists.keep(option.name(), value, most);
        }
        List<String> choices = rules.choices().get(option.name());
        if (choices != null && !choices.contains(value)) {
            throw new OptionException(
                    name + ": '" + value + "' is none of " + String.join(", ", choices));
        }
        boolean number = option.kind() != ScriptOption.Kind.STRING;
        if (number && !isCount(value)) {
            throw new OptionException(name + ": '" + value + "' is not a number");
        }
        return value;
    }

    private void check() {
        String takes = tool.rules().takes();
        if (!takes.isEmpty() && positional.isEmpty()) {
            throw new OptionException(
                    "nothing to look at; usage: sonde tool "
                            + tool.name()
                            + " "
                            + takes
                            + " [options]");
        }
        takeWords(takes.isEmpty() ? 0 : 1);
        checkPid();
        option(tool.rules().firstWord()).ifPresent(option -> positional.add(last(option)));
        switch (takes) {
            case "PROBE" -> {
                boolean atReturn = named.contains("--of=retval");
                positional.set(0, ProbeWord.probe(positional.getFirst(), atReturn));
                ofReturns();
                includeInterrupts(ProbeWord.isOfProcess(positional.getFirst()));
            }
            case "FUNCTION" -> {
                ProbeWord.Function function = ProbeWord.function(positional.getFirst());
                positional.set(0, function.text());
                kernelFunction = !function.user();
                includeInterrupts(function.user());
            }
            default -> {}
        }
    }

    /** What is asked of returns is the value, unless it is said. */
    private void ofReturns() {
        boolean said = named.stream().anyMatch(word -> word.startsWith("--of="));
        if (!said && option("of").isPresent() && ProbeWord.isReturn(positional.getFirst())) {
            named.add("--of=retval");
        }
    }

    /** Words without an option's name, behind the one that the tool needs. */
    private void takeWords(int taken) {
        List<String> extra =
                positional.subList(Math.min(taken, positional.size()), positional.size());
        List<String> names = ToolModel.bare(tool);
        for (int i = 0; i < extra.size(); i++) {
            if (i >= names.size() || !extra.get(i).matches("[0-9].*")) {
                throw new OptionException(
                        "unexpected word '" + extra.get(i) + "'" + meant(extra.get(i)));
            }
            String name = "--" + names.get(i);
            option(new GivenOptions.Given(model.option(name).orElseThrow(), name, extra.get(i)));
        }
        extra.clear();
        Optional<ScriptOption> interval = option(INTERVAL);
        boolean counts = named.stream().anyMatch(word -> word.startsWith("--" + LISTS + "="));
        if (counts && interval.isPresent() && last(interval.get()).equals("0")) {
            throw new OptionException("--lists needs --interval: the time between two lists");
        }
    }

    /** What also happens in interrupts may happen while a thread of the tracer runs. */
    private void includeInterrupts(boolean ofProcess) {
        if (!ofProcess) {
            general("--include-self", "");
        }
    }

    /** The value that an option has: the last one given, or its default. */
    private String last(ScriptOption option) {
        String begin = "--" + option.name() + "=";
        return named.reversed().stream()
                .filter(word -> word.startsWith(begin))
                .map(word -> word.substring(begin.length()))
                .findFirst()
                .orElse(option.standard());
    }

    private void checkPid() {
        List<Integer> all = pids();
        if (all.isEmpty()) {
            return;
        }
        String reason = tool.rules().withoutPid();
        if (!reason.isEmpty()) {
            throw new OptionException("-p: " + reason);
        }
        if (general.has("--cmd")) {
            throw new OptionException("-c and -p exclude each other");
        }
        if (hasOwnPid()) {
            named.add("--" + OWN_PID + "=" + all.getFirst());
        } else if (all.size() > 1) {
            throw new OptionException("-p: " + tool.name() + " takes one process");
        }
    }

    /** What a number without an option may have been meant as. */
    private String meant(String word) {
        if (!isCount(word) || Integer.parseInt(word) == 0 || option(INTERVAL).isPresent()) {
            return "";
        }
        String process = tool.rules().withoutPid().isEmpty() ? "-p " + word + " or " : "";
        return "; did you mean " + process + "--duration " + word + "s?";
    }
}
