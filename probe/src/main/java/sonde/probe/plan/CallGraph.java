package sonde.probe.plan;

/** How user call chains are made. */
public enum CallGraph {
    /** No call chains at all. */
    NONE,
    /** The kernel follows frame pointers. */
    FP,
    /** Registers and 8 KiB of stack are kept with each sample and unwound when reading. */
    DWARF
}
