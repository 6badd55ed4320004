package sonde.analysis.sched;

import org.jspecify.annotations.Nullable;
import sonde.analysis.Wanted;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/** Where a source keeps what {@link ThreadStates} reads. */
final class SchedFields {
    static final int SWITCH = 1;
    static final int WAKEUP = 2;
    static final int WAKEUP_NEW = 3;
    static final int SYS_ENTER = 4;
    static final int SYS_EXIT = 5;
    static final int LOST = 6;

    private static final String[] WAKEUPS = {"sched_waking", "sched_wakeup", "sched_wakeup_new"};

    final Wanted wanted;
    final @Nullable IntegerField prevPid;
    final @Nullable IntegerField prevState;
    final @Nullable IntegerField nextPid;
    final @Nullable StringField prevComm;
    final @Nullable StringField nextComm;
    final @Nullable IntegerField callId;
    // By type: the three wake-ups have the field at the same place on every kernel so far, but
    // nothing promises that.
    private final @Nullable IntegerField[] woken;

    SchedFields(Source source) {
        wanted = new Wanted(source);
        wanted.add(SWITCH, "sched", "sched_switch", "prev_pid", "prev_state", "next_pid")
                .add(WAKEUP, "sched", "sched_waking", "pid")
                .add(WAKEUP, "sched", "sched_wakeup", "pid")
                .add(WAKEUP_NEW, "sched", "sched_wakeup_new", "pid")
                .add(SYS_ENTER, "raw_syscalls", "sys_enter", "id")
                .add(SYS_EXIT, "raw_syscalls", "sys_exit")
                .add(LOST, EventType.NOTICE, "lost")
                .add(LOST, EventType.NOTICE, "corrupt");
        prevPid = wanted.integer("sched", "sched_switch", "prev_pid");
        prevState = wanted.integer("sched", "sched_switch", "prev_state");
        nextPid = wanted.integer("sched", "sched_switch", "next_pid");
        prevComm = wanted.text("sched", "sched_switch", "prev_comm");
        nextComm = wanted.text("sched", "sched_switch", "next_comm");
        callId = wanted.integer("raw_syscalls", "sys_enter", "id");
        woken = new IntegerField[source.types().size()];
        for (String name : WAKEUPS) {
            source.type("sched", name)
                    .ifPresent(type -> woken[type.id()] = wanted.integer("sched", name, "pid"));
        }
    }

    int woken(Batch batch, int row) {
        return value(woken[batch.type(row)], batch, row);
    }

    static int value(@Nullable IntegerField field, Batch batch, int row) {
        return field == null ? -1 : (int) field.of(batch, row);
    }
}
