package sonde.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.format.Nearest;
import sonde.lang.bpftrace.run.CopiedStacks;
import sonde.lang.bpftrace.run.Pass;
import sonde.lang.bpftrace.run.TraceOptions.Mode;
import sonde.lang.output.MapRows;
import sonde.lang.output.RowStyle;
import sonde.symbol.files.GivenPlaces;

/** The command line of {@code sonde trace}: that of bpftrace, and a program in front. */
final class TraceArguments {
    private static final int MOST_PID = 4 << 20;

    /** Wrong use. */
    static final class UsageException extends Exception {
        private static final long serialVersionUID = 1;
        private final boolean usage;

        UsageException(String message, boolean usage) {
            super(message);
            this.usage = usage;
        }

        /** Whether the usage is to be shown. */
        boolean showsUsage() {
            return usage;
        }
    }

    Optional<String> program = Optional.empty();
    String programName = "stdin";
    long durationNanos = Long.MAX_VALUE;
    @Nullable String file;
    @Nullable String output;
    String format = "text";
    MapRows.Order order = MapRows.Order.DEFAULT;
    String buffer = "line";
    @Nullable String command;
    OptionalInt pid = OptionalInt.empty();

    /** A process whose end is that of the trace, and no more. */
    OptionalInt watched = OptionalInt.empty();

    /** How lines below a head line are shown; empty where the script prints none. */
    Optional<RowStyle> rowStyle = Optional.empty();

    /** How many keys a map has room for, whatever the script says. */
    OptionalInt mapKeys = OptionalInt.empty();

    /**
     * Name of the tool whose script this is: stacks are shown without the tracer's own frames, and
     * messages are about the tool; empty for none.
     */
    String tool = "";

    /** What the user told the tool to look at; empty where a tool knows that itself. */
    String toolProbe = "";

    /** Whether {@code watched()} holds for the tracer too. */
    boolean includesSelf;

    /** How the keys of its maps are folded. */
    List<String> folded = List.of();

    boolean list;
    boolean verbose;
    boolean quiet;
    boolean helperErrors;
    boolean dryRun;
    boolean unsafe;
    boolean noWarnings;
    boolean information;
    boolean help;
    boolean version;
    boolean plan;
    boolean compile;
    boolean debug;
    @Nullable String formatted;
    String comm = "sonde";
    Mode mode = Mode.TRACE;
    @Nullable String probeFilter;
    @Nullable String traceableFunctions;
    boolean everyStack;
    final Set<Integer> stacksOf = new LinkedHashSet<>();
    final Set<String> disabled = new LinkedHashSet<>();
    final List<Path> debugFolders = new ArrayList<>();
    Optional<Path> vmlinux = Optional.empty();
    Optional<String> server = Optional.empty();
    final List<Path> headerFolders = new ArrayList<>();
    final List<String> headers = new ArrayList<>();
    final Set<Pass> dumps = EnumSet.noneOf(Pass.class);
    final List<String> parameters = new ArrayList<>();

    private final List<String> words;
    private int at;

    private TraceArguments(List<String> words) {
        this.words = words;
    }

    static TraceArguments parse(List<String> words) throws UsageException {
        TraceArguments arguments = new TraceArguments(words);
        arguments.options();
        arguments.rest();
        return arguments;
    }

    /** Up to the first word that is none: the program or its file. */
    private void options() throws UsageException {
        while (at < words.size()) {
            String word = words.get(at);
            if (!word.startsWith("-") || word.equals("-")) {
                return;
            }
            at++;
            if (word.equals("--")) {
                at--;
                return;
            }
            if (word.startsWith("--")) {
                longOption(word);
            } else {
                letters(word);
            }
        }
    }

