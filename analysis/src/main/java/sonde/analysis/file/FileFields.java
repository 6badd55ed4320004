package sonde.analysis.file;

import org.jspecify.annotations.Nullable;
import sonde.analysis.TypeSelection;
import sonde.analysis.syscall.SyscallEvents;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.event.Source;

/** Where a source keeps what {@link FileAccesses} reads. */
final class FileFields {
    static final int ENTER = 1;
    static final int EXIT = 2;
    static final int NAME = 3;
    static final int FORK = 4;
    static final int PERF_FORK = 5;
    static final int EXECUTED = 6;
    static final int LOST = 7;

    /** Arguments that are kept. */
    static final int ARGUMENTS = 5;

    final TypeSelection wanted;
    final SyscallEvents calls;
    final @Nullable IntegerField parent;
    final @Nullable IntegerField child;
    final @Nullable IntegerField perfPid;
    final @Nullable IntegerField perfParentPid;
    final @Nullable IntegerField perfParent;
    final @Nullable IntegerField perfChild;
    final @Nullable IntegerField executed;

    FileFields(Source source) {
        String perf = EventType.PERF_RECORD;
        wanted = new TypeSelection(source);
        calls = new SyscallEvents(source, wanted, ENTER, EXIT);
        wanted.add(NAME, "perf", "bpf-output")
                .add(FORK, "sched", "sched_process_fork", "parent_pid", "child_pid")
                .add(PERF_FORK, perf, "fork", "pid", "ppid", "tid", "ptid")
                .add(EXECUTED, "sched", "sched_process_exec", "pid")
                .add(LOST, EventType.NOTICE, "lost")
                .add(LOST, EventType.NOTICE, "corrupt");
        parent = wanted.integer("sched", "sched_process_fork", "parent_pid");
        child = wanted.integer("sched", "sched_process_fork", "child_pid");
        perfPid = wanted.integer(perf, "fork", "pid");
        perfParentPid = wanted.integer(perf, "fork", "ppid");
        perfParent = wanted.integer(perf, "fork", "ptid");
        perfChild = wanted.integer(perf, "fork", "tid");
        executed = wanted.integer("sched", "sched_process_exec", "pid");
    }

    static int value(@Nullable IntegerField field, Batch batch, int row) {
        return field == null ? -1 : (int) field.of(batch, row);
    }
}
