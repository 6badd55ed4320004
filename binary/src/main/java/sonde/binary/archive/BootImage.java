package sonde.binary.archive;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.archive.UnwrapSpool.ByteBudget;
import sonde.binary.archive.UnwrapSpool.SpooledInput;

/**
 * Takes the kernel out of its boot image: an x86 bzImage (Documentation/arch/x86/boot.rst, protocol
 * 2.08 and later), or an EFI image with a packed payload (drivers/firmware/efi/libstub,
 * zboot-header.S). On x86 what comes out is an ELF file without symbol table.
 */
public final class BootImage {
    private static final int HDRS = 0x53726448; // "HdrS"
    private static final int ZIMG = 0x676d697a; // "zimg"
    private static final UnwrapLimits LIMITS = new UnwrapLimits(4L << 30, 1000, 1L << 30, 1, 1);
    private static final ValueLayout.OfInt WORD =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort HALF =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private BootImage() {}

    /**
     * What was packed into a boot image; the caller closes it.
     *
     * @return empty when the input is no boot image known here
     * @throws MalformedInputException when it is one, and damaged
     */
    public static Optional<Input> unpack(Input image) throws IOException {
        MemorySegment payload = payload(image.segment());
        if (payload == null) {
            return Optional.empty();
        }
        CompressionCodec codec = codec(payload);
        if (codec == null) {
            throw new MalformedInputException(
                    image.name(), "payload", -1, "compressed in an unknown way");
        }
        try (InputStream stream = codec.stream(payload)) {
            String format = codec.name();
            ByteBudget budget = new ByteBudget(LIMITS, payload.byteSize());
            // What stands behind the stream (its length once unpacked) is no damage.
            SpooledInput content = UnwrapSpool.of(image.name(), stream, budget, format);
            if (content.input().sizeBytes() == 0) {
                content.input().close();
                throw new MalformedInputException(image.name(), "payload", -1, content.damage());
            }
            return Optional.of(content.input());
        }
    }

    private static @Nullable MemorySegment payload(MemorySegment bytes) {
        if (bytes.byteSize() > 0x250
                && bytes.get(WORD, 0x202) == HDRS
                && Short.toUnsignedInt(bytes.get(HALF, 0x206)) >= 0x208) {
            int setup = bytes.get(ValueLayout.JAVA_BYTE, 0x1f1) & 0xff;
            long start = (setup == 0 ? 5 : setup + 1) * 512L;
            long offset = start + Integer.toUnsignedLong(bytes.get(WORD, 0x248));
            return slice(bytes, offset, Integer.toUnsignedLong(bytes.get(WORD, 0x24c)));
        }
        if (bytes.byteSize() > 64 && bytes.get(WORD, 4) == ZIMG) {
            return slice(
                    bytes,
                    Integer.toUnsignedLong(bytes.get(WORD, 8)),
                    Integer.toUnsignedLong(bytes.get(WORD, 12)));
        }
        return null;
    }

    private static MemorySegment slice(MemorySegment bytes, long offset, long length) {
        long from = Math.min(offset, bytes.byteSize());
        return bytes.asSlice(from, Math.min(length, bytes.byteSize() - from));
    }

    private static @Nullable CompressionCodec codec(MemorySegment payload) {
        byte[] start =
                payload.asSlice(0, Math.min(8, payload.byteSize())).toArray(ValueLayout.JAVA_BYTE);
        String magic = new String(start, StandardCharsets.ISO_8859_1);
        if (magic.startsWith("\u001f\u008b")) {
            return CompressionCodec.GZIP;
        }
        if (magic.startsWith("\u00fd7zXZ\0")) {
            return CompressionCodec.XZ;
        }
        if (magic.startsWith("(\u00b5/\u00fd")) {
            return CompressionCodec.ZSTD;
        }
        if (magic.startsWith("BZh")) {
            return CompressionCodec.BZIP2;
        }
        if (magic.startsWith("\u0002\u0021\u004c\u0018")) {
            return CompressionCodec.LZ4_LEGACY;
        }
        return magic.startsWith("\u005d\0\0") ? CompressionCodec.LZMA : null;
    }
}