    private void longOption(String word) throws UsageException {
        int equals = word.indexOf('=');
        String name = equals < 0 ? word : word.substring(0, equals);
        String attached = equals < 0 ? null : word.substring(equals + 1);
        switch (name) {
            case "--help" -> help = true;
            case "--version" -> version = true;
            case "--list" -> list = true;
            case "--verbose" -> verbose = true;
            case "--quiet" -> quiet = true;
            case "--warnings" -> helperErrors = true;
            case "--pid" -> value('p', attached(word, attached));
            case "--cmd" -> value('c', attached(word, attached));
            case "--output" -> value('o', attached(word, attached));
            case "--mode" -> mode(attached(word, attached));
            case "--duration" -> durationNanos = duration(attached(word, attached));
            case "--info" -> information = true;
            case "--dry-run" -> dryRun = true;
            case "--unsafe" -> unsafe = true;
            case "--test" -> mode = Mode.TEST;
            case "--bench" -> mode = Mode.BENCH;
            case "--no-warnings" -> noWarnings = true;
            case "--plan" -> plan = true;
            case "--include-self" -> includesSelf = true;
            case "--compile" -> compile = true;
            case "--debug" -> debug = true;
            case "--json" -> format = "json";
            case "--sort" -> order = order(attached(word, attached));
            case "--verify-llvm-ir", "--usdt-file-activation" -> {}
            case "--comm" -> comm = attached(word, attached);
            case "--dwarf-pid" -> copiedStacks(attached(word, attached));
            case "--fmt" -> formatted = attached(word, attached);
            case "--debuginfo" ->
                    Stream.of(attached(word, attached).split(":", -1))
                            .filter(folder -> !folder.isEmpty())
                            .forEach(folder -> debugFolders.add(Path.of(folder)));
            case "--symbols" -> debugFolders.add(Path.of(attached(word, attached)));
            case "--vmlinux" -> vmlinux = Optional.of(Path.of(attached(word, attached)));
            case "--debuginfod" -> server = Optional.of(server(attached));
            case "--dump" -> dump(attached(word, attached));
            case "--include" -> headers.add(attached(word, attached));
            case "--probe-filter" -> probeFilter = attached(word, attached);
            case "--traceable-functions" -> traceableFunctions = attached(word, attached);
            case "--no-feature" ->
                    disabled.addAll(List.of(attached(word, attached).split(",", -1)));
            default -> throw new UsageException("unknown option " + name + meant(name), true);
        }
    }

    /** What bpftrace says for it, or what is like it; those of the help are all there are. */
    private static String meant(String name) {
        return switch (name) {
            case "--aot" -> "; --compile FILE.bt -o FILE.sbt writes a compiled script";
            case "--emit-elf", "--emit-llvm" -> "; --dump=code shows the instructions";
            default -> {
                List<String> known =
                        Pattern.compile("--[a-z][a-z-]+")
                                .matcher(TraceUsage.text())
                                .results()
                                .map(MatchResult::group)
                                .toList();
                yield Nearest.meant(name, known);
            }
        };
    }

    private void copiedStacks(String word) throws UsageException {
        if (word.equals("all")) {
            everyStack = true;
        } else {
            stacksOf.add(pid(word));
        }
    }

    /** Whose stacks are copied: where a process was chosen, of all that its probes hit. */
    CopiedStacks stacks() {
        boolean all = everyStack || compile || command != null || pid.isPresent();
        return all ? CopiedStacks.ALL : new CopiedStacks(false, Set.copyOf(stacksOf));
    }

    /** The word behind is the server's only when it is an address. */
    private String server(@Nullable String attached) {
        boolean next =
                attached == null && at < words.size() && ServerArguments.isUrl(words.get(at));
        return next ? words.get(at++) : Objects.requireNonNullElse(attached, "");
    }

    /** Where symbols may be, as the user said. */
    GivenPlaces places(Consumer<String> progress) {
        return new GivenPlaces(
                debugFolders.stream().map(Path::toString).toList(),
                vmlinux,
                ServerArguments.servers(server, progress));
    }

    private static MapRows.Order order(String word) throws UsageException {
        return switch (word) {
            case "key" -> MapRows.Order.KEY;
            case "-key" -> MapRows.Order.KEY_DESCENDING;
            case "value" -> MapRows.Order.VALUE;
            case "-value" -> MapRows.Order.VALUE_DESCENDING;
            default -> throw new UsageException("--sort is key, -key, value or -value", true);
        };
    }

    private static long duration(String word) throws UsageException {
        return Durations.nanos(word)
                .orElseThrow(() -> new UsageException(Durations.problem(word), false));
    }

    private void mode(String name) throws UsageException {
        mode =
                switch (name) {
                    case "test" -> Mode.TEST;
                    case "bench" -> Mode.BENCH;
                    default -> throw new UsageException("--mode is test or bench", true);
                };
    }

    private String attached(String word, @Nullable String attached) throws UsageException {
        if (attached != null) {
            return attached;
        }
        if (at >= words.size()) {
            throw new UsageException(word + " needs a value", true);
        }
        return words.get(at++);
    }

    private void letters(String word) throws UsageException {
        for (int i = 1; i < word.length(); i++) {
            char letter = word.charAt(i);
            String rest = word.substring(i + 1);
            switch (letter) {
                case 'h' -> help = true;
                case 'V' -> version = true;
                case 'l' -> list = true;
                case 'v' -> verbose = true;
                case 'q' -> quiet = true;
                case 'k' -> helperErrors = true;
                case 'e', 'f', 'o', 'B', 'c', 'p', 'I', 'd' -> {
                    value(letter, attached("-" + letter, rest.isEmpty() ? null : rest));
                    return;
                }
                default -> throw new UsageException("unknown option -" + letter, true);
            }
        }
    }

