package sonde.lang.probes;

import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_HARDWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The counters that scripts can name (man 2 perf_event_open), and how often they run a probe. */
final class CounterTable {
    private CounterTable() {}

    /**
     * A counter.
     *
     * @param alias empty for none
     * @param every events from one run to the next where the script says nothing
     */
    record PerfCounter(String name, String alias, int type, long config, long every) {
        boolean isCalled(String word) {
            return name.equals(word) || !alias.isEmpty() && alias.equals(word);
        }
    }

    // name, alias or -, PERF_COUNT_*, events from one run to the next
    private static final List<PerfCounter> SOFTWARE =
            counters(
                    PERF_TYPE_SOFTWARE,
                    """
                    alignment-faults - 7 1
                    bpf-output - 10 1
                    context-switches cs 3 1000
                    cpu-clock cpu 0 1000000
                    cpu-migrations - 4 1
                    dummy - 9 1
                    emulation-faults - 8 1
                    major-faults - 6 1
                    minor-faults - 5 100
                    page-faults faults 2 100
                    task-clock - 1 1
                    """);

    private static final List<PerfCounter> HARDWARE =
            counters(
                    PERF_TYPE_HARDWARE,
                    """
                    backend-stalls - 8 1000000
                    branch-instructions branches 4 100000
                    branch-misses - 5 100000
                    bus-cycles - 6 100000
                    cache-misses - 3 1000000
                    cache-references - 2 1000000
                    cpu-cycles cycles 0 1000000
                    frontend-stalls - 7 1000000
                    instructions - 1 1000000
                    ref-cycles - 9 1000000
                    """);

    private static List<PerfCounter> counters(int type, String table) {
        List<PerfCounter> counters = new ArrayList<>();
        for (String line : table.split("\n")) {
            String[] words = line.split(" ");
            String alias = words[1].equals("-") ? "" : words[1];
            long every = Long.parseLong(words[3]);
            counters.add(new PerfCounter(words[0], alias, type, Long.parseLong(words[2]), every));
        }
        return List.copyOf(counters);
    }

    static List<PerfCounter> all(boolean hardware) {
        return hardware ? HARDWARE : SOFTWARE;
    }

    static @Nullable PerfCounter find(boolean hardware, String word) {
        for (PerfCounter counter : all(hardware)) {
            if (counter.isCalled(word)) {
                return counter;
            }
        }
        return null;
    }
}
