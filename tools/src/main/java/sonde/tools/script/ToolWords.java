package sonde.tools.script;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import sonde.format.Nearest;
import sonde.lang.bpftrace.expand.Option;
import sonde.lang.output.RowStyle;

/**
 * The words behind {@code sonde tool NAME}, sorted and checked: options of {@code sonde trace},
 * options of the script in the script's own units, and the word that the script sees as {@code $1}.
 */
public final class ToolWords {
    private static final Set<String> WITH_VALUE =
            Set.of("--cmd", "--output", "--duration", "--include", "--probe-filter", "--sort");
    private static final Set<String> WITHOUT_VALUE =
            Set.of(
                    "--plan",
                    "--quiet",
                    "--verbose",
                    "--warnings",
                    "--no-warnings",
                    "--dry-run",
                    "--json",
                    "--include-self",
                    "--debug");
    private static final String LETTERS_WITH_VALUE = "cpofBd";
    private static final String LETTERS = "vqk";

    /** What {@code -f} takes. */
    private static final List<String> FORMATS = List.of("text", "csv", "json", "folded");

    private static final String OWN_PID = "pid";
    private static final String FREQUENCY = "frequency";
    private static final String INTERVAL = "interval";
    private static final String LISTS = "lists";
    private static final int MOST_DIGITS = 9;
    private static final int MOST_HERTZ = 100_000;
    private static final int MOST_KEYS = 10_000_000;

    private final ScriptTool tool;
    private final List<Option> options;
    private final List<String> words;
    private final List<String> general = new ArrayList<>();
    private final List<String> named = new ArrayList<>();
    private final List<String> positional = new ArrayList<>();
    private int at;
    private boolean help;
    private boolean script;
    private boolean command;
    private boolean kernelFunction;
    private List<String> sortedBy = List.of();
    private final Set<String> shown = new HashSet<>();
    private TimeUnits unit = TimeUnits.MICROSECONDS;
    private boolean clears;
    private OptionalInt mapKeys = OptionalInt.empty();
    private final OptionLists lists = new OptionLists();

    private ToolWords(ScriptTool tool, List<String> words) {
        this.tool = tool;
        this.options = tool.options();
        this.words = words;
        this.clears = tool.rules().clears();
    }

