package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfFeatures.HEADER_EVENT_DESC;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.recording.GrowableBytes;
import sonde.sys.SyscallException;

/**
 * Writes a perf.data while it is recorded (tools/perf/Documentation/perf.data-file-format.txt).
 *
 * <p>Whatever is known at the start is written at the start, so a file whose recorder was killed
 * has all it needs:
 *
 * <pre>
 * header  104 bytes; data size 0 and no feature bits until {@link #finish}
 * ids     u64 each, all events
 * attrs   perf_event_attr and {offset, size} of its ids, all events
 * early   features known at the start; their table {offset, size}*; their bitmap, 256 bits;
 *         the word {@link #EARLY_MAGIC}
 * data    records
 * late    features known at the end only; the table of all features
 * </pre>
 *
 * <p>perf itself reads an unfinished file to its end with a warning and without features; {@link
 * PerfDataRecording} takes the early ones too, and {@link #resume} lets such a file be finished.
 *
 * <p>After a failed write (full disk) the writer stays usable: what failed is cut off, and {@link
 * #finish} needs no room for the header. Not for several threads at once.
 */
public final class PerfDataWriter implements AutoCloseable {
    /** "PERFILE2" as a little-endian u64. */
    static final long MAGIC = 0x32454c4946524550L;

    /** Last eight bytes before the data of an unfinished file that has early features. */
    static final long EARLY_MAGIC = 0x31594c5241454453L;

    static final int FILE_HEADER_BYTES = 104;

    private static final int STAGING_BYTES = 1 << 16;

    private final RawOutput file;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment staging = arena.allocate(STAGING_BYTES, 8);
    private final List<AttrEntry> attrs;
    private final int attrBytes;
    private final long attrsOffset;
    private final long dataOffset;
    private final SortedMap<Integer, FeatureSection> sections = new TreeMap<>();
    private int staged;
    private long end;

    /** Where a feature lies. */
    record FeatureSection(long offset, long sizeBytes) {}

    private PerfDataWriter(
            int fd, List<AttrEntry> attrs, int attrBytes, long attrsOffset, long dataOffset) {
        this.file = new RawOutput(fd);
        this.attrs = List.copyOf(attrs);
        this.attrBytes = attrBytes;
        this.attrsOffset = attrsOffset;
        this.dataOffset = dataOffset;
        this.end = dataOffset;
    }

    /**
     * Starts a file without early features.
     *
     * @see #create(int, List, PerfFeatures)
     */
    public static PerfDataWriter create(int fd, List<AttrEntry> attrs) throws SyscallException {
        return create(fd, attrs, PerfFeatures.NONE);
    }

    /**
     * Starts a file: writes everything before the data.
     *
     * @param fd an empty regular file open for writing; stays the caller's to close
     * @param attrs every event whose records will come
     * @param early features known now; {@link #finish} may replace them
     */
    public static PerfDataWriter create(int fd, List<AttrEntry> attrs, PerfFeatures early)
            throws SyscallException {
        int attrBytes = attrBytes(attrs);
        GrowableBytes ids = GrowableBytes.littleEndian();
        GrowableBytes table = GrowableBytes.littleEndian();
        for (AttrEntry entry : attrs) {
            table.raw(entry.attr().encode(attrBytes));
            table.u64(FILE_HEADER_BYTES + ids.size()).u64(8L * entry.ids().length);
            for (long id : entry.ids()) {
                ids.u64(id);
            }
        }
        GrowableBytes head =
                GrowableBytes.littleEndian().raw(new byte[FILE_HEADER_BYTES]).raw(ids.toBytes());
        long attrsOffset = head.size();
        head.raw(table.toBytes());
        SortedMap<Integer, byte[]> known = new TreeMap<>(early.sections());
        known.putIfAbsent(HEADER_EVENT_DESC, PerfFeatures.eventDescription(attrs, attrBytes));
        SortedMap<Integer, FeatureSection> places = new TreeMap<>();
        known.forEach((feature, content) -> {
            places.put(feature, new FeatureSection(head.size(), content.length));
            head.raw(content);
        });
        head.raw(new byte[-head.size() & 7]);
        head.raw(table(places)).raw(bitmap(places.keySet())).u64(EARLY_MAGIC);
        PerfDataWriter writer = new PerfDataWriter(fd, attrs, attrBytes, attrsOffset, head.size());
        writer.sections.putAll(places);
        try {
            writer.writeHeap(head.toBytes(), 0);
            writer.writeHeader(0, writer.bitmapOf(Map.of()));
            return writer;
        } catch (SyscallException e) {
            writer.close();
            throw e;
        }
    }

    /**
     * Goes on with a file whose recorder was killed, behind its last whole record; {@link #finish}
     * makes it whole.
     *
     * @param fd the file open for writing; stays the caller's to close
     * @param input the same file
     * @throws MalformedInputException when it is not a perf.data, or none that needs finishing
     */
    public static PerfDataWriter resume(int fd, Input input) throws IOException {
        PerfHeader header = PerfHeader.read(input);
        if (header.finished() || header.order() != ByteOrder.LITTLE_ENDIAN) {
            throw new MalformedInputException(
                    PerfHeader.FORMAT, "data size", 48, "nothing to finish");
        }
        PerfView view = new PerfView(input.segment(), false);
        int attrBytes = (int) view.u64(16) - 16;
        PerfDataWriter writer =
                new PerfDataWriter(
                        fd, header.attrs(), attrBytes, view.u64(24), header.dataOffset());
        writer.sections.putAll(header.features());
        writer.end = PerfDataRecording.wholeEnd(view, header.dataOffset(), header.dataEnd());
        return writer;
    }

