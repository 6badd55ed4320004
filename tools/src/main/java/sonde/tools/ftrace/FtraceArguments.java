package sonde.tools.ftrace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.probe.plan.AskedEvent;
import sonde.probe.plan.CallGraph;
import sonde.probe.plan.RecordSpec;
import sonde.probe.plan.TracerSpec;
import sonde.probe.plan.TracerSpec.Setting;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.sys.SyscallException;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.record.RecordOrder;

/** Reads what to trace from the options of {@code sonde ftrace function} and {@code graph}. */
public final class FtraceArguments {
    /** Of the command without a tracer. */
    public static final String MODEL =
            """
            sonde ftrace COMMAND [OPTIONS]

            Use the kernel's own tracers, as trace-cmd and perf ftrace do.

            Arguments:
              [COMMAND...]

            Examples:
              sonde ftrace graph -g do_sys_openat2 -- cat /etc/hostname
              sonde ftrace function -l tcp_v4_connect -- curl -s localhost
              sonde list --functions 'tcp_*'
            """;

    private static final String TARGET =
            """

            Options:
              -a, --all       trace the whole machine; with a command until that ends
              -p, --pid PID,...
                              trace running processes, with their threads and future children
              -e, --event EVENT
                              record these events between the functions; see 'sonde list'
                              (repeatable)
              -o, --output PATH
                              write the recording to PATH.sonde, or to PATH if that ends in .dat
              --duration TIME
                              stop after this time: 5 (seconds), 500ms, 10s, 5m, 1h
              --ring-memory MIB
                              use at most this much kernel memory for the ring buffers; without it
                              5 % of RAM, at most 512 MiB (1..1048576)
              --flight-recorder
                              when the ring buffers are full, overwrite the oldest calls instead of
                              dropping new ones
              --json          print the result as JSON
            """;

    private static final String WHICH =
            """

            Arguments:
              -- [COMMAND...]

            What is traced:
              -l, --function GLOB
                              trace only functions with these names (repeatable)
              -n, --no-function GLOB
                              do not trace functions with these names (repeatable)
              -m, --module NAME
                              trace only functions of this kernel module
              --trigger FUNCTION:ACTION
                              on each call of FUNCTION: traceon, traceoff, stacktrace, snapshot,
                              dump, cpudump, or enable_event:SYSTEM:EVENT; a :N behind it limits
                              how often (repeatable)
            """;

    /** Of {@code sonde ftrace function}. */
    public static final String FUNCTION =
            """
            sonde ftrace function [OPTIONS] [--] COMMAND [ARG...]
            sonde ftrace function [OPTIONS] -p PID[,PID...]
            sonde ftrace function [OPTIONS] -a [[--] COMMAND [ARG...]]

            Record calls of kernel functions with their callers: which were called, how often, from
            where. The recording is a folder NAME.sonde with a trace.dat for trace-cmd and
            KernelShark.
            """
                    + WHICH
                    + """
                      --stacks        record the kernel stack of each call; needs -l
                    """
                    + TARGET
                    + """

                    Examples:
                      sonde ftrace function -l tcp_v4_connect -- curl -s localhost
                      sonde ftrace function -l 'ext4_*' --stacks -- sync
                      sonde ftrace function -m nf_tables -a --duration 2s

                    Exit status:
                      that of the command; 3 when sonde cannot trace
                    """;

    /** Of {@code sonde ftrace graph}. */
    public static final String GRAPH =
            """
            sonde ftrace graph [OPTIONS] [--] COMMAND [ARG...]
            sonde ftrace graph [OPTIONS] -p PID[,PID...]
            sonde ftrace graph [OPTIONS] -a [[--] COMMAND [ARG...]]

            Record calls of kernel functions with what they call and how long each takes. The
            recording is a folder NAME.sonde with a trace.dat for trace-cmd and KernelShark.
            """
                    + WHICH
                    + """
                      -g, --graph GLOB
                                      trace only these functions and what they call (repeatable)
                      --no-graph GLOB
                                      do not trace what these functions call (repeatable)
                      --depth N       trace at most N levels of calls (1..1000)
                      --no-interrupts
                                      do not trace interrupts that hit a traced thread
                      --no-sleep      do not count the time in which a thread was not running
                      --args          record arguments (Linux 6.15)
                      --retval        record return values (Linux 6.5)
                      --threshold TIME
                                      record only calls that take at least this long
                    """
                    + TARGET
                    + """

                    Examples:
                      sonde ftrace graph -g do_sys_openat2 -- cat /etc/hostname
                      sonde ftrace graph -g vfs_read --depth 3 -p 1234 --duration 2s
                      sonde ftrace graph -l 'spi_*' -a --duration 5s

                    Exit status:
                      that of the command; 3 when sonde cannot trace
                    """;

    /** Tracers by the word of the command. */
    private static final Map<String, String> TRACERS =
            Map.of("function", "function", "graph", "function_graph");

    private final String word;
    private final GivenOptions given;
    private final List<String> command;

    /**
     * @param word of the command behind {@code ftrace}
     */
    public FtraceArguments(String word, GivenOptions given) {
        this.word = word;
        this.given = given;
        List<String> words = given.words();
        boolean dashes = !words.isEmpty() && words.getFirst().equals("--");
        this.command = dashes ? words.subList(1, words.size()) : words;
    }

    /** The command to start, as the shell gave it; null without one. */
    public @Nullable CommandWords command() throws SyscallException {
        return command.isEmpty() ? null : CommandWords.lastArguments(command.size());
    }

