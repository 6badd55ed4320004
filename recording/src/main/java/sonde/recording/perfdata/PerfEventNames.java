package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_GUEST;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_HOST;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_HV;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_KERNEL;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_BREAKPOINT;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_HARDWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_HW_CACHE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_TRACEPOINT;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import sonde.sys.ResourceTable;

/** The events of perf_event_open(2) by name, and names of events whose file does not tell them. */
public final class PerfEventNames {
    private static final List<NamedEvent> HARDWARE = table("hardware");
    private static final List<NamedEvent> SOFTWARE = table("software");
    // PERF_COUNT_HW_CACHE_*: config is cache | operation << 8 | result << 16
    private static final List<String> CACHES =
            List.of("L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node");
    private static final List<String> OPERATIONS = List.of("load", "store", "prefetch");
    private static final List<String> MANY = List.of("loads", "stores", "prefetches");
    // struct perf_event_attr: precise_ip, two bits of the flags
    private static final int PRECISE_IP_SHIFT = 15;

    /** Before the number of a tracepoint whose name is not known. */
    static final String UNNAMED_TRACEPOINT = "tracepoint:id-";

    private PerfEventNames() {}

    /**
     * An event of {@code perf-events.txt}. Its place in the list is its config.
     *
     * @param names the one that is shown first
     * @param meaning what it counts; empty if nobody asks for it by name
     */
    public record NamedEvent(List<String> names, String meaning) {}

    /** PERF_COUNT_HW_*. */
    public static List<NamedEvent> hardware() {
        return HARDWARE;
    }

    /** PERF_COUNT_SW_*. */
    public static List<NamedEvent> software() {
        return SOFTWARE;
    }

    private static List<NamedEvent> table(String type) {
        List<NamedEvent> events = new ArrayList<>();
        InputStream resource = PerfEventNames.class.getResourceAsStream("perf-events.txt");
        for (String line : ResourceTable.lines(resource)) {
            String[] words = line.split(" ", 4);
            if (words[0].equals(type)) {
                String meaning = words.length > 3 ? words[3] : "";
                events.add(new NamedEvent(List.of(words[2].split(",")), meaning));
            }
        }
        return List.copyOf(events);
    }

    /** The name with modifiers: {@code cycles:u}, {@code L1-dcache-load-misses}. */
    static String of(PerfAttr attr) {
        long config = attr.config();
        return switch (attr.type()) {
            case PERF_TYPE_HARDWARE -> listed(HARDWARE, attr);
            case PERF_TYPE_SOFTWARE -> listed(SOFTWARE, attr);
            case PERF_TYPE_HW_CACHE -> cache(config) + modifiers(attr);
            case PERF_TYPE_RAW -> "raw 0x" + Long.toHexString(config) + modifiers(attr);
            case PERF_TYPE_BREAKPOINT -> "mem:0x" + Long.toHexString(attr.config1());
            case PERF_TYPE_TRACEPOINT -> UNNAMED_TRACEPOINT + config;
            default -> String.format("type%d-0x%x", attr.type(), config);
        };
    }

    private static String listed(List<NamedEvent> events, PerfAttr attr) {
        // Since 6.0 the upper half of a hardware event's config names the PMU of its cores.
        long number = attr.config() & 0xffff_ffffL;
        String name =
                number < events.size()
                        ? events.get((int) number).names().getFirst()
                        : String.format("type%d-0x%x", attr.type(), attr.config());
        // Made by programs, so nobody asks in which mode they were counted.
        boolean plain = name.equals("bpf-output");
        return plain ? name : name + modifiers(attr);
    }

    /** The name of an event of PERF_TYPE_HW_CACHE. */
    public static String cache(long config) {
        int cache = (int) (config & 0xff);
        int operation = (int) (config >>> 8 & 0xff);
        int result = (int) (config >>> 16 & 0xff);
        if (cache >= CACHES.size() || operation >= OPERATIONS.size() || result > 1) {
            return "type3-0x" + Long.toHexString(config);
        }
        return CACHES.get(cache)
                + "-"
                + (result == 0 ? MANY.get(operation) : OPERATIONS.get(operation) + "-misses");
    }

    /** evsel__add_modifiers of tools/perf/util/evsel.c. */
    private static String modifiers(PerfAttr attr) {
        StringBuilder out = new StringBuilder();
        boolean excludes =
                attr.has(FLAG_EXCLUDE_KERNEL)
                        || attr.has(FLAG_EXCLUDE_USER)
                        || attr.has(FLAG_EXCLUDE_HV);
        if (excludes) {
            out.append(attr.has(FLAG_EXCLUDE_KERNEL) ? "" : "k");
            out.append(attr.has(FLAG_EXCLUDE_USER) ? "" : "u");
            out.append(attr.has(FLAG_EXCLUDE_HV) ? "" : "h");
        }
        int precise = (int) (attr.flags() >>> PRECISE_IP_SHIFT & 3);
        out.append("p".repeat(precise));
        boolean guestByDefault = excludes || precise > 0;
        if (attr.has(FLAG_EXCLUDE_HOST) || attr.has(FLAG_EXCLUDE_GUEST) == guestByDefault) {
            out.append(attr.has(FLAG_EXCLUDE_HOST) ? "" : "H");
            out.append(attr.has(FLAG_EXCLUDE_GUEST) ? "" : "G");
        }
        return out.isEmpty() ? "" : ":" + out;
    }
}
