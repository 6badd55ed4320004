package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.IntToLongFunction;
import sonde.binary.MalformedInputException;

/**
 * Applies the relocations of data, as debug sections of relocatable files need it. What a machine's
 * supplement calls S + A and S + A - P is done, with the sums and differences of RISC-V and
 * LoongArch; types of code are left alone, and so is an entry that points outside.
 */
final class DebugRelocator {
    private static final int EM_PARISC = 15;
    private static final int EM_PPC = 20;
    private static final int EM_PPC64 = 21;
    private static final int EM_ARC_OLD = 45;
    private static final int EM_IA_64 = 50;
    private static final int EM_AVR = 83;
    private static final int EM_OPENRISC = 92;
    private static final int EM_ARC = 93;
    private static final int EM_XTENSA = 94;
    private static final int EM_MSP430 = 105;
    private static final int EM_NIOS2 = 113;
    private static final int EM_HEXAGON = 164;
    private static final int EM_MICROBLAZE = 189;
    private static final int EM_ARC_V2 = 195;
    private static final int EM_AMDGPU = 224;
    private static final int EM_LANAI = 244;
    private static final int EM_VE = 251;
    private static final int EM_CSKY = 252;
    private static final int EM_ALPHA = 0x9026;

    /** What is done with the place. */
    private enum Effect {
        SET,
        RELATIVE,
        ADD,
        SUBTRACT,
        SET_LOW6,
        ADD_LOW6,
        SUBTRACT_LOW6,
        SET_LEB,
        SUBTRACT_LEB,
    }

    /** An effect on so many bytes; 0 for the forms of six bits and LEB128. */
    private record SizedEffect(Effect effect, int bytes) {}

    private static final SizedEffect SET8 = new SizedEffect(Effect.SET, 1);
    private static final SizedEffect SET16 = new SizedEffect(Effect.SET, 2);
    private static final SizedEffect SET32 = new SizedEffect(Effect.SET, 4);
    private static final SizedEffect SET64 = new SizedEffect(Effect.SET, 8);
    private static final SizedEffect PC32 = new SizedEffect(Effect.RELATIVE, 4);
    private static final SizedEffect PC64 = new SizedEffect(Effect.RELATIVE, 8);
    private static final SizedEffect NOTHING = new SizedEffect(Effect.SET, 0);

    private final ElfFile elf;
    private final ElfBytes numbers;
    private final IntToLongFunction bases;

    /**
     * @param bases what the addresses of a section's symbols count from, by its index
     */
    DebugRelocator(ElfFile elf, ElfBytes numbers, IntToLongFunction bases) {
        this.elf = elf;
        this.numbers = numbers;
        this.bases = bases;
    }

    /** The bytes of a section with one table applied; the same bytes when it has no effect. */
    MemorySegment apply(ElfSection target, MemorySegment content, ElfSection table)
            throws MalformedInputException {
        RelocationTable entries = elf.relocationTable(table);
        if (table.link() <= 0 || table.link() >= elf.sections().size()) {
            return content;
        }
        ElfSymbols symbols = SymbolReader.read(elf, elf.sections().get(table.link()));
        if (content.byteSize() > ElfFile.TABLE_LIMIT_BYTES) {
            throw new MalformedInputException(
                    "ELF", target.name(), target.offset(), content.byteSize() + " bytes");
        }
        MemorySegment out = MemorySegment.ofArray(content.toArray(ValueLayout.JAVA_BYTE));
        for (long i = 0; i < entries.count(); i++) {
            SizedEffect way = way(elf.machine(), entries.type(i), elf.is64());
            int symbol = entries.symbol(i);
            if (!way.equals(NOTHING) && symbol >= 0 && symbol < symbols.count()) {
                long value = symbol == 0 ? 0 : symbols.value(symbol) + base(symbols, symbol);
                long at = entries.offset(i);
                int bytes = Math.max(1, way.bytes());
                if (at >= 0 && at <= out.byteSize() - bytes) {
                    long addend =
                            entries.hasAddends() ? entries.addend(i) : read(out, at, way.bytes());
                    apply(out, at, way, value + addend, target.address() + at);
                }
            }
        }
        return out.asReadOnly();
    }

