/**
 * trace.dat, the file of trace-cmd and KernelShark, versions 6 and 7.
 *
 * <p>Specification: trace-cmd {@code Documentation/trace-cmd/trace-cmd.dat.v6.5.txt} and {@code
 * .v7.5.txt}.
 *
 * {@snippet :
 * try (Recording recording = TraceDatReader.open(Input.open(Path.of("trace.dat")))) {
 *     for (Lane lane : recording.lanes()) {
 *         for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
 *             count += batch.size();
 *         }
 *     }
 * }
 * }
 */
package sonde.recording.tracedat;
