package sonde.analysis.sched;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.analysis.TypeSelection;
import sonde.analysis.syscall.SyscallEvents;
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
    static final int SWITCH_RECORD = 7;
    static final int LOOK = 8;

    // perf_event.h: what misc of PERF_RECORD_SWITCH and PERF_RECORD_SWITCH_CPU_WIDE says
    private static final int MISC_SWITCH_OUT = 1 << 13;
    private static final int MISC_SWITCH_OUT_PREEMPT = 1 << 14;

    private static final String[] WAKEUPS = {"sched_waking", "sched_wakeup", "sched_wakeup_new"};

    final TypeSelection wanted;
    final SyscallEvents calls;
    final @Nullable SwitchStates states;
    final @Nullable IntegerField prevPid;
    final @Nullable IntegerField prevState;
    final @Nullable IntegerField nextPid;
    final @Nullable StringField prevComm;
    final @Nullable StringField nextComm;
    final @Nullable IntegerField lookedCall;
    final @Nullable IntegerField lookedAtEnd;
    final @Nullable IntegerField lookedPid;
    final @Nullable StringField lookedState;
    private final @Nullable IntegerField switchMisc;
    private final @Nullable IntegerField wideSwitchMisc;
    private final int wideSwitch;
    // By type: the three wake-ups have the field at the same place on every kernel so far, but
    // nothing promises that.
    private final @Nullable IntegerField[] woken;

    SchedFields(Source source) {
        wanted = new TypeSelection(source);
        wanted.add(SWITCH, "sched", "sched_switch", "prev_pid", "prev_state", "next_pid")
                .add(WAKEUP, "sched", "sched_waking", "pid")
                .add(WAKEUP, "sched", "sched_wakeup", "pid")
                .add(WAKEUP_NEW, "sched", "sched_wakeup_new", "pid")
                .add(LOST, EventType.NOTICE, "lost")
                .add(LOST, EventType.NOTICE, "corrupt")
                .add(LOOK, "sonde", "thread_now", "syscall", "at_end", "pid", "state");
        lookedCall = wanted.integer("sonde", "thread_now", "syscall");
        lookedAtEnd = wanted.integer("sonde", "thread_now", "at_end");
        lookedPid = wanted.integer("sonde", "thread_now", "pid");
        lookedState = wanted.text("sonde", "thread_now", "state");
        calls = new SyscallEvents(source, wanted, SYS_ENTER, SYS_EXIT);
        String perf = EventType.PERF_RECORD;
        Optional<EventType> switches = wanted.type("sched", "sched_switch");
        states = switches.map(SwitchStates::of).orElse(null);
        if (switches.isEmpty()) {
            wanted.add(SWITCH_RECORD, perf, "switch", "misc")
                    .add(SWITCH_RECORD, perf, "switch_cpu_wide", "misc");
        }
        switchMisc = wanted.integer(perf, "switch", "misc");
        wideSwitchMisc = wanted.integer(perf, "switch_cpu_wide", "misc");
        wideSwitch = source.type(perf, "switch_cpu_wide").map(EventType::id).orElse(-1);
        prevPid = wanted.integer("sched", "sched_switch", "prev_pid");
        prevState = wanted.integer("sched", "sched_switch", "prev_state");
        nextPid = wanted.integer("sched", "sched_switch", "next_pid");
        prevComm = wanted.text("sched", "sched_switch", "prev_comm");
        nextComm = wanted.text("sched", "sched_switch", "next_comm");
        woken = new IntegerField[source.types().size()];
        for (String name : WAKEUPS) {
            wanted.type("sched", name)
                    .ifPresent(type -> woken[type.id()] = wanted.integer("sched", name, "pid"));
        }
    }

    int woken(Batch batch, int row) {
        return value(woken[batch.type(row)], batch, row);
    }

    /** Whether a record of perf says that the thread left the CPU, else that it came. */
    boolean isOut(Batch batch, int row) {
        return (misc(batch, row) & MISC_SWITCH_OUT) != 0;
    }

    /** Whether it could have gone on; only with {@link #isOut}. */
    boolean isPreempted(Batch batch, int row) {
        return (misc(batch, row) & MISC_SWITCH_OUT_PREEMPT) != 0;
    }

    private int misc(Batch batch, int row) {
        return value(batch.type(row) == wideSwitch ? wideSwitchMisc : switchMisc, batch, row);
    }

    static int value(@Nullable IntegerField field, Batch batch, int row) {
        return field == null ? -1 : (int) field.of(batch, row);
    }
}
