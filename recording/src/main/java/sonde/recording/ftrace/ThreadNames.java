package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names of threads for the lines of a listing, which may have several sources. A thread has one
 * name, the first that is told, unless names are to follow the records.
 */
public final class ThreadNames {
    private static final int COMM_COLUMNS = 16;
    // PID_MAX_LIMIT of the kernel; beyond it nothing is remembered.
    private static final int MOST_TIDS = 1 << 22;
    private static final byte[] UNKNOWN = "<...>".getBytes(StandardCharsets.US_ASCII);

    private final boolean following;
    private byte[][] comms = new byte[1 << 16][];
    private @Nullable PackedText[] shown = new PackedText[1 << 16];

    private ThreadNames(Map<Integer, String> comms, boolean following) {
        this.following = following;
        comms.forEach((tid, comm) -> learn(tid, comm.getBytes(StandardCharsets.UTF_8)));
        keep(0, "<idle>".getBytes(StandardCharsets.US_ASCII));
    }

    /** These, by tid, and for others the first name that a row tells. */
    public static ThreadNames of(Map<Integer, String> comms) {
        return new ThreadNames(comms, false);
    }

    /** Names as the comm and fork records tell them: at each row the one of its time. */
    public static ThreadNames following() {
        return new ThreadNames(Map.of(), true);
    }

    /** Whether a later name replaces an earlier one. */
    boolean isFollowing() {
        return following;
    }

    /** Remembers a name for a thread that has none. */
    public void learn(int tid, byte[] comm) {
        if (isTid(tid) && !knows(tid)) {
            keep(tid, comm);
        }
    }

    /** Remembers the name of a thread from now on. */
    void rename(int tid, byte[] comm) {
        if (isTid(tid)) {
            keep(tid, comm);
        }
    }

    /** Whether a name of that thread can be remembered. */
    static boolean isTid(int tid) {
        return tid > 0 && tid < MOST_TIDS;
    }

    /** Whether a thread's name is known. */
    boolean knows(int tid) {
        return tid >= 0 && tid < shown.length && shown[tid] != null;
    }

    /** The name; null when unknown. */
    public byte @Nullable [] comm(int tid) {
        return tid >= 0 && tid < comms.length ? comms[tid] : null;
    }

    /** {@code " comm-tid "}, how a line begins. */
    PackedText head(int tid) {
        PackedText known = tid >= 0 && tid < shown.length ? shown[tid] : null;
        return known != null ? known : head(tid, UNKNOWN);
    }

    private static PackedText head(int tid, byte[] comm) {
        TextBuffer text = new TextBuffer(32);
        text.put(comm).pad(0, COMM_COLUMNS, false).put('-');
        int start = text.size();
        return new PackedText(text.decimal(tid).pad(start, 5, true).put(' ').put('[').since(0));
    }

    private void keep(int tid, byte[] comm) {
        if (tid >= shown.length) {
            int length = Math.max(shown.length * 2, tid + 1);
            shown = Arrays.copyOf(shown, length);
            comms = Arrays.copyOf(comms, length);
        }
        comms[tid] = comm;
        shown[tid] = head(tid, comm);
    }
}
