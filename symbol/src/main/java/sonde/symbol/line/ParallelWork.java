package sonde.symbol.line;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The same work by several threads, of which the calling one is one. */
final class ParallelWork {
    private ParallelWork() {}

    /** What a thread does. */
    interface Work {
        /**
         * Takes pieces until there are none left.
         *
         * @param own whether this is the calling thread
         */
        void run(boolean own);
    }

    /** Returns when all are done; what one of them throws is thrown here. */
    static void run(int threads, Work work) {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        List<Thread> others = new ArrayList<>();
        for (int i = 1; i < threads; i++) {
            others.add(
                    Thread.ofPlatform()
                            .name("symbols-" + i)
                            .daemon()
                            .uncaughtExceptionHandler((t, e) -> failure.set(e))
                            .start(() -> work.run(false)));
        }
        try {
            work.run(true);
        } finally {
            others.forEach(ParallelWork::join);
        }
        Throwable thrown = failure.get();
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown != null) {
            throw new IllegalStateException(thrown);
        }
    }

    private static void join(Thread thread) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
