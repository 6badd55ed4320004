/**
 * Reads and writes the bundle {@code NAME.sonde}: standard trace files, and the {@code meta.json}
 * that names them.
 *
 * <pre>
 * NAME.sonde/meta.json            written first, replaced atomically; see RecordingMeta
 *            perf.data            perf's pipe or file form
 *            trace.dat            trace-cmd version 7, made from the spools at the end
 *            spool.task.cpu0      raw sub-buffers while recording, one file per buffer and CPU
 *            kernel.formats       event formats and symbols, until trace.dat is made
 *            index/               a cache, may be deleted
 * </pre>
 *
 * {@snippet :
 * RecordingMeta meta = MetaReader.read(Files.readAllBytes(bundle.resolve(RecordingMeta.FILE)));
 * if (meta.state() == RecordingState.RECORDING) {
 *     // the recorder was killed: sonde.probe.record.BundleRepair finishes it
 * }
 * }
 */
package sonde.recording.bundle;
