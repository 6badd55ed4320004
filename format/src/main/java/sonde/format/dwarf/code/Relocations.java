package sonde.format.dwarf.code;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import sonde.format.MalformedInputException;
import sonde.format.elf.ElfFile;
import sonde.format.elf.ElfSymbols;
import sonde.format.elf.Section;

/**
 * Fills in the numbers that a linker would in sections of files that are not linked (ET_REL).
 * Linked files that keep their relocations, as kernels do ({@code --emit-relocs}), have them
 * applied.
 */
final class Relocations {
    /** Nothing to do for what is no number of debugging information. */
    private static final int IGNORE = 0;

    private static final int SET = 0x100;
    private static final int ADD = 0x200;
    private static final int SUBTRACT = 0x300;

    /** R_RISCV_SUB6 and SET6: the lower six bits of a byte. */
    private static final int SIX_BITS = 0x400;

    private static final int ULEB = 0x800;

    private static final int EM_MIPS = 8;
    private static final int EM_PPC64 = 21;
    private static final int EM_S390 = 22;
    private static final int EM_LOONGARCH = 258;

    private final ElfFile elf;
    private final CodeLayout layout;
    private final boolean wide;
    private final ValueLayout.OfShort u16;
    private final ValueLayout.OfInt u32;
    private final ValueLayout.OfLong u64;

    Relocations(ElfFile elf, CodeLayout layout) {
        this.elf = elf;
        this.layout = layout;
        wide = elf.is64();
        ByteOrder order = elf.order();
        u16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(order);
        u32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
        u64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
    }

    /** The content of a section, in a copy where there was something to fill in. */
    MemorySegment apply(Section section, MemorySegment content) throws MalformedInputException {
        if (elf.type() != ElfFile.ET_REL) {
            return content;
        }
        MemorySegment changed = content;
        boolean copied = false;
        for (Section table : elf.sections()) {
            boolean addends = table.type() == ElfFile.SHT_RELA;
            if ((addends || table.type() == ElfFile.SHT_REL) && table.info() == section.index()) {
                if (!copied) {
                    copied = true;
                    changed = MemorySegment.ofArray(content.toArray(ValueLayout.JAVA_BYTE));
                }
                apply(table, addends, changed);
            }
        }
        return changed;
    }

    private void apply(Section table, boolean addends, MemorySegment target)
            throws MalformedInputException {
        Optional<ElfSymbols> symbols = elf.symbols(ElfFile.SHT_SYMTAB);
        if (symbols.isEmpty()) {
            return;
        }
        MemorySegment entries = elf.content(table);
        int entryBytes = (wide ? 16 : 8) + (addends ? wide ? 8 : 4 : 0);
        for (long at = 0; at + entryBytes <= entries.byteSize(); at += entryBytes) {
            long offset;
            long symbol;
            int type;
            long addend = 0;
            if (wide) {
                offset = entries.get(u64, at);
                long word = entries.get(u64, at + 8);
                boolean mips = elf.machine() == EM_MIPS && elf.order() == ByteOrder.LITTLE_ENDIAN;
                symbol = mips ? word & 0xffff_ffffL : word >>> 32;
                type = mips ? (int) (word >>> 56) : (int) word;
                addend = addends ? entries.get(u64, at + 16) : 0;
            } else {
                offset = entries.get(u32, at) & 0xffff_ffffL;
                int word = entries.get(u32, at + 4);
                symbol = (word & 0xffff_ffffL) >>> 8;
                type = word & 0xff;
                addend = addends ? entries.get(u32, at + 8) : 0;
            }
            int operation = operation(type);
            if (operation != IGNORE && symbol < symbols.get().count()) {
                long value = value(symbols.get(), (int) symbol) + addend;
                fill(target, offset, operation, value, !addends);
            }
        }
    }

    private long value(ElfSymbols symbols, int symbol) {
        int section = symbols.section(symbol);
        boolean reserved = section >= ElfSymbols.SHN_LORESERVE && section >= elf.sections().size();
        return symbols.value(symbol) + (reserved ? 0 : layout.base(section));
    }