    private void value(char letter, String value) throws UsageException {
        switch (letter) {
            case 'e' -> program = Optional.of(program.map(p -> p + "\n" + value).orElse(value));
            case 'f' -> format = value;
            case 'o' -> output = value;
            case 'B' -> buffer = value;
            case 'c' -> command = value;
            case 'p' -> pid = OptionalInt.of(pid(value));
            case 'I' -> headerFolders.add(Path.of(value));
            default -> debugged(value);
        }
    }

    /** {@code -d} is bpftrace's letter, and a time in other tools. */
    private void debugged(String value) throws UsageException {
        if (value.matches("[0-9].*")) {
            throw new UsageException(
                    "-d shows a pass, as --dump; a time is --duration " + value, false);
        }
        if (value.startsWith("-") || value.equals("d") || value.indexOf('{') >= 0) {
            throw new UsageException(
                    "-d needs a pass: -d code, or --dump=code; "
                            + passes()
                            + "; with --dry-run the script is not run",
                    false);
        }
        dump(value);
    }

    private void dump(String names) throws UsageException {
        for (String name : names.split(",", -1)) {
            switch (name) {
                // As bpftrace calls them.
                case "ast" -> dumps.add(Pass.PARSE);
                case "codegen" -> dumps.add(Pass.IR);
                case "codegen-opt" -> dumps.add(Pass.OPTIMISED);
                case "dis" -> dumps.add(Pass.CODE);
                case "all" -> dumps.addAll(EnumSet.allOf(Pass.class));
                default -> dumps.add(pass(name));
            }
        }
    }

    private static Pass pass(String name) throws UsageException {
        for (Pass pass : Pass.values()) {
            if (pass.name().toLowerCase(Locale.ROOT).equals(name)) {
                return pass;
            }
        }
        String verifier =
                name.equals("libbpf") || name.equals("verifier")
                        ? "; -v shows what the kernel says of a program that it refuses"
                        : "";
        throw new UsageException(passes() + "; not " + name + verifier, false);
    }

    private static String passes() {
        return Arrays.stream(Pass.values())
                .map(pass -> pass.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", ", "passes are ", ", or all"));
    }

    /** How rows of maps are written. */
    MapRows.Form form() {
        return switch (format) {
            case "csv" -> MapRows.Form.CSV;
            case "folded" -> MapRows.Form.FOLDED;
            default -> MapRows.Form.USUAL;
        };
    }

    /** Settings that go over those of the script. */
    Map<String, String> environment() {
        Map<String, String> all = new HashMap<>(System.getenv());
        mapKeys.ifPresent(keys -> all.put("BPFTRACE_MAX_MAP_KEYS", Integer.toString(keys)));
        return Map.copyOf(all);
    }

    static int pid(String word) throws UsageException {
        int digits = 0;
        while (digits < word.length() && Character.isDigit(word.charAt(digits))) {
            digits++;
        }
        if (digits == 0) {
            throw new UsageException("Failed to parse pid: invalid integer: " + word, false);
        }
        if (digits < word.length()) {
            throw new UsageException("Failed to parse pid: invalid trailing bytes: " + word, false);
        }
        long pid = digits > 9 ? MOST_PID + 1L : Long.parseLong(word);
        if (pid < 1 || pid > MOST_PID) {
            throw new UsageException("Pid out of range: " + word, false);
        }
        return (int) pid;
    }

    private void rest() throws UsageException {
        boolean wantsFile =
                program.isEmpty() && !help && !version && !information && formatted == null;
        if (wantsFile && at < words.size() && !words.get(at).equals("--")) {
            file = words.get(at++);
            options();
        }
        if (file == null && wantsFile && !list) {
            throw new UsageException("a program or a file is missing", true);
        }
        boolean behind = false;
        while (at < words.size()) {
            String word = words.get(at++);
            if (!behind && !word.equals("--") && word.startsWith("--")) {
                throw new UsageException("options of the program go behind --", true);
            }
            behind |= word.equals("--");
            parameters.add(word);
        }
        check();
    }

    private void check() throws UsageException {
        if (!List.of("text", "json", "csv", "folded").contains(format)) {
            throw new UsageException(
                    "Invalid output format \""
                            + format
                            + "\"\nValid formats: "
                            + "'text', 'json', 'csv', 'folded'",
                    false);
        }
        if (!Set.of("none", "line", "full").contains(buffer)) {
            throw new UsageException("-B must be either 'line', 'full', or 'none'.", true);
        }
        if (command != null && pid.isPresent()) {
            throw new UsageException("Cannot use both -c and -p.", true);
        }
        if (compile && output == null) {
            throw new UsageException("--compile needs a file to write: -o FILE.sbt", true);
        }
    }
}
