package sonde.recording.perfdata;

import java.util.Map;
import java.util.TreeMap;

/**
 * What {@code perf report --stats} calls the records (perf_event__names of
 * tools/perf/util/event.c).
 */
final class PerfRecordNames {
    private static final String[] OF_KERNEL = {
        "",
        "MMAP",
        "LOST",
        "COMM",
        "EXIT",
        "THROTTLE",
        "UNTHROTTLE",
        "FORK",
        "READ",
        "SAMPLE",
        "MMAP2",
        "AUX",
        "ITRACE_START",
        "LOST_SAMPLES",
        "SWITCH",
        "SWITCH_CPU_WIDE",
        "NAMESPACES",
        "KSYMBOL",
        "BPF_EVENT",
        "CGROUP",
        "TEXT_POKE",
        "AUX_OUTPUT_HW_ID",
        "CALLCHAIN_DEFERRED",
    };
    private static final String[] OF_TOOLS = {
        "ATTR",
        "EVENT_TYPE",
        "TRACING_DATA",
        "BUILD_ID",
        "FINISHED_ROUND",
        "ID_INDEX",
        "AUXTRACE_INFO",
        "AUXTRACE",
        "AUXTRACE_ERROR",
        "THREAD_MAP",
        "CPU_MAP",
        "STAT_CONFIG",
        "STAT",
        "STAT_ROUND",
        "EVENT_UPDATE",
        "TIME_CONV",
        "FEATURE",
        "COMPRESSED",
        "FINISHED_INIT",
        "COMPRESSED2",
    };

    /** More than any number named here. */
    static final int MOST = PerfAbi.PERF_RECORD_HEADER_ATTR + OF_TOOLS.length;

    private PerfRecordNames() {}

    /** The name of a record type, its number when it is unknown. */
    static String of(int type) {
        if (type > 0 && type < OF_KERNEL.length) {
            return OF_KERNEL[type];
        }
        int tool = type - PerfAbi.PERF_RECORD_HEADER_ATTR;
        return tool >= 0 && tool < OF_TOOLS.length ? OF_TOOLS[tool] : Integer.toString(type);
    }

    /** Counts that are not zero, by name; 0 stands for all unknown types. */
    static Map<String, Long> counted(long[] counts) {
        Map<String, Long> named = new TreeMap<>();
        for (int type = 0; type < counts.length; type++) {
            if (counts[type] > 0) {
                named.put(type == 0 ? "UNKNOWN" : of(type), counts[type]);
            }
        }
        return named;
    }
}
