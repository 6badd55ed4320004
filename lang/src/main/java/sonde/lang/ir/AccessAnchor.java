package sonde.lang.ir;

/** What an access counts its offset from: an address in a register, or an object on the stack. */
public sealed interface AccessAnchor permits VirtualRegister, StackObject {}
