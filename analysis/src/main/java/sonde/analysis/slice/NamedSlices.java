package sonde.analysis.slice;

import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.slice.SliceStacks.OpenSlice;
import sonde.analysis.slice.SliceStacks.SliceTrack;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/**
 * Spans that the recorded program or the kernel named: interrupts and soft interrupts (by CPU),
 * begin and end marks written to tracefs {@code trace_marker} in systrace's form, calls of the
 * function graph, and the slices of user-space trace formats. Spans of a track nest; an end closes
 * the innermost.
 */
public final class NamedSlices implements Operator {
    /** Deeper calls count as this deep. */
    private static final int MOST_CALLS = 500;

    /** enum in include/linux/interrupt.h, softirq_to_name[] in kernel/softirq.c. */
    private static final String[] SOFT_INTERRUPTS = {
        "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"
    };

    /** What a row says of spans. */
    enum Kind {
        IRQ_ENTRY,
        IRQ_EXIT,
        SOFTIRQ_ENTRY,
        SOFTIRQ_EXIT,
        PRINT,
        BEGIN,
        END,
        COMPLETE,
        INSTANT,
        CALL,
        RETURN
    }

    private final ThreadTable threads;
    private final LongFunction<String> functions;
    private final SliceStacks stacks;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);
    private long ids;

    /**
     * A span.
     *
     * @param id unique in the recording, in the order of beginnings
     * @param from when it began
     * @param to when it ended, {@link ThreadTable#NEVER} when it had not
     * @param thread number of the thread, -1 for none
     * @param cpu where it began, -1 when unknown
     * @param category "irq", "softirq", "marker", or what the format says
     * @param depth how many spans of its track it lies in
     * @param parent id of the span it lies in, -1 for none
     */
    public record NamedSlice(
            long id,
            long from,
            long to,
            int thread,
            int cpu,
            String category,
            String name,
            int depth,
            long parent) {}

    /** Takes spans as they end; those of known length as they begin. */
    @FunctionalInterface
    public interface Sink {
        /** A span ended. */
        void slice(NamedSlice span);
    }

    /**
     * An operator that looks tids up in {@code threads}.
     *
     * @param functions names of the kernel's functions by address
     */
    public NamedSlices(ThreadTable threads, LongFunction<String> functions, Sink sink) {
        this.threads = threads;
        this.functions = functions;
        this.stacks = new SliceStacks(sink);
    }

    private static final class Fields {
        final int[] codes;
        final @Nullable Kind[] kinds;
        final EventType[] types;

        Fields(Source source) {
            types = source.types().toArray(EventType[]::new);
            codes = new int[types.length];
            kinds = new Kind[types.length];
            for (int i = 0; i < types.length; i++) {
                kinds[i] = kind(types[i]);
                codes[i] = kinds[i] == null ? 0 : 1;
            }
        }

        private static @Nullable Kind kind(EventType type) {
            return switch (type.qualifiedName()) {
                case "irq:irq_handler_entry" -> Kind.IRQ_ENTRY;
                case "irq:irq_handler_exit" -> Kind.IRQ_EXIT;
                case "irq:softirq_entry" -> Kind.SOFTIRQ_ENTRY;
                case "irq:softirq_exit" -> Kind.SOFTIRQ_EXIT;
                case "ftrace:print" -> Kind.PRINT;
                case "slice:begin" -> Kind.BEGIN;
                case "slice:end" -> Kind.END;
                case "slice:complete" -> Kind.COMPLETE;
                case "slice:instant" -> Kind.INSTANT;
                case "ftrace:funcgraph_entry", "ftrace:fgraph_retaddr_entry" -> Kind.CALL;
                case "ftrace:funcgraph_exit" -> Kind.RETURN;
                default -> null;
            };
        }

        String text(Batch batch, int row, String field) {
            return types[batch.type(row)]
                    .field(field)
                    .filter(found -> found.isText())
                    .map(found -> StringField.of(found).of(batch, row))
                    .orElse("");
        }

        long integer(Batch batch, int row, String field) {
            return types[batch.type(row)]
                    .field(field)
                    .filter(found -> found.kind() == sonde.event.Field.Kind.INTEGER)
                    .filter(found -> found.offset() + found.sizeBytes() <= batch.payloadBytes(row))
                    .map(found -> IntegerField.of(found).of(batch, row))
                    .orElse(0L);
        }
    }

    @Override
    public RowOrder need() {
        return RowOrder.TIME_ORDERED;
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes.clone();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            Kind kind = fields.kinds[batch.type(row)];
            if (kind != null) {
                row(fields, kind, batch, row);
            }
        }
    }

    private void row(Fields fields, Kind kind, Batch batch, int row) {
        switch (kind) {
            case IRQ_ENTRY ->
                    stacks.begin(
                            new SliceTrack(Kind.IRQ_ENTRY, batch.cpu(row), ""),
                            open(batch, row, -1, "irq", fields.text(batch, row, "name")));
            case IRQ_EXIT ->
                    stacks.end(new SliceTrack(Kind.IRQ_ENTRY, batch.cpu(row), ""), batch.time(row));
            case SOFTIRQ_ENTRY -> {
                long vector = fields.integer(batch, row, "vec");
                boolean known = vector >= 0 && vector < SOFT_INTERRUPTS.length;
                String name = known ? SOFT_INTERRUPTS[(int) vector] : Long.toString(vector);
                stacks.begin(
                        new SliceTrack(Kind.SOFTIRQ_ENTRY, batch.cpu(row), ""),
                        open(batch, row, -1, "softirq", name));
            }
            case SOFTIRQ_EXIT ->
                    stacks.end(
                            new SliceTrack(Kind.SOFTIRQ_ENTRY, batch.cpu(row), ""),
                            batch.time(row));
            case PRINT -> print(fields.text(batch, row, "buf"), batch, row);
            case BEGIN, END, COMPLETE, INSTANT -> named(fields, kind, batch, row);
            case CALL, RETURN -> function(fields, kind, batch, row);
        }
    }

    /** {@code B|pid|name} and {@code E|pid}, or {@code E} alone, of atrace. */
    private void print(String text, Batch batch, int row) {
        int thread = threads.find(batch.tid(row));
        SliceTrack track = new SliceTrack(Kind.PRINT, batch.tid(row), "");
        if (text.startsWith("B|")) {
            int bar = text.indexOf('|', 2);
            String name = bar < 0 ? "" : text.substring(bar + 1).strip();
            stacks.begin(track, open(batch, row, thread, "marker", name));
        } else if (text.equals("E") || text.startsWith("E|") || text.startsWith("E\n")) {
            stacks.end(track, batch.time(row));
        }
    }

    private void named(Fields fields, Kind kind, Batch batch, int row) {
        int thread = threads.find(batch.tid(row));
        String id = fields.text(batch, row, "id");
        long number = fields.integer(batch, row, "track");
        SliceTrack track = new SliceTrack(Kind.BEGIN, id.isEmpty() ? number : 0, id);
        if (kind == Kind.END) {
            stacks.end(track, batch.time(row));
            return;
        }
        String category = fields.text(batch, row, "category");
        String name = fields.text(batch, row, "name");
        if (kind == Kind.BEGIN) {
            stacks.begin(track, open(batch, row, thread, category, name));
            return;
        }
        long length = kind == Kind.INSTANT ? 0 : fields.integer(batch, row, "dur");
        long to = after(batch.time(row), length);
        stacks.complete(track, open(batch, row, batch.time(row), to, thread, category, name));
    }

    /**
     * Calls of the function graph: a leaf of the text has its length and no row of its end, rows of
     * ends whose beginning was not seen have lengths too.
     */
    private void function(Fields fields, Kind kind, Batch batch, int row) {
        int tid = batch.tid(row);
        int thread = threads.find(tid);
        SliceTrack track = new SliceTrack(Kind.CALL, tid > 0 ? tid : -1L - batch.cpu(row), "");
        int depth = Math.clamp(fields.integer(batch, row, "depth"), 0, MOST_CALLS);
        long time = batch.time(row);
        long length = fields.integer(batch, row, "duration");
        String name = fields.text(batch, row, "func");
        if (name.isEmpty()) {
            long address = fields.integer(batch, row, "func");
            name = address == 0 ? "?" : functions.apply(address);
        }
        if (kind == Kind.CALL) {
            boolean leaf = length > 0;
            stacks.call(track, open(batch, row, thread, "function", name), depth);
            if (leaf) {
                stacks.returns(track, depth, after(time, length), null);
            }
            return;
        }
        if (length == 0) {
            long ended = fields.integer(batch, row, "rettime");
            length = Math.max(0, ended - fields.integer(batch, row, "calltime"));
        }
        long from = length > 0 && length <= time ? time - length : time;
        OpenSlice made = open(batch, row, from, ThreadTable.NEVER, thread, "function", name);
        stacks.returns(track, depth, time, from < time ? made : null);
    }

    private static long after(long time, long length) {
        long to = time + Math.max(0, length);
        return to < time || to == ThreadTable.NEVER ? ThreadTable.NEVER - 1 : to;
    }

    private OpenSlice open(Batch batch, int row, int thread, String category, String name) {
        return open(batch, row, batch.time(row), ThreadTable.NEVER, thread, category, name);
    }

    private OpenSlice open(
            Batch batch, int row, long from, long to, int thread, String category, String name) {
        return new OpenSlice(ids++, from, to, thread, batch.cpu(row), category, name);
    }

    @Override
    public void finish(long lastTime) {
        stacks.finish();
    }
}
