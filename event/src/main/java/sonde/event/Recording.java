package sonde.event;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Something events can be read from: a trace.dat, a perf.data, a bundle of both. */
public interface Recording extends AutoCloseable {
    /** The sources, in the order in which equal times are to be taken. */
    List<Source> sources();

    /** Fresh lanes over everything, positioned at the start; may be called again. */
    List<Lane> lanes() throws IOException;

    /** Sentences about what could not be read and why; whole when its lanes have been read. */
    default List<String> notes() {
        return List.of();
    }

    /** Names of the entries of call chains; null where they are addresses. */
    default @Nullable FrameNames frames() {
        return null;
    }

    /** Unmaps and closes; batches of its lanes must not be used afterwards. */
    @Override
    void close();
}
