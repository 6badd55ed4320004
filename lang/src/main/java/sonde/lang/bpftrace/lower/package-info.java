/**
 * Lowers a typed clause to operations on virtual registers. There is one class for each family of
 * tree nodes, around a {@link sonde.lang.bpftrace.lower.ProgramLowering} that holds what they
 * share.
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.lower;
