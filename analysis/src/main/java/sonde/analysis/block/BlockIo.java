package sonde.analysis.block;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.LogLinear;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/**
 * Requests to block devices: block_rq_insert, block_rq_issue and block_rq_complete joined by device
 * and first sector. A request belongs to the thread that inserted it, or issued it when it went
 * past the queue; work that the kernel does later for others (write-back) belongs to its kworker. A
 * request counts when it was issued inside the window by a thread that counts.
 */
public final class BlockIo implements Operator {
    private static final int INSERT = 1;
    private static final int ISSUE = 2;
    private static final int COMPLETE = 3;

    /** Requests in flight that are remembered; more than any queue holds, so the rest were lost. */
    private static final int MAX_IN_FLIGHT = 1 << 16;

    private static final int SECTOR_BYTES = 512;

    private final ThreadTable threads;
    private final TimeWindow window;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);
    private final Map<Key, BlockRequest> inFlight = new HashMap<>();
    private final Map<RequestGroup, Entry> entries = new HashMap<>();
    private long unmatched;
    private long issued;

    /** An operator that looks tids up in {@code threads}. */
    public BlockIo(ThreadTable threads, TimeWindow window) {
        this.threads = threads;
        this.window = window;
    }

    private record Key(int device, long sector) {}

    private static final class BlockRequest {
        int thread = -1;
        long inserted = -1;
        long issued = -1;
        long bytes;
        Kind kind = Kind.OTHER;
        boolean counts;
    }

    /** What a request does, from the letters of rwbs (kernel blk_fill_rwbs). */
    public enum Kind {
        READ("read"),
        WRITE("write"),
        DISCARD("discard"),
        FLUSH("flush"),
        OTHER("other");

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        /** How it is shown. */
        public String label() {
            return label;
        }

        private static Kind of(String rwbs) {
            for (int i = 0; i < rwbs.length(); i++) {
                switch (rwbs.charAt(i)) {
                    case 'R' -> {
                        return READ;
                    }
                    case 'W' -> {
                        return WRITE;
                    }
                    case 'D' -> {
                        return DISCARD;
                    }
                    default -> {}
                }
            }
            return rwbs.startsWith("F") ? FLUSH : OTHER;
        }

        /** From LTTng's bits (lttng-modules 2.13, include/instrumentation/events/block.h). */
        private static Kind ofBits(long rwbs) {
            if ((rwbs & 4) != 0) {
                return READ;
            } else if ((rwbs & 1) != 0) {
                return WRITE;
            } else if ((rwbs & 2) != 0) {
                return DISCARD;
            }
            return (rwbs & 1 << 8) != 0 ? FLUSH : OTHER;
        }
    }

    /**
     * What is added up together.
     *
     * @param device kernel dev_t: major in the bits from 20 on
     */
    public record RequestGroup(int device, Kind kind, int thread) {
        /** The device as {@code major:minor}. */
        public String deviceName() {
            return (device >>> 20) + ":" + (device & 0xfffff);
        }
    }

    /**
     * Requests of a group.
     *
     * @param service from issue to completion, nanoseconds
     * @param queue from insert to issue, of those that were queued
     * @param sizes bytes
     */
    public record Entry(RequestGroup group, LogLinear service, LogLinear queue, LogLinear sizes) {}

    private static final class Fields {
        final TypeSelection wanted;
        final @Nullable IntegerField[] device;
        final @Nullable IntegerField[] sector;
        final @Nullable IntegerField[] sectors;
        final @Nullable StringField[] rwbs;
        final @Nullable IntegerField[] rwbsBits;

        Fields(Source source) {
            wanted = new TypeSelection(source);
            int types = source.types().size();
            device = new IntegerField[types];
            sector = new IntegerField[types];
            sectors = new IntegerField[types];
            rwbs = new StringField[types];
            rwbsBits = new IntegerField[types];
            bind(INSERT, "block_rq_insert");
            bind(ISSUE, "block_rq_issue");
            bind(COMPLETE, "block_rq_complete");
        }

        private void bind(int code, String name) {
            wanted.add(code, "block", name, "dev", "sector", "nr_sector", "rwbs");
            wanted.type("block", name)
                    .ifPresent(type -> {
                        int id = type.id();
                        device[id] = wanted.integer("block", name, "dev");
                        sector[id] = wanted.integer("block", name, "sector");
                        sectors[id] = wanted.integer("block", name, "nr_sector");
                        rwbs[id] = wanted.text("block", name, "rwbs");
                        rwbsBits[id] = wanted.integer("block", name, "rwbs");
                    });
        }
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            int code = fields.wanted.code(batch, row);
            if (code != 0) {
                row(fields, code, batch, row);
            }
        }
    }

    private void row(Fields fields, int code, Batch batch, int row) {
        int type = batch.type(row);
        long time = batch.time(row);
        Key key =
                new Key(
                        (int) value(fields.device[type], batch, row),
                        value(fields.sector[type], batch, row));
        if (code == COMPLETE) {
            complete(key, time);
            return;
        }
        StringField rwbs = fields.rwbs[type];
        BlockRequest request = inFlight.get(key);
        if (request == null || request.issued >= 0 || code == INSERT) {
            // Without a completion in between, the one before was merged, requeued or lost.
            request = new BlockRequest();
            request.thread = threads.find(batch.tid(row));
        }
        request.bytes = value(fields.sectors[type], batch, row) * SECTOR_BYTES;
        request.kind =
                rwbs == null
                        ? Kind.ofBits(value(fields.rwbsBits[type], batch, row))
                        : Kind.of(rwbs.of(batch, row));
        if (code == INSERT) {
            request.inserted = time;
        } else {
            request.issued = time;
            request.counts = window.contains(time) && threads.counts(request.thread, time);
            issued += request.counts ? 1 : 0;
        }
        if (inFlight.size() < MAX_IN_FLIGHT || inFlight.containsKey(key)) {
            inFlight.put(key, request);
        }
    }

    private static long value(@Nullable IntegerField field, Batch batch, int row) {
        return field == null ? 0 : field.of(batch, row);
    }

    private void complete(Key key, long time) {
        BlockRequest request = inFlight.remove(key);
        if (request == null || request.issued < 0) {
            unmatched++;
            return;
        }
        if (!request.counts) {
            return;
        }
        RequestGroup group = new RequestGroup(key.device, request.kind, request.thread);
        Entry entry =
                entries.computeIfAbsent(
                        group,
                        made -> new Entry(made, new LogLinear(), new LogLinear(), new LogLinear()));
        entry.service.add(time - request.issued);
        entry.sizes.add(request.bytes);
        if (request.inserted >= 0) {
            entry.queue.add(request.issued - request.inserted);
        }
    }

    /** Every group, most service time first. */
    public List<Entry> entries() {
        List<Entry> result = new ArrayList<>(entries.values());
        result.sort(
                Comparator.comparingLong((Entry entry) -> -entry.service.sum())
                        .thenComparingInt(entry -> entry.group.thread)
                        .thenComparing(entry -> entry.group.kind)
                        .thenComparingInt(entry -> entry.group.device));
        return result;
    }

    /** Requests that counted when they were issued. */
    public long issued() {
        return issued;
    }

    /** Completions without an issue: those that were in flight at the start, or lost rows. */
    public long unmatched() {
        return unmatched;
    }

    /** Requests issued that were not complete at the end, of whomever. */
    public long pending() {
        return inFlight.values().stream().filter(request -> request.counts).count();
    }
}
