package sonde.analysis.file;

import java.util.Map;

/**
 * The descriptors of a process at one moment.
 *
 * @param atNanos in the recording's clock
 * @param targets descriptor to what {@code /proc/PID/fd} shows: a path, {@code socket:[N]}, …
 * @param survivingExec whether those that exec closes were left out
 */
public record OpenFiles(
        int pid, long atNanos, Map<Integer, String> targets, boolean survivingExec) {
    public OpenFiles {
        targets = Map.copyOf(targets);
    }
}
