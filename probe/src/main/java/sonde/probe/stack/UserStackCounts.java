package sonde.probe.stack;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.sys.MappedRange;

/** How many user stacks ended in which way, and where those that are cut. */
final class UserStackCounts {
    /** One in so many stacks may be cut without a word. */
    private static final int WORTH_SAYING = 100;

    /** Fewer stacks, of a program that ended at once, are chance. */
    private static final int FEW = 10;

    /** Finding a place may read {@code /proc}. */
    private static final int MOST_LOOKED_UP = 5000;

    private static final int MOST_PLACES = 200;

    private final long[] ends = new long[UserStackEnd.values().length];
    private final Map<String, Map<String, Long>> byEvent = new TreeMap<>();
    private int lookedUp;

    /** Counts one; the mapping is that of its outermost frame. */
    synchronized void add(
            String event, UserStackEnd end, Supplier<@Nullable MappedRange> mapping, long last) {
        ends[end.ordinal()]++;
        Map<String, Long> counts = byEvent.computeIfAbsent(event, _ -> new HashMap<>());
        String key = end.phrase();
        if (isCut(end) && lookedUp < MOST_LOOKED_UP) {
            lookedUp++;
            MappedRange range = mapping.get();
            long offset = range == null ? last : last - range.start() + range.offset();
            String place =
                    "%s at %s+0x%x".formatted(key, range == null ? "" : range.path(), offset);
            key = counts.size() < MOST_PLACES || counts.containsKey(place) ? place : key;
        }
        counts.merge(key, 1L, Long::sum);
    }

    private static boolean isCut(UserStackEnd end) {
        return end != UserStackEnd.OUTERMOST && end != UserStackEnd.IN_EXEC;
    }

    synchronized long[] all() {
        return ends.clone();
    }

    synchronized Map<String, Map<String, Long>> byEvent() {
        Map<String, Map<String, Long>> copy = new TreeMap<>();
        byEvent.forEach((event, counts) -> copy.put(event, Map.copyOf(counts)));
        return copy;
    }

    /**
     * A sentence about stacks that are not whole; empty when there are few.
     *
     * @param ends number of stacks by {@link UserStackEnd}
     */
    static Optional<String> sentence(long[] ends) {
        long all = Arrays.stream(ends).sum() - ends[UserStackEnd.IN_EXEC.ordinal()];
        long cut = all - ends[UserStackEnd.OUTERMOST.ordinal()];
        if (cut * WORTH_SAYING < all || cut < FEW) {
            return Optional.empty();
        }
        StringJoiner reasons = new StringJoiner(", ");
        for (UserStackEnd end : UserStackEnd.values()) {
            if (isCut(end) && ends[end.ordinal()] > 0) {
                reasons.add(ends[end.ordinal()] + " " + end.phrase());
            }
        }
        return Optional.of(
                String.format(
                        Locale.ROOT,
                        "%.1f %% of user stacks are cut (%d of %d): %s",
                        100.0 * cut / all,
                        cut,
                        all,
                        reasons));
    }
}
