package sonde.recording.ftrace;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/** The rows of a source that tell names of threads. */
public final class NameRows {
    /**
     * What a type tells.
     *
     * @param comm the name, null for a fork, which takes its parent's
     * @param parent the thread whose name is taken
     * @param renames whether a later name replaces an earlier one where names are followed
     */
    private record NameSource(
            IntegerField tid,
            @Nullable PayloadArray comm,
            @Nullable IntegerField parent,
            boolean renames) {}

    private final ThreadNames names;
    private final NameSource[][] lessons;

    /** Reads rows of a source with these types; {@code names} keeps the names. */
    public NameRows(List<EventType> types, ThreadNames names) {
        this.names = names;
        lessons = new NameSource[types.size()][];
        for (EventType type : types) {
            NameSource[] none = {};
            lessons[type.id()] =
                    switch (type.qualifiedName()) {
                        case "sched:sched_switch" ->
                                both(
                                        lesson(type, "prev_pid", "prev_comm", false),
                                        lesson(type, "next_pid", "next_comm", false));
                        case "sched:sched_wakeup", "sched:sched_wakeup_new" ->
                                both(lesson(type, "pid", "comm", false), none);
                        case "perf_record:comm" -> both(lesson(type, "tid", "comm", true), none);
                        case "perf_record:fork" -> both(fork(type), none);
                        default -> none;
                    };
        }
    }

    private static NameSource[] both(NameSource[] one, NameSource[] other) {
        NameSource[] all = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, all, one.length, other.length);
        return all;
    }

    private static NameSource[] lesson(EventType type, String tid, String comm, boolean renames) {
        IntegerField number = EventBodies.integer(type, tid);
        Field name = type.field(comm).orElse(null);
        return number == null || name == null || !name.isText()
                ? new NameSource[0]
                : new NameSource[] {
                    new NameSource(number, new PayloadArray(name, 1, false), null, renames)
                };
    }

    private static NameSource[] fork(EventType type) {
        IntegerField tid = EventBodies.integer(type, "tid");
        IntegerField parent = EventBodies.integer(type, "ptid");
        return tid == null || parent == null
                ? new NameSource[0]
                : new NameSource[] {new NameSource(tid, null, parent, true)};
    }

    /** Whether rows of a type may tell a name. */
    boolean mayTeach(int type) {
        return lessons[type].length > 0;
    }

    /** Whether the row tells a name that would be remembered. */
    boolean teaches(Batch batch, int row) {
        for (NameSource lesson : lessons[batch.type(row)]) {
            if (isNew(lesson, (int) lesson.tid.of(batch, row))) {
                return true;
            }
        }
        return false;
    }

    private boolean isNew(NameSource lesson, int tid) {
        return ThreadNames.isTid(tid)
                && (!names.knows(tid) || names.isFollowing() && lesson.renames);
    }

    /** Remembers what the row tells. */
    public void learn(Batch batch, int row) {
        for (NameSource lesson : lessons[batch.type(row)]) {
            int tid = (int) lesson.tid.of(batch, row);
            byte[] comm = isNew(lesson, tid) ? comm(lesson, tid, batch, row) : null;
            if (comm != null) {
                names.rename(tid, comm);
            }
        }
    }

    private byte @Nullable [] comm(NameSource lesson, int tid, Batch batch, int row) {
        PayloadArray place = lesson.comm;
        if (place != null) {
            TextBuffer text = new TextBuffer(64);
            text.text(batch, row, place.offset(batch, row), place.sizeBytes(batch, row));
            return text.since(0);
        }
        int parent = lesson.parent == null ? tid : (int) lesson.parent.of(batch, row);
        // The fork of a process's first thread at the time of the recorder's start names itself.
        return parent == tid ? null : names.comm(parent);
    }
}
