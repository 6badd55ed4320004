package sonde.lang.bpftrace.lower;

import sonde.lang.ir.Anchor;
import sonde.lang.ir.Operand;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;

/** What an expression was lowered to; its type says how it is read. */
sealed interface Value {
    /** A number or an address: 64 bits, extended by the sign of its type. */
    record Number(Operand operand) implements Value {}

    /** Whose memory a place is. */
    enum Where {
        /** The program's own: stack, map values, records of the ring. */
        OWN,
        /** What the program is called with. */
        CONTEXT,
        KERNEL,
        USER
    }

    /** Memory that holds the value. */
    record Place(Anchor base, int offset, Where where) implements Value {
        /** Memory that begins later. */
        Place plus(int bytes) {
            return bytes == 0 ? this : new Place(base, offset + bytes, where);
        }

        /** The largest power of two up to 8 that it is known to be a multiple of. */
        int align() {
            int of = base instanceof StackObject object ? object.align() : 8;
            return offset == 0 ? of : Math.min(of, Math.min(8, Integer.lowestOneBit(offset)));
        }
    }

    /** A number. */
    static Number of(long value) {
        return new Number(Operand.of(value));
    }

    /** What a register holds. */
    static Number of(Vreg register) {
        return new Number(register);
    }
}
