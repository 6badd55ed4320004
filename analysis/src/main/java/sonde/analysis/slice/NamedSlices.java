package sonde.analysis.slice;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Bindings;
import sonde.analysis.Operator;
import sonde.analysis.Threads;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/**
 * Spans that the recorded program or the kernel named: interrupts and soft interrupts (by CPU),
 * begin and end marks written to tracefs {@code trace_marker} in systrace's form, and the slices of
 * user-space trace formats. Spans of a track nest; an end closes the innermost.
 */
public final class NamedSlices implements Operator {
    /** Open spans of a track; deeper ones are left out with their ends. */
    private static final int MAX_DEPTH = 512;

    /** Tracks with open spans; a hostile file names any number. */
    private static final int MAX_TRACKS = 1 << 20;

    /** enum in include/linux/interrupt.h, softirq_to_name[] in kernel/softirq.c. */
    private static final String[] SOFT_INTERRUPTS = {
        "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"
    };

    private enum Kind {
        IRQ_ENTRY,
        IRQ_EXIT,
        SOFTIRQ_ENTRY,
        SOFTIRQ_EXIT,
        PRINT,
        BEGIN,
        END,
        COMPLETE,
        INSTANT
    }

    private final Threads threads;
    private final Sink sink;
    private final Bindings<Fields> bindings = new Bindings<>(Fields::new);
    private final Map<Track, Deque<Open>> tracks = new HashMap<>();
    private long ids;

    /**
     * A span.
     *
     * @param id unique in the recording, in the order of beginnings
     * @param from when it began
     * @param to when it ended, {@link Threads#NEVER} when it had not
     * @param thread number of the thread, -1 for none
     * @param cpu where it began, -1 when unknown
     * @param category "irq", "softirq", "marker", or what the format says
     * @param depth how many spans of its track it lies in
     * @param parent id of the span it lies in, -1 for none
     */
    public record Span(
            long id,
            long from,
            long to,
            int thread,
            int cpu,
            String category,
            String name,
            int depth,
            long parent) {}

    /** Takes spans in the order in which they end. */
    @FunctionalInterface
    public interface Sink {
        /** A span ended. */
        void slice(Span span);
    }

    private record Track(Kind kind, long number, String name) {}

    private record Open(long id, long from, int thread, int cpu, String category, String name) {}

    /** An operator that looks tids up in {@code threads}. */
    public NamedSlices(Threads threads, Sink sink) {
        this.threads = threads;
        this.sink = sink;
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
    public Need need() {
        return Need.TIME_ORDERED;
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
                    begin(
                            new Track(Kind.IRQ_ENTRY, batch.cpu(row), ""),
                            open(batch, row, -1, "irq", fields.text(batch, row, "name")));
            case IRQ_EXIT -> end(new Track(Kind.IRQ_ENTRY, batch.cpu(row), ""), batch.time(row));
            case SOFTIRQ_ENTRY -> {
                long vector = fields.integer(batch, row, "vec");
                boolean known = vector >= 0 && vector < SOFT_INTERRUPTS.length;
                String name = known ? SOFT_INTERRUPTS[(int) vector] : Long.toString(vector);
                begin(
                        new Track(Kind.SOFTIRQ_ENTRY, batch.cpu(row), ""),
                        open(batch, row, -1, "softirq", name));
            }
            case SOFTIRQ_EXIT ->
                    end(new Track(Kind.SOFTIRQ_ENTRY, batch.cpu(row), ""), batch.time(row));
            case PRINT -> print(fields.text(batch, row, "buf"), batch, row);
            case BEGIN, END, COMPLETE, INSTANT -> named(fields, kind, batch, row);
        }
    }

    /** {@code B|pid|name} and {@code E|pid}, or {@code E} alone, of atrace. */
    private void print(String text, Batch batch, int row) {
        int thread = threads.find(batch.tid(row));
        Track track = new Track(Kind.PRINT, batch.tid(row), "");
        if (text.startsWith("B|")) {
            int bar = text.indexOf('|', 2);
            String name = bar < 0 ? "" : text.substring(bar + 1).strip();
            begin(track, open(batch, row, thread, "marker", name));
        } else if (text.equals("E") || text.startsWith("E|") || text.startsWith("E\n")) {
            end(track, batch.time(row));
        }
    }

    private void named(Fields fields, Kind kind, Batch batch, int row) {
        int thread = threads.find(batch.tid(row));
        String id = fields.text(batch, row, "id");
        long number = fields.integer(batch, row, "track");
        Track track = new Track(Kind.BEGIN, id.isEmpty() ? number : 0, id);
        Open open =
                kind == Kind.END
                        ? null
                        : open(
                                batch,
                                row,
                                thread,
                                fields.text(batch, row, "category"),
                                fields.text(batch, row, "name"));
        if (open == null) {
            end(track, batch.time(row));
            return;
        }
        long time = batch.time(row);
        if (kind == Kind.BEGIN) {
            begin(track, open);
            return;
        }
        long length = kind == Kind.INSTANT ? 0 : fields.integer(batch, row, "dur");
        Deque<Open> around = tracks.get(track);
        int depth = around == null ? 0 : around.size();
        Open parent = around == null ? null : around.peekLast();
        emit(open, time + Math.max(0, length), depth, parent == null ? -1 : parent.id);
    }

    private Open open(Batch batch, int row, int thread, String category, String name) {
        return new Open(ids++, batch.time(row), thread, batch.cpu(row), category, name);
    }

    private void begin(Track track, Open open) {
        Deque<Open> stack = tracks.get(track);
        if (stack == null) {
            if (tracks.size() >= MAX_TRACKS) {
                return;
            }
            stack = new ArrayDeque<>(2);
            tracks.put(track, stack);
        }
        if (stack.size() < MAX_DEPTH) {
            stack.addLast(open);
        }
    }

    private void end(Track track, long time) {
        Deque<Open> stack = tracks.get(track);
        Open open = stack == null ? null : stack.pollLast();
        if (open != null && stack != null) {
            emit(open, time, stack.size(), stack.isEmpty() ? -1 : stack.getLast().id);
        }
    }

    private void emit(Open open, long to, int depth, long parent) {
        sink.slice(
                new Span(
                        open.id,
                        open.from,
                        to,
                        open.thread,
                        open.cpu,
                        open.category,
                        open.name,
                        depth,
                        parent));
    }

    @Override
    public void finish(long lastTime) {
        for (Deque<Open> stack : tracks.values()) {
            while (!stack.isEmpty()) {
                Open open = stack.removeLast();
                long parent = stack.isEmpty() ? -1 : stack.getLast().id;
                emit(open, Threads.NEVER, stack.size(), parent);
            }
        }
    }
}
