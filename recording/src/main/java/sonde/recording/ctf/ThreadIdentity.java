package sonde.recording.ctf;

import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.TextClass;

/**
 * Which fields name the thread of an event: the contexts of LTTng, or what perf adds. A kernel's
 * {@code sched_switch} names the thread that runs next on its CPU, whose the events are that follow
 * there, as far as no context tells.
 */
final class ThreadIdentity {
    private final int tidAt;
    private final int tidBytes;
    private final int pidAt;
    private final int pidBytes;
    private final int nextAt;
    private final int nextBytes;

    /** The thread's name; null when no context tells it. */
    final @Nullable FieldNode procname;

    private ThreadIdentity(
            @Nullable FieldNode tid,
            @Nullable FieldNode pid,
            @Nullable FieldNode next,
            @Nullable FieldNode procname) {
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
    static ThreadIdentity of(String name, @Nullable FieldNode common, @Nullable FieldNode payload) {
        FieldNode tid = first(integer(common, "tid"), integer(common, "vtid"));
        FieldNode pid = first(integer(common, "pid"), integer(common, "vpid"));
        // The event itself is of the thread that leaves the CPU, as ftrace's is.
        FieldNode next = name.equals("sched_switch") ? integer(payload, "next_tid") : null;
        FieldNode own = next == null ? integer(payload, "perf_tid") : integer(payload, "prev_tid");
        return new ThreadIdentity(
                first(tid, own), first(pid, integer(payload, "perf_pid")), next, text(common));
    }

    private static @Nullable FieldNode first(@Nullable FieldNode one, @Nullable FieldNode other) {
        return one == null ? other : one;
    }

    private static int bytes(@Nullable FieldNode node) {
        return node != null && node.type instanceof BitField bits
                ? PayloadLayout.storedBytes(bits)
                : 0;
    }

    private static @Nullable FieldNode integer(@Nullable FieldNode common, String name) {
        if (common != null) {
            for (FieldNode child : common.children) {
                boolean fits = child.type instanceof BitField bits && bits.bits() >= 16;
                if (child.name.equals(name) && child.at >= 0 && fits) {
                    return child;
                }
            }
        }
        return null;
    }

    private static @Nullable FieldNode text(@Nullable FieldNode common) {
        if (common != null) {
            for (FieldNode child : common.children) {
                if (child.name.equals("procname") && child.type instanceof TextClass) {
                    return child;
                }
            }
        }
        return null;
    }

    /** The thread of the event, or {@code running} where no field tells. */
    int tid(PayloadBuffer payload, int running) {
        return tidAt < 0 ? running : (int) payload.get(tidAt, tidBytes);
    }

    /** The thread that runs on the CPU after the event. */
    int next(PayloadBuffer payload, int running) {
        return nextAt < 0 ? running : (int) payload.get(nextAt, nextBytes);
    }

    boolean hasPid() {
        return pidAt >= 0;
    }

    int pid(PayloadBuffer payload) {
        return (int) payload.get(pidAt, pidBytes);
    }
}
