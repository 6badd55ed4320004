package sonde.tools.trace;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.run.CompilerPass;
import sonde.lang.bpftrace.run.StackCopying;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceOptions.ProbeSelection;
import sonde.lang.declare.IncludeFolders;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.RowForm;
import sonde.lang.output.RowStyle;
import sonde.probe.launch.InheritedState;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.OptionWords;
import sonde.tools.option.SymbolArguments;

/** The command line of {@code sonde trace}: that of bpftrace, and a program in front. */
public final class TraceArguments {
    public static final String MODEL =
            """
            sonde trace [OPTIONS] 'PROGRAM' [ARGUMENT...] [-- --name=value]
            sonde trace [OPTIONS] FILE.bt [ARGUMENT...] [-- --name=value]
            sonde trace -l [PATTERN | FILE.bt]

            Run a program in bpftrace's language. docs/language.md describes it.

            Arguments:
              -- [WORD...]

            Program:
              -e PROGRAM      run this program (repeatable)
              -I DIR          look for headers in this folder (repeatable)
              --include FILE  include this header (repeatable)
              --unsafe        allow functions that change more than the trace (system, signal)
              --dwarf-pid PID|all
                              copy the stacks of this process for dw_ustack; with -p and -c those
                              of all processes that are hit (repeatable)

            What is traced:
              -c, --cmd COMMAND
                              start a command; the trace ends with it and has its exit status
                              (128+N for signal N); cpid is its process
              -p, --pid PID   trace only this process; the trace ends with it
              --duration TIME
                              end after this time: 500ms, 10s, 5m
              --include-self  trace sonde's own process too
              --probe-filter REGEX
                              attach only probes whose name matches
              --traceable-functions FILE
                              use this list of functions instead of the kernel's
              --no-feature FEATURE,...
                              do not use uprobe_multi, kprobe_multi or kprobe_session

            Output:
              -o, --output FILE
                              write to this file; a file that exists is overwritten
              -f, --format text|json|csv|folded
                              print text, a JSON object per printed thing, maps as comma-separated
                              values, or maps of stacks for flame graph tools (default text)
              --json          same as --format json
              --maps-every TIME
                              show all maps as tables and histograms at this interval, and at the
                              end; all else that the script prints is left out
              --sort ORDER    sort rows of maps by key, -key, value or -value; - is descending
              -B none|line|full
                              write output as it comes, or in blocks of 64 KiB (default line)
              -q, --quiet     print no messages of sonde
              -v, --verbose   print more messages
              -k, --warnings  report helpers of the kernel that fail
              --no-warnings   print no warnings

            Instead of tracing:
              -l, --list      list probes; with -v also their arguments; 'struct NAME' lists types
              --dry-run       attach everything, then end
              --mode test|bench
                              run the test probes or the bench probes
              --fmt FILE      print a script in the standard layout
              --info          show what this kernel offers to scripts
              --compile       write a compiled script to the file of --output
              -d, --dump PASS
                              show what passes of the compiler made: parse, expand, probes, types,
                              ir, resources, optimised, allocated, code, or all; several are
                              separated by commas (repeatable)
              --plan          show the programs, how they are attached, and why
            """
                    + SymbolArguments.PROGRAMS
                    + """
                      --vmlinux FILE  read the kernel's debug information from this image

                    Old spellings:
                      --symbols = --debug-dir

                    Not in help:
                      --test          as --mode test
                      --bench         as --mode bench
                      --debuginfo DIRS
                                      as --debug-dir, separated by colons (repeatable)
                      --comm NAME     the name of the program in messages
                      --verify-llvm-ir
                      --usdt-file-activation

                    Examples:
                      sonde trace 'tracepoint:syscalls:sys_enter_openat
                                   { printf("%s %s\\n", comm, str(args.filename)); }'
                      sonde trace 'profile:hz:99 { @[kstack] = count(); }'
                      sonde trace 'tracepoint:syscalls:sys_exit_read /args.ret > 0/
                                   { @bytes[comm] = hist(args.ret); }'
                      sonde trace -l 'tracepoint:sched:*'
                    """;

    private Optional<String> program = Optional.empty();
    private String programName = "stdin";
    private long durationNanos = Long.MAX_VALUE;
    private @Nullable String file;
    private @Nullable String output;
    private String format = "text";
    private MapOrder order = MapOrder.DEFAULT;
    private String buffer = "line";
    private @Nullable String command;
    private OptionalInt pid = OptionalInt.empty();

    /** A process whose end is that of the trace, and no more. */
    private OptionalInt watched = OptionalInt.empty();

    /** How lines below a head line are shown; empty where the script prints none. */
    private Optional<RowStyle> rowStyle = Optional.empty();

