package sonde.binary.unwind;

import java.util.Arrays;
import java.util.Optional;
import sonde.binary.elf.ElfFile;

/**
 * What unwinding needs to know of a machine: its registers as DWARF numbers them (the psABI
 * documents), as perf orders them (arch/&#42;/include/uapi/asm/perf_regs.h), and what a call keeps.
 */
public enum UnwindMachine {
    /** System V ABI AMD64, figure 3.36; rip is its column of return addresses. */
    X86_64(8, 17, 7, 6, 16, 16, bits(3, 6, 7, 12, 13, 14, 15), FrameRecord.AT_POINTER) {
        @Override
        public int ofPerf(int register) {
            return register < PERF_X86_64.length ? PERF_X86_64[register] : -1;
        }
    },
    /** Intel386 psABI, table 2.14. */
    I386(4, 9, 4, 5, 8, 8, bits(3, 4, 5, 6, 7), FrameRecord.AT_POINTER) {
        @Override
        public int ofPerf(int register) {
            return register < PERF_I386.length ? PERF_I386[register] : -1;
        }
    },
    /** DWARF for the Arm 64-bit Architecture; column 32 stands for pc. */
    AARCH64(8, 33, 31, 29, 30, 32, range(19, 29) | bits(31), FrameRecord.AT_POINTER) {
        @Override
        public int ofPerf(int register) {
            return register <= 32 ? register : -1;
        }
    },
    /** DWARF for the Arm Architecture; frame pointers differ between ARM and Thumb: not used. */
    ARM(4, 16, 13, 11, 14, 15, range(4, 11) | bits(13), FrameRecord.NONE) {
        @Override
        public int ofPerf(int register) {
            return register < 16 ? register : -1;
        }
    },
    /** RISC-V psABI, "DWARF Register Numbers"; perf's first register is pc. */
    RISCV64(8, 33, 2, 8, 1, 32, bits(2, 3, 4, 8, 9) | range(18, 27), FrameRecord.BELOW_POINTER) {
        @Override
        public int ofPerf(int register) {
            return register == 0 ? 32 : register < 32 ? register : -1;
        }
    },
    /** LoongArch psABI; perf's first register is pc. */
    LOONGARCH64(8, 33, 3, 22, 1, 32, bits(2, 3) | range(21, 31), FrameRecord.BELOW_POINTER) {
        @Override
        public int ofPerf(int register) {
            return register == 0 ? 32 : register < 32 ? register : -1;
        }
    },
    /** ELF ABI s390x supplement; column 32 stands for the address of the PSW. */
    S390X(8, 33, 15, 11, 14, 32, range(6, 13) | bits(15), FrameRecord.NONE) {
        @Override
        public int ofPerf(int register) {
            return register < 16 ? register : register == 33 ? 32 : -1;
        }
    };

    /** Where a function that keeps a frame pointer has put the caller's and the return address. */
    enum FrameRecord {
        /** At the frame pointer and a word above. */
        AT_POINTER,
        /** Two words and one word below the frame pointer. */
        BELOW_POINTER,
        /** Nowhere that is known. */
        NONE,
    }

    // By the numbers of arch/x86/include/uapi/asm/perf_regs.h: ax bx cx dx si di bp sp ip flags
    // cs ss ds es fs gs r8..r15
    private static final int[] PERF_X86_64 = {
        0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15
    };
    private static final int[] PERF_I386 = {0, 3, 1, 2, 6, 7, 5, 4, 8};

    private static final int EM_S390 = 22;
    private static final int EM_LOONGARCH = 258;

    private final int wordBytes;
    private final int columns;
    private final int stackPointer;
    private final int framePointer;
    private final int returnColumn;
    private final int programCounter;
    private final long keptByCalls;
    private final FrameRecord frameRecord;

    UnwindMachine(
            int wordBytes,
            int columns,
            int stackPointer,
            int framePointer,
            int returnColumn,
            int programCounter,
            long keptByCalls,
            FrameRecord frameRecord) {
        this.wordBytes = wordBytes;
        this.columns = columns;
        this.stackPointer = stackPointer;
        this.framePointer = framePointer;
        this.returnColumn = returnColumn;
        this.programCounter = programCounter;
        this.keptByCalls = keptByCalls;
        this.frameRecord = frameRecord;
    }

    private static long bits(int... numbers) {
        return Arrays.stream(numbers).mapToLong(n -> 1L << n).reduce(0, (a, b) -> a | b);
    }

    private static long range(int first, int last) {
        return (1L << last + 1) - (1L << first);
    }

    /** The machine of a file; empty when its frames are not known here. */
    public static Optional<UnwindMachine> of(ElfFile elf) {
        return switch (elf.machine()) {
            case ElfFile.EM_X86_64 -> Optional.of(X86_64);
            case ElfFile.EM_386 -> Optional.of(I386);
            case ElfFile.EM_AARCH64 -> Optional.of(AARCH64);
            case ElfFile.EM_ARM -> Optional.of(ARM);
            case ElfFile.EM_RISCV -> elf.is64() ? Optional.of(RISCV64) : Optional.empty();
            case EM_LOONGARCH -> elf.is64() ? Optional.of(LOONGARCH64) : Optional.empty();
            case EM_S390 -> elf.is64() ? Optional.of(S390X) : Optional.empty();
            default -> Optional.empty();
        };
    }

    /**
     * The machine of a sample.
     *
     * @param uname as {@code uname -m} names the recorded machine
     * @param narrow whether the process ran in the 32-bit mode of it
     */
    public static Optional<UnwindMachine> of(String uname, boolean narrow) {
        return switch (uname) {
            case "x86_64", "amd64" -> Optional.of(narrow ? I386 : X86_64);
            case "i386", "i486", "i586", "i686" -> Optional.of(I386);
            case "aarch64", "arm64" -> Optional.of(narrow ? ARM : AARCH64);
            case "riscv64" -> Optional.of(RISCV64);
            case "loongarch64" -> Optional.of(LOONGARCH64);
            case "s390x" -> Optional.of(S390X);
            default -> uname.startsWith("arm") ? Optional.of(ARM) : Optional.empty();
        };
    }

    /** The column of a register by perf's number; -1 when unwinding needs it not. */
    public abstract int ofPerf(int register);

    /** Bytes of an address. */
    public int wordBytes() {
        return wordBytes;
    }

    /** Columns of rules that are followed; those above hold no addresses. */
    public int columns() {
        return columns;
    }

    /** Column of the stack pointer. */
    public int stackPointer() {
        return stackPointer;
    }

    /** Column of the frame pointer. */
    public int framePointer() {
        return framePointer;
    }

    /** Column in which CIEs put the return address. */
    public int returnColumn() {
        return returnColumn;
    }

    /** Column of the program counter. */
    public int programCounter() {
        return programCounter;
    }

    /** Whether calls leave the return address in a register, not on the stack. */
    public boolean hasLinkRegister() {
        return returnColumn != programCounter;
    }

    /** A bit for each column whose value a call keeps. */
    long keptByCalls() {
        return keptByCalls;
    }

    /** How frame pointers are chained. */
    FrameRecord frameRecord() {
        return frameRecord;
    }

    /** An address without what is no part of it: signatures of pointers, upper halves. */
    public long address(long value) {
        return switch (this) {
            // user memory has 48 bits; above lie the signature (Armv8.3) and tags
            case AARCH64 -> value & 0xffff_ffff_ffffL;
            // bit 0 says Thumb
            case ARM -> value & 0xffff_fffeL;
            case I386 -> value & 0xffff_ffffL;
            case X86_64, RISCV64, LOONGARCH64, S390X -> value;
        };
    }
}
