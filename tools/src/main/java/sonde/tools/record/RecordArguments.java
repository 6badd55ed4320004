package sonde.tools.record;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import sonde.probe.plan.AskedEvent;
import sonde.probe.plan.CallGraph;
import sonde.probe.plan.RecordSpec;
import sonde.probe.plan.Topic;
import sonde.probe.plan.TracerSpec;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;

/** Reads what to record from the options of {@code sonde record}. */
public final class RecordArguments {
    /** The command, its arguments and options. */
    public static final String MODEL =
            """
            sonde record [OPTIONS] [--] COMMAND [ARG...]
            sonde record [OPTIONS] -p PID[,PID...]
            sonde record [OPTIONS] -u USER
            sonde record [OPTIONS] -a [[--] COMMAND [ARG...]]

            Record where time goes: CPU samples and scheduler switches with call chains, wake-ups,
            system calls, block I/O, page faults, signals, the life of processes.

            The recording is a folder NAME.sonde with trace.dat, perf.data and meta.json. A summary
            is printed at the end.

            Arguments:
              -- [COMMAND...]

            What is recorded:
              -p, --pid PID,...
                              record running processes, with their threads and future children
              -u, --user USER
                              record all processes of this user, a name or a number, and those that
                              become the user's while recording
              -a, --all       record the whole machine; with a command until that ends
              -C, --cpu CPUS  record only on these CPUs: 0,2-3
              -e, --event EVENT
                              record these events in addition to the default ones: tracepoints by
                              name or glob, perf events; see 'sonde list' (repeatable)
              -f, --filter FILTER
                              record the events of the -e before it only where FILTER holds; the
                              kernel tests it: 'prev_pid == 0 && next_comm ~ "sh*"', with names of
                              functions for addresses, and of values as the event prints them
                              (repeatable)
              -T, -g, --stacks[=EVENT]
                              record the kernel and user stack with each event of -e, or with these
                              events only (repeatable)
              -F, --frequency HZ
                              take this many CPU samples per second on each CPU
                              (1..100000, default 997)
              --call-graph bpf|fp|dwarf[,BYTES]|none
                              unwind user stacks in the kernel by the unwind tables of the
                              programs (bpf), by frame pointers (fp), or later from registers and
                              BYTES of stack stored with each sample (dwarf; 8192 bytes, at most
                              65528), or do not record them (default bpf)
              --no-cpu        do not record CPU samples
              --no-sched      do not record switches and wake-ups
              --no-syscalls   do not record system calls
              --no-block      do not record block I/O
              --no-faults     do not record page faults
              --no-signals    do not record signals
              --no-names      do not record file names and socket addresses
              --no-jvm        do not ask JVMs for their compiled code and locks
              --jvm           with -p and -a: ask JVMs for their compiled code and locks
              --jvm-map exit  the command's JVMs also write a map of compiled code when they end,
                              through JAVA_TOOL_OPTIONS; the JVM reports that on standard error

            Options:
              -o, --output PATH
                              write the recording to PATH.sonde; if that exists, the next free
                              number is appended to PATH. A PATH that ends in .dat implies --format
                              trace.dat
              --format bundle|trace.dat
                              write a folder NAME.sonde, or one file NAME.dat that trace-cmd and
                              KernelShark show whole; it has no CPU samples (default bundle)
              --duration TIME
                              stop recording after this time: 5 (seconds), 500ms, 10s, 5m, 1h
              --flight-recorder
                              when the ring buffers are full, overwrite the oldest events instead of
                              dropping new ones
              --ring-memory MIB
                              use at most this much kernel memory for all ring buffers; without it
                              5 % of RAM, at most 512 MiB (1..1048576)
              --ready-fd N    write the line 'ready' to file descriptor N and close it once all
                              event sources are armed, just before the command starts. The command
                              does not inherit N. If the recording cannot start, N is closed without
                              the line
              --live          print events while they are recorded: those of -e, or all without -e;
                              one line each as 'sonde report --events' prints them, with the
                              milliseconds since the first event in front; with --json one object
                              each and no summary
              --plan          print what would be recorded, from which source, and why
              --no-summary    do not print a summary; 'sonde report' prints it later
              --print-path    print the path of the recording on standard output
              --json          print the summary or the plan as JSON on standard output

            Examples:
              sonde record -- make -j2
              sonde record -o slow -- ./server --port 8080
              sonde record -p 1234 --duration 10s
              sonde record -a --duration 5s
              sonde record -a -e 'timer:*' -- sleep 0.1        the machine while the command runs
              sonde record -e timer:hrtimer_start -f 'function != tick_nohz_handler' -- ls
              sonde record -T -e kmem:kmalloc -f 'bytes_req > 1000' -- ls
              sonde record -o ls.dat -- ls                     for trace-cmd and KernelShark
              sonde record -e 'skb:*' -e cycles -- curl -s localhost
              sonde record --live -e 'net:*' -- ping -c 1 localhost
              sonde record --plan -- true         what would be recorded, and why

            Exit status:
              that of the command (128+N for signal N, 127 not found, 126 not executable);
              3 when sonde cannot record, or not to the end (full disk) though the command gave 0
            """;

