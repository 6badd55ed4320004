package sonde.format.ctf;

import org.jspecify.annotations.Nullable;
import sonde.format.ctf.schema.FieldClass;

/** Which fields name the thread of an event: the contexts of LTTng, or what perf adds. */
final class Identity {
    private final int tidAt;
    private final int tidBytes;
    private final int pidAt;
    private final int pidBytes;

    /** The thread's name; null when no context tells it. */
    final @Nullable Node procname;

    private Identity(@Nullable Node tid, @Nullable Node pid, @Nullable Node procname) {
        this.tidAt = tid == null ? -1 : tid.at;
        this.tidBytes = bytes(tid);
        this.pidAt = pid == null ? -1 : pid.at;
        this.pidBytes = bytes(pid);
        this.procname = procname;
    }

    /**
     * Those of a common context, the ids of the host before those of a namespace; or else those
     * that perf puts into payloads.
     */
    static Identity of(@Nullable Node common, @Nullable Node payload) {
        Node tid = first(integer(common, "tid"), integer(common, "vtid"));
        Node pid = first(integer(common, "pid"), integer(common, "vpid"));
        return new Identity(
                first(tid, integer(payload, "perf_tid")),
                first(pid, integer(payload, "perf_pid")),
                text(common));
    }

    private static @Nullable Node first(@Nullable Node one, @Nullable Node other) {
        return one == null ? other : one;
    }

    private static int bytes(@Nullable Node node) {
        return node != null && node.type instanceof FieldClass.Bits bits
                ? Layout.storedBytes(bits)
                : 0;
    }

    private static @Nullable Node integer(@Nullable Node common, String name) {
        if (common != null) {
            for (Node child : common.children) {
                boolean fits = child.type instanceof FieldClass.Bits bits && bits.bits() >= 16;
                if (child.name.equals(name) && child.at >= 0 && fits) {
                    return child;
                }
            }
        }
        return null;
    }

    private static @Nullable Node text(@Nullable Node common) {
        if (common != null) {
            for (Node child : common.children) {
                if (child.name.equals("procname") && child.type instanceof FieldClass.Text) {
                    return child;
                }
            }
        }
        return null;
    }

    int tid(Payload payload) {
        return tidAt < 0 ? -1 : (int) payload.get(tidAt, tidBytes);
    }

    boolean hasPid() {
        return pidAt >= 0;
    }

    int pid(Payload payload) {
        return (int) payload.get(pidAt, pidBytes);
    }
}
