package sonde.format.dwarf.location;

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
