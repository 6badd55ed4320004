package sonde.analysis.file;

import org.jspecify.annotations.Nullable;
import sonde.analysis.Wanted;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.event.Source;

/** Where a source keeps what {@link Files} reads. */
final class FileFields {
    static final int ENTER = 1;
    static final int EXIT = 2;
    static final int NAME = 3;
    static final int FORK = 4;
    static final int PERF_FORK = 5;
    static final int EXECUTED = 6;
    static final int LOST = 7;

    /** Arguments that are kept. */
    static final int ARGUMENTS = 4;

    final Wanted wanted;
    final @Nullable IntegerField id;
    final @Nullable IntegerField result;
    final @Nullable IntegerField parent;
    final @Nullable IntegerField child;
    final @Nullable IntegerField perfPid;
    final @Nullable IntegerField perfParentPid;
    final @Nullable IntegerField perfParent;
    final @Nullable IntegerField perfChild;
    final @Nullable IntegerField executed;
    private final int arguments;

    FileFields(Source source) {
        String raw = "raw_syscalls";
        String perf = EventType.PERF_RECORD;
        wanted = new Wanted(source);
        wanted.add(ENTER, raw, "sys_enter", "id")
                .add(EXIT, raw, "sys_exit", "ret")
                .add(NAME, "perf", "bpf-output")
                .add(FORK, "sched", "sched_process_fork", "parent_pid", "child_pid")
                .add(PERF_FORK, perf, "fork", "pid", "ppid", "tid", "ptid")
                .add(EXECUTED, "sched", "sched_process_exec", "pid")
                .add(LOST, EventType.NOTICE, "lost")
                .add(LOST, EventType.NOTICE, "corrupt");
        id = wanted.integer(raw, "sys_enter", "id");
        result = wanted.integer(raw, "sys_exit", "ret");
        parent = wanted.integer("sched", "sched_process_fork", "parent_pid");
        child = wanted.integer("sched", "sched_process_fork", "child_pid");
        perfPid = wanted.integer(perf, "fork", "pid");
        perfParentPid = wanted.integer(perf, "fork", "ppid");
        perfParent = wanted.integer(perf, "fork", "ptid");
        perfChild = wanted.integer(perf, "fork", "tid");
        executed = wanted.integer("sched", "sched_process_exec", "pid");
        arguments =
                source.type(raw, "sys_enter")
                        .flatMap(type -> type.field("args"))
                        .filter(field -> field.kind() == Field.Kind.ARRAY)
                        .filter(field -> field.elementBytes() == 8 && field.sizeBytes() >= 48)
                        .map(Field::offset)
                        .orElse(-1);
    }

    /** Copies the first four arguments; false when the row has none. */
    boolean arguments(Batch batch, int row, long[] into) {
        if (arguments < 0 || batch.payloadBytes(row) < arguments + 8 * ARGUMENTS) {
            return false;
        }
        for (int i = 0; i < ARGUMENTS; i++) {
            into[i] = batch.u64(row, arguments + 8 * i);
        }
        return true;
    }

    static int value(@Nullable IntegerField field, Batch batch, int row) {
        return field == null ? -1 : (int) field.of(batch, row);
    }
}
