package sonde.lang.ir;

/** What an operation reads: a virtual register or a number. */
public sealed interface IrOperand permits VirtualRegister, IrOperand.IrNumber {
    /** A number of any size; what does not fit 32 bits signed takes an instruction of its own. */
    record IrNumber(long value) implements IrOperand {
        @Override
        public String toString() {
            return Long.toString(value);
        }
    }

    /** A number. */
    static IrNumber of(long value) {
        return new IrNumber(value);
    }
}
