package sonde.probe.dynamic;

import java.util.List;
import sonde.symbol.ctype.SourceType;

/** A part of an expression while it is compiled: where it is and what type it has. */
sealed interface Operand {
    SourceType type();

    /**
     * In memory.
     *
     * @param bitOffset of a bit-field, from the address
     * @param bits of a bit-field, else 0
     */
    record Stored(Fetch address, SourceType type, long bitOffset, int bits, boolean isUser)
            implements Operand {}

    /**
     * In a register or another word of the kernel's, from a bit on.
     *
     * @param bits of a bit-field, else 0
     */
    record Held(String token, SourceType type, long bitOffset, int bits) implements Operand {}

    /** A number that is calculated, with no place of its own. */
    record Plain(Fetch value, SourceType type) implements Operand {}

    /** In several places. */
    record Split(List<Part> parts, SourceType type, long bitOffset, int bits) implements Operand {}

    /** One of them; lowest bits first. */
    record Part(Operand place, long bits) {}

    /** Words of the kernel's with a type of the kernel's own, or none. */
    record Words(String text, SourceType type) implements Operand {}
}
