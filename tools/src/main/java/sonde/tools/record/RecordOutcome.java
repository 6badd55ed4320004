package sonde.tools.record;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import sonde.recording.bundle.RecordingMeta;

/**
 * What a recording came to.
 *
 * @param bundle the folder
 * @param exitCode what a shell's {@code $?} shows of the command; 0 without one
 * @param failure why the recording ended early or could not be finished, empty when it did not
 * @param removed waits until nothing of it is left in the kernel; says what could not be removed
 */
public record RecordOutcome(
        Path bundle,
        RecordingMeta meta,
        int exitCode,
        String failure,
        Supplier<List<String>> removed) {}
