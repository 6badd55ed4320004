package sonde.bpf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Puts the event bpf_trace:bpf_trace_printk back after what leaves it on by right: another tool, a
 * program that was pinned. The kernel switches it on from a work queue, a little late.
 */
public final class PrintkGuard implements AutoCloseable {
    private static final Path EVENT =
            Path.of("/sys/kernel/tracing/events/bpf_trace/bpf_trace_printk/enable");

    private final String before;

    public PrintkGuard() throws IOException {
        before = state();
    }

    private static String state() throws IOException {
        return Files.exists(EVENT) ? Files.readString(EVENT).strip() : "";
    }

    @Override
    public void close() throws IOException {
        putBack();
    }

    /** As it was when this was made. */
    public void putBack() throws IOException {
        for (int i = 0; i < 10 && !before.isEmpty(); i++) {
            if (!state().equals(before)) {
                Files.writeString(EVENT, before);
            }
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
