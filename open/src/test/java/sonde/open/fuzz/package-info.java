/**
 * Each reader under a fuzzer, and what it found.
 *
 * <pre>{@code
 * READER=perf-data conformance/fuzz 600 ../recordings   # ten minutes, beginning with those files
 * ./test fuzz                                           # a minute for each reader
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.open.fuzz;
