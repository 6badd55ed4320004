package sonde.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.event.result.Live;
import sonde.event.result.Result;
import sonde.format.bundle.Meta;
import sonde.probe.dynamic.NamedProbes;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.Origin;
import sonde.probe.launch.ReadyDescriptor;
import sonde.probe.plan.CallGraph;
import sonde.probe.plan.RecordSpec;
import sonde.probe.plan.Topic;
import sonde.tools.probe.NamedProbeRecipe;
import sonde.tools.record.RecordOrder;
import sonde.tools.record.RecordOutcome;
import sonde.tools.record.RecordRecipe;
import sonde.tools.report.section.ReportSections;

/** {@code sonde record}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        customSynopsis = {
            "sonde record [OPTIONS] [--] COMMAND [ARG...]",
            "       sonde record [OPTIONS] -p PID[,PID...]",
            "       sonde record [OPTIONS] -a"
        },
        description = {
            "Records where time goes: CPU samples and scheduler switches with call chains, wake-ups,"
                    + " system calls, block I/O, page faults, signals, the life of processes.",
            "Leaves NAME.sonde/ with trace.dat, perf.data and meta.json, and prints a summary."
        },
        footer = {
            "",
            "Examples:",
            "  sonde record -- make -j2",
            "  sonde record -o slow -- ./server --port 8080",
            "  sonde record -p 1234 --duration 10s",
            "  sonde record -a --duration 5s",
            "  sonde record -e 'skb:*' -e cycles -- curl -s localhost",
            "  sonde record --live -e 'net:*' -- ping -c 1 localhost",
            "  sonde record --plan -- true         what would be recorded, and why",
            "",
            "Exit status: the command's own (128+N for signal N, 127 not found, 126 not executable);"
                    + " 3 when sonde cannot record."
        })
final class RecordCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Option(
            names = {"-p", "--pid"},
            split = ",",
            paramLabel = "PID",
            description = "processes that run already, with their threads and future children")
    private List<Integer> pids = new ArrayList<>();

    @Option(
            names = {"-a", "--all"},
            description = "the whole machine")
    private boolean all;

    @Option(
            names = {"-e", "--event"},
            paramLabel = "EVENT",
            description =
                    "beside the default set: tracepoints by name or glob, perf events"
                            + " (see 'sonde list'); repeatable")
    private List<String> events = new ArrayList<>();

    @Option(
            names = {"-F", "--frequency"},
            paramLabel = "HZ",
            defaultValue = "" + RecordSpec.DEFAULT_FREQUENCY_HZ,
            description = "CPU samples a second on each CPU (default ${DEFAULT-VALUE})")
    private int frequency;

    @Option(
            names = "--call-graph",
            paramLabel = "fp|dwarf[,BYTES]|none",
            defaultValue = "fp",
            description =
                    "how user stacks are taken: by frame pointers; by registers and BYTES of stack"
                            + " with each sample (default 8192, at most 65528), which report and"
                            + " convert unwind; not at all (default ${DEFAULT-VALUE})")
    private String callGraph = "fp";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "NAME",
            description = "folder to make, NAME.sonde; an existing one is never overwritten")
    private @Nullable String output;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            description = "stop recording after this: 5 (seconds), 500ms, 10s, 5m, 1h")
    private @Nullable String duration;

    @Option(
            names = "--flight-recorder",
            description = "when rings are full keep the end of the recording, not the beginning")
    private boolean flightRecorder;

    @Option(
            names = "--ring-memory",
            paramLabel = "MIB",
            description = "most kernel memory for all rings (default: 5 %% of RAM, at most 512)")
    private @Nullable Integer ringMebibytes;

    @Option(
            names = "--ready-fd",
            paramLabel = "N",
            description =
                    "write the line 'ready' to file descriptor N and close it once all event sources"
                            + " are armed, just before the command starts. The command does not"
                            + " inherit N. If the recording cannot start, N is closed without the"
                            + " line")
    private @Nullable Integer readyFd;

    @Option(
            names = "--live",
            description =
                    "print events while they are recorded: those of -e, or all without -e; one line"
                            + " each as 'sonde report --events' prints them, with --json one object"
                            + " each and no summary")
    private boolean live;

    @Option(names = "--no-cpu", description = "no CPU samples")
    private boolean noCpu;

    @Option(names = "--no-sched", description = "no switches and wake-ups")
    private boolean noSched;

    @Option(names = "--no-syscalls", description = "no system calls")
    private boolean noSyscalls;

    @Option(names = "--no-block", description = "no block I/O")
    private boolean noBlock;

    @Option(names = "--no-faults", description = "no page faults")
    private boolean noFaults;

    @Option(names = "--no-signals", description = "no signals")
    private boolean noSignals;

    @Option(names = "--no-names", description = "no file names and socket addresses")
    private boolean noNames;

    @Option(names = "--no-jvm", description = "leave recorded JVMs alone")
    private boolean noJvm;

    @Option(names = "--jvm", description = "with -p and -a: ask JVMs for their compiled code")
    private boolean jvm;

    @Option(
            names = "--jvm-map",
            paramLabel = "exit",
            description =
                    "exit: the command's JVMs also write a map of compiled code when they end"
                            + " (through JAVA_TOOL_OPTIONS; the JVM says so on standard error)")
    private @Nullable String jvmMap;

    @Option(
            names = "--plan",
            description = "only show what would be recorded, from which source, and why")
    private boolean planOnly;

    @Option(
            names = "--no-summary",
            description = "only record; 'sonde report' shows the summary later")
    private boolean noSummary;

    @Option(names = "--json", description = "the summary (or plan) as JSON on standard output")
    private boolean json;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", hidden = true)
    private List<String> command = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        Origin origin = Origin.capture();
        checkTargets();
        RecordOrder order =
                new RecordOrder(
                        recordSpec(),
                        Main.VERSION,
                        origin,
                        command.isEmpty()
                                ? null
                                : sonde.probe.launch.Command.lastArguments(command.size()),
                        pids,
                        output,
                        jvmMaps(),
                        live ? this::showLive : null,
                        ready(origin));
        if (planOnly) {
            Shown.onOut(RecordRecipe.plan(order), json);
            return ExitCode.DONE;
        }
        return record(order);
    }

    private void showLive(Live events) throws IOException {
        Shown.onOut(events, json);
    }

    private @Nullable ReadyDescriptor ready(Origin origin) {
        Integer fd = readyFd;
        if (fd == null || planOnly) {
            return null;
        }
        try {
            return ReadyDescriptor.of(fd, origin);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(), "--ready-fd " + fd + ": " + e.getMessage(), e);
        }
    }

    private RecordOrder.JvmMaps jvmMaps() {
        if (jvmMap != null) {
            if (!jvmMap.equals("exit")) {
                throw new ParameterException(spec.commandLine(), "--jvm-map takes only: exit");
            }
            return RecordOrder.JvmMaps.AT_EXIT;
        }
        boolean wanted = !noJvm && (jvm || !command.isEmpty());
        return wanted ? RecordOrder.JvmMaps.TARGETS : RecordOrder.JvmMaps.NONE;
    }

    /** Named probes of a file that was built anew record nothing of it. */
    private void sayChanged() {
        try {
            for (NamedProbes.Listed one : NamedProbes.open().changed(events)) {
                Failures.say(
                        spec.commandLine().getErr(),
                        one.event() + ": " + NamedProbeRecipe.changed(one));
            }
        } catch (java.io.IOException e) {
            // Whether probes can be recorded at all is said by the plan.
            return;
        }
    }

    private int record(RecordOrder order) throws Exception {
        if (!events.isEmpty()) {
            sayChanged();
        }
        ProgressLine line = new ProgressLine(!command.isEmpty());
        RecordOutcome outcome;
        try {
            boolean watched = line.isVisible() && !live;
            outcome = new RecordRecipe(order, watched ? line : null).run();
        } catch (ExecException e) {
            Failures.say(spec.commandLine().getErr(), String.valueOf(e.getMessage()));
            return e.exitCode();
        } finally {
            line.clear();
        }
        java.io.PrintWriter err = spec.commandLine().getErr();
        if (!outcome.failure().isEmpty()) {
            Failures.say(err, outcome.failure());
        }
        int status =
                command.isEmpty() && !outcome.failure().isEmpty()
                        ? ExitCode.IMPOSSIBLE
                        : outcome.exitCode();
        if (noSummary || live && json) {
            outcome.meta().notes().forEach(note -> Failures.say(err, note));
            NextSteps.print(outcome.bundle(), err);
            return status;
        }
        Handover handover = new Handover(outcome.bundle(), status);
        if (handover.isWanted()) {
            handover.become(order.origin(), json);
        }
        Result summary = ReportSections.summary(outcome.bundle());
        if (json) {
            Shown.onOut(summary, true);
        } else {
            Shown.onErr(summary);
            NextSteps.print(outcome.bundle(), err);
        }
        return status;
    }

    private void checkTargets() {
        int ways = (command.isEmpty() ? 0 : 1) + (pids.isEmpty() ? 0 : 1) + (all ? 1 : 0);
        CommandLine line = spec.commandLine();
        if (ways == 0) {
            throw new ParameterException(line, "record what? Give a command, -p PID or -a");
        }
        if (ways > 1) {
            throw new ParameterException(line, "a command, -p and -a exclude each other");
        }
        if (live && flightRecorder) {
            throw new ParameterException(
                    line,
                    "--live and --flight-recorder exclude each other: a flight recorder reads"
                            + " its rings at the end");
        }
        if (frequency < 1 || frequency > 100_000) {
            throw new ParameterException(line, "-F " + frequency + " is not within 1..100000 Hz");
        }
        if (ringMebibytes != null && (ringMebibytes < 1 || ringMebibytes > 1 << 20)) {
            throw new ParameterException(
                    line, "--ring-memory " + ringMebibytes + " is not within 1..1048576 MiB");
        }
        if (output != null && output.replaceFirst("/+$", "").isEmpty()) {
            throw new ParameterException(line, "-o needs a name, as in: -o slow");
        }
        for (int pid : pids) {
            if (pid < 1) {
                throw new ParameterException(line, "-p " + pid + " is no process");
            }
        }
    }

    private RecordSpec recordSpec() {
        Meta.Mode mode = all ? Meta.Mode.ALL : pids.isEmpty() ? Meta.Mode.COMMAND : Meta.Mode.PID;
        return new RecordSpec(
                mode,
                events,
                without(),
                frequency,
                callGraph(),
                ringMebibytes == null ? 0 : (long) ringMebibytes << 20,
                flightRecorder,
                duration == null ? 0 : duration(duration));
    }

    private long duration(String text) {
        long nanos = Durations.nanos(text, spec.commandLine());
        if (nanos == 0) {
            throw new ParameterException(
                    spec.commandLine(), "--duration " + text + " would record nothing");
        }
        return nanos;
    }

    private CallGraph callGraph() {
        String[] words = callGraph.split(",", 2);
        boolean sized = words.length == 2;
        try {
            if (words[0].equals("dwarf")) {
                return sized ? CallGraph.dwarf(Integer.parseInt(words[1])) : CallGraph.DWARF;
            }
            if (words[0].equals("fp") && !sized) {
                return CallGraph.FP;
            }
            if ((words[0].equals("none") || words[0].equals("no")) && !sized) {
                return CallGraph.NONE;
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--call-graph dwarf takes 8 to "
                            + CallGraph.MOST_STACK_BYTES
                            + " bytes of stack, not '"
                            + words[1]
                            + "'",
                    e);
        }
        throw new ParameterException(
                spec.commandLine(),
                "--call-graph takes fp, dwarf, dwarf,BYTES or none, not '" + callGraph + "'");
    }

    private Set<Topic> without() {
        Set<Topic> topics = EnumSet.noneOf(Topic.class);
        add(topics, noCpu, Topic.CPU);
        add(topics, noSched, Topic.SCHED);
        add(topics, noSyscalls, Topic.SYSCALLS);
        add(topics, noBlock, Topic.BLOCK);
        add(topics, noFaults, Topic.FAULTS);
        add(topics, noSignals, Topic.SIGNALS);
        add(topics, noNames, Topic.NAMES);
        return topics;
    }

    private static void add(Set<Topic> topics, boolean left, Topic topic) {
        if (left) {
            topics.add(topic);
        }
    }
}
