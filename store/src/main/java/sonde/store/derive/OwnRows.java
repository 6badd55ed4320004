package sonde.store.derive;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.analysis.LogIncident;
import sonde.analysis.LogLines;
import sonde.analysis.LossAccount.LossRow;
import sonde.analysis.Operator;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.outline.PacketFlows;
import sonde.analysis.stack.SampleTypes;
import sonde.analysis.stack.StackTable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.IntegerField;
import sonde.event.StringField;

/** Tables whose rows are rows of events, with the columns that such events share. */
final class OwnRows {
    private final TraceNumbers target;
    private final ThreadTable threads;
    private final StackTable stacks;
    private final TimeWindow window;

    /**
     * @param window samples outside it have damaged times
     */
    OwnRows(TraceNumbers target, ThreadTable threads, StackTable stacks, TimeWindow window) {
        this.window = window;
        this.target = target;
        this.threads = threads;
        this.stacks = stacks;
    }

    Operator samples(@Nullable RowAppender out, Predicate<EventType> stacked) {
        long[] ids = {0};
        return operator(
                type -> SampleTypes.isSample(type) || stacked.test(type),
                (batch, row, type) -> {
                    long time = batch.time(row);
                    int thread = threads.find(batch.tid(row));
                    boolean idle = batch.tid(row) == 0;
                    boolean nobodys = batch.tid(row) < 0 && threads.countsNobody();
                    boolean counts = window.contains(time);
                    counts &= idle || nobodys || threads.counts(thread, time);
                    if (!counts || (thread >= 0 && threads.isRecorder(thread))) {
                        return;
                    }
                    int pid = batch.pid(row);
                    int process = pid >= 0 || thread < 0 ? pid : threads.pid(thread);
                    int node = stacks.intern(batch, row, process);
                    if (out != null) {
                        out.begin()
                                .add(target.id(ids[0]++))
                                .add(time + target.shift())
                                .orNull(batch.cpu(row));
                        (nobodys ? out.none() : out.add(target.utid(thread)))
                                .orNull(target.callsite(node))
                                .add(stacked.test(type) ? type.qualifiedName() : type.name())
                                .add(batch.weight(row))
                                .add(target.trace());
                    }
                });
    }

    Operator losses(RowAppender out) {
        return operator(
                type -> type.system().equals(EventType.NOTICE),
                (batch, row, type) ->
                        out.begin()
                                .add(batch.time(row) + target.shift())
                                .orNull(batch.cpu(row))
                                .add(type.name())
                                .add(Math.max(0, batch.weight(row)))
                                .add(batch.source().name())
                                .add(target.trace()));
    }

    /** Losses that no row of the recording tells: without a time. */
    void unnoticed(RowAppender out, List<LossRow> losses) {
        for (LossRow loss : losses) {
            Long events = loss.events();
            out.begin().none().orNull(loss.cpu()).add(loss.what()).add(events == null ? 0 : events);
            out.add(loss.source()).add(target.trace());
        }
    }

    Operator mappings(RowAppender out) {
        return operator(
                type ->
                        type.system().equals(EventType.PERF_RECORD)
                                && (type.name().equals("mmap") || type.name().equals("mmap2")),
                (batch, row, type) -> {
                    int pid = (int) integer(batch, row, type, "pid");
                    int thread = pid < 0 ? -1 : threads.find(pid);
                    long start = integer(batch, row, type, "addr");
                    out.begin().add(batch.time(row) + target.shift());
                    (thread < 0 ? out.none() : out.add(target.utid(thread)))
                            .orNull(pid)
                            .add(start)
                            .add(start + integer(batch, row, type, "len"))
                            .add(integer(batch, row, type, "pgoff"))
                            .add(text(batch, row, type, List.of("filename", "file", "name")))
                            .add(target.trace());
                });
    }

