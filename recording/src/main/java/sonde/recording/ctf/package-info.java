/**
 * Reads the Common Trace Format, versions 1.8 and 2, which LTTng, barectf, perf data convert and
 * others write. Metadata is compiled once to a plan; its steps decode the events.
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
