package sonde.tools.calls;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.recording.library.LibraryLines.LibraryStyle;

/**
 * What is to be traced, and how it is shown.
 *
 * @param origin environment, directory and descriptors of the command
 * @param command null for running processes alone
 * @param counts column by which counts are sorted; null for lines
 */
record CallsRequest(
        InheritedState origin,
        @Nullable CommandWords command,
        Set<Integer> pids,
        LibraryChoice.Wanted wanted,
        LibraryStyle style,
        boolean demangles,
        @Nullable String counts) {
    CallsRequest {
        pids = Set.copyOf(pids);
    }
}
