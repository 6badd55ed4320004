package sonde.probe.dynamic;

import java.util.List;
import sonde.symbol.ctype.SourceType;

/** A part of an expression while it is compiled: where it is and what type it has. */
sealed interface ProbeOperand {
    SourceType type();

    /**
     * In memory.
     *
     * @param bitOffset of a bit-field, from the address
     * @param bits of a bit-field, else 0
     */
    record StoredOperand(
            FetchArgument address, SourceType type, long bitOffset, int bits, boolean isUser)
            implements ProbeOperand {}

    /**
     * In a register or another word of the kernel's, from a bit on.
     *
     * @param bits of a bit-field, else 0
     */
    record HeldOperand(String token, SourceType type, long bitOffset, int bits)
            implements ProbeOperand {
        boolean isWhole() {
            return bitOffset == 0 && bits == 0;
        }
    }

    /** A number that is calculated, with no place of its own. */
    record CalculatedOperand(FetchArgument value, SourceType type) implements ProbeOperand {}

    /** In several places. */
    record SplitOperand(List<OperandPart> parts, SourceType type, long bitOffset, int bits)
            implements ProbeOperand {}

    /** One of them; lowest bits first. */
    record OperandPart(ProbeOperand place, long bits) {}

    /** Words of the kernel's with a type of the kernel's own, or none. */
    record KernelOperand(String text, SourceType type) implements ProbeOperand {}
}