    private long base(ElfSymbols symbols, int symbol) {
        int section = symbols.section(symbol);
        boolean reserved = section >= ElfSymbols.SHN_LORESERVE && section >= elf.sections().size();
        return reserved || section <= 0 ? 0 : bases.applyAsLong(section);
    }

    private void apply(MemorySegment out, long at, SizedEffect way, long value, long place) {
        switch (way.effect()) {
            case SET -> write(out, at, way.bytes(), value);
            case RELATIVE -> write(out, at, way.bytes(), value - place);
            case ADD -> write(out, at, way.bytes(), read(out, at, way.bytes()) + value);
            case SUBTRACT -> write(out, at, way.bytes(), read(out, at, way.bytes()) - value);
            case SET_LOW6, ADD_LOW6, SUBTRACT_LOW6 -> {
                long old = read(out, at, 1);
                long low =
                        switch (way.effect()) {
                            case SET_LOW6 -> value;
                            case ADD_LOW6 -> old + value;
                            default -> old - value;
                        };
                write(out, at, 1, old & 0xc0 | low & 0x3f);
            }
            case SET_LEB, SUBTRACT_LEB -> leb(out, at, way.effect() == Effect.SET_LEB, value);
        }
    }

    /** Rewrites an unsigned LEB128 in as many bytes as it has. */
    private static void leb(MemorySegment out, long at, boolean set, long value) {
        long old = 0;
        int length = 0;
        boolean more = true;
        while (more && at + length < out.byteSize() && length < 10) {
            byte b = out.get(ValueLayout.JAVA_BYTE, at + length);
            old |= (long) (b & 0x7f) << 7 * length;
            more = b < 0;
            length++;
        }
        long left = set ? value : old - value;
        for (int i = 0; i < length; i++) {
            int bits = (int) (left & 0x7f) | (i < length - 1 ? 0x80 : 0);
            out.set(ValueLayout.JAVA_BYTE, at + i, (byte) bits);
            left >>>= 7;
        }
    }

    private long read(MemorySegment bytes, long at, int size) {
        return switch (size) {
            case 1 -> bytes.get(ValueLayout.JAVA_BYTE, at) & 0xff;
            case 2 -> Short.toUnsignedLong(bytes.get(numbers.half, at));
            case 4 -> bytes.get(numbers.word, at);
            case 8 -> bytes.get(numbers.xword, at);
            default -> 0;
        };
    }

    private void write(MemorySegment bytes, long at, int size, long value) {
        switch (size) {
            case 1 -> bytes.set(ValueLayout.JAVA_BYTE, at, (byte) value);
            case 2 -> bytes.set(numbers.half, at, (short) value);
            case 4 -> bytes.set(numbers.word, at, (int) value);
            case 8 -> bytes.set(numbers.xword, at, value);
            default -> {}
        }
    }

