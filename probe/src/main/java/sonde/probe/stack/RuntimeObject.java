package sonde.probe.stack;

import java.util.List;
import sonde.event.result.Frame;

/** A function of a run time, read from its process. Equal ones have equal frames. */
interface RuntimeObject {
    /**
     * What is at a position in its code, innermost first: inlined calls, then the function.
     *
     * @param position as in {@link RuntimeWord}
     */
    List<Frame> frames(int position);

    /** The first line of the function; 0 when it is not known. */
    int firstLine();
}
