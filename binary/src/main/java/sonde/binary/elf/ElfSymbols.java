package sonde.binary.elf;

import java.nio.charset.StandardCharsets;

/**
 * A symbol table in the heap, independent of the file it came from: three words a symbol, whatever
 * the class and byte order were (gABI chapter 4, "Symbol Table").
 *
 * <p>Word 0 is laid out like a little-endian {@code Elf64_Sym}: name offset in bits 0..31, {@code
 * st_info} in 32..39, {@code st_other} in 40..47, section index in 48..63. Word 1 is the value,
 * word 2 the size. A million symbols cost 24 MB plus their strings and are read without one object.
 */
public final class ElfSymbols {
    /** Types of symbols. */
    public static final int STT_NOTYPE = 0;

    public static final int STT_OBJECT = 1;
    public static final int STT_FUNC = 2;
    public static final int STT_SECTION = 3;
    public static final int STT_FILE = 4;
    public static final int STT_TLS = 6;
    public static final int STT_GNU_IFUNC = 10;

    /** Bindings of symbols. */
    public static final int STB_LOCAL = 0;

    public static final int STB_GLOBAL = 1;
    public static final int STB_WEAK = 2;

    /** Visibilities of symbols. */
    public static final int STV_INTERNAL = 1;

    public static final int STV_HIDDEN = 2;

    /** Section indexes with a meaning of their own. */
    public static final int SHN_UNDEF = 0;

    public static final int SHN_LORESERVE = 0xff00;
    public static final int SHN_ABS = 0xfff1;
    public static final int SHN_XINDEX = 0xffff;

    /** Names longer than this are cut: the longest known of real libraries is below 64 KiB. */
    public static final int NAME_LIMIT = 1 << 17;

    private final long[] words;
    private final byte[] strings;
    private final int[] extendedSections;

    ElfSymbols(long[] words, byte[] strings, int[] extendedSections) {
        this.words = words;
        this.strings = strings;
        this.extendedSections = extendedSections;
    }

    /** Number of symbols; the first one is the reserved empty one. */
    public int count() {
        return words.length / 3;
    }

    /** Address as stated in the ELF (in relocatable files: offset in the section). */
    public long value(int index) {
        return words[3 * index + 1];
    }

    /** Size in bytes, 0 when not known. */
    public long size(int index) {
        return words[3 * index + 2];
    }

    /** STT_*. */
    public int type(int index) {
        return (int) (words[3 * index] >>> 32) & 15;
    }

    /** STB_*. */
    public int binding(int index) {
        return (int) (words[3 * index] >>> 36) & 15;
    }

    /** STV_*. */
    public int visibility(int index) {
        return (int) (words[3 * index] >>> 40) & 3;
    }

    /** Index of the section it belongs to, extended numbering resolved, or SHN_*. */
    public int section(int index) {
        int section = (int) (words[3 * index] >>> 48);
        return section == SHN_XINDEX && index < extendedSections.length
                ? extendedSections[index]
                : section;
    }

    /** Whether the section index is one with a meaning of its own: absolute, common. */
    public boolean isReserved(int index) {
        int section = (int) (words[3 * index] >>> 48);
        return section >= SHN_LORESERVE && section != SHN_XINDEX;
    }

    /** st_other as it stands there: visibility in the lowest bits, the rest by machine. */
    public int other(int index) {
        return (int) (words[3 * index] >>> 40) & 0xff;
    }

    /** Offset of the name in the string table, which may lie outside of it. */
    public int nameOffset(int index) {
        return (int) words[3 * index];
    }

    /** The name, empty when it has none or its offset is wrong. */
    public String name(int index) {
        return string(nameOffset(index));
    }

    /** The string at an offset, empty when there is none. */
    public String string(int offset) {
        int length = stringLength(offset);
        return length == 0 ? "" : new String(strings, offset, length, StandardCharsets.UTF_8);
    }

    /** Length in bytes of the string at an offset, 0 when there is none. */
    public int stringLength(int offset) {
        if (offset < 0 || offset >= strings.length) {
            return 0;
        }
        int limit = (int) Math.min(strings.length, (long) offset + NAME_LIMIT);
        int end = offset;
        while (end < limit && strings[end] != 0) {
            end++;
        }
        return end - offset;
    }

    /** A byte of the string table, 0 outside of it. */
    public byte stringByte(int offset) {
        return offset >= 0 && offset < strings.length ? strings[offset] : 0;
    }
}
