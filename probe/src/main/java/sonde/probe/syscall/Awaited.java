package sonde.probe.syscall;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** What another thread computes, with the exceptions that it met. */
public final class Awaited {
    private Awaited() {}

    /** Waits for the result. */
    public static <T> T of(Future<T> task) throws IOException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException refused) {
                throw refused;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while programs were loaded");
        }
    }
}