    /**
     * Sorts the words behind a tool's name.
     *
     * @throws ToolUseException for a word that the tool does not take, or one that it lacks
     */
    public static ToolWords of(ScriptTool tool, List<String> words) throws ToolUseException {
        ToolWords read = new ToolWords(tool, words);
        while (read.at < words.size()) {
            read.word(words.get(read.at++));
        }
        if (!read.help && !read.script) {
            read.fold();
            read.check();
        }
        return read;
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

    /** Options of {@code sonde trace}. */
    public List<String> general() {
        return List.copyOf(general);
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
        for (ToolRules.Column column : tool.rules().columns()) {
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
        Optional<Option> option = sorted.isEmpty() ? Optional.empty() : option(sorted.getLast());
        return option.map(one -> Integer.parseInt(last(one))).orElse(0);
    }

    /** The scripts that fit what is asked for, the best first. */
    public List<ScriptTool.Variant> variants() {
        List<ScriptTool.Variant> all =
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
    private void fold() throws ToolUseException {
        int format = general.indexOf("-f");
        if (format < 0 || !general.get(format + 1).equals("folded")) {
            return;
        }
        if (tool.rules().folded().isEmpty()) {
            throw new ToolUseException("--folded: " + tool.name() + " prints no stacks");
        }
        boolean asked = named.stream().anyMatch(word -> word.startsWith("--top="));
        if (option("top").isPresent() && !asked) {
            named.add("--top=0");
        }
    }

    private boolean hasOwnPid() {
        return option(OWN_PID).isPresent();
    }

    private Optional<Option> option(String name) {
        return options.stream().filter(one -> one.name().equals(name)).findFirst();
    }

    private void word(String word) throws ToolUseException {
        if (word.startsWith("--")) {
            if (word.length() > 2) {
                longOption(word);
            }
        } else if (word.startsWith("-") && word.length() > 1) {
            letters(word);
        } else {
            positional.add(word);
        }
    }

    private void longOption(String word) throws ToolUseException {
        int equals = word.indexOf('=');
        String name = equals < 0 ? word : word.substring(0, equals);
        Optional<Option> option = option(name.substring(2));
        if (name.equals("--pid")) {
            pid(equals >= 0 ? word.substring(equals + 1) : value(word));
        } else if (ToolOptions.flags(tool).containsKey(name.substring(2))) {
            flag(name.substring(2));
        } else if (option.isPresent() && option.get().kind() == Option.Kind.BOOLEAN) {
            named.add(word);
        } else if (option.isPresent()) {
            set(option.get(), equals >= 0 ? word.substring(equals + 1) : value(word));
        } else if (name.equals("--help")) {
            help = true;
        } else if (name.equals("--script")) {
            script = true;
        } else if (word.equals("--folded")) {
            general.addAll(List.of("-f", "folded"));
        } else if (name.equals("--sort") && !tool.rules().sorted().isEmpty()) {
            sort(equals >= 0 ? word.substring(equals + 1) : value(word));
        } else if (name.equals("--map-keys")) {
            mapKeys(equals >= 0 ? word.substring(equals + 1) : value(word));
        } else if (WITH_VALUE.contains(name)) {
            command |= name.equals("--cmd");
            general.add(equals >= 0 ? word : word + "=" + value(word));
        } else if (WITHOUT_VALUE.contains(word)) {
            general.add(word);
        } else {
            throw new ToolUseException("unknown option " + name + Nearest.meant(name, known()));
        }
    }

    /** The names of all options, with their dashes. */
    private List<String> known() {
        Set<String> names = new TreeSet<>(WITH_VALUE);
        names.addAll(WITHOUT_VALUE);
        names.addAll(List.of("--pid", "--help", "--script", "--map-keys"));
        options.forEach(option -> names.add("--" + option.name()));
        ToolOptions.flags(tool).keySet().forEach(name -> names.add("--" + name));
        if (tool.rules().folded().isPresent()) {
            names.add("--folded");
        }
        return List.copyOf(names);
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

    private void letters(String word) throws ToolUseException {
        for (int i = 1; i < word.length(); i++) {
            char letter = word.charAt(i);
            String rest = word.substring(i + 1);
            Optional<String> own = ToolLetters.option(tool, letter);
            if (letter == 'h') {
                help = true;
            } else if (own.isPresent()) {
                if (takesValue(own.get())) {
                    String value = rest.isEmpty() ? value("-" + letter) : rest;
                    longOption("--" + own.get() + "=" + value);
                    return;
                }
                if (!own.get().equals(ToolLetters.ALWAYS)) {
                    longOption("--" + own.get());
                }
            } else if (LETTERS_WITH_VALUE.indexOf(letter) >= 0) {
                if (rest.isEmpty() && at >= words.size()) {
                    throw new ToolUseException("-" + letter + " needs a value" + elsewhere(letter));
                }
                String value = rest.isEmpty() ? value("-" + letter) : rest;
                if ("co".indexOf(letter) >= 0) {
                    checkWord(letter, value);
                }
                general(letter, value);
                return;
            } else if (LETTERS.indexOf(letter) >= 0) {
                general.add("-" + letter);
            } else {
                throw new ToolUseException("unknown option -" + letter + elsewhere(letter));
            }
        }
    }

    /** BCC has letters for numbers, or for no value, that are for a command or a file here. */
    private void checkWord(char letter, String value) throws ToolUseException {
        String given = "-" + letter + " " + value + ": ";
        boolean number = value.matches("[0-9]+");
        if (letter == 'c' && number || value.matches("-.+")) {
            String what = letter == 'c' ? "that is no command" : "that is no file";
            throw new ToolUseException(given + what + elsewhere(letter));
        }
        if (number && option("older").isPresent()) {
            throw new ToolUseException(
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

    private boolean takesValue(String name) {
        return WITH_VALUE.contains("--" + name)
                || option(name).filter(one -> one.kind() != Option.Kind.BOOLEAN).isPresent();
    }

    private void general(char letter, String value) throws ToolUseException {
        if (letter == 'p') {
            pid(value);
        } else if (letter == 'd' && !value.matches("[0-9].*")) {
            throw new ToolUseException("-d " + value + ": that is no time" + elsewhere(letter));
        } else if (letter == 'd') {
            general.add("--duration=" + value);
        } else if (letter == 'f' && !FORMATS.contains(value)) {
            String flags = option("flag").isPresent() ? "; --flag " + value + " for flags" : "";
            throw new ToolUseException(
                    "-f " + value + ": it is the format, " + formats() + flags + elsewhere(letter));
        } else {
            command |= letter == 'c';
            general.addAll(List.of("-" + letter, value));
        }
    }

    private String formats() {
        return tool.rules().folded().isPresent()
                ? "text, csv, json or folded"
                : "text, csv or json";
    }

    private void set(Option option, String value) throws ToolUseException {
        if (option.name().equals(FREQUENCY)) {
            frequency(value);
        } else {
            named.add("--" + option.name() + "=" + scriptValue(option, value));
        }
    }

    private void mapKeys(String word) throws ToolUseException {
        if (!isCount(word) || Integer.parseInt(word) == 0 || Integer.parseInt(word) > MOST_KEYS) {
            throw new ToolUseException("--map-keys " + word + " is not within 1.." + MOST_KEYS);
        }
        mapKeys = OptionalInt.of(Integer.parseInt(word));
    }

    /** The head line has the names of the columns. */
    private void sort(String column) throws ToolUseException {
        String text = tool.variants().getFirst().text();
        String heading = "\"" + column.toUpperCase(Locale.ROOT);
        if (!text.contains(heading + "\"") && !text.contains(heading + "(")) {
            throw new ToolUseException("--sort: there is no column " + column + columns(text));
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

    private void frequency(String word) throws ToolUseException {
        if (!isCount(word) || Integer.parseInt(word) == 0 || Integer.parseInt(word) > MOST_HERTZ) {
            throw new ToolUseException("-F " + word + " is not within 1.." + MOST_HERTZ + " Hz");
        }
        named.add("--" + FREQUENCY + "=" + word);
    }

    private void pid(String word) throws ToolUseException {
        for (String one : word.split(",", -1)) {
            if (!isCount(one) || Integer.parseInt(one) == 0) {
                throw new ToolUseException("-p " + word + " is no process");
            }
        }
        lists.keep(OWN_PID, word, Integer.MAX_VALUE);
    }

    private static boolean isCount(String word) {
        return word.matches("[0-9]{1," + MOST_DIGITS + "}");
    }

    /** The value of an option as the script takes it. */
    private String scriptValue(Option option, String value) throws ToolUseException {
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
            throw new ToolUseException(
                    name + ": '" + value + "' is none of " + String.join(", ", choices));
        }
        boolean number = option.kind() != Option.Kind.STRING;
        if (number && !isCount(value)) {
            throw new ToolUseException(name + ": '" + value + "' is no number");
        }
        return value;
    }

    private String value(String word) throws ToolUseException {
        if (at >= words.size()) {
            throw new ToolUseException(word + " needs a value");
        }
        return words.get(at++);
    }

    private void check() throws ToolUseException {
        String takes = tool.rules().takes();
        if (!takes.isEmpty() && positional.isEmpty()) {
            throw new ToolUseException(
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
    private void takeWords(int taken) throws ToolUseException {
        List<String> extra =
                positional.subList(Math.min(taken, positional.size()), positional.size());
        List<String> names = ToolOptions.bare(tool);
        for (int i = 0; i < extra.size(); i++) {
            if (i >= names.size() || !extra.get(i).matches("[0-9].*")) {
                throw new ToolUseException(
                        "unexpected word '" + extra.get(i) + "'" + meant(extra.get(i)));
            }
            longOption("--" + names.get(i) + "=" + extra.get(i));
        }
        extra.clear();
        Optional<Option> interval = option(INTERVAL);
        boolean counts = named.stream().anyMatch(word -> word.startsWith("--" + LISTS + "="));
        if (counts && interval.isPresent() && last(interval.get()).equals("0")) {
            throw new ToolUseException("--lists needs --interval: the time between two lists");
        }
    }

    /** What also happens in interrupts may happen while a thread of the tracer runs. */
    private void includeInterrupts(boolean ofProcess) {
        if (!ofProcess) {
            general.add("--include-self");
        }
    }

    /** The value that an option has: the last one given, or its default. */
    private String last(Option option) {
        String begin = "--" + option.name() + "=";
        return named.reversed().stream()
                .filter(word -> word.startsWith(begin))
                .map(word -> word.substring(begin.length()))
                .findFirst()
                .orElse(option.standard());
    }

    private void checkPid() throws ToolUseException {
        List<Integer> all = pids();
        if (all.isEmpty()) {
            return;
        }
        String reason = tool.rules().withoutPid();
        if (!reason.isEmpty()) {
            throw new ToolUseException("-p: " + reason);
        }
        if (command) {
            throw new ToolUseException("-c and -p exclude each other");
        }
        if (hasOwnPid()) {
            named.add("--" + OWN_PID + "=" + all.getFirst());
        } else if (all.size() > 1) {
            throw new ToolUseException("-p: " + tool.name() + " takes one process");
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
