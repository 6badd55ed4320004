package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.FLAG_DEFER_CALLCHAIN;
import static sonde.recording.perfdata.PerfAbi.PERF_CONTEXT_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_CONTEXT_USER_DEFERRED;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_BPF_EVENT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_COMM;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_EXIT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_FORK;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_HEADER_ATTR;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_ITRACE_START;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_KSYMBOL;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_LOST_SAMPLES;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP2;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_NAMESPACES;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_READ;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_REGS_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STACK_USER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.perfdata.SampleLayout.SampleOffsets;

/**
 * Turns released records into rows. They point into the file where that can be; where records were
 * decompressed or fields have no fixed places, they point into copies.
 */
final class PerfRows {
    /** Kinds of what waits in the queue, besides numbers of attrs. */
    static final int RECORD_KIND = -1;

    static final int CORRUPT_KIND = -2;

    /** A sample whose id no attr lists. */
    static final int UNKNOWN_KIND = -3;

    /** A count of perf stat. */
    static final int COUNT_KIND = -4;

    // Copies that one batch may hold; a record has at most 64 KiB.
    private static final int COPY_BYTES = 1 << 22;

    /** Deferred call chains kept for samples of the same entry into the kernel. */
    private static final int MOST_DEFERRED = 1 << 14;

    private final PerfDataRecording recording;
    private final PerfTypes types;
    private final SampleLayout[] layouts;
    private final EventIds ids;
    private final int idFromEnd;
    private final PerfView file;
    private final boolean makes;

    /** By kind: whether payloads are put together in copies. */
    private final boolean[] made;

    /** By kind: the type of its rows, whether they are raw data, whether they have no payload. */
    private final int[] typeOf;

    private final boolean[] raw;
    private final boolean[] hollow;
    private final @Nullable StatCounters counters;
    private final Map<Long, long[]> deferred = new LinkedHashMap<>();
    private final @Nullable UserStackChains unwound;
    private final GroupReadings readings;
    private final SampleOffsets places = new SampleOffsets();
    private final List<RowPage> pages = new ArrayList<>();
    private RowPage page;
    private Batch batch;
    private PerfView copies;
    private long used;
    private boolean copying;
    private boolean full;

    /** A batch with the memory of its copies. */
    private static final class RowPage {
        final Batch batch;
        PerfView copies;

        RowPage(PerfDataRecording recording) {
            batch = new Batch(recording.source(), recording.order());
            copies = new PerfView(MemorySegment.NULL, recording.isSwapped());
        }
    }

    PerfRows(PerfDataRecording recording, PerfView file, @Nullable StatCounters counters) {
        this.counters = counters;
        this.recording = recording;
        this.types = recording.types();
        this.layouts = recording.layouts();
        this.ids = recording.ids();
        this.readings = new GroupReadings(recording.attrs(), ids, layouts);
        this.file = file;
        this.page = free();
        this.batch = page.batch;
        this.copies = page.copies;
        idFromEnd =
                layouts.length > 0 ? SampleLayout.idFromEnd(recording.attrs().get(0).attr()) : 0;
        boolean any = counters != null;
        made = new boolean[layouts.length];
        typeOf = new int[layouts.length];
        raw = new boolean[layouts.length];
        hollow = new boolean[layouts.length];
        for (int i = 0; i < layouts.length; i++) {
            boolean wanted = recording.hasFields() || readings.reads(i);
            hollow[i] = types.partsOf(i).isMade();
            typeOf[i] = types.ofAttr(i);
            raw[i] = types.isRaw(i);
            made[i] = hollow[i] && wanted;
            any |= made[i] || recording.attrs().get(i).attr().has(FLAG_DEFER_CALLCHAIN);
        }
        makes = any;
        unwound =
                recording
                        .stacksOfLane()
                        .map(maker -> new UserStackChains(maker, file))
                        .orElse(null);
    }

    /** Whether samples of an attr carry what {@link CopiedStackUnwinder} needs. */
    static boolean hasUserStack(PerfAttr attr) {
        return attr.samples(PERF_SAMPLE_REGS_USER) && attr.samples(PERF_SAMPLE_STACK_USER);
    }

