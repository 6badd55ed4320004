package sonde.tools.elf;

import java.io.IOException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfHeader;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenElf;

/** Whether files can run in one process: machine, class, byte order and calling convention. */
final class MachineKind {
    private static final int EM_PPC64 = 21;

    // e_flags: elf.h of glibc 2.41
    private static final int EF_ARM_ABI_FLOAT_SOFT = 0x200;
    private static final int EF_ARM_ABI_FLOAT_HARD = 0x400;
    private static final int EF_MIPS_ABI2 = 0x20;
    private static final int EF_MIPS_ABI = 0xf000;
    private static final int EF_RISCV_FLOAT_ABI = 6;
    private static final int EF_PPC64_ABI = 3;

    private MachineKind() {}

    static boolean isHardFloat(ElfHeader header) {
        return (header.flags() & EF_ARM_ABI_FLOAT_HARD) != 0;
    }

    /** Whether there is a file in a root that a program can load. */
    static boolean isFor(RootFolder root, String path, ElfFile program) {
        if (!root.isFile(path)) {
            return false;
        }
        try (OpenElf file = OpenElf.asIs(FilePlace.named(root.real(path).toString()))) {
            return isSame(file.elf(), program);
        } catch (IOException | InternalError e) {
            return false;
        }
    }

    private static boolean isSame(ElfFile one, ElfFile other) {
        return one.machine() == other.machine()
                && one.is64() == other.is64()
                && one.order().equals(other.order())
                && isSameConvention(one.machine(), one.header().flags(), other.header().flags());
    }

    private static boolean isSameConvention(int machine, int one, int other) {
        return switch (machine) {
            case ElfFile.EM_ARM -> {
                int both = EF_ARM_ABI_FLOAT_SOFT | EF_ARM_ABI_FLOAT_HARD;
                // Older files say neither.
                yield (one & both) == 0 || (other & both) == 0 || (one & both) == (other & both);
            }
            case ElfFile.EM_MIPS -> ((one ^ other) & (EF_MIPS_ABI2 | EF_MIPS_ABI)) == 0;
            case ElfFile.EM_RISCV -> ((one ^ other) & EF_RISCV_FLOAT_ABI) == 0;
            case EM_PPC64 ->
                    (one & EF_PPC64_ABI) == 0
                            || (other & EF_PPC64_ABI) == 0
                            || ((one ^ other) & EF_PPC64_ABI) == 0;
            default -> true;
        };
    }
}
