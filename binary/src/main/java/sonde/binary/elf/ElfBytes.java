package sonde.binary.elf;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import sonde.binary.MalformedInputException;

/** The bytes of a file and how its numbers are written: class and byte order. */
final class ElfBytes {
    private static final int IDENT_BYTES = 16;

    final MemorySegment file;
    final boolean wide;
    final ByteOrder order;
    final ValueLayout.OfShort half;
    final ValueLayout.OfInt word;
    final ValueLayout.OfLong xword;

    private ElfBytes(MemorySegment file, boolean wide, ByteOrder order) {
        this.file = file;
        this.wide = wide;
        this.order = order;
        half = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order);
        word = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
        xword = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
    }

    /** Bytes that are no whole file, in the order of this machine. */
    static ElfBytes ofThisMachine(MemorySegment bytes) {
        return new ElfBytes(bytes, true, ByteOrder.nativeOrder());
    }

    /** Looks at e_ident (gABI chapter 4, "ELF Identification"). */
    static ElfBytes of(MemorySegment file) throws MalformedInputException {
        int magic =
                file.byteSize() < IDENT_BYTES
                        ? 0
                        : file.get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(BIG_ENDIAN), 0);
        if (magic != 0x7f454c46) {
            throw new MalformedInputException("ELF", "e_ident", 0, "no ELF magic" + like(magic));
        }
        boolean wide = oneOrTwo(file, 4, "EI_CLASS") == 2;
        boolean big = oneOrTwo(file, 5, "EI_DATA") == 2;
        if (file.byteSize() < (wide ? 64 : 52)) {
            throw new MalformedInputException("ELF", "header", 0, file.byteSize() + " bytes");
        }
        return new ElfBytes(file, wide, big ? BIG_ENDIAN : LITTLE_ENDIAN);
    }

    /** What people take for an ELF file, by its first four bytes. */
    private static String like(int magic) {
        return switch (magic) {
            case 0x213c6172, 0x213c7468 -> ": an archive of objects, which 'ar x' takes out";
            case 0x4243c0de -> ": bitcode of LLVM, which is not compiled to the end";
            case 0xcffaedfe, 0xcefaedfe, 0xcafebabe -> ": a program of macOS, or a class of Java";
            default ->
                    magic >>> 16 == 0x4d5a
                            ? ": a program of Windows"
                            : magic >>> 16 == 0x2321 ? ": a script" : "";
        };
    }

    private static int oneOrTwo(MemorySegment file, long offset, String field)
            throws MalformedInputException {
        byte value = file.get(ValueLayout.JAVA_BYTE, offset);
        if (value != 1 && value != 2) {
            throw new MalformedInputException("ELF", field, offset, "" + value);
        }
        return value;
    }

    int u8(long offset) {
        return file.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
    }

    int u16(long offset) {
        return Short.toUnsignedInt(file.get(half, offset));
    }

    long u32(long offset) {
        return u32(file, offset);
    }

    long u32(MemorySegment bytes, long offset) {
        return Integer.toUnsignedLong(bytes.get(word, offset));
    }

    /** A number as wide as the class. */
    long address(long offset) {
        return address(file, offset);
    }

    long address(MemorySegment bytes, long offset) {
        return wide ? bytes.get(xword, offset) : u32(bytes, offset);
    }

    /** Whether a range lies in the file. */
    boolean holds(long offset, long sizeBytes) {
        return offset >= 0 && sizeBytes >= 0 && offset <= file.byteSize() - sizeBytes;
    }

    MemorySegment slice(String what, long offset, long sizeBytes) throws MalformedInputException {
        if (!holds(offset, sizeBytes)) {
            throw new MalformedInputException(
                    "ELF",
                    what,
                    offset,
                    Long.toUnsignedString(sizeBytes) + " bytes of " + file.byteSize());
        }
        return file.asSlice(offset, sizeBytes);
    }

    /** The text up to the first zero, the end or the limit. */
    static String string(MemorySegment bytes, long offset, int limit) {
        if (offset < 0 || offset >= bytes.byteSize()) {
            return "";
        }
        long end = Math.min(bytes.byteSize(), offset + limit);
        long at = offset;
        while (at < end && bytes.get(ValueLayout.JAVA_BYTE, at) != 0) {
            at++;
        }
        return at == offset
                ? ""
                : new String(
                        bytes.asSlice(offset, at - offset).toArray(ValueLayout.JAVA_BYTE),
                        StandardCharsets.UTF_8);
    }
}
