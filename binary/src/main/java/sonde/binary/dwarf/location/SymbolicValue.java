package sonde.binary.dwarf.location;

import org.jspecify.annotations.Nullable;

/**
 * A number as an expression makes it (DWARF 5, 2.5), worked out as far as it can be without a
 * process. Numbers have the width of an address.
 */
public sealed interface SymbolicValue {
    /** Known. */
    record ConstantValue(long value) implements SymbolicValue {}

    /** An address as stated in the ELF: where the program runs it is moved with it. */
    record StaticAddress(long address) implements SymbolicValue {}

    /** What a register holds, by DWARF's number of the machine. */
    record RegisterValue(int number) implements SymbolicValue {}

    /** What a register held, or a place in memory, when the function was entered. */
    record AtEntry(SymbolicValue value) implements SymbolicValue {}

    /** The canonical frame address where the rules of the frame are not known. */
    record FrameAddress() implements SymbolicValue {}

    /** A place in the storage of the thread. */
    record ThreadLocal(SymbolicValue offset) implements SymbolicValue {}

    /** Another one and a constant; the base is neither a constant nor a sum. */
    record SumValue(SymbolicValue base, long offset) implements SymbolicValue {}

    /** What stands in memory, zero-extended. */
    record MemoryValue(SymbolicValue address, int sizeBytes) implements SymbolicValue {}

    /** Cut to a whole number of so many bytes. */
    record TruncatedValue(SymbolicValue value, int sizeBytes, boolean isSigned)
            implements SymbolicValue {}

    /** Other arithmetic of what is not known. */
    record OperationValue(String symbol, SymbolicValue left, @Nullable SymbolicValue right)
            implements SymbolicValue {}

    /**
     * A simpler value whose lowest bytes are the same: what widened a narrow variable is left out,
     * as clang writes it where it keeps a {@code bool} or {@code short} in a wider register.
     *
     * @param sizeBytes how many bytes of it count, 1 to 8
     */
    static SymbolicValue lowest(SymbolicValue value, long sizeBytes) {
        int bits = 8 * Math.clamp(sizeBytes, 1, Long.BYTES);
        long all = -1L >>> Long.SIZE - bits;
        SymbolicValue at = value;
        while (true) {
            @Nullable SymbolicValue inner =
                    switch (at) {
                        case TruncatedValue cast when 8 * cast.sizeBytes() >= bits -> cast.value();
                        case SumValue(TruncatedValue cast, long offset)
                                when 8 * cast.sizeBytes() >= bits ->
                                plus(cast.value(), offset);
                        case OperationValue(
                                        String symbol,
                                        SymbolicValue left,
                                        @Nullable SymbolicValue right) ->
                                switch (symbol) {
                                    case "&" -> masked(left, right, all);
                                    case "|" -> joined(left, right, bits);
                                    default -> null;
                                };
                        default -> null;
                    };
            if (inner == null) {
                return at;
            }
            at = inner;
        }
    }

    private static @Nullable SymbolicValue masked(
            SymbolicValue left, @Nullable SymbolicValue right, long all) {
        if (right instanceof ConstantValue mask && (mask.value() & all) == all) {
            return left;
        }
        return left instanceof ConstantValue mask && (mask.value() & all) == all ? right : null;
    }

    private static @Nullable SymbolicValue joined(
            SymbolicValue left, @Nullable SymbolicValue right, int bits) {
        if (right != null && isAbove(right, bits)) {
            return left;
        }
        return isAbove(left, bits) ? right : null;
    }

    private static boolean isAbove(SymbolicValue value, int bits) {
        return value instanceof OperationValue(String symbol, SymbolicValue _, ConstantValue by)
                && symbol.equals("<<")
                && by.value() >= bits
                && by.value() < Long.SIZE;
    }

    /** A value and a constant. */
    static SymbolicValue plus(SymbolicValue value, long offset) {
        if (offset == 0) {
            return value;
        }
        return switch (value) {
            case ConstantValue c -> new ConstantValue(c.value() + offset);
            case StaticAddress s -> new StaticAddress(s.address() + offset);
            case SumValue s -> plus(s.base(), s.offset() + offset);
            default -> new SumValue(value, offset);
        };
    }
}
