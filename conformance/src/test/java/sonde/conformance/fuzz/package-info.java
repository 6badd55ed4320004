/**
 * Readers under a fuzzer, and what it found.
 *
 * <pre>{@code
 * conformance/fuzz 600 ../shared/corpus/traces   # ten minutes, beginning with those files
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.conformance.fuzz;
