package sonde.format.perfdata;

import static sonde.format.perfdata.PerfEvent.HEADER_BYTES;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_AUXTRACE;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_COMM;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_COMPRESSED;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_COMPRESSED2;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_EXIT;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_FINISHED_ROUND;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_FORK;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_HEADER_ATTR;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_HEADER_TRACING_DATA;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_ITRACE_START;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_LOST;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_LOST_SAMPLES;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_MMAP;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_MMAP2;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_NAMESPACES;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_READ;
import static sonde.format.perfdata.PerfEvent.PERF_RECORD_SAMPLE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;

/**
 * All records of a perf.data in the order of time. Records are walked round by round, their places
 * wait in a {@link RecordQueue}, and only those released are looked into.
 */
final class PerfLane implements Lane {
    private static final int CORRUPT_KIND = -2;
    private static final int RECORD_KIND = -1;
    // Records that may wait for the end of a round: 20 bytes each.
    private static final int MOST_WAITING = 1 << 26;
    // Copies of decompressed records that one batch may hold; one record is at most 64 KiB.
    private static final int COPY_BYTES = 1 << 22;

    private final PerfDataRecording recording;
    private final PerfTypes types;
    private final SampleLayout[] layouts;
    private final EventIds ids;
    private final int idAt;
    private final int idFromEnd;
    private final PerfView file;
    private final long end;
    private final RecordQueue queue = new RecordQueue();
    private final SampleLayout.Places places = new SampleLayout.Places();
    private @Nullable CompressedRecords compressed;
    private boolean compressionBroken;
    private @Nullable Batch batch;
    private MemorySegment copies = MemorySegment.NULL;
    private long next;
    private long lastTime;
    private boolean ended;
    private boolean closed;

    PerfLane(PerfDataRecording recording, PerfView file, long start, long end) {
        this.recording = recording;
        this.types = recording.types();
        this.layouts = recording.layouts();
        this.ids = recording.ids();
        this.file = file;
        this.next = start;
        this.end = end;
        boolean any = !recording.attrs().isEmpty();
        idAt = any ? SampleLayout.idAt(recording.attrs().get(0).attr()) : -1;
        idFromEnd = any ? SampleLayout.idFromEnd(recording.attrs().get(0).attr()) : 0;
    }

    @Override
    public Source source() {
        return recording.source();
    }

    @Override
    public String buffer() {
        return "";
    }

    @Override
    public @Nullable Batch next() throws IOException {
        while (!closed && !queue.hasReady() && !ended) {
            scan();
        }
        return !closed && queue.hasReady() ? fill() : null;
    }

    @Override
    public void close() {
        closed = true;
        if (compressed != null) {
            compressed.close();
            compressed = null;
        }
    }

    // --- walking -------------------------------------------------------------------------------

    /** Walks on until records are ready or the data ends. */
    private void scan() {
        while (end - next >= HEADER_BYTES) {
            int type = file.u32(next);
            int size = file.u16(next + 6);
            if (size < HEADER_BYTES || size > end - next) {
                corrupt(next, String.format("record of %d bytes at %d", size, next));
                next = end;
                break;
            }
            long at = next;
            next += size;
            if (type == PERF_RECORD_FINISHED_ROUND) {
                queue.finishRound();
            } else {
                record(file, at, at, type, size);
            }
            if (queue.size() >= MOST_WAITING) {
                recording.note("rounds of more than " + MOST_WAITING + " records are cut");
                queue.finish();
            }
            if (queue.hasReady()) {
                return;
            }
        }
        finish();
    }

    private void finish() {
        if (next < end) {
            corrupt(next, (end - next) + " bytes at the end are no record");
        }
        if (compressed != null && compressed.next < compressed.filled()) {
            recording.note("the last compressed record is cut");
        }
        queue.finish();
        ended = true;
        if (queue.late() > 0) {
            recording.note(queue.late() + " records came after their round was over");
        }
    }

    private void record(PerfView view, long at, long position, int type, int size) {
        if (type > 0 && type < PERF_RECORD_HEADER_ATTR) {
            if (type == PERF_RECORD_SAMPLE) {
                int attr = attrOfSample(view, at, size);
                long time = attr < 0 ? -1 : layouts[attr].time(view, at, size);
                enqueue(time, position, attr < 0 ? CORRUPT_KIND : attr);
            } else if (types.ofRecord(type) >= 0) {
                enqueue(timeOfRecord(view, at, type, size), position, RECORD_KIND);
            } else {
                recording.note("records of unknown type " + type + " skipped");
            }
            return;
        }
        switch (type) {
            case PERF_RECORD_COMPRESSED -> decompress(view, at, size, HEADER_BYTES);
            case PERF_RECORD_COMPRESSED2 -> decompress(view, at, size, HEADER_BYTES + 8);
            case PERF_RECORD_HEADER_TRACING_DATA, PERF_RECORD_AUXTRACE -> {
                if (view == file) {
                    next += PerfDataRecording.bytesBehind(view, at, type, size, end - next);
                }
            }
            default -> {
                if (type < PERF_RECORD_HEADER_ATTR || type > PERF_RECORD_COMPRESSED2) {
                    recording.note("records of unknown type " + type + " skipped");
                }
            }
        }
    }

