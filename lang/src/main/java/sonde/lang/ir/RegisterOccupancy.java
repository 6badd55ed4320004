package sonde.lang.ir;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** What holds a register of the machine, or a slot, when. */
final class RegisterOccupancy {
    private record OccupiedRange(int to, int owner) {}

    private final TreeMap<Integer, OccupiedRange> ranges = new TreeMap<>();

    void add(LiveInterval interval, int owner) {
        for (int i = 0; i < interval.ranges(); i++) {
            ranges.put(interval.from(i), new OccupiedRange(interval.to(i), owner));
        }
    }

    void remove(LiveInterval interval) {
        for (int i = 0; i < interval.ranges(); i++) {
            ranges.remove(interval.from(i));
        }
    }

    /** Adds one position unless it is taken. */
    void block(int at, int owner) {
        if (owner(at) == null) {
            ranges.put(at, new OccupiedRange(at + 1, owner));
        }
    }

    boolean isFree(LiveInterval interval) {
        return owners(interval, _ -> false);
    }

    /** Who holds it at a position; null for nobody. */
    @Nullable Integer owner(int at) {
        Map.Entry<Integer, OccupiedRange> before = ranges.floorEntry(at);
        return before == null || before.getValue().to <= at ? null : before.getValue().owner;
    }

    /** Tells who is in the way, again and again, until one answers false; whether none did. */
    boolean owners(LiveInterval interval, IntPredicate visitor) {
        for (int i = 0; i < interval.ranges(); i++) {
            int from = interval.from(i);
            Map.Entry<Integer, OccupiedRange> one = ranges.lowerEntry(interval.to(i));
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
