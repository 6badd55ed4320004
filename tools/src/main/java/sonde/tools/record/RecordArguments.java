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
