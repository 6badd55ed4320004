/**
 * What every expression of a script is: types of variables and maps follow from what is written
 * into them anywhere, until nothing changes any more; then what does not fit is reported.
 *
 * <p>Source: docs/language.md ("Data Types") and docs/type_resolution.md of bpftrace 0.26.
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.check;