    private final GivenOptions given;
    private final List<String> command;
    private final List<Integer> pids;

    /** Reads nothing yet. */
    public RecordArguments(GivenOptions given) {
        this.given = given;
        List<String> words = given.words();
        boolean dashes = !words.isEmpty() && words.getFirst().equals("--");
        this.command = dashes ? words.subList(1, words.size()) : words;
        this.pids = given.numbers("--pid");
    }

    /** The words of the command to start; none without one. */
    public List<String> command() {
        return command;
    }

    /** Running processes to record. */
    public List<Integer> pids() {
        return pids;
    }

    /**
     * What is recorded.
     *
     * @throws OptionException for words that exclude each other or mean nothing
     */
    public RecordSpec spec() {
        checkTargets();
        TargetMode mode =
                given.has("--all")
                        ? TargetMode.ALL
                        : command.isEmpty() ? TargetMode.PID : TargetMode.COMMAND;
        return new RecordSpec(
                mode,
                events(),
                without(),
                (int) given.number("--frequency").orElse(RecordSpec.DEFAULT_FREQUENCY_HZ),
                callGraph(),
                new RecordSpec.RecordLimits(
                        given.number("--ring-memory").orElse(0) << 20,
                        given.has("--flight-recorder"),
                        given.nanos("--duration").orElse(0),
                        given.has("--cpu") ? cpus(given.text("--cpu", "")) : List.of()),
                isTraceDat(),
                TracerSpec.NONE);
    }

    /** Which JVMs are asked for their compiled code. */
    public RecordOrder.JvmMaps jvmMaps() {
        if (given.has("--jvm-map")) {
            return RecordOrder.JvmMaps.AT_EXIT;
        }
        boolean wanted = !given.has("--no-jvm") && (given.has("--jvm") || !command.isEmpty());
        return wanted ? RecordOrder.JvmMaps.TARGETS : RecordOrder.JvmMaps.NONE;
    }

    private void checkTargets() {
        boolean all = given.has("--all");
        boolean user = given.has("--user");
        int ways = (command.isEmpty() ? 0 : 1) + (pids.isEmpty() ? 0 : 1) + (user ? 1 : 0);
        if (ways == 0 && !all) {
            throw new OptionException("record what? Give a command, -p PID, -u USER or -a");
        }
        if (ways > 1 || all && ways > 0 && command.isEmpty()) {
            throw new OptionException(
                    "a command, -p, -u and -a exclude each other; only -a goes with a command");
        }
        if (given.has("--live") && given.has("--flight-recorder")) {
            throw new OptionException(
                    "--live and --flight-recorder exclude each other: a flight recorder reads its"
                            + " rings at the end");
        }
        if (given.has("--output") && given.text("--output", "").matches("/*")) {
            throw new OptionException("-o needs a name, as in: -o slow");
        }
        if (given.nanos("--duration").orElse(1) == 0) {
            throw new OptionException(
                    "--duration " + given.text("--duration") + " would record nothing");
        }
    }

