/**
 * From a clause whose types are known to operations on virtual registers: one class for each family
 * of the tree's nodes, around a {@link sonde.lang.bpftrace.lower.ProgramLowering} that holds what
 * they share.
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.lower;