    /** By the numbers of the machines' supplements (elf.h of glibc 2.41 has them all). */
    private static SizedEffect way(int machine, int type, boolean wide) {
        return switch (machine) {
            case ElfFile.EM_386 -> pick(type, 1, 0, 2, 0);
            case ElfFile.EM_X86_64 ->
                    switch (type) {
                        case 11, 21 -> SET32; // 32S, DTPOFF32
                        case 17 -> SET64; // DTPOFF64
                        default -> pick(type, 10, 1, 2, 24);
                    };
            case ElfFile.EM_ARM -> type == 38 ? SET32 : pick(type, 2, 0, 3, 0);
            case ElfFile.EM_AARCH64 -> type == 1 ? SET32 : pick(type, 258, 257, 261, 260);
            case ElfFile.EM_RISCV -> riscv(type);
            case ElfFile.EM_LOONGARCH -> loongArch(type);
            case EM_PPC -> pick(type, 1, 0, 26, 0);
            case EM_PPC64 -> type == 78 ? SET64 : pick(type, 1, 38, 26, 44);
            case ElfFile.EM_S390 -> pick(type, 4, 22, 5, 23);
            case ElfFile.EM_MIPS -> pick(wide ? type & 0xff : type, 2, 18, 0, 0);
            case ElfFile.EM_BPF -> pick(type, 3, 2, 0, 0);
            case ElfFile.EM_SPARC, ElfFile.EM_SPARCV9 ->
                    type == 23 ? SET32 : type == 54 ? SET64 : pick(type, 3, 32, 6, 46);
            // DIR32, DIR64; SECREL32 and SECREL64 count from a section's start, which is 0
            case EM_PARISC -> type == 41 ? SET32 : type == 104 ? SET64 : pick(type, 1, 80, 9, 72);
            case EM_IA_64 ->
                    type == 0x64 || type == 0x65
                            ? SET32
                            : type == 0x66 || type == 0x67
                                    ? SET64
                                    : pick(type & ~1, 0x24, 0x26, 0x4c, 0x4e);
            case EM_ARC_OLD, EM_ARC, EM_ARC_V2 -> type == 27 ? SET32 : pick(type, 4, 0, 50, 0);
            case EM_AVR -> type == 4 ? SET16 : pick(type, 1, 0, 36, 0);
            case EM_OPENRISC -> pick(type, 1, 0, 9, 0);
            case EM_XTENSA -> pick(type, 1, 0, 14, 0);
            // of 16 bits: R_MSP430_16, R_MSP430_16_BYTE
            case EM_MSP430 -> type == 3 || type == 5 ? SET16 : pick(type, 1, 0, 0, 0);
            case EM_LANAI -> pick(type, 4, 0, 0, 0);
            case EM_VE -> pick(type, 1, 2, 3, 0);
            case EM_NIOS2 -> pick(type, 12, 0, 0, 0);
            case EM_HEXAGON -> pick(type, 6, 0, 31, 0);
            case EM_MICROBLAZE -> pick(type, 1, 5, 2, 3);
            case EM_AMDGPU -> pick(type, 6, 3, 4, 5);
            case EM_CSKY -> pick(type, 1, 0, 5, 0);
            case EM_ALPHA -> pick(type, 1, 2, 10, 11);
            case ElfFile.EM_68K -> pick(type, 1, 0, 4, 0);
            case ElfFile.EM_SH -> pick(type, 1, 0, 2, 0);
            default -> NOTHING;
        };
    }

    private static SizedEffect pick(int type, int set32, int set64, int pc32, int pc64) {
        if (type == 0) {
            return NOTHING;
        }
        return type == set32
                ? SET32
                : type == set64 ? SET64 : type == pc32 ? PC32 : type == pc64 ? PC64 : NOTHING;
    }

    private static SizedEffect riscv(int type) {
        return switch (type) {
            case 33, 34, 35, 36 -> new SizedEffect(Effect.ADD, 1 << type - 33);
            case 37, 38, 39, 40 -> new SizedEffect(Effect.SUBTRACT, 1 << type - 37);
            case 52 -> new SizedEffect(Effect.SUBTRACT_LOW6, 0);
            case 53 -> new SizedEffect(Effect.SET_LOW6, 0);
            case 54 -> SET8;
            case 55 -> SET16;
            case 56 -> SET32;
            case 60 -> new SizedEffect(Effect.SET_LEB, 0);
            case 61 -> new SizedEffect(Effect.SUBTRACT_LEB, 0);
            default -> pick(type, 1, 2, 57, 0);
        };
    }

    private static SizedEffect loongArch(int type) {
        return switch (type) {
            case 47, 48 -> new SizedEffect(Effect.ADD, 1 << type - 47);
            case 50, 51 -> new SizedEffect(Effect.ADD, 4 << type - 50);
            case 52, 53 -> new SizedEffect(Effect.SUBTRACT, 1 << type - 52);
            case 55, 56 -> new SizedEffect(Effect.SUBTRACT, 4 << type - 55);
            case 105 -> new SizedEffect(Effect.ADD_LOW6, 0);
            case 106 -> new SizedEffect(Effect.SUBTRACT_LOW6, 0);
            case 107 -> new SizedEffect(Effect.SET_LEB, 0);
            case 108 -> new SizedEffect(Effect.SUBTRACT_LEB, 0);
            default -> pick(type, 1, 2, 99, 109);
        };
    }
}
