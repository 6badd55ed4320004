/**
 * Tables that operators fill: threads, their states, slices, samples, losses. The operators are
 * those of the reports, so that both give the same numbers.
 *
 * {@snippet :
 * Derivations derivations = new Derivations(inputs, connection);
 * derivations.fill(Set.of(Derived.THREAD_STATE));
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.store.derive;
