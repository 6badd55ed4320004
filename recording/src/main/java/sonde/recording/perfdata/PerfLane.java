package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.HEADER_BYTES;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_AUXTRACE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_CALLCHAIN_DEFERRED;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_COMM;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_COMPRESSED;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_COMPRESSED2;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_EVENT_UPDATE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_EXIT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_FINISHED_ROUND;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_FORK;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_HEADER_ATTR;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_HEADER_TRACING_DATA;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP2;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_SAMPLE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_STAT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_STAT_CONFIG;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_STAT_ROUND;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_THREAD_MAP;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;

/**
 * All records of a perf.data in the order of time. Records are walked round by round, their places
 * wait in a {@link RecordQueue}, and only those released are looked into.
 */
final class PerfLane implements Lane {
    // Records that may wait for the end of a round: 20 bytes each, twice while they are sorted.
    private static final int MOST_WAITING =
            Math.clamp(Runtime.getRuntime().maxMemory() / 128, 1 << 16, 1 << 26);
    private final PerfDataRecording recording;
    private final PerfTypes types;
    private final SampleLayout[] layouts;
    private final EventIds ids;
    private final int idAt;
    private final PerfView file;
    private final String name;
    private final long end;
    private final RecordQueue queue = new RecordQueue();
    private final PerfRows rows;
    private final @Nullable StatCounters counters;
    private final long[] counts = new long[PerfRecordNames.MOST];
    private @Nullable CompressedRecords compressed;
    private boolean compressionBroken;
    private long next;
    private long lastTime;
    private long latestTime;
    private boolean ended;
    private boolean closed;

    /**
     * @param name of the file, for notes
     * @param start of the records in it
     */
    PerfLane(PerfDataRecording recording, PerfView file, String name, long start, long end) {
        this.recording = recording;
        this.types = recording.types();
        this.layouts = recording.layouts();
        this.ids = recording.ids();
        this.file = file;
        this.name = name;
        boolean counting = types.ofCounters() >= 0;
        this.counters = counting ? new StatCounters(recording.attrs(), ids) : null;
        this.rows = new PerfRows(recording, file, counters);
        this.next = start;
        this.end = end;
        boolean any = !recording.attrs().isEmpty();
        idAt = any ? SampleLayout.idAt(recording.attrs().get(0).attr()) : -1;
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
        rows.begin(compressed != null);
        while (!closed && !rows.isFull()) {
            if (queue.hasReady()) {
                rows.append(queue, compressed);
            } else if (ended) {
                break;
            } else {
                scan();
            }
        }
        return closed ? null : rows.filled();
    }

    @Override
    public void close() {
        closed = true;
        if (compressed != null) {
            compressed.close();
            compressed = null;
        }
    }

