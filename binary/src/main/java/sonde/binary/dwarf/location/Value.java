package sonde.binary.dwarf.location;

import org.jspecify.annotations.Nullable;

/**
 * A number as an expression makes it (DWARF 5, 2.5), worked out as far as it can be without a
 * process. Numbers have the width of an address.
 */
public sealed interface Value {
    /** Known. */
    record Constant(long value) implements Value {}

    /** An address as stated in the ELF: where the program runs it is moved with it. */
    record Static(long address) implements Value {}

    /** What a register holds, by DWARF's number of the machine. */
    record Register(int number) implements Value {}

    /** What a register held, or a place in memory, when the function was entered. */
    record AtEntry(Value value) implements Value {}

    /** The canonical frame address where the rules of the frame are not known. */
    record FrameAddress() implements Value {}

    /** A place in the storage of the thread. */
    record ThreadLocal(Value offset) implements Value {}

    /** Another one and a constant; the base is neither a constant nor a sum. */
    record Sum(Value base, long offset) implements Value {}

    /** What stands in memory, zero-extended. */
    record Load(Value address, int sizeBytes) implements Value {}

    /** Cut to a whole number of so many bytes. */
    record Cast(Value value, int sizeBytes, boolean isSigned) implements Value {}

    /** Other arithmetic of what is not known. */
    record Operation(String symbol, Value left, @Nullable Value right) implements Value {}

    /**
     * A simpler value whose lowest bytes are the same: what widened a narrow variable is left out,
     * as clang writes it where it keeps a {@code bool} or {@code short} in a wider register.
     *
     * @param sizeBytes how many bytes of it count, 1 to 8
     */
    static Value lowest(Value value, long sizeBytes) {
        int bits = 8 * Math.clamp(sizeBytes, 1, Long.BYTES);
        long all = -1L >>> Long.SIZE - bits;
        Value at = value;
        while (true) {
            @Nullable Value inner =
                    switch (at) {
                        case Cast cast when 8 * cast.sizeBytes() >= bits -> cast.value();
                        case Operation(String symbol, Value left, @Nullable Value right) ->
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

    private static @Nullable Value masked(Value left, @Nullable Value right, long all) {
        if (right instanceof Constant mask && (mask.value() & all) == all) {
            return left;
        }
        return left instanceof Constant mask && (mask.value() & all) == all ? right : null;
    }

    private static @Nullable Value joined(Value left, @Nullable Value right, int bits) {
        if (right != null && isAbove(right, bits)) {
            return left;
        }
        return isAbove(left, bits) ? right : null;
    }

    private static boolean isAbove(Value value, int bits) {
        return value instanceof Operation(String symbol, Value _, Constant by)
                && symbol.equals("<<")
                && by.value() >= bits
                && by.value() < Long.SIZE;
    }

    /** A value and a constant. */
    static Value plus(Value value, long offset) {
        if (offset == 0) {
            return value;
        }
        return switch (value) {
            case Constant c -> new Constant(c.value() + offset);
            case Static s -> new Static(s.address() + offset);
            case Sum s -> plus(s.base(), s.offset() + offset);
            default -> new Sum(value, offset);
        };
    }
}