    private void unwind(Batch out, int row, PerfView view, SampleOffsets found, int kind) {
        UserStackChains chains = unwound;
        PerfAttr attr = recording.attrs().get(kind).attr();
        if (chains != null && hasUserStack(attr)) {
            chains.complete(out, row, view, found, attr.sampleRegsUser());
        }
    }

    /**
     * Begins a batch.
     *
     * @param compressed whether records may come that were decompressed
     */
    void begin(boolean compressed) {
        copying |= makes || compressed;
        page = page.batch.isRetained() ? free() : page;
        if (copying && page.copies.segment.byteSize() == 0) {
            MemorySegment memory = Arena.ofAuto().allocate(COPY_BYTES, 8);
            page.copies = new PerfView(memory, recording.isSwapped());
        }
        batch = page.batch;
        copies = page.copies;
        used = 0;
        full = false;
        batch.reset(copying ? copies.segment : file.segment);
    }

    private RowPage free() {
        for (RowPage one : pages) {
            if (!one.batch.isRetained()) {
                return one;
            }
        }
        RowPage made = new RowPage(recording);
        pages.add(made);
        return made;
    }

    /** Whether nothing more goes into the batch. */
    boolean isFull() {
        return full;
    }

    /** The batch; null when it has no rows. */
    @Nullable Batch filled() {
        return batch.size() == 0 ? null : batch;
    }

    /** Adds what is ready, as much as fits. */
    void append(RecordQueue queue, @Nullable CompressedRecords compressed) {
        while (queue.hasReady() && !batch.isFull()) {
            long position = queue.position();
            int kind = queue.kind();
            if (!copying) {
                if (position < 0) {
                    // The first compressed records: what they held is in no file.
                    full = batch.size() > 0;
                    if (full) {
                        return;
                    }
                    begin(true);
                    continue;
                }
                row(batch, file, position, kind, queue.time());
                queue.take();
                continue;
            }
            PerfView from = position < 0 && compressed != null ? compressed.view() : file;
            long at = position < 0 ? ~position : position;
            int size = kind == CORRUPT_KIND ? 0 : from.u16(at + 6);
            int head = kind < 0 ? 0 : types.partsOf(kind).headBytes();
            long most = SampleFields.mostBytes(head, size);
            boolean room = most + StatCounters.MOST_BYTES <= COPY_BYTES - used;
            if (!room || !fits(batch, from, at, size, kind)) {
                full = true;
                return;
            }
            used = copy(batch, from, at, size, kind, queue.time(), used);
            queue.take();
        }
        full = batch.isFull();
    }

    /** Adds a row whose bytes are copied or made at {@code base}; where they end. */
    private long copy(Batch out, PerfView from, long at, int size, int kind, long time, long base) {
        if (kind >= 0 && (made[kind] || !deferred.isEmpty())) {
            return madeRow(out, from, at, size, kind, time, base);
        }
        if (kind == COUNT_KIND && counters != null) {
            return counters.append(out, from, at, time, types.ofCounters(), copies, base);
        }
        copies.copy(from, at, base, size);
        row(out, copies, base, kind, time);
        return base + size + 7 & -8;
    }

