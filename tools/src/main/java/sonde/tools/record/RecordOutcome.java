package sonde.tools.record;

import java.nio.file.Path;
import sonde.recording.bundle.RecordingMeta;

/**
 * What a recording came to.
 *
 * @param bundle the folder
 * @param exitCode what a shell's {@code $?} shows of the command; 0 without one
 * @param failure why the recording ended early or could not be finished, empty when it did not
 */
public record RecordOutcome(Path bundle, RecordingMeta meta, int exitCode, String failure) {}
