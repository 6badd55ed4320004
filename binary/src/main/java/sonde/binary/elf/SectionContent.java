package sonde.binary.elf;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import sonde.binary.MalformedInputException;
import sonde.binary.UnnamedFile;
import sonde.binary.archive.CompressionCodec;

/**
 * Decompresses sections: SHF_COMPRESSED (gABI chapter 4, "Section Compression") and the older
 * {@code .zdebug_*}, whose bytes are "ZLIB", the size as u64 big-endian, a zlib stream.
 */
final class SectionContent {
    private static final int ELFCOMPRESS_ZLIB = 1;
    private static final int ELFCOMPRESS_ZSTD = 2;
    private static final long ZDEBUG_MAGIC = 0x5a4c4942; // "ZLIB"
    private static final int ZDEBUG_HEADER_BYTES = 12;

    /** More than any section known; a size beyond it is not tried. */
    private static final long LIMIT_BYTES = 16L << 30;

    /** Up to this in the heap, beyond it in a mapped file without a name. */
    private static final long HEAP_LIMIT_BYTES = 16L << 20;

    /** deflate makes at most 1032 bytes of one; zstd repeats 128 KiB by a block of 4 bytes. */
    private static final long ZLIB_RATIO = 1040;

    private static final long ZSTD_RATIO = 1 << 15;

    private SectionContent() {}

    /** How a section is compressed. */
    record CompressionHeader(CompressionCodec codec, long sizeBytes, long alignment, long from) {}

    /** Whether it may be a section of the old form. */
    static boolean isOld(ElfBytes elf, ElfSection section) {
        return section.name().startsWith(".zdebug_")
                && (section.flags() & ElfFile.SHF_COMPRESSED) == 0
                && section.sizeBytes() >= ZDEBUG_HEADER_BYTES
                && elf.holds(section.offset(), section.sizeBytes())
                && Integer.reverseBytes(
                                elf.file.get(
                                        ValueLayout.JAVA_INT_UNALIGNED.withOrder(
                                                ByteOrder.LITTLE_ENDIAN),
                                        section.offset()))
                        == ZDEBUG_MAGIC;
    }

    /** Reads Elf64_Chdr, Elf32_Chdr or the header of the old form. */
    static CompressionHeader header(ElfBytes elf, ElfSection section, MemorySegment raw)
            throws MalformedInputException {
        if (isOld(elf, section)) {
            ValueLayout.OfLong size =
                    ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
            return new CompressionHeader(
                    CompressionCodec.ZLIB, raw.get(size, 4), 1, ZDEBUG_HEADER_BYTES);
        }
        int bytes = elf.wide ? 24 : 12;
        if (raw.byteSize() < bytes) {
            throw refused(section, raw.byteSize() + " bytes");
        }
        long type = elf.u32(raw, 0);
        long size = elf.wide ? raw.get(elf.xword, 8) : elf.u32(raw, 4);
        long alignment = elf.wide ? raw.get(elf.xword, 16) : elf.u32(raw, 8);
        if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD) {
            throw refused(section, "unknown type " + type);
        }
        CompressionCodec codec =
                type == ELFCOMPRESS_ZLIB ? CompressionCodec.ZLIB : CompressionCodec.ZSTD;
        return new CompressionHeader(codec, size, alignment, bytes);
    }

    static MemorySegment expand(ElfBytes elf, ElfSection section, MemorySegment raw)
            throws MalformedInputException {
        CompressionHeader header = header(elf, section, raw);
        long size = header.sizeBytes();
        long most = header.codec() == CompressionCodec.ZLIB ? ZLIB_RATIO : ZSTD_RATIO;
        if (size < 0 || size > LIMIT_BYTES || size / most > raw.byteSize()) {
            throw refused(section, Long.toUnsignedString(size) + " bytes out of " + raw.byteSize());
        }
        try (InputStream in = header.codec().stream(raw.asSlice(header.from()))) {
            return size <= HEAP_LIMIT_BYTES ? heap(in, (int) size) : file(in, size);
        } catch (MalformedInputException e) {
            throw refused(section, e.reason());
        } catch (IOException e) {
            throw refused(section, "no room to decompress: " + e.getMessage());
        }
    }

    /** What an xz stream has, when it is not more than the limit. */
    static byte[] xz(MemorySegment packed, long limitBytes) throws MalformedInputException {
        try (InputStream in = CompressionCodec.XZ.stream(packed)) {
            byte[] out = in.readNBytes((int) limitBytes);
            if (in.read() >= 0) {
                throw new MalformedInputException(
                        "xz", "size", -1, "more than " + limitBytes + " bytes");
            }
            return out;
        } catch (MalformedInputException e) {
            throw e;
        } catch (IOException e) {
            throw new MalformedInputException("xz", "stream", -1, String.valueOf(e.getMessage()));
        }
    }

    private static MalformedInputException refused(ElfSection section, String why) {
        return new MalformedInputException(
                "ELF", section.name() + " compression", section.offset(), why);
    }

    private static MemorySegment heap(InputStream in, int size) throws IOException {
        byte[] out = new byte[size];
        int count = in.readNBytes(out, 0, size);
        requireAll(count, size);
        return MemorySegment.ofArray(out);
    }

    /** The mapping frees itself when nothing refers to it. */
    private static MemorySegment file(InputStream in, long size) throws IOException {
        try (FileChannel file = UnnamedFile.open()) {
            byte[] step = new byte[1 << 18];
            long at = 0;
            while (at < size) {
                int count = in.readNBytes(step, 0, (int) Math.min(step.length, size - at));
                if (count == 0) {
                    break;
                }
                ByteBuffer piece = ByteBuffer.wrap(step, 0, count);
                while (piece.hasRemaining()) {
                    file.write(piece);
                }
                at += count;
            }
            requireAll(at, size);
            return file.map(MapMode.READ_ONLY, 0, size, Arena.ofAuto());
        }
    }

    private static void requireAll(long count, long size) throws MalformedInputException {
        if (count < size) {
            throw new MalformedInputException(
                    "stream", "size", -1, "ends after " + count + " of " + size + " bytes");
        }
    }
}
