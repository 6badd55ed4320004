package sonde.event;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One stream of a source, sorted by time: a CPU of an ftrace buffer, or the whole of a perf.data.
 * Read once, by one thread.
 */
public interface Lane extends AutoCloseable {
    /** The source whose types and clock hold here. */
    Source source();

    /** Name of the ftrace instance, empty for the first or only buffer. */
    String buffer();

    /**
     * The next events, or null at the end. The batch stays valid until the following call, unless
     * retained. Corrupt parts are skipped and stand as {@code notice:corrupt} rows. A lane of a
     * recording that is still written gives an empty batch while it has nothing new.
     */
    @Nullable Batch next() throws IOException;

    /** Gives back what the lane holds, its source stays open. */
    @Override
    void close();
}
