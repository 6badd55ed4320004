package sonde.binary.archive;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import sonde.binary.MalformedInputException;

/**
 * Decompresses LZ4 frames, one behind the other (lz4_Frame_format.md 1.6.4): blocks of at most 4
 * MiB that may go back 64 KiB into those before; every checksum is looked at. Frames that need a
 * dictionary are refused.
 */
final class Lz4Frame extends BlockInput {
    private static final int MAGIC = 0x184d2204;
    private static final int SKIPPABLE = 0x184d2a50; // to …5f
    private static final int HISTORY_BYTES = 1 << 16;
    private static final ValueLayout.OfInt WORD =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    // FLG
    private static final int INDEPENDENT = 1 << 5;
    private static final int BLOCK_CHECKSUM = 1 << 4;
    private static final int CONTENT_SIZE = 1 << 3;
    private static final int CONTENT_CHECKSUM = 1 << 2;
    private static final int DICTIONARY = 1;

    private final MemorySegment bytes;
    private long position;
    private boolean inFrame;
    private int flags;
    private int blockBytes;
    private XxHash32 content = new XxHash32();
    private byte[] expanded = new byte[0];
    private int first;

    Lz4Frame(MemorySegment bytes) throws IOException {
        this.bytes = bytes;
        begin();
    }

    @Override
    boolean fill() throws IOException {
        if (!inFrame && !begin()) {
            return false;
        }
        next();
        return true;
    }

    /** Goes behind the head of the next frame; false at the end. */
    private boolean begin() throws IOException {
        while (position < bytes.byteSize()) {
            int magic = word();
            if ((magic & ~15) == SKIPPABLE) {
                long length = Integer.toUnsignedLong(word());
                take(length);
                continue;
            }
            require(magic == MAGIC, "magic");
            head();
            return true;
        }
        return false;
    }

    private void head() throws IOException {
        long start = position;
        flags = take(1)[0] & 0xff;
        int size = take(1)[0] >> 4 & 7;
        require(flags >> 6 == 1 && size >= 4, "version");
        require((flags & DICTIONARY) == 0, "dictionary");
        take((flags & CONTENT_SIZE) == 0 ? 0 : 8);
        byte[] head = bytes.asSlice(start, position - start).toArray(ValueLayout.JAVA_BYTE);
        int sum = XxHash32.of(head, 0, head.length) >> 8 & 0xff;
        require((take(1)[0] & 0xff) == sum, "head's checksum");
        blockBytes = 1 << 8 + 2 * size; // 4: 64 KiB … 7: 4 MiB
        if (expanded.length < HISTORY_BYTES + blockBytes) {
            expanded = new byte[HISTORY_BYTES + blockBytes];
            block = MemorySegment.ofArray(expanded);
        }
        content = new XxHash32();
        first = HISTORY_BYTES;
        filled = HISTORY_BYTES;
        taken = HISTORY_BYTES;
        inFrame = true;
    }

    /** The next block; none when the frame ends here. */
    private void next() throws IOException {
        int length = word();
        if (length == 0) {
            inFrame = false;
            boolean summed = (flags & CONTENT_CHECKSUM) != 0;
            require(!summed || word() == content.value(), "checksum of the content");
            return;
        }
        boolean plain = length < 0;
        int stored = length & Integer.MAX_VALUE;
        require(stored <= blockBytes, "block of " + stored + " bytes");
        byte[] packed = take(stored);
        if ((flags & BLOCK_CHECKSUM) != 0) {
            require(word() == XxHash32.of(packed, 0, packed.length), "checksum of a block");
        }
        keep();
        if (plain) {
            System.arraycopy(packed, 0, expanded, HISTORY_BYTES, stored);
            filled = HISTORY_BYTES + stored;
        } else {
            filled =
                    Lz4Block.expand(
                            packed, expanded, first, HISTORY_BYTES, HISTORY_BYTES + blockBytes);
        }
        taken = HISTORY_BYTES;
        content.update(expanded, taken, filled);
    }

    /** The last 64 KiB go before the place of the next block, which may refer to them. */
    private void keep() {
        if ((flags & INDEPENDENT) == 0) {
            int kept = Math.min(HISTORY_BYTES, filled - first);
            System.arraycopy(expanded, filled - kept, expanded, HISTORY_BYTES - kept, kept);
            first = HISTORY_BYTES - kept;
        }
    }

    private int word() throws EOFException {
        long at = position;
        skip(at, 4);
        return bytes.get(WORD, at);
    }

    private byte[] take(long count) throws EOFException {
        long at = position;
        skip(at, count);
        boolean whole = count <= 8 << 20; // only skippable frames are longer
        return whole ? bytes.asSlice(at, count).toArray(ValueLayout.JAVA_BYTE) : new byte[0];
    }

    private void skip(long at, long count) throws EOFException {
        if (count > bytes.byteSize() - at) {
            throw new EOFException("cut short");
        }
        position = at + count;
    }

    private void require(boolean holds, String what) throws MalformedInputException {
        if (!holds) {
            throw new MalformedInputException("lz4", what, position, "damaged or unknown");
        }
    }
}