    /** What a relocation does, with the number of bytes it does it to (the ABI of each machine). */
    private int operation(int type) {
        return switch (elf.machine()) {
            case ElfFile.EM_X86_64 -> pick(type, 1, 10, 11);
            case ElfFile.EM_386 -> pick(type, -1, 1, -1);
            case ElfFile.EM_AARCH64 -> pick(type, 257, 258, -1);
            case ElfFile.EM_ARM -> pick(type, -1, 2, 38);
            case ElfFile.EM_BPF -> pick(type, 2, 3, 10);
            case EM_LOONGARCH -> pick(type, 2, 1, -1);
            case EM_S390 -> pick(type, 22, 4, -1);
            case EM_PPC64 -> pick(type, 38, 1, -1);
            case EM_MIPS -> pick(type, 18, 2, -1);
            case ElfFile.EM_RISCV -> riscv(type);
            default -> IGNORE;
        };
    }

    private static int pick(int type, int eight, int four, int alsoFour) {
        if (type == eight) {
            return SET | 8;
        }
        return type == four || type == alsoFour ? SET | 4 : IGNORE;
    }

    private static int riscv(int type) {
        return switch (type) {
            case 1, 56 -> SET | 4;
            case 2 -> SET | 8;
            case 33, 34, 35, 36 -> ADD | 1 << type - 33;
            case 37, 38, 39, 40 -> SUBTRACT | 1 << type - 37;
            case 52 -> SUBTRACT | SIX_BITS | 1;
            case 53 -> SET | SIX_BITS | 1;
            case 54 -> SET | 1;
            case 55 -> SET | 2;
            case 60 -> SET | ULEB | 1;
            case 61 -> SUBTRACT | ULEB | 1;
            default -> IGNORE;
        };
    }

    private void fill(
            MemorySegment target, long offset, int operation, long value, boolean implicit) {
        int bytes = operation & 0xff;
        if (offset < 0 || offset > target.byteSize() - bytes) {
            return;
        }
        if ((operation & ULEB) != 0) {
            uleb(target, offset, operation, value);
            return;
        }
        long old = number(target, offset, bytes);
        long changed =
                switch (operation & 0x300) {
                    case ADD -> old + value;
                    case SUBTRACT -> old - value;
                    default -> implicit ? old + value : value;
                };
        if ((operation & SIX_BITS) != 0) {
            changed = old & 0xc0 | changed & 0x3f;
        }
        switch (bytes) {
            case 1 -> target.set(ValueLayout.JAVA_BYTE, offset, (byte) changed);
            case 2 -> target.set(u16, offset, (short) changed);
            case 4 -> target.set(u32, offset, (int) changed);
            default -> target.set(u64, offset, changed);
        }
    }

    private long number(MemorySegment target, long offset, int bytes) {
        return switch (bytes) {
            case 1 -> target.get(ValueLayout.JAVA_BYTE, offset);
            case 2 -> target.get(u16, offset);
            case 4 -> target.get(u32, offset);
            default -> target.get(u64, offset);
        };
    }

    /** R_RISCV_SET_ULEB128 and SUB_ULEB128: the number keeps its length. */
    private static void uleb(MemorySegment target, long offset, int operation, long value) {
        long old = 0;
        int length = 0;
        byte b;
        do {
            if (length == 10 || offset + length >= target.byteSize()) {
                return;
            }
            b = target.get(ValueLayout.JAVA_BYTE, offset + length);
            old |= (b & 0x7fL) << 7 * length;
            length++;
        } while (b < 0);
        long changed = (operation & 0x300) == SUBTRACT ? old - value : value;
        for (int i = 0; i < length; i++) {
            int more = i < length - 1 ? 0x80 : 0;
            byte part = (byte) (changed >>> 7 * i & 0x7f | more);
            target.set(ValueLayout.JAVA_BYTE, offset + i, part);
        }
    }
}