    /** How many keys a map has room for, whatever the script says. */
    private OptionalInt mapKeys = OptionalInt.empty();

    /**
     * Name of the tool whose script this is: stacks are shown without the tracer's own frames, and
     * messages are about the tool; empty for none.
     */
    private String tool = "";

    /** What the user told the tool to look at; empty where a tool knows that itself. */
    private String toolProbe = "";

    /** Whether {@code watched()} holds for the tracer too. */
    private boolean includesSelf;

    /** How the keys of its maps are folded, or laid out for people. */
    private List<String> parts = List.of();

    private long everyNanos;
    private boolean list;
    private boolean verbose;
    private boolean quiet;
    private boolean helperErrors;
    private boolean dryRun;
    private boolean unsafe;
    private boolean noWarnings;
    private boolean information;
    private boolean help;
    private boolean version;
    private boolean plan;
    private boolean compile;
    private boolean debug;
    private @Nullable String formatted;
    private String comm = "sonde";
    private ProbeSelection mode = ProbeSelection.TRACE;
    private @Nullable String probeFilter;
    private @Nullable String traceableFunctions;
    private boolean everyStack;
    private final Set<Integer> stacksOf = new LinkedHashSet<>();
    private final Set<String> disabled = new LinkedHashSet<>();
    private final List<Path> debugFolders = new ArrayList<>();
    private Optional<Path> vmlinux = Optional.empty();
    private Optional<String> server = Optional.empty();
    private final List<Path> headerFolders = new ArrayList<>();
    private final List<String> headers = new ArrayList<>();
    private final Set<CompilerPass> dumps = EnumSet.noneOf(CompilerPass.class);
    private final List<String> parameters = new ArrayList<>();

    private static final String MAPS_EVERY = "--maps-every";

    private TraceArguments() {}

    /** Reads the words behind {@code trace}. */
    public static TraceArguments parse(List<String> words) {
        CommandModel model = CommandModel.parse(MODEL + CommandModel.COMMON);
        GivenOptions given = read(model, words);
        List<String> rest = given.words();
        boolean others =
                Stream.of("-e", "--help", "--version", "--info", "--fmt").anyMatch(given::has);
        String file = null;
        if (!others && !rest.isEmpty() && !rest.getFirst().equals("--")) {
            file = rest.getFirst();
            GivenOptions behind = read(model, rest.subList(1, rest.size()));
            given.addOptions(behind);
            rest = behind.words();
        }
        given.check();
        TraceArguments arguments = of(given);
        arguments.own(given);
        if (file == null && !others && !given.has("--list")) {
            throw new OptionException("a program or a file is missing");
        }
        arguments.file = file;
        arguments.parameters(rest);
        return arguments;
    }

    private static GivenOptions read(CommandModel model, List<String> words) {
        try {
            return OptionWords.read(model, words);
        } catch (OptionException e) {
            String instead =
                    switch (e.spelling()) {
                        case "--aot" -> "; --compile FILE.bt -o FILE.sbt writes a compiled script";
                        case "--emit-elf", "--emit-llvm" -> "; --dump=code shows the instructions";
                        default -> "";
                    };
            throw new OptionException(e.getMessage() + instead);
        }
    }

    /** The options that {@code sonde tool} has too. */
    private static TraceArguments of(GivenOptions given) {
        TraceArguments all = new TraceArguments();
        all.help = given.has("--help");
        all.debug = given.has("--debug");
        all.command = given.text("--cmd");
        all.durationNanos = given.nanos("--duration").orElse(Long.MAX_VALUE);
        all.output = given.text("--output");
        all.format = given.has("--json") ? "json" : given.text("--format", "text");
        all.order = order(given.text("--sort", ""));
        // A tool that prints lists does not have it.
        if (given.model().options().anyMatch(one -> one.name().equals(MAPS_EVERY))) {
            all.everyNanos = given.nanos(MAPS_EVERY).orElse(0);
        }
        if (all.everyNanos > 0 && !Set.of("text", "json").contains(all.format)) {
            throw new OptionException(
                    MAPS_EVERY + " prints text or JSON, not --format " + all.format);
        }
        all.buffer = given.text("-B", "line");
        all.quiet = given.has("--quiet");
        all.verbose = given.has("--verbose");
        all.helperErrors = given.has("--warnings");
        all.noWarnings = given.has("--no-warnings");
        all.dryRun = given.has("--dry-run");
        all.plan = given.has("--plan");
        all.includesSelf = given.has("--include-self");
        all.probeFilter = given.text("--probe-filter");
        all.headers.addAll(given.texts("--include"));
        return all;
    }

