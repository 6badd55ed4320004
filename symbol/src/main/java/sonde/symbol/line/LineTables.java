package sonde.symbol.line;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;

/**
 * Everything that is known of a file's code in flat sorted tables, so that an answer is two binary
 * searches in mapped memory.
 *
 * <pre>
 * head        "SNDLINE1", CRC-32C of the rest, counts, address that starts count from, fingerprint
 * starts      u32 each: intervals of functions and inlined calls, ascending
 * owners      u32 each: the innermost node of the interval, -1 for none
 * nodes       5 × u32 each: parent, name, file of the call, line, column
 * row starts  u32 each, ascending
 * rows        3 × u32 each: file (-1 where lines end), line, column
 * texts       UTF-8, each ended by NUL; names and files are offsets here, 0 is the empty one
 * </pre>
 */
final class LineTables {
    static final long MAGIC = 0x31454e494c444e53L;

    /** Bytes of the head: eight numbers of 8 bytes, some of them in halves. */
    static final int HEAD_BYTES = 64;

    static final int NODE_WORDS = 5;
    static final int ROW_WORDS = 3;
    static final int NONE = -1;

    static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int MOST_FRAMES = 1 << 10;
    private static final int MOST_TEXT = 1 << 16;

    /** Searches that make a copy of the starts in the heap worth its time. */
    private static final int MANY = 256;

    private final MemorySegment bytes;
    private final int intervals;
    private final int nodes;
    private final int rows;
    private final long base;
    private final long owners;
    private final long nodeTable;
    private final long rowStarts;
    private final long rowTable;
    private final long texts;
    private final Map<Integer, String> known = new HashMap<>();
    private int @Nullable [] heapStarts;
    private int @Nullable [] heapRowStarts;

    /**
     * What the tables are of.
     *
     * @param fingerprint of the debugging information they were made from
     */
    private LineTables(MemorySegment bytes, long fingerprint) throws MalformedInputException {
        this.bytes = bytes;
        if (bytes.byteSize() < HEAD_BYTES || bytes.get(LONG, 0) != MAGIC) {
            throw damaged("head");
        }
        intervals = bytes.get(INT, 16);
        nodes = bytes.get(INT, 20);
        rows = bytes.get(INT, 24);
        long textBytes = bytes.get(INT, 28) & 0xffff_ffffL;
        base = bytes.get(LONG, 32);
        owners = HEAD_BYTES + 4L * intervals;
        nodeTable = owners + 4L * intervals;
        rowStarts = nodeTable + 4L * NODE_WORDS * nodes;
        rowTable = rowStarts + 4L * rows;
        texts = rowTable + 4L * ROW_WORDS * rows;
        boolean fits =
                intervals >= 0
                        && nodes >= 0
                        && rows >= 0
                        && texts + textBytes == bytes.byteSize()
                        && bytes.get(LONG, 40) == fingerprint;
        if (!fits) {
            throw damaged("head");
        }
    }

    /**
     * Tables in memory.
     *
     * @throws MalformedInputException when they are damaged or of other debugging information
     */
    static LineTables of(MemorySegment bytes, long fingerprint) throws MalformedInputException {
        LineTables tables = new LineTables(bytes, fingerprint);
        if (bytes.get(LONG, 8) != checksum(bytes)) {
            throw damaged("checksum");
        }
        return tables;
    }

    private static MalformedInputException damaged(String what) {
        return new MalformedInputException("line tables", what, 0, "not what was written");
    }

    /** CRC-32C of all behind the number that it is kept in. */
    static long checksum(MemorySegment bytes) {
        CRC32C crc = new CRC32C();
        long piece = 1L << 30;
        for (long at = 16; at < bytes.byteSize(); at += piece) {
            long size = Math.min(piece, bytes.byteSize() - at);
            crc.update(bytes.asSlice(at, size).asByteBuffer());
        }
        return crc.getValue();
    }

    MemorySegment bytes() {
        return bytes;
    }

    /** Makes many searches faster. */
    void expect(int searches) {
        if (searches >= MANY && heapStarts == null) {
            heapStarts = bytes.asSlice(HEAD_BYTES, 4L * intervals).toArray(INT);
            heapRowStarts = bytes.asSlice(rowStarts, 4L * rows).toArray(INT);
        }
    }

    private int floor(int @Nullable [] heap, long table, int count, long delta) {
        int wanted = (int) delta;
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int start = heap != null ? heap[middle] : bytes.get(INT, table + 4L * middle);
            if (Integer.compareUnsigned(start, wanted) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }

    /** Innermost first; empty where nothing is known. */
    List<SourceFrame> frames(long address) {
        long delta = address - base;
        if (delta < 0 || delta > 0xffff_ffffL) {
            return List.of();
        }
        int interval = floor(heapStarts, HEAD_BYTES, intervals, delta);
        int node = interval < 0 ? NONE : bytes.get(INT, owners + 4L * interval);
        int row = floor(heapRowStarts, rowStarts, rows, delta);
        int file = NONE;
        int line = 0;
        int column = 0;
        if (row >= 0) {
            long at = rowTable + 4L * ROW_WORDS * row;
            file = bytes.get(INT, at);
            line = bytes.get(INT, at + 4);
            column = bytes.get(INT, at + 8);
        }
        if (node == NONE) {
            return file == NONE
                    ? List.of()
                    : List.of(new SourceFrame("", text(file), line, column, false));
        }
        List<SourceFrame> frames = new ArrayList<>(4);
        while (node >= 0 && node < nodes && frames.size() < MOST_FRAMES) {
            long at = nodeTable + 4L * NODE_WORDS * node;
            node = bytes.get(INT, at);
            String name = text(bytes.get(INT, at + 4));
            frames.add(new SourceFrame(name, text(file), line, column, node != NONE));
            file = bytes.get(INT, at + 8);
            line = bytes.get(INT, at + 12);
            column = bytes.get(INT, at + 16);
        }
        return frames;
    }

    private String text(int offset) {
        if (offset == NONE || offset == 0) {
            return "";
        }
        String text = known.get(offset);
        if (text == null) {
            text = read(texts + (offset & 0xffff_ffffL));
            known.put(offset, text);
        }
        return text;
    }

    private String read(long from) {
        long most = Math.min(bytes.byteSize() - from, MOST_TEXT);
        int length = 0;
        while (length < most && bytes.get(ValueLayout.JAVA_BYTE, from + length) != 0) {
            length++;
        }
        byte[] copy = new byte[length];
        if (length > 0) {
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, from, copy, 0, length);
        }
        return new String(copy, StandardCharsets.UTF_8);
    }
}
