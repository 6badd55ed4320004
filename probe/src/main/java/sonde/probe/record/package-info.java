/**
 * Runs a recording from its start to the finished bundle.
 *
 * {@snippet :
 * try (BundleFolder folder = BundleFolder.open("run.sonde");
 *         RecordSession session = RecordSession.start(plan, folder, request)) {
 *     child.go();
 *     session.released(Clocks.nanos(Clocks.CLOCK_MONOTONIC));
 *     child.await();
 *     RecordingMeta meta = session.stop(exit);
 * }
 * }
 */
package sonde.probe.record;
