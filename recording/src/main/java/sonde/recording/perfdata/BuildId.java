package sonde.recording.perfdata;

import java.util.HexFormat;
import sonde.recording.ftrace.MappedBuildId;

/**
 * Build id of a file that was mapped (feature HEADER_BUILD_ID).
 *
 * @param pid process it belongs to, -1 for all of the host
 * @param kernel whether it is the kernel or one of its modules
 * @param id hexadecimal, at most 40 digits
 * @param path as in the mapping: {@code "[kernel.kallsyms]"}, {@code "/usr/bin/dd"}
 */
public record BuildId(int pid, boolean kernel, String id, String path) {
    /** Most bytes of a build id in a perf.data. */
    static final int MAX_BYTES = MappedBuildId.MAX_BYTES;

    public BuildId {
        if (id.length() > 2 * MAX_BYTES) {
            throw new IllegalArgumentException("build id of " + id.length() + " digits");
        }
    }

    /** Whether it is more than a place for one. */
    boolean isKnown() {
        return id.length() > 2;
    }

    byte[] bytes() {
        return HexFormat.of().parseHex(id);
    }
}
