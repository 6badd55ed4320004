package sonde.binary.archive;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import sonde.binary.MalformedInputException;

/**
 * Decompresses the legacy LZ4 frame (lz4_Frame_format.md, "Legacy frame"): magic, then blocks of at
 * most 8 MiB, each behind its compressed length. A length that cannot be ends it: boot images have
 * the size of everything behind the last block.
 */
final class Lz4Legacy extends BlockInput {
    static final int MAGIC = 0x184c2102;

    private static final int BLOCK_BYTES = 8 << 20;
    private static final ValueLayout.OfInt WORD =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment bytes;
    private final byte[] expanded = new byte[BLOCK_BYTES];
    private long position = 4;

    Lz4Legacy(MemorySegment bytes) throws MalformedInputException {
        this.bytes = bytes;
        block = MemorySegment.ofArray(expanded);
        if (bytes.byteSize() < 8 || bytes.get(WORD, 0) != MAGIC) {
            throw new MalformedInputException("lz4", "magic", 0, "not that of a legacy frame");
        }
    }

    @Override
    boolean fill() throws MalformedInputException {
        if (bytes.byteSize() - position < 4) {
            return false;
        }
        long length = Integer.toUnsignedLong(bytes.get(WORD, position));
        if (length == 0 || length > bytes.byteSize() - position - 4) {
            return false;
        }
        byte[] packed = bytes.asSlice(position + 4, length).toArray(ValueLayout.JAVA_BYTE);
        filled = Lz4Block.expand(packed, expanded, 0, 0, BLOCK_BYTES);
        taken = 0;
        position += 4 + length;
        return filled > 0;
    }
}
