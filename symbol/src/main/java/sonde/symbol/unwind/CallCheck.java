package sonde.symbol.unwind;

import sonde.binary.unwind.UnwindMachine;

/** Whether a call stands before a return address: what tells one from a number that looks alike. */
final class CallCheck {
    /** More than the longest call has. */
    static final int BYTES = 8;

    private CallCheck() {}

    /**
     * @param before the {@link #BYTES} bytes that end at the address
     * @return true also for machines whose calls are not known here
     */
    static boolean follows(UnwindMachine machine, byte[] before) {
        if (before.length < BYTES) {
            return true; // the code is not here
        }
        return switch (machine) {
            case X86_64, I386 -> x86(before);
            case AARCH64 -> aarch64(word(before));
            case ARM, RISCV64, LOONGARCH64, S390X -> true;
        };
    }

    /** E8 rel32, and FF /2 with every form of its operand (Intel SDM volume 2, CALL). */
    private static boolean x86(byte[] before) {
        if ((before[BYTES - 5] & 0xff) == 0xe8) {
            return true;
        }
        for (int length = 2; length <= 7; length++) {
            int at = BYTES - length;
            if ((before[at] & 0xff) == 0xff && (before[at + 1] >> 3 & 7) == 2) {
                if (length == 2 + operandBytes(before, at + 1)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Bytes behind ModRM: SIB and displacement. */
    private static int operandBytes(byte[] code, int at) {
        int mode = code[at] >> 6 & 3;
        int base = code[at] & 7;
        if (mode == 3) {
            return 0;
        }
        int sib = base == 4 ? 1 : 0;
        int sibBase = sib == 1 && at + 1 < code.length ? code[at + 1] & 7 : base;
        return switch (mode) {
            case 0 -> sib + (sib == 1 && sibBase == 5 || sib == 0 && base == 5 ? 4 : 0);
            case 1 -> sib + 1;
            default -> sib + 4;
        };
    }

    private static int word(byte[] before) {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            value |= (before[BYTES - 4 + i] & 0xff) << 8 * i;
        }
        return value;
    }

    /** BL, BLR and its authenticating forms (Arm ARM, C6.2). */
    private static boolean aarch64(int instruction) {
        return instruction >>> 26 == 0b100101
                || (instruction & 0xfffffc1f) == 0xd63f0000
                || (instruction & 0xfefff800) == 0xd63f0800;
    }
}
