package sonde.analysis.stack;

import java.util.List;
import sonde.event.result.Frame;

/** Names locations of {@link sonde.symbol.ProcessMaps}. */
@FunctionalInterface
public interface LocationNames {
    /** The function a location lies in. */
    Frame frame(long location);

    /** As {@link FrameSymbols#frames}. */
    default List<Frame> frames(long location) {
        return List.of(frame(location));
    }

    /** As {@link FrameSymbols#learn}. */
    default void learn(long[] locations) {}
}
