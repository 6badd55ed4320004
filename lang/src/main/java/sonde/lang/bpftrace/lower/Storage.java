package sonde.lang.bpftrace.lower;

import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.ir.Vreg;

/** Where a variable is kept. */
sealed interface Storage {
    /** In a register. */
    record Register(Vreg register) implements Storage {}

    /** On the stack. */
    record Stack(Place place) implements Storage {}

    /** In the frame, which all functions of the program see. */
    record Shared(int offset) implements Storage {}
}
