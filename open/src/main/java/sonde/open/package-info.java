/**
 * Opens what a user names as one recording: a bundle, a file of any format with its wrappers taken
 * off, an archive, a pipe, a folder, several files.
 *
 * {@snippet :
 * try (ReportSource source = ReportSource.open(Path.of("make.sonde"))) {
 *     Engine.run(source.recordings(), List.of(new EventCounts()), 0);
 * }
 * }
 */
package sonde.open;
