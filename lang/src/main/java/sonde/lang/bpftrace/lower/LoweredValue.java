package sonde.lang.bpftrace.lower;

import sonde.lang.ir.AccessAnchor;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;

/** What an expression was lowered to; its type says how it is read. */
sealed interface LoweredValue {
    /** A number or an address: 64 bits, extended by the sign of its type. */
    record NumberValue(IrOperand operand) implements LoweredValue {}

    /** The owner of the memory of a place. */
    enum MemoryOwner {
        /** The program's own: stack, map values, records of the ring. */
        OWN,
        /** What the program is called with. */
        CONTEXT,
        KERNEL,
        USER
    }

    /** Memory that holds the value. */
    record PlaceValue(AccessAnchor base, int offset, MemoryOwner where) implements LoweredValue {
        /** Memory that begins later. */
        PlaceValue plus(int bytes) {
            return bytes == 0 ? this : new PlaceValue(base, offset + bytes, where);
        }

        /** The largest power of two up to 8 that it is known to be a multiple of. */
        int align() {
            int of = base instanceof StackObject object ? object.align() : 8;
            return offset == 0 ? of : Math.min(of, Math.min(8, Integer.lowestOneBit(offset)));
        }
    }

    /** A number. */
    static NumberValue of(long value) {
        return new NumberValue(IrOperand.of(value));
    }

    /** What a register holds. */
    static NumberValue of(VirtualRegister register) {
        return new NumberValue(register);
    }
}
