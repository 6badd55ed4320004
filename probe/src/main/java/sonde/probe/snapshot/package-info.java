/**
 * Reads the current state of the running system as a {@link sonde.event.Recording} like any other.
 *
 * {@snippet :
 * try (Recording now = SystemSnapshot.of(List.of(pid))) {
 *     Lane mappings = now.lanes().getFirst();
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.probe.snapshot;
