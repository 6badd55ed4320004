/**
 * Determines the type of every expression of a script. The types of variables and maps follow from
 * all assignments, and are computed until nothing changes; then mismatches are reported.
 *
 * <p>Source: docs/language.md ("Data Types") and docs/type_resolution.md of bpftrace 0.26.
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.check;
