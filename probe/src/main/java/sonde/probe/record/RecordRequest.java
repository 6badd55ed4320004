package sonde.probe.record;

import java.util.List;
import sonde.recording.bundle.RecordingMeta.TargetMode;

/**
 * What a session needs besides its plan.
 *
 * @param sondeVersion for meta.json and the files' headers
 * @param argv of the command, empty without one
 * @param rootPids processes to follow: the stopped child of a command, also where everything is
 *     recorded beside it; empty for everything without one
 * @param isFollowed whether somebody reads the files while they are written, so that events are to
 *     reach them soon
 */
public record RecordRequest(
        String sondeVersion,
        TargetMode mode,
        List<String> argv,
        List<Integer> rootPids,
        boolean isFollowed) {
    public RecordRequest {
        argv = List.copyOf(argv);
        rootPids = List.copyOf(rootPids);
    }
}
