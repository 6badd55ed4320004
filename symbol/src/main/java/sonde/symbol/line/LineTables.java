package sonde.symbol.line;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;

/**
 * Everything that is known of a file's code in flat sorted tables, so that an answer is two binary
 * searches in mapped memory.
 *
 * <pre>
 * head        "SNDLINE3", CRC-32C of the rest, counts, address that starts count from, fingerprint
 * starts      u32 each: intervals of functions and inlined calls, ascending
 * owners      u32 each: the innermost node of the interval, -1 for none
 * nodes       5 × u32 each: parent, name, file of the call, line, column
 * row starts  u32 each, ascending
 * rows        3 × u32 each: file (-1 where lines end), line, column
 * texts       UTF-8, each ended by NUL; names and files are offsets here, 0 is the empty one
 * </pre>
 */
final class LineTables {
    static final long MAGIC = 0x33454e494c444e53L;

    /** Bytes of the head: eight numbers of 8 bytes, some of them in halves. */
    static final int HEAD_BYTES = 64;

    static final int NODE_WORDS = 5;
    static final int ROW_WORDS = 3;
    static final int NONE = -1;

    private static final int MOST_FRAMES = 1 << 10;
    private static final int MOST_TEXT = 1 << 16;
    private static final int USUAL_TEXT = 128;

    /** Searches that make a copy of the starts in the heap worth its time. */
    private static final int MANY = 256;

    /** Not a MemorySegment, whose accesses are slow until they are compiled well. */
    private final ByteBuffer bytes;

    private final int intervals;
    private final int nodes;
    private final int rows;
    private final long base;
    private final int owners;
    private final int nodeTable;
    private final int rowStarts;
    private final int rowTable;
    private final int texts;
    private final Map<Integer, String> known = new HashMap<>();
    private int @Nullable [] heapStarts;
    private int @Nullable [] heapRowStarts;

    /**
     * What the tables are of.
     *
     * @param fingerprint of the debugging information they were made from
     */
    private LineTables(ByteBuffer bytes, long fingerprint) throws MalformedInputException {
        this.bytes = bytes;
        if (bytes.capacity() < HEAD_BYTES || bytes.getLong(0) != MAGIC) {
            throw damaged("head");
        }
        intervals = bytes.getInt(16);
        nodes = bytes.getInt(20);
        rows = bytes.getInt(24);
        long textBytes = bytes.getInt(28) & 0xffff_ffffL;
        base = bytes.getLong(32);
        long ends =
                HEAD_BYTES + 8L * intervals + 4L * NODE_WORDS * nodes + 4L * (1 + ROW_WORDS) * rows;
        boolean fits =
                intervals >= 0
                        && nodes >= 0
                        && rows >= 0
                        && ends + textBytes == bytes.capacity()
                        && bytes.getLong(40) == fingerprint;
        if (!fits) {
            throw damaged("head");
        }
        owners = HEAD_BYTES + 4 * intervals;
        nodeTable = owners + 4 * intervals;
        rowStarts = nodeTable + 4 * NODE_WORDS * nodes;
        rowTable = rowStarts + 4 * rows;
        texts = rowTable + 4 * ROW_WORDS * rows;
    }

    /**
     * Tables in memory.
     *
     * @param bytes from 0 to its capacity
     * @throws MalformedInputException when they are damaged or of other debugging information
     */
    static LineTables of(ByteBuffer bytes, long fingerprint) throws MalformedInputException {
        ByteBuffer all = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        LineTables tables = new LineTables(all, fingerprint);
        if (all.getLong(8) != checksum(all)) {
            throw damaged("checksum");
        }
        return tables;
    }

    private static MalformedInputException damaged(String what) {
        return new MalformedInputException("line tables", what, 0, "not what was written");
    }

    /** CRC-32C of all behind the number that it is kept in. */
    static long checksum(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(16, bytes.capacity() - 16));
        return crc.getValue();
    }

    ByteBuffer bytes() {
        return bytes;
    }

    /** Makes many searches faster. */
    void expect(int searches) {
        if (searches >= MANY && heapStarts == null) {
            heapStarts = ints(HEAD_BYTES, intervals);
            heapRowStarts = ints(rowStarts, rows);
        }
    }

    private int[] ints(int from, int count) {
        int[] copy = new int[count];
        bytes.slice(from, 4 * count).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(copy);
        return copy;
    }

    private int floor(int @Nullable [] heap, int table, int count, long delta) {
        int wanted = (int) delta;
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int start = heap != null ? heap[middle] : bytes.getInt(table + 4 * middle);
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
        int node = interval < 0 ? NONE : bytes.getInt(owners + 4 * interval);
        int row = floor(heapRowStarts, rowStarts, rows, delta);
        int file = NONE;
        int line = 0;
        int column = 0;
        if (row >= 0) {
            int at = rowTable + 4 * ROW_WORDS * row;
            file = bytes.getInt(at);
            line = bytes.getInt(at + 4);
            column = bytes.getInt(at + 8);
        }
        if (node == NONE) {
            return file == NONE
                    ? List.of()
                    : List.of(new SourceFrame("", text(file), line, column, false));
        }
        List<SourceFrame> frames = new ArrayList<>(4);
        while (node >= 0 && node < nodes && frames.size() < MOST_FRAMES) {
            int at = nodeTable + 4 * NODE_WORDS * node;
            node = bytes.getInt(at);
            String name = text(bytes.getInt(at + 4));
            frames.add(new SourceFrame(name, text(file), line, column, node != NONE));
            file = bytes.getInt(at + 8);
            line = bytes.getInt(at + 12);
            column = bytes.getInt(at + 16);
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
        int most = (int) Math.min(Math.max(0, bytes.capacity() - from), MOST_TEXT);
        byte[] copy = new byte[Math.min(most, USUAL_TEXT)];
        int length = 0;
        while (length < most) {
            if (length == copy.length) {
                copy = Arrays.copyOf(copy, Math.min(most, 4 * copy.length));
            }
            bytes.get((int) from + length, copy, length, copy.length - length);
            while (length < copy.length && copy[length] != 0) {
                length++;
            }
            if (length < copy.length) {
                break;
            }
        }
        return new String(copy, 0, length, StandardCharsets.UTF_8);
    }
}