    /** The options that {@code sonde trace} has alone. */
    private void own(GivenOptions given) {
        List<String> programs = given.texts("-e");
        program = programs.isEmpty() ? Optional.empty() : Optional.of(String.join("\n", programs));
        version = given.has("--version");
        list = given.has("--list");
        information = given.has("--info");
        unsafe = given.has("--unsafe");
        compile = given.has("--compile");
        formatted = given.text("--fmt");
        comm = given.text("--comm", "sonde");
        traceableFunctions = given.text("--traceable-functions");
        disabled.addAll(given.texts("--no-feature"));
        String usual = given.text("--mode", given.has("--bench") ? "bench" : "trace");
        mode =
                ProbeSelection.valueOf(
                        (given.has("--test") ? "test" : usual).toUpperCase(Locale.ROOT));
        given.number("--pid").ifPresent(one -> pid = OptionalInt.of((int) one));
        given.texts("-I").forEach(folder -> headerFolders.add(Path.of(folder)));
        given.texts("--debug-dir").forEach(folder -> debugFolders.add(Path.of(folder)));
        given.texts("--debuginfo").stream()
                .flatMap(folders -> Stream.of(folders.split(":", -1)))
                .filter(folder -> !folder.isEmpty())
                .forEach(folder -> debugFolders.add(Path.of(folder)));
        vmlinux = Optional.ofNullable(given.path("--vmlinux"));
        server = Optional.ofNullable(given.text("--debuginfod"));
        given.texts("--dwarf-pid").forEach(this::copiedStacks);
        given.texts("--dump").forEach(this::dump);
        if (command != null && pid.isPresent()) {
            throw new OptionException("Cannot use both -c and -p.");
        }
        if (compile && output == null) {
            throw new OptionException("--compile needs a file to write: -o FILE.sbt");
        }
    }

    /**
     * The script of a tool.
     *
     * @param name of the tool: stacks are shown without the tracer's own frames, and messages are
     *     about the tool
     * @param probe what the user told it to look at; empty where it knows that itself
     * @param textName of its text in messages
     * @param mapKeys how many keys a map has room for, whatever the script says
     * @param keepsToPid whether the tracer keeps to the process, which else ends the trace alone
     * @param rows how lines below a head line are shown; empty where it prints none
     * @param parts how the keys of its maps are folded, or laid out for people
     */
    public record ToolScript(
            String name,
            String probe,
            String text,
            String textName,
            List<String> parameters,
            OptionalInt mapKeys,
            OptionalInt pid,
            boolean keepsToPid,
            Optional<RowStyle> rows,
            List<String> parts) {}

    /** As if the options had been given to {@code sonde trace} with the tool's script. */
    public static TraceArguments of(GivenOptions given, ToolScript script) {
        TraceArguments all = of(given);
        all.program = Optional.of(script.text);
        all.programName = script.textName;
        all.parameters(script.parameters);
        all.mapKeys = script.mapKeys;
        all.pid = script.keepsToPid ? script.pid : OptionalInt.empty();
        all.watched = script.keepsToPid ? OptionalInt.empty() : script.pid;
        all.rowStyle = script.rows;
        all.parts = script.parts;
        all.tool = script.name;
        all.toolProbe = script.probe;
        all.quiet |= !all.verbose;
        return all;
    }

    /** What the program is given. */
    private void parameters(List<String> words) {
        boolean behind = false;
        for (String word : words) {
            behind |= word.equals("--");
            if (!behind && word.startsWith("--")) {
                throw new OptionException("options of the program go behind --");
            }
            parameters.add(word);
        }
    }

    private void copiedStacks(String word) {
        if (word.equals("all")) {
            everyStack = true;
        } else if (word.matches("[1-9][0-9]{0,8}")) {
            stacksOf.add(Integer.valueOf(word));
        } else {
            throw new OptionException(
                    "--dwarf-pid: '" + word + "' is not a process; write PID or all");
        }
    }

    /** The processes whose stacks are copied: where one was chosen, all that its probes hit. */
    private StackCopying stacks() {
        boolean all = everyStack || compile || command != null || pid.isPresent();
        return all ? StackCopying.ALL : new StackCopying(false, Set.copyOf(stacksOf));
    }

    /** Where symbols may be, as the user said. */
    private GivenPlaces places(Consumer<String> progress) {
        return new GivenPlaces(
                debugFolders.stream().map(Path::toString).toList(),
                vmlinux,
                SymbolArguments.servers(server, progress));
    }

