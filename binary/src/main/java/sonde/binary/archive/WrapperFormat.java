package sonde.binary.archive;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;

/** A kind of wrapper and the bytes it begins with. */
public enum WrapperFormat {
    /** RFC 1952: 1f 8b, method 8 (deflate). */
    GZIP(0, 0x1f, 0x8b, 0x08),
    /** RFC 8878 §3.1.1. */
    ZSTD(0, 0x28, 0xb5, 0x2f, 0xfd),
    /** The .xz file format 1.2.1 §2.1.1.1. */
    XZ(0, 0xfd, '7', 'z', 'X', 'Z', 0),
    /** bzip2 1.0: the magic of the first block, behind {@code BZh} and the block size. */
    BZIP2(4, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59),
    /** lz4_Frame_format.md 1.6.4. */
    LZ4(0, 0x04, 0x22, 0x4d, 0x18),
    /** Its legacy frame ({@code lz4 -l}). */
    LZ4_LEGACY(0, 0x02, 0x21, 0x4c, 0x18),
    /** APPNOTE.TXT 6.3.10 §4.3.7, local file header. */
    ZIP(0, 'P', 'K', 3, 4),
    /** POSIX.1-2017 pax, ustar header: the magic at 257; GNU tar writes the same five letters. */
    TAR(257, 'u', 's', 't', 'a', 'r');

    private final int offset;
    private final int[] magic;

    WrapperFormat(int offset, int... magic) {
        this.offset = offset;
        this.magic = magic;
    }

    /** The wrapper that these bytes begin with, null for none. */
    public static @Nullable WrapperFormat of(Input input) {
        for (WrapperFormat wrapper : values()) {
            if (wrapper.begins(input.segment())) {
                return wrapper;
            }
        }
        return null;
    }

    private boolean begins(MemorySegment bytes) {
        if (bytes.byteSize() < offset + magic.length) {
            return false;
        }
        for (int i = 0; i < magic.length; i++) {
            if ((bytes.get(ValueLayout.JAVA_BYTE, offset + i) & 0xff) != magic[i]) {
                return false;
            }
        }
        return true;
    }

    /** Whether it holds several files by name. */
    public boolean isArchive() {
        return this == ZIP || this == TAR;
    }
}
