package sonde.lang.bpftrace.lower;

/**
 * A symbol of a program.
 *
 * @param address as stated in its file
 * @param sizeBytes 0 where unknown
 * @param fixed whether the program runs where its file states, and not moved
 */
public record UserVariable(long address, long sizeBytes, boolean fixed) {}
