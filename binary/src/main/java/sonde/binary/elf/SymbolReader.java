package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import sonde.binary.MalformedInputException;

/** Brings symbol tables of either class and byte order into the form of {@link ElfSymbols}. */
final class SymbolReader {
    private SymbolReader() {}

    static ElfSymbols read(ElfFile elf, ElfSection table) throws MalformedInputException {
        int entryBytes = elf.is64() ? 24 : 16;
        if (table.entryBytes() != entryBytes) {
            throw new MalformedInputException(
                    "ELF", table.name() + " sh_entsize", table.offset(), "" + table.entryBytes());
        }
        MemorySegment bytes = bounded(elf, table);
        int count = (int) (bytes.byteSize() / entryBytes);
        long[] words = elf.is64() ? wide(bytes, count, elf.order()) : narrow(bytes, count, elf);
        ElfSymbols symbols =
                new ElfSymbols(words, strings(elf, table), extendedSections(elf, table));
        if (elf.isLinked()) {
            link(symbols, words, elf);
        }
        return symbols;
    }

    /** Offsets in sections become addresses. */
    private static void link(ElfSymbols symbols, long[] words, ElfFile elf) {
        for (int i = 1; i < symbols.count(); i++) {
            int section = symbols.section(i);
            if (section > 0 && section < elf.sections().size() && !symbols.isReserved(i)) {
                words[3 * i + 1] += elf.sections().get(section).address();
            }
        }
    }

    /** Elf64_Sym: name u32, info u8, other u8, shndx u16, value u64, size u64. */
    private static long[] wide(MemorySegment bytes, int count, ByteOrder order) {
        long[] words = new long[3 * count];
        MemorySegment.copy(
                bytes, ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order), 0, words, 0, words.length);
        if (order == ByteOrder.BIG_ENDIAN) {
            for (int i = 0; i < words.length; i += 3) {
                long w = words[i];
                words[i] = word(w >>> 32, w >>> 24, w >>> 16, w);
            }
        }
        return words;
    }

    /** Elf32_Sym: name u32, value u32, size u32, info u8, other u8, shndx u16. */
    private static long[] narrow(MemorySegment bytes, int count, ElfFile elf) {
        int[] in = new int[4 * count];
        MemorySegment.copy(
                bytes, ValueLayout.JAVA_INT_UNALIGNED.withOrder(elf.order()), 0, in, 0, in.length);
        boolean big = elf.order() == ByteOrder.BIG_ENDIAN;
        long[] words = new long[3 * count];
        for (int i = 0; i < count; i++) {
            int last = in[4 * i + 3];
            words[3 * i] =
                    big
                            ? word(in[4 * i], last >>> 24, last >>> 16, last)
                            : word(in[4 * i], last, last >>> 8, last >>> 16);
            words[3 * i + 1] = Integer.toUnsignedLong(in[4 * i + 1]);
            words[3 * i + 2] = Integer.toUnsignedLong(in[4 * i + 2]);
        }
        return words;
    }

    private static long word(long name, long info, long other, long section) {
        return name & 0xffff_ffffL
                | (info & 0xff) << 32
                | (other & 0xff) << 40
                | (section & 0xffff) << 48;
    }

    private static byte[] strings(ElfFile elf, ElfSection table) throws MalformedInputException {
        if (table.link() <= 0 || table.link() >= elf.sections().size()) {
            throw new MalformedInputException(
                    "ELF", table.name() + " sh_link", table.offset(), "" + table.link());
        }
        return bounded(elf, elf.sections().get(table.link())).toArray(ValueLayout.JAVA_BYTE);
    }

    /** SHT_SYMTAB_SHNDX: section indexes that do not fit 16 bits. */
    private static int[] extendedSections(ElfFile elf, ElfSection table)
            throws MalformedInputException {
        for (ElfSection section : elf.sections()) {
            if (section.type() == ElfFile.SHT_SYMTAB_SHNDX && section.link() == table.index()) {
                MemorySegment bytes = bounded(elf, section);
                int[] indexes = new int[(int) (bytes.byteSize() / 4)];
                ValueLayout.OfInt word = ValueLayout.JAVA_INT_UNALIGNED.withOrder(elf.order());
                MemorySegment.copy(bytes, word, 0, indexes, 0, indexes.length);
                return indexes;
            }
        }
        return new int[0];
    }

    private static MemorySegment bounded(ElfFile elf, ElfSection section)
            throws MalformedInputException {
        long size = elf.contentBytes(section);
        if (size < 0 || size > ElfFile.TABLE_LIMIT_BYTES) {
            throw new MalformedInputException(
                    "ELF",
                    section.name(),
                    section.offset(),
                    Long.toUnsignedString(size) + " bytes");
        }
        return elf.content(section);
    }
}