    private int attrOfSample(PerfView view, long at, int size) {
        if (layouts.length <= 1 || idAt < 0) {
            return layouts.length - 1 < 0 ? -1 : 0;
        }
        return size < idAt + 8 ? -1 : ids.attrOf(view.u64(at + idAt));
    }

    /** The layout whose sample_id stands at the end of a record; null when none does. */
    private @Nullable SampleLayout trailer(PerfView view, long at, int type, int size) {
        if (layouts.length == 0) {
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

    private long timeOfRecord(PerfView view, long at, int type, int size) {
        SampleLayout layout = trailer(view, at, type, size);
        if (layout != null) {
            return layout.trailerTime(view, at + size);
        }
        boolean task = type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT;
        return task && size >= 32 ? view.u64(at + 24) : -1;
    }

    /** Records without a time (0 or -1) stand where they lie: at the time of the one before. */
    private void enqueue(long time, long position, int kind) {
        long known = time == 0 || time == -1 ? lastTime : time;
        lastTime = known;
        queue.add(known, position, kind);
    }

    private void corrupt(long position, String what) {
        recording.note("corrupt: " + what);
        enqueue(-1, Math.min(position, end), CORRUPT_KIND);
    }

    private void decompress(PerfView view, long at, int size, int before) {
        if (compressionBroken || view != file || size < before) {
            return;
        }
        try {
            CompressedRecords records = compressed;
            if (records == null) {
                records = new CompressedRecords(recording.isSwapped());
                compressed = records;
            }
            makeRoom(records);
            long bytes = (long) size - before;
            if (before > HEADER_BYTES) {
                long stated = view.u64(at + HEADER_BYTES); // COMPRESSED2 is padded behind its data
                bytes = stated < 0 ? bytes : Math.min(stated, bytes);
            }
            records.append(view.segment.asSlice(at + before, bytes));
            decompressed(records);
        } catch (IOException e) {
            compressionBroken = true;
            corrupt(at, "compressed records from " + at + " on: " + e.getMessage());
        }
    }

    /** Moves the window up when it is full and more than half of it is no longer needed. */
    private void makeRoom(CompressedRecords records) {
        if (!records.isNearlyFull()) {
            return;
        }
        long lowest = queue.lowestInWindow();
        long keep = lowest < 0 ? records.next : lowest;
        if (keep > records.filled() / 2) {
            queue.moveWindow(keep);
            records.moveDown(keep);
        }
    }

    private void decompressed(CompressedRecords records) throws IOException {
        PerfView window = records.view();
        while (records.filled() - records.next >= HEADER_BYTES) {
            long at = records.next;
            int type = window.u32(at);
            int size = window.u16(at + 6);
            if (size < HEADER_BYTES) {
                throw new IOException("record of " + size + " bytes");
            }
            if (size > records.filled() - at) {
                return;
            }
            records.next += size;
            record(window, at, RecordQueue.inWindow(at), type, size);
        }
    }

    // --- rows ----------------------------------------------------------------------------------

    private Batch fill() {
        Batch filled = batch;
        boolean copying = compressed != null || copies.byteSize() > 0;
        if (filled == null || filled.isRetained()) {
            filled = new Batch(source(), recording.order());
            batch = filled;
            copies = copying ? Arena.ofAuto().allocate(COPY_BYTES, 8) : MemorySegment.NULL;
        } else if (copying && copies.byteSize() == 0) {
            copies = Arena.ofAuto().allocate(COPY_BYTES, 8);
        }
        filled.reset(copying ? copies : file.segment);
        PerfView view = copying ? new PerfView(copies, recording.isSwapped()) : file;
        long copied = 0;
        while (queue.hasReady() && !filled.isFull()) {
            long at = queue.position();
            int kind = queue.kind();
            if (copying) {
                PerfView from = windowOrFile(at);
                long start = at < 0 ? ~at : at;
                int size = kind == CORRUPT_KIND ? 0 : from.u16(start + 6);
                if (size > COPY_BYTES - copied) {
                    break;
                }
                MemorySegment.copy(from.segment, start, copies, copied, size);
                at = copied;
                copied += size;
            }
            row(filled, view, at, kind, queue.time());
            queue.take();
        }
        return filled;
    }

    private PerfView windowOrFile(long position) {
        CompressedRecords records = compressed;
        return position < 0 && records != null ? records.view() : file;
    }

    private void row(Batch out, PerfView view, long at, int kind, long time) {
        if (kind == CORRUPT_KIND) {
            out.add(time, -1, -1, PerfTypes.CORRUPT, at, 0);
            return;
        }
        int size = view.u16(at + 6);
        if (kind == RECORD_KIND) {
            recordRow(out, view, at, size, time);
            return;
        }
        SampleLayout.Places found = places;
        if (!layouts[kind].locate(view, at, size, found)
                || found.rawBytes < types.leastRawBytes(kind)) {
            out.add(time, -1, -1, PerfTypes.CORRUPT, at, 0);
            return;
        }
        int type = types.ofAttr(kind);
        int row = out.add(time, found.cpu, found.tid, type, found.raw, found.rawBytes);
        out.sample(row, found.pid, found.weight, found.stack, found.depth);
    }

    private void recordRow(Batch out, PerfView view, long at, int size, long time) {
        int recordType = view.u32(at);
        int type = types.ofRecord(recordType);
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
}
