package sonde.recording.ftrace;

import java.io.IOException;
import sonde.event.EventType;

/** What a listing wants of the style of a recording, and what it knows besides the recording. */
public interface ListingRequest {
    /** Whether the recording is listed by itself, not as a part of a bundle. */
    boolean isAlone();

    /** Whether the stack of every event of a type was asked for when they were recorded. */
    default boolean isStacked(EventType type) {
        return false;
    }

    /** The fields that were asked for. */
    ListedFields fields();

    /**
     * Sets in a text of the kernel's events what was asked for.
     *
     * @param offsetNanos what the recording adds to its times
     */
    EventText styled(EventText text, long offsetNanos);

    /** Names of threads. */
    ThreadNames threads();

    /** Names of functions of processes, by the mappings that the rows tell. */
    AddressNames addresses() throws IOException;

    /** Names of all code, by the mappings that the rows tell. */
    CodeNames code() throws IOException;

    /** The kernel's functions as the recording or this machine has them; takes long. */
    byte[] kallsyms();
}
