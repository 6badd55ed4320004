package sonde.lang.ir;

/** What an operation reads: a virtual register or a number. */
public sealed interface Operand permits Vreg, Operand.Number {
    /** A number of any size; what does not fit 32 bits signed takes an instruction of its own. */
    record Number(long value) implements Operand {
        @Override
        public String toString() {
            return Long.toString(value);
        }
    }

    /** A number. */
    static Number of(long value) {
        return new Number(value);
    }
}