    private long madeRow(
            Batch out, PerfView from, long at, int size, int kind, long time, long base) {
        SampleOffsets found = places;
        if (!isWhole(from, at, size, kind, found)) {
            out.add(time, -1, -1, PerfTypes.CORRUPT, base, 0);
            return base;
        }
        SampleFields parts = types.partsOf(kind);
        long moved = base + parts.headBytes() - at;
        long stack = found.stack + moved;
        int depth = found.depth;
        int bytes = parts.make(from, at, size, found, copies, base);
        long end = base + bytes;
        long[] rest = deferredOf(from, found);
        if (rest.length > 0 && 8L * (depth + rest.length) < COPY_BYTES - end) {
            long start = end;
            int kept = depth - 2; // the marker and its cookie go
            copies.copy(copies, stack, start, 8L * kept);
            copies.put64(start + 8L * kept, PERF_CONTEXT_USER);
            for (int i = 0; i < rest.length; i++) {
                copies.put64(start + 8L * (kept + 1 + i), rest[i]);
            }
            stack = start;
            depth = kept + 1 + rest.length;
            end = start + 8L * depth;
        }
        boolean raw = types.isRaw(kind);
        long payload = raw ? found.raw + moved : base;
        int type = types.ofAttr(kind);
        int payloadBytes = raw ? found.rawBytes : bytes;
        int rows = readings.reads(kind) ? readings.take(from, kind, found) : -1;
        for (int i = 0; i < rows; i++) {
            int member = types.ofAttr(readings.kind(i));
            int row = out.add(time, found.cpu, found.tid, member, payload, payloadBytes);
            out.sample(row, found.pid, readings.counted(i), stack, depth);
            unwind(out, row, from, found, kind);
        }
        if (rows < 0) {
            int row = out.add(time, found.cpu, found.tid, type, payload, payloadBytes);
            out.sample(row, found.pid, found.weight, stack, depth);
            unwind(out, row, from, found, kind);
        }
        return end;
    }

    /** Whether there is room for all rows that a sample may stand for. */
    private boolean fits(Batch out, PerfView from, long at, int size, int kind) {
        if (kind < 0 || !readings.reads(kind) || !isWhole(from, at, size, kind, places)) {
            return true;
        }
        return out.size() + readings.size(from, kind, places) <= Batch.CAPACITY;
    }

    private boolean isWhole(PerfView view, long at, int size, int kind, SampleOffsets found) {
        return layouts[kind].locate(view, at, size, found)
                && found.rawBytes >= types.leastRawBytes(kind);
    }

    /**
     * PERF_RECORD_CALLCHAIN_DEFERRED: the user part of samples that end in
     * PERF_CONTEXT_USER_DEFERRED and the same cookie (6.19). It comes later than they do, at the
     * return to user space.
     */
    void deferred(PerfView view, long at, int size) {
        if (size < 24) {
            return;
        }
        long count = view.u64(at + 16);
        if (count < 0 || count > (size - 24) / 8) {
            return;
        }
        long[] chain = new long[(int) count];
        for (int i = 0; i < chain.length; i++) {
            chain[i] = view.u64(at + 24 + 8L * i);
        }
        deferred.put(view.u64(at + 8), chain);
        if (deferred.size() > MOST_DEFERRED) {
            deferred.remove(deferred.keySet().iterator().next());
        }
    }

    private long[] deferredOf(PerfView view, SampleOffsets found) {
        if (deferred.isEmpty() || found.depth < 2) {
            return new long[0];
        }
        long last = found.stack + 8L * (found.depth - 2);
        if (view.u64(last) != PERF_CONTEXT_USER_DEFERRED) {
            return new long[0];
        }
        return deferred.getOrDefault(view.u64(last + 8), new long[0]);
    }

    private void row(Batch out, PerfView view, long at, int kind, long time) {
        if (kind == CORRUPT_KIND) {
            out.add(time, -1, -1, PerfTypes.CORRUPT, at, 0);
            return;
        }
        int size = view.u16(at + 6);
        if (kind == UNKNOWN_KIND) {
            out.add(time, -1, -1, PerfTypes.UNKNOWN, at, size);
            return;
        }
        if (kind == RECORD_KIND) {
            recordRow(out, view, at, size, time);
            return;
        }
        SampleOffsets found = places;
        if (!isWhole(view, at, size, kind, found)) {
            out.add(time, -1, -1, PerfTypes.CORRUPT, at, 0);
            return;
        }
        boolean isRaw = raw[kind];
        long payload = isRaw ? found.raw : at;
        int bytes = isRaw ? found.rawBytes : hollow[kind] ? 0 : size;
        int row = out.add(time, found.cpu, found.tid, typeOf[kind], payload, bytes);
        out.sample(row, found.pid, found.weight, found.stack, found.depth);
        if (unwound != null) {
            unwind(out, row, view, found, kind);
        }
    }