    /** Whether the recording is one trace.dat, not a bundle. */
    public boolean isTraceDat() {
        boolean dat = given.text("--output", "").endsWith(".dat");
        return given.has("--format") ? given.text("--format", "").equals("trace.dat") : dat;
    }

    /** Events with the filters behind them; {@code --stacks=EVENT} names an event, too. */
    private List<AskedEvent> events() {
        boolean stacks =
                given.options().stream()
                        .anyMatch(one -> one.has("--stacks") && one.value().isEmpty());
        List<AskedEvent> events = new ArrayList<>();
        for (GivenOptions.Given one : given.options()) {
            if (one.has("--event")) {
                events.add(new AskedEvent(one.value(), List.of(), stacks));
            } else if (one.has("--stacks") && !one.value().isEmpty()) {
                events.add(new AskedEvent(one.value(), List.of(), true));
            } else if (one.has("--filter")) {
                if (events.isEmpty()) {
                    throw new OptionException(
                            one.spelling() + " '" + one.value() + "' needs an -e EVENT before it");
                }
                AskedEvent last = events.removeLast();
                List<String> filters = new ArrayList<>(last.filters());
                filters.add(one.value());
                events.add(new AskedEvent(last.pattern(), filters, last.stacks()));
            }
        }
        return events;
    }

    /** CPUs as taskset and the kernel write them. */
    private static List<Integer> cpus(String text) {
        BitSet online;
        try {
            online = MachineFacts.onlineCpus();
        } catch (SyscallException e) {
            throw new OptionException("-C: " + e.getMessage(), e);
        }
        BitSet cpus = new BitSet();
        for (String part : text.split(",", -1)) {
            BitSet range = cpuRange(part, text);
            if (!online.get(range.nextSetBit(0)) || !online.get(range.length() - 1)) {
                throw new OptionException(
                        "-C " + part.strip() + ": the CPUs that are online are " + online);
            }
            cpus.or(range);
        }
        cpus.and(online);
        return cpus.stream().boxed().toList();
    }

    private static BitSet cpuRange(String part, String text) {
        try {
            BitSet range = MachineFacts.parseCpus(part);
            if (range.isEmpty()) {
                throw new IllegalArgumentException("no CPU");
            }
            return range;
        } catch (IllegalArgumentException e) {
            throw new OptionException(
                    "-C takes numbers of CPUs as in 0,2-3, not '" + text + "'", e);
        }
    }

    private CallGraph callGraph() {
        String text = given.text("--call-graph", "bpf");
        return switch (text) {
            case "bpf" -> CallGraph.BPF;
            case "fp" -> CallGraph.FP;
            case "dwarf" -> CallGraph.DWARF;
            case "none", "no" -> CallGraph.NONE;
            default -> {
                if (!text.startsWith("dwarf,")) {
                    throw new OptionException(
                            "--call-graph takes bpf, fp, dwarf, dwarf,BYTES or none, not '"
                                    + text
                                    + "'");
                }
                String bytes = text.substring(6);
                try {
                    yield CallGraph.dwarf(Integer.parseInt(bytes));
                } catch (IllegalArgumentException e) {
                    String range = "8 to " + CallGraph.MOST_STACK_BYTES + " bytes of stack";
                    throw new OptionException(
                            "--call-graph dwarf takes " + range + ", not '" + bytes + "'", e);
                }
            }
        };
    }

    private Set<Topic> without() {
        Set<Topic> topics = EnumSet.noneOf(Topic.class);
        for (Topic topic : Topic.values()) {
            if (given.has("--no-" + topic.name().toLowerCase(Locale.ROOT))) {
                topics.add(topic);
            }
        }
        return topics;
    }
}
