/**
 * Contains the model of events and recordings.
 *
 * <p>A {@link sonde.event.Recording} (a file that is read, or a live session) has {@link
 * sonde.event.Source sources}; a source numbers its own {@link sonde.event.EventType event types}
 * and has {@link sonde.event.Lane lanes}, each a stream of {@link sonde.event.Batch batches} sorted
 * by time. A batch holds columns of primitives and points into memory for the rest:
 *
 * {@snippet :
 * EventType switched = source.type("sched", "sched_switch");
 * IntegerField next = switched.integer("next_pid");
 * for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
 *     for (int row = 0; row < batch.size(); row++) {
 *         if (batch.type(row) == switched.id()) {
 *             out.accept(batch.time(row), next.of(batch, row));
 *         }
 *     }
 * }
 * }
 */
package sonde.event;
