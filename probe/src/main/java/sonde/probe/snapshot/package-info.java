/**
 * Reads the current state of the running system as a {@link sonde.event.Recording} like any other.
 *
 * {@snippet :
 * try (Recording now = SystemSnapshot.of(List.of(pid))) {
 *     Lane mappings = now.lanes().getFirst();
 * }
 * }
 *
 * <p>{@link sonde.probe.snapshot.ThreadSnapshot} looks at what threads are in, {@link
 * sonde.probe.snapshot.ThreadRows} writes that into a perf.data.
 */
@org.jspecify.annotations.NullMarked
package sonde.probe.snapshot;
