/**
 * perf.data: the file of Linux's perf (tools/perf/Documentation/perf.data-file-format.txt), written
 * while recording and read in file and pipe mode.
 *
 * {@snippet :
 * try (Recording recording = PerfDataReader.open(input)) {
 *     for (Lane lane : recording.lanes()) {
 *         for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
 *             count += batch.size();
 *         }
 *     }
 * }
 * }
 */
package sonde.recording.perfdata;
