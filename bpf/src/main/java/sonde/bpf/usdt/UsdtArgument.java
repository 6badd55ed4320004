package sonde.bpf.usdt;

/**
 * How an argument of a marker is found.
 *
 * @param sizeBytes 1, 2, 4 or 8
 * @param isSigned whether it is a signed integer
 * @param isFloat whether it is a floating-point number
 */
public record UsdtArgument(int sizeBytes, boolean isSigned, boolean isFloat, UsdtOperand operand) {
    /** Where its value is. */
    public sealed interface UsdtOperand {
        /** The value itself. */
        record UsdtConstant(long value) implements UsdtOperand {}

        /**
         * In a register, in its lowest bits, or from bit {@code shift} ({@code %ah}: 8).
         *
         * @param register the name of all of it: {@code "rax"}, {@code "x0"}
         * @param offset in struct pt_regs
         */
        record UsdtRegister(String register, int offset, int shift) implements UsdtOperand {}

        /**
         * In memory: at base + index × scale + displacement.
         *
         * @param base name of the register; empty for none
         * @param baseOffset in struct pt_regs
         * @param index name of the register; empty for none
         * @param indexOffset in struct pt_regs
         * @param scale 1, 2, 4 or 8
         */
        record UsdtMemory(
                String base,
                int baseOffset,
                String index,
                int indexOffset,
                int scale,
                long displacement)
                implements UsdtOperand {}

        /** What cannot be read, as it stands in the note. */
        record UnreadableOperand(String text) implements UsdtOperand {}
    }
}
