package sonde.lang.ir;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** What holds a register of the machine, or a slot, when. */
final class Occupancy {
    private record Range(int to, int owner) {}

    private final TreeMap<Integer, Range> ranges = new TreeMap<>();

    void add(Interval interval, int owner) {
        for (int i = 0; i < interval.ranges(); i++) {
            ranges.put(interval.from(i), new Range(interval.to(i), owner));
        }
    }

    void remove(Interval interval) {
        for (int i = 0; i < interval.ranges(); i++) {
            ranges.remove(interval.from(i));
        }
    }

    /** Adds one position unless it is taken. */
    void block(int at, int owner) {
        if (owner(at) == null) {
            ranges.put(at, new Range(at + 1, owner));
        }
    }

    boolean isFree(Interval interval) {
        return owners(interval, _ -> false);
    }

    /** Who holds it at a position; null for nobody. */
    @Nullable Integer owner(int at) {
        Map.Entry<Integer, Range> before = ranges.floorEntry(at);
        return before == null || before.getValue().to <= at ? null : before.getValue().owner;
    }

    /** Tells who is in the way, again and again, until one answers false; whether none did. */
    boolean owners(Interval interval, IntPredicate visitor) {
        for (int i = 0; i < interval.ranges(); i++) {
            int from = interval.from(i);
            Map.Entry<Integer, Range> one = ranges.lowerEntry(interval.to(i));
            while (one != null && one.getValue().to > from) {
                if (!visitor.test(one.getValue().owner)) {
                    return false;
                }
                one = ranges.lowerEntry(one.getKey());
            }
        }
        return true;
    }
}
