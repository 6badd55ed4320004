package sonde.bpf.interpreter;

/**
 * A program made ready to run by {@link BpfMachine#load}.
 *
 * @param ops a word of {@link PreparedOp} for each slot, and one behind the last
 * @param constants registers 11 and on
 * @param words as loaded, for messages
 */
record Executable(long[] ops, long[] constants, long[] words) {}
