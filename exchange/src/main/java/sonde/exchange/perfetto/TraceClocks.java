package sonde.exchange.perfetto;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.exchange.ProtoReader;

/**
 * Turns times of any clock into the trace's: by what snapshots say two clocks showed at one moment
 * (clock_snapshot.proto). Clocks 64 to 127 belong to a packet sequence.
 */
final class TraceClocks {
    static final int REALTIME = 1;
    static final int MONOTONIC = 3;
    static final int MONOTONIC_RAW = 5;
    static final int BOOTTIME = 6;
    private static final int TSC = 9;
    private static final int PERF = 10;
    private static final int FIRST_OF_SEQUENCE = 64;
    private static final int FIRST_GLOBAL = 128;
    private static final int MOST_CLOCKS = 4096;

    /** How one clock leads to another: at a time of the first, what to add. */
    private final Map<Long, Map<Long, NavigableMap<Long, Long>>> edges = new HashMap<>();

    private final Map<Long, Long> multipliers = new HashMap<>();
    private final Set<Long> incremental = new HashSet<>();
    private final Map<Long, Map<Long, List<Long>>> paths = new HashMap<>();
    private long traceClock = BOOTTIME;

    static long key(long sequence, long clock) {
        boolean own = clock >= FIRST_OF_SEQUENCE && clock < FIRST_GLOBAL;
        return own ? sequence << 32 | clock : clock;
    }

    /** Takes a snapshot. */
    void snapshot(ProtoReader message, long sequence) throws MalformedInputException {
        List<long[]> shown = new ArrayList<>();
        while (message.next()) {
            if (message.field() == 1) {
                shown.add(clock(message.message(), sequence));
            } else if (message.field() == 2) {
                traceClock = message.value();
            }
        }
        if (shown.size() > 64 || edges.size() > MOST_CLOCKS) {
            return;
        }
        for (long[] one : shown) {
            for (long[] other : shown) {
                if (one[0] != other[0]) {
                    edges.computeIfAbsent(one[0], ignored -> new HashMap<>())
                            .computeIfAbsent(other[0], ignored -> new TreeMap<>())
                            .put(one[1], other[1] - one[1]);
                }
            }
        }
        paths.clear();
    }

    private long[] clock(ProtoReader clock, long sequence) throws MalformedInputException {
        long id = 0;
        long time = 0;
        long multiplier = 1;
        boolean grows = false;
        while (clock.next()) {
            switch (clock.field()) {
                case 1 -> id = clock.value();
                case 2 -> time = clock.value();
                case 3 -> grows = clock.value() != 0;
                case 4 -> multiplier = Math.max(1, clock.value());
                default -> {}
            }
        }
        long key = key(sequence, id);
        multipliers.put(key, multiplier);
        if (grows) {
            incremental.add(key);
        }
        return new long[] {key, time * multiplier};
    }

    /** What a snapshot says its clocks show, for clocks that count on from there. */
    Map<Long, Long> shown(ProtoReader message, long sequence) throws MalformedInputException {
        Map<Long, Long> shown = new HashMap<>();
        while (message.next()) {
            if (message.field() == 1) {
                long[] clock = clock(message.message(), sequence);
                shown.put(clock[0], clock[1]);
            }
        }
        return shown;
    }

    boolean isIncremental(long key) {
        return incremental.contains(key);
    }

    long multiplier(long key) {
        return multipliers.getOrDefault(key, 1L);
    }

    /** The clock that all times are turned to. */
    Clock traceClock() {
        return switch ((int) traceClock) {
            case REALTIME -> Clock.REALTIME;
            case MONOTONIC -> Clock.MONO;
            case MONOTONIC_RAW -> Clock.MONO_RAW;
            case BOOTTIME -> Clock.BOOT;
            case PERF -> Clock.PERF;
            case TSC -> Clock.X86_TSC;
            default -> Clock.UNKNOWN;
        };
    }

    /** Whether times of that clock can be told in the trace's. */
    boolean isRelated(long key) {
        return key == traceClock || !path(key).isEmpty();
    }

    /** A time in the trace's clock; unchanged when nothing relates the two. */
    long convert(long key, long time) {
        if (key == traceClock) {
            return time;
        }
        long at = key;
        long result = time;
        for (long next : path(key)) {
            Map<Long, NavigableMap<Long, Long>> from = edges.getOrDefault(at, Map.of());
            NavigableMap<Long, Long> offsets = from.getOrDefault(next, new TreeMap<>());
            Map.Entry<Long, Long> nearest = offsets.floorEntry(result);
            if (nearest == null) {
                nearest = offsets.firstEntry();
            }
            result += nearest == null ? 0 : nearest.getValue();
            at = next;
        }
        return result;
    }

    /** The clocks from one to the trace's, the fewest there are. */
    private List<Long> path(long key) {
        return paths.computeIfAbsent(traceClock, ignored -> new HashMap<>())
                .computeIfAbsent(key, this::search);
    }

    private List<Long> search(long key) {
        Map<Long, Long> before = new HashMap<>();
        Deque<Long> queue = new ArrayDeque<>(List.of(key));
        before.put(key, key);
        while (!queue.isEmpty()) {
            long at = queue.remove();
            if (at == traceClock) {
                List<Long> path = new ArrayList<>();
                for (long back = at; back != key; back = before.getOrDefault(back, key)) {
                    path.addFirst(back);
                }
                return path;
            }
            for (long next : edges.getOrDefault(at, Map.of()).keySet()) {
                if (before.putIfAbsent(next, at) == null) {
                    queue.add(next);
                }
            }
        }
        return List.of();
    }
}
