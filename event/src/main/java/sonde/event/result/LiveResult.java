package sonde.event.result;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A result that changes.
 *
 * @param ticks gives the states one after the other
 */
public record LiveResult(String title, ResultTicks ticks) implements Result {
    /** A sequence of results. */
    @FunctionalInterface
    public interface ResultTicks {
        /** Waits for the next state; null when it has ended. */
        @Nullable Result next() throws IOException;
    }
}
