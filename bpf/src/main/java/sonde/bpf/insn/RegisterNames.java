package sonde.bpf.insn;

/** Names of registers in text: {@code r0} to {@code r10}, {@code w0} for the lower half. */
final class RegisterNames {
    private RegisterNames() {}

    static boolean isName(String word) {
        return (word.startsWith("r") || word.startsWith("w")) && number(word) >= 0;
    }

    private static int number(String word) {
        if (word.equals("r10") || word.equals("w10")) {
            return 10;
        }
        boolean one = word.length() == 2 && word.charAt(1) >= '0' && word.charAt(1) <= '9';
        return one ? word.charAt(1) - '0' : -1;
    }

    /** Whether the register that is next is a whole one; {@link #any} then complains otherwise. */
    static boolean isWide(LineScanner in) {
        int start = in.mark();
        String word = in.word();
        in.back(start);
        return !word.startsWith("w");
    }

    /** {@code r1} or {@code w1}. */
    static BpfRegister any(LineScanner in) throws AssemblyException {
        int start = in.mark();
        String word = in.word();
        if (!isName(word)) {
            in.back(start);
            throw in.error(
                    "a register is missing before " + in.rest(),
                    "they are r0 to r10, or w0 to w10");
        }
        return BpfRegister.of(number(word));
    }

    /** {@code r1}. */
    static BpfRegister wide(LineScanner in) throws AssemblyException {
        return sized(in, true);
    }

    static BpfRegister sized(LineScanner in, boolean wide) throws AssemblyException {
        int start = in.mark();
        boolean found = isWide(in);
        BpfRegister register = any(in);
        if (found != wide) {
            in.back(start);
            char right = wide ? 'r' : 'w';
            throw in.error(
                    in.rest() + " has the other width",
                    "expected " + right + register.ordinal());
        }
        return register;
    }

    /** A register of that width, or a number. */
    static InstructionOperand operand(LineScanner in, boolean wide) throws AssemblyException {
        return in.atNumber() ? new InstructionOperand.Immediate(in.immediate()) : sized(in, wide);
    }
}