    private void recordRow(Batch out, PerfView view, long at, int stated, long time) {
        int recordType = view.u32(at);
        int type = types.ofRecord(recordType);
        int size = written(view, at, recordType, stated);
        if (size < types.leastBytes(recordType)) {
            out.add(time, -1, -1, PerfTypes.CORRUPT, at, 0);
            return;
        }
        SampleLayout layout = trailer(view, at, recordType, size);
        int bodyBytes = layout == null ? size : size - layout.trailerBytes();
        int cpu = layout == null ? -1 : layout.trailerCpu(view, at + size);
        int pid = -1;
        int tid = -1;
        boolean stamped = layout != null && layout.trailerHasTid();
        if (stamped) {
            pid = view.u32(at + bodyBytes);
            tid = view.u32(at + bodyBytes + 4);
        }
        if (pid <= 0 && tid <= 0 && namesThread(recordType)) {
            // No sample_id, or that of a synthetic record: the thread the record speaks of.
            pid = view.u32(at + 8);
            tid = view.u32(at + (isTask(recordType) ? 16 : 12));
        }
        if (type <= PerfTypes.UNTHROTTLE) {
            int row = out.add(time, cpu, tid, type, at, 0);
            out.sample(row, pid, lost(view, at, recordType), at, 0);
            return;
        }
        int row = out.add(time, cpu, tid, type, at, bodyBytes);
        out.sample(row, pid, 1, at, 0);
        if (unwound != null) {
            unwound.record(out, row);
        }
    }

    private static boolean isTask(int recordType) {
        return recordType == PERF_RECORD_FORK || recordType == PERF_RECORD_EXIT;
    }

    private static boolean namesThread(int recordType) {
        return switch (recordType) {
            case PERF_RECORD_MMAP,
                    PERF_RECORD_MMAP2,
                    PERF_RECORD_COMM,
                    PERF_RECORD_FORK,
                    PERF_RECORD_EXIT,
                    PERF_RECORD_ITRACE_START,
                    PERF_RECORD_NAMESPACES,
                    PERF_RECORD_READ ->
                    true;
            default -> false;
        };
    }

    private static long lost(PerfView view, long at, int recordType) {
        return switch (recordType) {
            case PERF_RECORD_LOST -> view.u64(at + 16);
            case PERF_RECORD_LOST_SAMPLES -> view.u64(at + 8);
            default -> 1;
        };
    }

    /**
     * How many bytes of a record were written. The kernel adds the size of sample_id to one header
     * of ksymbol and bpf_event for each event that receives the record (kernel/events/core.c,
     * perf_event_ksymbol_output and perf_event_bpf_output, 6.18): the record ends with the first,
     * what follows is left of older records.
     */
    int written(PerfView view, long at, int type, int size) {
        boolean grows = type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_BPF_EVENT;
        int id = grows && layouts.length > 0 ? layouts[0].trailerBytes() : 0;
        int body = types.leastBytes(type);
        if (id == 0 || size < body + id) {
            return size;
        }
        if (type == PERF_RECORD_KSYMBOL) {
            while (body < size && view.u8(at + body) != 0) {
                body++;
            }
            body = (body & -Long.BYTES) + Long.BYTES;
        }
        int rest = size - body - id;
        return rest > 0 && rest % id == 0 ? body + id : size;
    }

    /** The layout whose sample_id stands at the end of a record; null when none does. */
    @Nullable SampleLayout trailer(PerfView view, long at, int type, int size) {
        if (layouts.length == 0 || type >= PERF_RECORD_HEADER_ATTR) {
            return null;
        }
        int room = size - types.leastBytes(type);
        int attr = 0;
        if (idFromEnd > 0 && room >= idFromEnd) {
            attr = Math.max(0, ids.attrOf(view.u64(at + size - idFromEnd)));
        }
        SampleLayout layout = layouts[attr];
        return layout.trailerBytes() > 0 && room >= layout.trailerBytes() ? layout : null;
    }
}
