package sonde.bpf;

import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Closes many attachments at once. Detaching from a tracepoint waits for an RCU grace period (about
 * 10 to 30 ms); grace periods asked for at the same time are shared, so that many threads take
 * hardly longer than one.
 */
public final class LinkCloser {
    private LinkCloser() {}

    /** Closes links in parallel, then everything else, last opened first. */
    public static void all(Deque<AutoCloseable> parts) {
        List<Thread> threads = new ArrayList<>();
        for (AutoCloseable part : parts) {
            if (part instanceof Link link) {
                threads.add(Thread.ofPlatform().name("detach").start(link::close));
            }
        }
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("close of a descriptor", e);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
