package sonde.recording.ctf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;

/** A file of a data stream. */
final class StreamFile {
    private static final int INDEX_MAGIC = 0xc1f1dcc1;
    private static final int INDEX_1_0_BYTES = 56;

    final String name;
    final MemorySegment memory;

    /** Where packets begin, as the index file says; empty for none. */
    private final long[] offsets;

    /** What the first packet says. */
    long streamClass;

    long instance = -1;
    long begin;

    StreamFile(String name, Input input, long[] offsets) {
        this.name = name;
        this.memory = input.segment();
        this.offsets = offsets;
    }

    /** The first packet behind a place that the index knows; -1 when it knows none. */
    long indexedAfter(long offset) {
        int low = 0;
        int high = offsets.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (offsets[middle] <= offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < offsets.length ? offsets[low] : -1;
    }

    /**
     * The offsets of an LTTng index ({@code lttng-tools/include/lttng/lttng-index.h}, versions 1.0
     * and 1.1; big endian).
     *
     * @throws MalformedInputException when it is none, or does not fit the file
     */
    static long[] index(@Nullable Input index, long fileBytes) throws MalformedInputException {
        if (index == null) {
            return new long[0];
        }
        FieldCursor cursor = new FieldCursor("ctf index", index.segment(), ByteOrder.BIG_ENDIAN);
        if (cursor.s32("magic") != INDEX_MAGIC) {
            throw cursor.malformed("magic", "not that of an LTTng index");
        }
        long major = cursor.u32("index_major");
        cursor.u32("index_minor");
        int size = cursor.bounded("packet_index_len", cursor.u32("packet_index_len"), 1 << 16);
        if (major != 1 || size < INDEX_1_0_BYTES) {
            throw cursor.malformed("packet_index_len", "version " + major + ", " + size + " bytes");
        }
        long[] offsets = new long[(int) Math.min(cursor.remaining() / size, 1 << 26)];
        long last = -1;
        for (int i = 0; i < offsets.length; i++) {
            long start = cursor.position();
            long offset = cursor.u64("offset");
            long bits = cursor.u64("packet_size");
            boolean fits = offset > last && offset < fileBytes && bits >>> 3 <= fileBytes - offset;
            if (!fits || bits % 8 != 0) {
                throw cursor.malformed("offset", offset + " with " + bits + " bits");
            }
            offsets[i] = offset;
            last = offset;
            cursor.seek("entry", start + size);
        }
        return offsets;
    }
}
