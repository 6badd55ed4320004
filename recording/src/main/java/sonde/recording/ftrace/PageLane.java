package sonde.recording.ftrace;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;

/** The events of one CPU of one buffer, from sub-buffers wherever they lie. */
public final class PageLane implements Lane {
    private final Source source;
    private final String buffer;
    private final int cpu;
    private final FtraceTypeTable table;
    private final PageReader reader;
    private final PageRuns pages;
    private final List<Batch> batches = new ArrayList<>();
    private final int pageBytes;
    private @Nullable MemorySegment memory;
    private long given; // bytes of the memory that the reader got
    private boolean reading;
    // The first rows are to be there soon: the reader gets a page, then more and more of them.
    private long piece;
    private long missingBytes;
    private boolean ended;

    /** Where sub-buffers come from, one run of them after the other. */
    @FunctionalInterface
    public interface PageRuns {
        /**
         * The next run of whole sub-buffers, null at the end. Earlier runs stay valid: batches of
         * them may have been retained.
         */
        @Nullable MemorySegment next() throws IOException;
    }

    /**
     * The ring that a lane reads.
     *
     * @param buffer name of the instance, empty for the top one
     * @param pageBytes size of a sub-buffer
     * @param times turns its times to those of the source's clock
     * @param missingBytes that the file should have and has not: -1 for an unknown number; a notice
     *     at the end tells of them
     */
    public record RingSource(
            String buffer, int cpu, int pageBytes, TimeMap times, long missingBytes) {}

    /**
     * A lane at its start.
     *
     * @param source with the table's types
     */
    public PageLane(Source source, RingSource ring, FtraceTypeTable table, PageRuns pages) {
        this.source = source;
        this.buffer = ring.buffer;
        this.cpu = ring.cpu;
        this.table = table;
        this.reader = new PageReader(table, cpu, ring.pageBytes, ring.times);
        this.missingBytes = ring.missingBytes;
        this.pageBytes = ring.pageBytes;
        this.piece = ring.pageBytes;
        this.pages = pages;
    }

    @Override
    public Source source() {
        return source;
    }

    @Override
    public String buffer() {
        return buffer;
    }

    @Override
    public @Nullable Batch next() throws IOException {
        while (!ended) {
            MemorySegment run = memory;
            if (run == null) {
                run = pages.next();
                if (run == null) {
                    ended = true;
                    return missingBytes != 0 ? cut() : null;
                }
                memory = run;
                given = 0;
            }
            if (!reading) {
                long size = Math.min(piece, run.byteSize() - given);
                reader.reset(run, given, size);
                given += size;
                piece = Math.min(16 * piece, (long) pageBytes << 20);
                reading = true;
            }
            Batch batch = free();
            batch.reset(run);
            if (!reader.fill(batch)) {
                reading = false;
                memory = given < run.byteSize() ? run : null;
            }
            if (batch.size() > 0) {
                return batch;
            }
        }
        return null;
    }

    /** The notice that the file ends before the ring does. */
    private Batch cut() {
        Batch batch = free();
        batch.reset(MemorySegment.NULL);
        int row = batch.add(reader.latest(), cpu, -1, FtraceTypeTable.CORRUPT, 0, 0);
        batch.sample(row, -1, Math.max(0, missingBytes), 0, 0);
        return batch;
    }

    private Batch free() {
        for (Batch batch : batches) {
            if (!batch.isRetained()) {
                return batch;
            }
        }
        Batch batch = new Batch(source, table.layout().order());
        batches.add(batch);
        return batch;
    }

    @Override
    public void close() {
        ended = true;
        memory = null;
    }
}
