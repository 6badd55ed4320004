package sonde.lang.probes;

import java.util.OptionalInt;

/**
 * How programs are attached.
 *
 * @param pid the process whose user probes, counters and memory are meant; empty for all
 */
public record AttachOptions(OptionalInt pid) {
    /** For all processes. */
    public static final AttachOptions EVERYWHERE = new AttachOptions(OptionalInt.empty());

    /** For a process. */
    public static AttachOptions of(int pid) {
        return new AttachOptions(OptionalInt.of(pid));
    }
}
