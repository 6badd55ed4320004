package sonde.lang.bpftrace.lower;

import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.ir.VirtualRegister;

/** Where a variable is kept. */
sealed interface VariableStorage {
    /** In a register. */
    record RegisterStorage(VirtualRegister register) implements VariableStorage {}

    /** On the stack. */
    record StackStorage(PlaceValue place) implements VariableStorage {}

    /** In the frame, which all functions of the program see. */
    record SharedStorage(int offset) implements VariableStorage {}
}
