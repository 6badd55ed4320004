package sonde.lang.probes;

import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_BRANCH_MISSES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_BUS_CYCLES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_CACHE_MISSES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_CACHE_REFERENCES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_CPU_CYCLES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_INSTRUCTIONS;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_REF_CPU_CYCLES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_STALLED_CYCLES_BACKEND;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_STALLED_CYCLES_FRONTEND;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_ALIGNMENT_FAULTS;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_CONTEXT_SWITCHES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_CPU_CLOCK;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_CPU_MIGRATIONS;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_EMULATION_FAULTS;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_PAGE_FAULTS;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_PAGE_FAULTS_MAJ;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_PAGE_FAULTS_MIN;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_TASK_CLOCK;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_HARDWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The counters that scripts can name (man 2 perf_event_open), and how often they run a probe. */
final class CounterTable {
    /** PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_BPF_OUTPUT. */
    private static final int DUMMY = 9;

    private static final int BPF_OUTPUT = 10;
    private static final int MILLION = 1_000_000;
    private static final int HUNDRED_THOUSAND = 100_000;

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

    private static final List<PerfCounter> SOFTWARE =
            List.of(
                    software("alignment-faults", "", PERF_COUNT_SW_ALIGNMENT_FAULTS, 1),
                    software("bpf-output", "", BPF_OUTPUT, 1),
                    software("context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1000),
                    software("cpu-clock", "cpu", PERF_COUNT_SW_CPU_CLOCK, MILLION),
                    software("cpu-migrations", "", PERF_COUNT_SW_CPU_MIGRATIONS, 1),
                    software("dummy", "", DUMMY, 1),
                    software("emulation-faults", "", PERF_COUNT_SW_EMULATION_FAULTS, 1),
                    software("major-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1),
                    software("minor-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MIN, 100),
                    software("page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, 100),
                    software("task-clock", "", PERF_COUNT_SW_TASK_CLOCK, 1));

    private static final List<PerfCounter> HARDWARE =
            List.of(
                    hardware("backend-stalls", "", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, MILLION),
                    hardware(
                            "branch-instructions",
                            "branches",
                            PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
                            HUNDRED_THOUSAND),
                    hardware("branch-misses", "", PERF_COUNT_HW_BRANCH_MISSES, HUNDRED_THOUSAND),
                    hardware("bus-cycles", "", PERF_COUNT_HW_BUS_CYCLES, HUNDRED_THOUSAND),
                    hardware("cache-misses", "", PERF_COUNT_HW_CACHE_MISSES, MILLION),
                    hardware("cache-references", "", PERF_COUNT_HW_CACHE_REFERENCES, MILLION),
                    hardware("cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, MILLION),
                    hardware("frontend-stalls", "", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, MILLION),
                    hardware("instructions", "", PERF_COUNT_HW_INSTRUCTIONS, MILLION),
                    hardware("ref-cycles", "", PERF_COUNT_HW_REF_CPU_CYCLES, MILLION));

    private static PerfCounter software(String name, String alias, long config, long every) {
        return new PerfCounter(name, alias, PERF_TYPE_SOFTWARE, config, every);
    }

    private static PerfCounter hardware(String name, String alias, long config, long every) {
        return new PerfCounter(name, alias, PERF_TYPE_HARDWARE, config, every);
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