    /** The recording to make. */
    public RecordOrder order(
            String version, InheritedState origin, @Nullable CommandWords started) {
        return new RecordOrder(
                spec(),
                version,
                origin,
                started,
                given.numbers("--pid"),
                null,
                given.text("--output"),
                RecordOrder.JvmMaps.NONE,
                null,
                null);
    }

    /** What can be done with a recording that was made. */
    public List<String> next(Path recording) {
        String called = System.getenv().getOrDefault("SONDE_CALLED", "sonde") + " report ";
        return List.of(
                "",
                "recorded into " + recording + "; next:",
                "  " + called + recording + " --functions    the tree of calls; --html FILE",
                "  " + called + recording + " --events       each call");
    }

    private RecordSpec spec() {
        boolean all = given.has("--all");
        boolean pids = !given.numbers("--pid").isEmpty();
        if (!all && !pids && command.isEmpty()) {
            throw new OptionException("trace what? Give a command, -p PID or -a");
        }
        if (pids && (all || !command.isEmpty())) {
            throw new OptionException("-p does not go with -a or a command");
        }
        RecordSpec.RecordLimits limits =
                new RecordSpec.RecordLimits(
                        given.number("--ring-memory").orElse(0) << 20,
                        given.has("--flight-recorder"),
                        given.nanos("--duration").orElse(0),
                        List.of());
        TargetMode mode = all ? TargetMode.ALL : pids ? TargetMode.PID : TargetMode.COMMAND;
        RecordSpec spec =
                RecordSpec.of(mode)
                        .unwinding(CallGraph.NONE)
                        .within(limits)
                        .asking(
                                given.texts("--event").stream()
                                        .map(event -> new AskedEvent(event, List.of(), false))
                                        .toList())
                        .tracing(tracer());
        return given.text("--output", "").endsWith(".dat") ? spec.intoTraceDat() : spec;
    }

    private TracerSpec tracer() {
        List<Setting> settings = new ArrayList<>();
        String module = given.text("--module");
        String behind = module == null ? "" : ":mod:" + word("-m", module);
        if (module != null && !isLoaded(module)) {
            // The kernel would wait for it to be loaded, and trace nothing or everything until
            // then.
            throw new OptionException("-m " + module + ": no module " + module + " is loaded");
        }
        List<String> functions = given.texts("--function");
        for (String glob : functions) {
            settings.add(new Setting("set_ftrace_filter", word("-l", glob) + behind, "-l " + glob));
        }
        if (functions.isEmpty() && module != null) {
            settings.add(new Setting("set_ftrace_filter", "*" + behind, "-m " + module));
        }
        for (String glob : given.texts("--no-function")) {
            settings.add(new Setting("set_ftrace_notrace", word("-n", glob), "-n " + glob));
        }
        for (String trigger : given.texts("--trigger")) {
            if (!trigger.matches("[^\\s:;|]+(:mod:\\w+)?:[a-z_]+(:[\\w:.-]+)?")) {
                throw new OptionException(
                        "--trigger takes FUNCTION:ACTION as in vfs_read:stacktrace:5, not '"
                                + trigger
                                + "'");
            }
            settings.add(new Setting("set_ftrace_filter", trigger, "--trigger " + trigger));
        }
        if (word.equals("graph")) {
            graph(settings);
        } else if (given.has("--stacks")) {
            if (functions.isEmpty()) {
                throw new OptionException(
                        "--stacks needs -l: a stack for each of all functions stops the machine");
            }
            settings.add(new Setting("options/func_stack_trace", "1", "--stacks"));
        }
        return new TracerSpec(TRACERS.getOrDefault(word, word), settings);
    }

    private static boolean isLoaded(String module) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/modules"))) {
            return lines.anyMatch(line -> line.startsWith(module.replace('-', '_') + " "));
        } catch (IOException e) {
            return false; // a kernel without modules
        }
    }

    private void graph(List<Setting> settings) {
        for (String glob : given.texts("--graph")) {
            settings.add(new Setting("set_graph_function", word("-g", glob), "-g " + glob));
        }
        for (String glob : given.texts("--no-graph")) {
            settings.add(new Setting("set_graph_notrace", word("--no-graph", glob), glob));
        }
        given.number("--depth")
                .ifPresent(depth ->
                        settings.add(
                                new Setting(
                                        "max_graph_depth",
                                        Long.toString(depth),
                                        "--depth " + depth)));
        given.nanos("--threshold")
                .ifPresent(nanos ->
                        settings.add(
                                new Setting(
                                        "tracing_thresh",
                                        Long.toString(Math.max(nanos / 1000, 1)),
                                        "--threshold")));
        option(settings, given.has("--no-interrupts"), "funcgraph-irqs", "0");
        option(settings, given.has("--no-sleep"), "sleep-time", "0");
        option(settings, given.has("--args"), "funcgraph-args", "1");
        option(settings, given.has("--retval"), "funcgraph-retval", "1");
    }

    private static void option(List<Setting> settings, boolean given, String option, String value) {
        if (given) {
            settings.add(new Setting("options/" + option, value, option));
        }
    }

    /** One word of a list in tracefs: blanks would separate it, a colon or bar begin a command. */
    private static String word(String option, String glob) {
        if (!glob.matches("[\\w.*?\\[\\]!^-]+")) {
            throw new OptionException(
                    option + " takes a name or a glob, not '" + glob.replace('\n', ' ') + "'");
        }
        return glob;
    }
}