    /** Walks on until records are ready or the data ends. */
    private void scan() {
        while (end - next >= HEADER_BYTES) {
            int type = file.u32(next);
            int size = file.u16(next + 6);
            if (size < HEADER_BYTES || size > end - next) {
                stop(type, size);
                break;
            }
            long at = next;
            next += size;
            if (type == PERF_RECORD_FINISHED_ROUND) {
                counts[type]++;
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
            corrupt(
                    next,
                    String.format(
                            "%s ends at byte %d inside a record that begins at byte %d: %d bytes"
                                    + " of it are there",
                            name, end, next, end - next));
        }
        if (compressed != null && compressed.next < compressed.filled()) {
            recording.note(
                    name
                            + ": the last compressed record is cut, "
                            + (compressed.filled() - compressed.next)
                            + " bytes of a record are there");
        }
        if (counters != null) {
            endCounts(counters);
        }
        queue.finish();
        ended = true;
        if (queue.late() > 0) {
            recording.note(queue.late() + " records came after their round was over");
        }
        recording.counted(this, counts);
    }

    /** A record that cannot be: the rest of the file has no beginning. */
    private void stop(int type, int size) {
        long left = end - next;
        boolean cut = size >= HEADER_BYTES;
        corrupt(
                next,
                String.format(
                        cut
                                ? "%s stops at byte %d: the record there (type %d) has %d bytes, %d"
                                        + " are left"
                                : "%s stops at byte %d: no record there (type %d, %d bytes); %d"
                                        + " bytes behind it are not read",
                        name,
                        next,
                        Integer.toUnsignedLong(type),
                        size,
                        left));
        next = end;
    }

    private void record(PerfView view, long at, long position, int type, int size) {
        counts[type > 0 && type < counts.length ? type : 0]++;
        if (type > 0 && type < PERF_RECORD_HEADER_ATTR) {
            if (type == PERF_RECORD_SAMPLE) {
                int attr = attrOfSample(view, at, size);
                long time = attr < 0 ? -1 : layouts[attr].time(view, at, size);
                if (attr < 0) {
                    recording.note("samples with an id that no event lists: notice:unknown");
                }
                enqueue(time, position, attr < 0 ? PerfRows.UNKNOWN_KIND : attr);
            } else if (types.ofRecord(type) >= 0) {
                if (type == PERF_RECORD_CALLCHAIN_DEFERRED) {
                    rows.deferred(view, at, size);
                }
                long time = timeOfRecord(view, at, type, size);
                if (time == 0 && tellsOfBefore(type)) {
                    queue.add(queue.floor(), position, PerfRows.RECORD_KIND);
                } else {
                    enqueue(time, position, PerfRows.RECORD_KIND);
                }
            } else {
                recording.note("records of unknown type " + type + " skipped");
            }
            return;
        }
        switch (type) {
            case PERF_RECORD_COMPRESSED -> decompress(view, at, size, HEADER_BYTES);
            case PERF_RECORD_COMPRESSED2 -> decompress(view, at, size, HEADER_BYTES + 8);
            case PERF_RECORD_HEADER_TRACING_DATA, PERF_RECORD_AUXTRACE -> {
                if (type == PERF_RECORD_AUXTRACE) {
                    enqueue(-1, position, PerfRows.RECORD_KIND);
                }
                if (view == file) {
                    skipBehind(at, type, size);
                }
            }
            default -> {
                if (counters != null
                        && position >= 0 // perf stat does not compress
                        && size >= types.leastBytesOrNone(type)) {
                    counted(counters, view, at, position, type, size);
                } else if (types.ofRecord(type) >= 0) {
                    enqueue(-1, position, PerfRows.RECORD_KIND);
                } else if (type < PERF_RECORD_HEADER_ATTR || type > PERF_RECORD_COMPRESSED2) {
                    recording.note("records of unknown type " + type + " skipped");
                }
            }
        }
    }

    /** A record of perf stat; its counts have the time of the round behind them. */
    private void counted(
            StatCounters found, PerfView view, long at, long position, int type, int size) {
        long time = -1;
        switch (type) {
            case PERF_RECORD_STAT -> {
                found.add(position);
                if (found.waiting() == MOST_WAITING) {
                    counts(found, lastTime);
                }
                return;
            }
            case PERF_RECORD_STAT_ROUND -> {
                time = view.u64(at + 16);
                counts(found, time);
            }
            case PERF_RECORD_EVENT_UPDATE -> found.update(view, at, size);
            case PERF_RECORD_THREAD_MAP -> found.threads(view, at, size);
            case PERF_RECORD_STAT_CONFIG -> found.config(view, at, size);
            default -> {} // says nothing of counts
        }
        enqueue(time, position, PerfRows.RECORD_KIND);
    }

    private void counts(StatCounters found, long time) {
        for (long position : found.round(file)) {
            enqueue(time, position, PerfRows.COUNT_KIND);
        }
    }

    /** What no round followed: perf shows it in no table, as the count when it was stopped. */
    private void endCounts(StatCounters found) {
        if (counts[PERF_RECORD_STAT_ROUND] == 0) {
            counts(found, lastTime);
        }
        for (long position : found.rest()) {
            enqueue(-1, position, PerfRows.RECORD_KIND);
        }
        found.uncounted().forEach(name -> recording.note("no counts of " + name));
    }

    /**
     * Whether records of a type without a time are those that recorders make up for what was there
     * before: they hold for every sample of their round, wherever they lie in it.
     */
    private static boolean tellsOfBefore(int type) {
        return switch (type) {
            case PERF_RECORD_MMAP, PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_FORK -> true;
            default -> false;
        };
    }

    private void skipBehind(long at, int type, int size) {
        long stated = PerfDataRecording.bytesBehind(file, at, type, size, Long.MAX_VALUE);
        long left = end - next;
        if (stated > left) {
            recording.note(
                    String.format(
                            "%s ends at byte %d: of %d bytes behind the record at byte %d (%s) %d"
                                    + " are there",
                            name, end, stated, at, PerfRecordNames.of(type), left));
        }
        next += Math.min(stated, left);
    }

    private int attrOfSample(PerfView view, long at, int size) {
        if (layouts.length <= 1 || idAt < 0) {
            return layouts.length - 1 < 0 ? -1 : 0;
        }
        return size < idAt + 8 ? -1 : ids.attrOf(view.u64(at + idAt));
    }

    private long timeOfRecord(PerfView view, long at, int type, int stated) {
        int size = rows.written(view, at, type, stated);
        SampleLayout layout = rows.trailer(view, at, type, size);
        if (layout != null) {
            return layout.trailerTime(view, at + size);
        }
        boolean task = type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT;
        return task && size >= 32 ? view.u64(at + 24) : -1;
    }

    /** Records without a time (0 or less) stand where they lie: at the time of the one before. */
    private void enqueue(long time, long position, int kind) {
        long known = time <= 0 ? lastTime : time;
        lastTime = known;
        latestTime = Math.max(latestTime, known);
        queue.add(known, position, kind);
    }

    /** What cannot be read ends the records: it stands behind all of them. */
    private void corrupt(long position, String what) {
        recording.note(what);
        queue.add(latestTime, Math.min(position, end), PerfRows.CORRUPT_KIND);
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
            corrupt(at, name + ": compressed records from byte " + at + " on: " + e.getMessage());
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
}
