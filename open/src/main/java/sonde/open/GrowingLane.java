package sonde.open;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;
import sonde.probe.record.GrowingFile;
import sonde.recording.AppendedEvents;

/**
 * The events of a file that is still written, piece by piece as they come. Who reads it too slowly
 * does not get all: what lies too far back is passed over and counted.
 */
final class GrowingLane implements Lane {
    /** More than this is passed over: a second or more of a busy machine. */
    static final long MOST_BEHIND = 32L << 20;

    /** Most that is read at once; a record of perf has at most 64 KiB. */
    private static final int MOST_PIECE = 1 << 20;

    /** Assumed as long as no event has been seen. */
    private static final long USUAL_EVENT_BYTES = 64;

    private final Source source;
    private final AppendedEvents format;
    private final GrowingFile file;
    private final BooleanSupplier ended;
    private final Batch nothing;
    private @Nullable Lane piece;
    private long position;
    private long readBytes;
    private long readEvents;
    private long skippedBytes;

    /**
     * @param ended whether the file grows no more
     */
    GrowingLane(Source source, AppendedEvents format, GrowingFile file, BooleanSupplier ended) {
        this.source = source;
        this.format = format;
        this.file = file;
        this.ended = ended;
        this.position = format.start();
        this.nothing = new Batch(source, ByteOrder.nativeOrder());
    }

    @Override
    public Source source() {
        return source;
    }

    @Override
    public String buffer() {
        return file.part().buffer();
    }

    @Override
    public @Nullable Batch next() throws IOException {
        while (true) {
            Lane open = piece;
            Batch batch = open == null ? null : open.next();
            if (batch != null) {
                readEvents += batch.size();
                return batch;
            }
            piece = null;
            boolean last = ended.getAsBoolean(); // before the look at the size
            long end = file.endOffset();
            if (end - position > MOST_BEHIND) {
                skippedBytes += end - position;
                position = end;
            }
            if (position >= end) {
                return last ? null : nothing;
            }
            read((int) Math.min(MOST_PIECE, end - position));
        }
    }

    private void read(int sizeBytes) throws IOException {
        byte[] bytes = new byte[sizeBytes];
        file.read(bytes, position);
        int whole = format.wholeBytes(bytes);
        if (whole == 0) {
            throw new IOException(file.part().name() + ": no event at byte " + position);
        }
        position += whole;
        readBytes += whole;
        piece = format.lane(buffer(), file.part().cpu(), bytes, whole);
    }

    /** Bytes that were passed over since the last call. */
    long takeSkippedBytes() {
        long bytes = skippedBytes;
        skippedBytes = 0;
        return bytes;
    }

    /** How many events so many bytes are, by those that were read. */
    long events(long bytes) {
        return readEvents == 0
                ? bytes / USUAL_EVENT_BYTES
                : Math.round((double) bytes * readEvents / Math.max(1, readBytes));
    }

    @Override
    public void close() {
        piece = null;
    }
}