    private static MapOrder order(String word) {
        return switch (word) {
            case "" -> MapOrder.DEFAULT;
            case "key" -> MapOrder.KEY;
            case "-key" -> MapOrder.KEY_DESCENDING;
            case "value" -> MapOrder.VALUE;
            case "-value" -> MapOrder.VALUE_DESCENDING;
            default -> throw new OptionException("--sort is key, -key, value or -value");
        };
    }

    private void dump(String names) {
        if (names.matches("[0-9].*")) {
            throw new OptionException("-d shows a pass, as --dump; a time is --duration " + names);
        }
        if (names.startsWith("-") || names.equals("d") || names.indexOf('{') >= 0) {
            throw new OptionException(
                    "-d needs a pass: -d code, or --dump=code; "
                            + passes()
                            + "; with --dry-run the script is not run");
        }
        for (String name : names.split(",", -1)) {
            switch (name) {
                // As bpftrace calls them.
                case "ast" -> dumps.add(CompilerPass.PARSE);
                case "codegen" -> dumps.add(CompilerPass.IR);
                case "codegen-opt" -> dumps.add(CompilerPass.OPTIMISED);
                case "dis" -> dumps.add(CompilerPass.CODE);
                case "all" -> dumps.addAll(EnumSet.allOf(CompilerPass.class));
                default -> dumps.add(pass(name));
            }
        }
    }

    private static CompilerPass pass(String name) {
        for (CompilerPass pass : CompilerPass.values()) {
            if (pass.name().toLowerCase(Locale.ROOT).equals(name)) {
                return pass;
            }
        }
        String verifier =
                name.equals("libbpf") || name.equals("verifier")
                        ? "; -v shows what the kernel says of a program that it refuses"
                        : "";
        throw new OptionException(passes() + "; not " + name + verifier);
    }

    private static String passes() {
        return Arrays.stream(CompilerPass.values())
                .map(pass -> pass.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", ", "passes are ", ", or all"));
    }

    /** How rows of maps are written. */
    private RowForm form() {
        return switch (format) {
            case "csv" -> RowForm.CSV;
            case "folded" -> RowForm.FOLDED;
            default -> RowForm.USUAL;
        };
    }

    /** Settings that go over those of the script. */
    private Map<String, String> environment() {
        Map<String, String> all = new HashMap<>(System.getenv());
        InheritedState.restore(all);
        mapKeys.ifPresent(keys -> all.put("BPFTRACE_MAX_MAP_KEYS", Integer.toString(keys)));
        return Map.copyOf(all);
    }

    /**
     * What the words ask for.
     *
     * @param progress is told of every question to a server of debug files
     */
    public TraceRequest request(Consumer<String> progress) {
        return new TraceRequest(
                new TraceRequest.ScriptChoice(
                        program, programName, formatted == null ? file : formatted),
                options(progress),
                new TraceRequest.PrintStyle(
                        order, form(), parts, rowStyle, buffer.equals("full"), everyNanos),
                new TraceRequest.TraceEnd(Optional.ofNullable(command), watched, durationNanos),
                new TraceRequest.MessageStyle(tool, toolProbe, verbose, quiet),
                dumps,
                plan,
                dryRun,
                comm);
    }

    private TraceOptions options(Consumer<String> progress) {
        Path directory = Path.of(".");
        if (file != null && file.indexOf('{') < 0) {
            Path parent = Path.of(file).toAbsolutePath().getParent();
            directory = parent == null ? directory : parent;
        }
        return new TraceOptions(
                ScriptParameters.of(parameters),
                pid,
                0,
                unsafe,
                mode,
                helperErrors,
                new IncludeFolders(headerFolders, headers),
                environment(),
                directory,
                !noWarnings,
                probeFilter,
                traceableFunctions,
                disabled,
                places(progress),
                stacks(),
                includesSelf ? 0 : (int) ProcessHandle.current().pid());
    }

    /** What {@code sonde trace} does. */
    public enum TraceAction {
        HELP,
        VERSION,
        INFORMATION,
        LIST,
        FORMAT,
        COMPILE,
        RUN
    }

    /** What is asked for. */
    public TraceAction action() {
        return help
                ? TraceAction.HELP
                : version
                        ? TraceAction.VERSION
                        : information
                                ? TraceAction.INFORMATION
                                : list
                                        ? TraceAction.LIST
                                        : formatted != null
                                                ? TraceAction.FORMAT
                                                : compile ? TraceAction.COMPILE : TraceAction.RUN;
    }

    /** Whether output is lines of JSON. */
    public boolean isJson() {
        return format.equals("json");
    }

    /** Whether failures show where they come from. */
    public boolean isDebug() {
        return debug;
    }

    /** The file that output goes to; empty for standard output. */
    public Optional<Path> output() {
        return Optional.ofNullable(output).map(Path::of);
    }
}