    /** {@code counter:value} of formats that have counters, and the kernel's own of CPUs. */
    Operator counters(RowAppender out) {
        return operator(
                type ->
                        type.system().equals("counter")
                                || type.qualifiedName().equals("power:cpu_frequency")
                                || type.qualifiedName().equals("power:cpu_idle"),
                (batch, row, type) -> {
                    boolean ofCpu = type.system().equals("power");
                    String name = type.name();
                    if (!ofCpu) {
                        String given = text(batch, row, type, List.of("name"));
                        name = given == null ? name : given;
                    }
                    long cpu = ofCpu ? integer(batch, row, type, "cpu_id") : batch.cpu(row);
                    int thread = ofCpu || batch.tid(row) < 0 ? -1 : threads.find(batch.tid(row));
                    out.begin().add(batch.time(row) + target.shift());
                    double value = number(batch, row, type, ofCpu ? "state" : "value");
                    (Double.isNaN(value) ? out.none() : out.add(value)).add(name).orNull(cpu);
                    (thread < 0 ? out.none() : out.add(target.utid(thread))).add(target.trace());
                });
    }

    Operator logs(RowAppender out) {
        return operator(
                type -> LogLines.isLog(type) || type.qualifiedName().equals("ftrace:print"),
                (batch, row, type) -> {
                    String message = LogLines.message(batch, row, type);
                    if (message == null) {
                        return;
                    }
                    out.begin().add(batch.time(row) + target.shift()).orNull(batch.cpu(row));
                    (batch.tid(row) < 0
                                    ? out.none()
                                    : out.add(target.utid(threads.find(batch.tid(row)))))
                            .add(type.qualifiedName())
                            .add(message.stripTrailing())
                            .add(target.trace());
                });
    }

    /** What is known of each incident of the kernel's log. */
    void incidents(RowAppender out, List<LogIncident> incidents) {
        for (LogIncident one : incidents) {
            int thread = one.tid() < 0 ? -1 : threads.find(one.tid());
            out.begin()
                    .add(one.number())
                    .add(one.begin() + target.shift())
                    .add(one.end() - one.begin())
                    .orNull(one.cpu());
            (thread < 0 ? out.none() : out.add(target.utid(thread)))
                    .add(one.kind())
                    .add(one.severity())
                    .add(one.isFault() ? 1 : 0)
                    .add(one.identity())
                    .add(one.what())
                    .add(one.function())
                    .add(one.module())
                    .add(one.place())
                    .add(one.task())
                    .orNull(one.pid())
                    .add(one.kernel());
            (one.after() == 0 ? out.none() : out.add(one.after()))
                    .add(one.isPanic() ? 1 : 0)
                    .add(one.isDamaged() ? 1 : 0)
                    .add(one.details())
                    .add(target.trace());
        }
    }

    /** Types of any system that say who sent what to whom. */
    Operator packets(RowAppender out) {
        return operator(
                PacketFlows::isPacket,
                (batch, row, type) -> PacketRows.add(out, batch, row, type, target));
    }

    private static Operator operator(Predicate<EventType> which, RowOperator.Sink sink) {
        return new RowOperator(which, sink);
    }

    static long integer(Batch batch, int row, EventType type, String name) {
        return (long) number(batch, row, type, name, true);
    }

    private static double number(Batch batch, int row, EventType type, String name) {
        Object value = number(batch, row, type, name, false);
        return value instanceof Double real ? real : (double) (long) value;
    }

    private static Object number(
            Batch batch, int row, EventType type, String name, boolean integer) {
        Field field = type.field(name).orElse(null);
        if (field == null || field.offset() + field.sizeBytes() > batch.payloadBytes(row)) {
            return 0L;
        }
        boolean whole = field.kind() == Field.Kind.INTEGER;
        if (whole && Integer.bitCount(field.sizeBytes()) == 1 && field.sizeBytes() <= 8) {
            return IntegerField.of(field).of(batch, row);
        }
        if (!integer && field.kind() == Field.Kind.FLOAT) {
            return FloatField.of(field).of(batch, row);
        }
        return 0L;
    }

    static @Nullable String text(Batch batch, int row, EventType type, List<String> names) {
        for (String name : names) {
            Field field = type.field(name).orElse(null);
            if (field != null && field.isText()) {
                return StringField.of(field).of(batch, row);
            }
        }
        return null;
    }
}