    /** 128 bytes is what perf before 6.3 accepts; later fields are written only when used. */
    private static int attrBytes(List<AttrEntry> attrs) {
        return attrs.stream().anyMatch(entry -> entry.attr().config3() != 0)
                ? PerfAbi.PERF_ATTR_SIZE_VER8
                : PerfAbi.PERF_ATTR_SIZE_VER7;
    }

    /**
     * Appends whole records as they lie in a ring.
     *
     * @param records native memory
     * @throws SyscallException when they were not written; the file ends before them
     */
    public void append(MemorySegment records) throws SyscallException {
        flush();
        file.write(records, end);
        end += records.byteSize();
    }

    /** Appends records of a ring that wrapped: up to its end, and on from its start. */
    public void append(MemorySegment first, MemorySegment second) throws SyscallException {
        flush();
        file.write(first, end);
        file.write(second, end + first.byteSize());
        end += first.byteSize() + second.byteSize();
    }

    /**
     * Appends one record made by {@link PerfRecords}. Such records are gathered and reach the file
     * with the next {@link #append}, {@link #flush} or {@link #finishedRound}.
     */
    public void appendSynthetic(byte[] record) throws SyscallException {
        if (staged + record.length > STAGING_BYTES) {
            flush();
        }
        MemorySegment.copy(record, 0, staging, ValueLayout.JAVA_BYTE, staged, record.length);
        staged += record.length;
    }

    /**
     * PERF_RECORD_FINISHED_ROUND: no record that follows is older than the newest one before the
     * previous such mark. True only after a pass that drained every ring.
     */
    public void finishedRound() throws SyscallException {
        appendSynthetic(
                GrowableBytes.littleEndian()
                        .u32(PerfAbi.PERF_RECORD_FINISHED_ROUND)
                        .u16(0)
                        .u16(PerfAbi.HEADER_BYTES)
                        .toBytes());
        flush();
    }

    /** Writes what {@link #appendSynthetic} gathered. On failure it is dropped. */
    public void flush() throws SyscallException {
        if (staged > 0) {
            MemorySegment gathered = staging.asSlice(0, staged);
            staged = 0;
            file.write(gathered, end);
            end += gathered.byteSize();
        }
    }

    /** Where the records in the file end. */
    public long endOffset() {
        return end;
    }

    /** Bytes of the records in the file so far. */
    public long dataBytes() {
        return end - dataOffset;
    }

    /**
     * Writes the features, then the header that makes the file whole. When there is no room for the
     * features the file stays as a killed recorder would leave it, with all its records and early
     * features.
     *
     * @param late features that replace or join the early ones
     */
    public void finish(PerfFeatures late) throws SyscallException {
        flush();
        long dataEnd = end;
        SortedMap<Integer, FeatureSection> places = new TreeMap<>(sections);
        GrowableBytes contents = GrowableBytes.littleEndian();
        late.sections()
                .forEach((feature, content) -> places.put(feature, new FeatureSection(-1, 0)));
        long contentStart = dataEnd + 16L * places.size();
        late.sections()
                .forEach((feature, content) -> {
                    places.put(
                            feature,
                            new FeatureSection(contentStart + contents.size(), content.length));
                    contents.raw(content);
                });
        try {
            writeHeap(table(places), dataEnd);
            writeHeap(contents.toBytes(), contentStart);
        } catch (SyscallException e) {
            file.truncate(dataEnd);
            throw e;
        }
        file.truncate(contentStart + contents.size());
        writeHeader(dataEnd - dataOffset, bitmapOf(places));
    }

    /**
     * Gives back memory; the descriptor stays open. Without {@link #finish} the file is unfinished.
     */
    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    private void writeHeader(long dataBytes, byte[] bitmap) throws SyscallException {
        int attrEntryBytes = attrBytes + 16;
        GrowableBytes header = GrowableBytes.littleEndian();
        header.u64(MAGIC).u64(FILE_HEADER_BYTES).u64(attrEntryBytes);
        header.u64(attrsOffset).u64((long) attrEntryBytes * attrs.size());
        header.u64(dataOffset).u64(dataBytes);
        header.u64(0).u64(0); // event_types, unused since 3.x
        header.raw(bitmap);
        writeHeap(header.toBytes(), 0);
    }

    private byte[] bitmapOf(Map<Integer, FeatureSection> places) {
        return bitmap(places.keySet());
    }

    private static byte[] bitmap(Iterable<Integer> features) {
        byte[] bits = new byte[PerfFeatures.MAX_FEATURES / 8];
        for (int feature : features) {
            bits[feature / 8] |= (byte) (1 << feature % 8);
        }
        return bits;
    }

    private static byte[] table(SortedMap<Integer, FeatureSection> places) {
        GrowableBytes table = GrowableBytes.littleEndian();
        places.values().forEach(place -> table.u64(place.offset()).u64(place.sizeBytes()));
        return table.toBytes();
    }

    private void writeHeap(byte[] bytes, long offset) throws SyscallException {
        for (int done = 0; done < bytes.length; done += STAGING_BYTES) {
            int part = Math.min(STAGING_BYTES, bytes.length - done);
            MemorySegment.copy(bytes, done, staging, ValueLayout.JAVA_BYTE, 0, part);
            file.write(staging.asSlice(0, part), offset + done);
        }
    }
}
