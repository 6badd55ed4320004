package sonde.binary.unwind;

import java.util.Arrays;

/** Values of a machine's registers in one frame, by DWARF's column; some may not be known. */
public final class RegisterValues {
    private final UnwindMachine machine;
    private final long[] values;
    private long known;

    /** None is known. */
    public RegisterValues(UnwindMachine machine) {
        this.machine = machine;
        this.values = new long[machine.columns()];
    }

    /** Forgets all. */
    public void clear() {
        known = 0;
        Arrays.fill(values, 0);
    }

    /** The machine that has these registers. */
    public UnwindMachine machine() {
        return machine;
    }

    /** Whether the value of a column is known. */
    public boolean has(int column) {
        return column >= 0 && column < values.length && (known >>> column & 1) != 0;
    }

    /** The value of a column; meaningless when it is not known. */
    public long get(int column) {
        return values[column];
    }

    /** Takes a value, cut to the width of the machine. */
    public void set(int column, long value) {
        values[column] = machine.wordBytes() == 4 ? value & 0xffff_ffffL : value;
        known |= 1L << column;
    }

    /** The value of a column is not known. */
    public void forget(int column) {
        known &= ~(1L << column);
    }

    /** Takes all that another frame has. */
    public void copy(RegisterValues other) {
        System.arraycopy(other.values, 0, values, 0, values.length);
        known = other.known;
    }

    /** What a call leaves as it was. */
    void keep(RegisterValues callee) {
        System.arraycopy(callee.values, 0, values, 0, values.length);
        known = callee.known & machine.keptByCalls();
    }
}
