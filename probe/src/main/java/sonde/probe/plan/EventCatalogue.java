package sonde.probe.plan;

import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_HARDWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_HW_CACHE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.event.Glob;
import sonde.event.NearestNames;
import sonde.recording.perfdata.PerfEventNames;
import sonde.recording.perfdata.PerfEventNames.NamedEvent;

/**
 * Names of events: perf's own and the kernel's tracepoints.
 *
 * <p>A name is perf's ({@code cpu-clock}, {@code cycles:u}, raw {@code r01c4}), or a tracepoint
 * with its system ({@code sched:sched_switch}), without ({@code sched_switch}), or a glob of either
 * ({@code sched:*}, {@code sys_enter_open*}).
 */
public final class EventCatalogue {
    private static final Map<String, PerfEventNumber> PERF = perfNames();

    private final List<String> tracepoints;

    /** Over the tracepoints that exist here, {@code system:name} each. */
    public EventCatalogue(List<String> tracepoints) {
        this.tracepoints = tracepoints;
    }

    /**
     * A perf event's number.
     *
     * @param meaning what it counts, in a few words; empty for raw numbers
     */
    public record PerfEventNumber(
            String name, int type, long config, SampledEvent.Side side, String meaning) {}

    /** perf's own event of that name. */
    static Optional<PerfEventNumber> perf(String text) {
        String name = text;
        SampledEvent.Side side = SampledEvent.Side.ALL;
        if (text.endsWith(":u")) {
            side = SampledEvent.Side.USER;
            name = text.substring(0, text.length() - 2);
        } else if (text.endsWith(":k")) {
            side = SampledEvent.Side.KERNEL;
            name = text.substring(0, text.length() - 2);
        }
        if (name.matches("r[0-9a-fA-F]{1,16}")) {
            long config = Long.parseUnsignedLong(name.substring(1), 16);
            return Optional.of(new PerfEventNumber(text, PERF_TYPE_RAW, config, side, ""));
        }
        PerfEventNumber found = PERF.get(name);
        return found == null
                ? Optional.empty()
                : Optional.of(
                        new PerfEventNumber(
                                text, found.type(), found.config(), side, found.meaning()));
    }

    /** Every tracepoint that a name or glob means, sorted; empty when none. */
    public List<String> tracepoints(String pattern) {
        boolean bare = pattern.indexOf(':') < 0;
        List<String> found = new ArrayList<>();
        Glob glob = Glob.shell(pattern);
        for (String name : tracepoints) {
            String candidate = bare ? name.substring(name.indexOf(':') + 1) : name;
            if (glob.matches(candidate)) {
                found.add(name);
            }
        }
        return found;
    }

    /** The known name that differs least from {@code text}; empty when all differ much. */
    public String nearest(String text) {
        String best = "";
        int bestDistance = Math.max(2, text.length() / 3) + 1;
        List<String> names = new ArrayList<>(PERF.keySet());
        names.addAll(tracepoints);
        for (String name : names) {
            int distance = distance(text, name, bestDistance);
            if (text.indexOf(':') < 0 && name.indexOf(':') >= 0) {
                String bare = name.substring(name.indexOf(':') + 1);
                distance = Math.min(distance, distance(text, bare, bestDistance));
            }
            if (distance < bestDistance) {
                bestDistance = distance;
                best = name;
            }
        }
        return best;
    }

    /** perf's own names that a name or glob means, in the order of perf-list(1). */
    public static List<PerfEventNumber> perfEvents(String pattern) {
        Glob glob = Glob.shell(pattern);
        return PERF.values().stream().filter(event -> glob.matches(event.name())).toList();
    }

    /** How many changes lie between two names, or {@code limit} when it is not below. */
    private static int distance(String a, String b, int limit) {
        return Math.abs(a.length() - b.length()) >= limit
                ? limit
                : Math.min(limit, NearestNames.distance(a, b));
    }

    /** Names as perf-list(1) has them. */
    private static Map<String, PerfEventNumber> perfNames() {
        Map<String, PerfEventNumber> names = new LinkedHashMap<>();
        put(names, PERF_TYPE_SOFTWARE, PerfEventNames.software());
        put(names, PERF_TYPE_HARDWARE, PerfEventNames.hardware());
        // PERF_COUNT_HW_CACHE_* by number: what it is, the operations that it counts
        String[][] caches = {
            {"the first-level data cache", "load store prefetch"},
            {"the first-level instruction cache", "load prefetch"},
            {"the last-level cache", "load store prefetch"},
            {"the data TLB", "load store prefetch"},
            {"the instruction TLB", "load"},
            {"the branch predictor", "load"},
            {"the memory of the own node", "load store prefetch"},
        };
        List<String> operations = List.of("load", "store", "prefetch");
        for (int cache = 0; cache < caches.length; cache++) {
            for (String operation : caches[cache][1].split(" ")) {
                int config = cache | operations.indexOf(operation) << 8;
                String many = operation + (operation.endsWith("h") ? "es" : "s");
                String meaning = many + " of " + caches[cache][0];
                cache(names, config, meaning);
                cache(names, config | 1 << 16, meaning + " that miss");
            }
        }
        return names;
    }

    private static void cache(Map<String, PerfEventNumber> names, int config, String meaning) {
        put(names, PerfEventNames.cache(config), PERF_TYPE_HW_CACHE, config, meaning);
    }

    private static void put(Map<String, PerfEventNumber> names, int type, List<NamedEvent> events) {
        for (int config = 0; config < events.size(); config++) {
            String meaning = events.get(config).meaning();
            for (String name : meaning.isEmpty() ? List.<String>of() : events.get(config).names()) {
                put(names, name, type, config, meaning);
            }
        }
    }

    private static void put(
            Map<String, PerfEventNumber> names, String name, int type, int config, String meaning) {
        SampledEvent.Side all = SampledEvent.Side.ALL;
        names.put(name, new PerfEventNumber(name, type, config, all, meaning));
    }
}
