package sonde.recording.perfdata;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Which attr an id belongs to: an open hash table of primitives. */
final class EventIds {
    private final long[] keys;
    private final int[] values;
    private final int mask;
    private final int attrs;
    // Drawn anew each time: a file cannot be made so that all its ids collide.
    private final long multiplier = ThreadLocalRandom.current().nextLong() | 1;

    EventIds(List<AttrEntry> entries) {
        attrs = entries.size();
        int count = 0;
        for (AttrEntry entry : entries) {
            count += entry.ids().length;
        }
        int room = Integer.highestOneBit(Math.max(8, count) * 4);
        keys = new long[room];
        values = new int[room];
        mask = room - 1;
        for (int i = 0; i < entries.size(); i++) {
            for (long id : entries.get(i).ids()) {
                put(id, i + 1);
            }
        }
    }

    private void put(long id, int value) {
        int slot = slot(id);
        while (values[slot] != 0 && keys[slot] != id) {
            slot = (slot + 1) & mask;
        }
        keys[slot] = id;
        values[slot] = value;
    }

    private int slot(long id) {
        return (int) (id * multiplier >>> 40) & mask;
    }

    /** The attr's index; -1 for an id that no attr has. 0, of synthetic records, is the first's. */
    int attrOf(long id) {
        if (attrs == 1) {
            return 0;
        }
        int slot = slot(id);
        while (values[slot] != 0) {
            if (keys[slot] == id) {
                return values[slot] - 1;
            }
            slot = (slot + 1) & mask;
        }
        return id == 0 && attrs > 0 ? 0 : -1;
    }
}
