package sonde.recording.ctf;

import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.FieldClass;

/**
 * Which fields name the thread of an event: the contexts of LTTng, or what perf adds. A kernel's
 * {@code sched_switch} names the thread that runs next on its CPU, whose the events are that follow
 * there, as far as no context tells.
 */
final class Identity {
    private final int tidAt;
    private final int tidBytes;
    private final int pidAt;
    private final int pidBytes;
    private final int nextAt;
    private final int nextBytes;

    /** The thread's name; null when no context tells it. */
    final @Nullable Node procname;

    private Identity(
            @Nullable Node tid, @Nullable Node pid, @Nullable Node next, @Nullable Node procname) {
        this.tidAt = tid == null ? -1 : tid.at;
        this.tidBytes = bytes(tid);
        this.pidAt = pid == null ? -1 : pid.at;
        this.pidBytes = bytes(pid);
        this.nextAt = next == null ? -1 : next.at;
        this.nextBytes = bytes(next);
        this.procname = procname;
    }

    /**
     * Those of a common context, the ids of the host before those of a namespace; or else those
     * that perf puts into payloads.
     */
    static Identity of(String name, @Nullable Node common, @Nullable Node payload) {
        Node tid = first(integer(common, "tid"), integer(common, "vtid"));
        Node pid = first(integer(common, "pid"), integer(common, "vpid"));
        // The event itself is of the thread that leaves the CPU, as ftrace's is.
        Node next = name.equals("sched_switch") ? integer(payload, "next_tid") : null;
        Node own = next == null ? integer(payload, "perf_tid") : integer(payload, "prev_tid");
        return new Identity(
                first(tid, own), first(pid, integer(payload, "perf_pid")), next, text(common));
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

    /** The thread of the event, or {@code running} where no field tells. */
    int tid(Payload payload, int running) {
        return tidAt < 0 ? running : (int) payload.get(tidAt, tidBytes);
    }

    /** The thread that runs on the CPU after the event. */
    int next(Payload payload, int running) {
        return nextAt < 0 ? running : (int) payload.get(nextAt, nextBytes);
    }

    boolean hasPid() {
        return pidAt >= 0;
    }

    int pid(Payload payload) {
        return (int) payload.get(pidAt, pidBytes);
    }
}
