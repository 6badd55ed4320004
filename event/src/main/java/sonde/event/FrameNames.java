package sonde.event;

import sonde.event.result.Frame;

/** What the call chains of a recording consist of when their entries are not addresses. */
@FunctionalInterface
public interface FrameNames {
    /** The frame that an entry of a call chain stands for. */
    Frame frame(long entry);
}
