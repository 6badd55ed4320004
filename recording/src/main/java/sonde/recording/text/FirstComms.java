package sonde.recording.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The name that a text tells first for each thread. */
final class FirstComms {
    // PID_MAX_LIMIT of the kernel; beyond it nothing is remembered.
    private static final int MOST_TIDS = 1 << 22;
    private static final int MOST_BYTES = 64;

    private byte[] @Nullable [] names = new byte[1 << 10][];

    /** Remembers a name for a thread that has none. */
    void learn(int tid, byte[] bytes, int from, int to) {
        if (tid <= 0
                || tid >= MOST_TIDS
                || to <= from
                || tid < names.length && names[tid] != null) {
            return;
        }
        if (bytes[from] == '<' && bytes[to - 1] == '>') {
            return; // <...>: the kernel had forgotten the name
        }
        if (tid >= names.length) {
            names = Arrays.copyOf(names, Math.max(2 * names.length, tid + 1));
        }
        names[tid] = Arrays.copyOfRange(bytes, from, Math.min(to, from + MOST_BYTES));
    }

    /** Whether a thread has just that name, or none. */
    boolean fits(int tid, byte[] bytes, int from, int to) {
        byte[] name = tid > 0 && tid < names.length ? names[tid] : null;
        return name == null || LineScan.is(bytes, from, Math.min(to, from + MOST_BYTES), name);
    }

    /** Takes another name for a thread. */
    void rename(int tid, byte[] bytes, int from, int to) {
        if (tid > 0 && tid < names.length) {
            names[tid] = null;
        }
        learn(tid, bytes, from, to);
    }

    /** Gives the name of a thread to another. */
    void move(int from, int to) {
        byte[] name = names[from];
        names[from] = null;
        if (name != null) {
            learn(to, name, 0, name.length);
        }
    }

    /** All, by tid. */
    Map<Integer, String> all() {
        Map<Integer, String> all = new HashMap<>();
        for (int tid = 0; tid < names.length; tid++) {
            byte[] name = names[tid];
            if (name != null) {
                all.put(tid, new String(name, StandardCharsets.UTF_8));
            }
        }
        return all;
    }
}
