/**
 * Tables that operators fill: threads, their states, slices, samples, losses. The operators are
 * those of the reports, so that both give the same numbers.
 *
 * {@snippet :
 * DerivedTables derivations = new DerivedTables(inputs, connection);
 * derivations.fill(Set.of(DerivedTable.THREAD_STATE));
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.store.derive;
