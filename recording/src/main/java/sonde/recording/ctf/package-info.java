/**
 * The Common Trace Format, versions 1.8 and 2: what LTTng, barectf, perf data convert and others
 * write. Metadata becomes a plan once, and events are read by going through its steps.
 *
 * {@snippet :
 * try (CtfRecording trace = CtfRecording.open(InputSet.below(Path.of("my-session")))) {
 *     for (Lane lane : trace.lanes()) {
 *         for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
 *             System.out.println(batch.size());
 *         }
 *     }
 * }
 * }
 *
 * <p>A data stream that does not follow its metadata costs the packet where it happens; notes and
 * {@code notice:corrupt} rows say so. Metadata that cannot be read costs its trace.
 */
package sonde.recording.ctf;
