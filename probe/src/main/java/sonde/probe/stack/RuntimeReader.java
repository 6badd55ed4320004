package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import sonde.bpf.ring.RingBuffer;

/**
 * A thread that reads JVMs, methods and code of Java, and functions of JavaScript when programs in
 * the kernel first meet them. It waits for no tables, since the process may end soon.
 */
final class RuntimeReader implements AutoCloseable {
    private static final long WAIT_NANOS = 10_000_000;

    private final JvmTable jvms;
    private final RuntimeNames names;
    private final RingBuffer reports;
    private final Thread thread;
    private volatile boolean ending;

    private RuntimeReader(JvmTable jvms, RuntimeNames names) throws IOException {
        this.jvms = jvms;
        this.names = names;
        reports = RingBuffer.open(jvms.reports());
        thread = Thread.ofPlatform().daemon().name("sonde-names").unstarted(this::run);
    }

    /** Starts the thread; it is over when this is closed. */
    static RuntimeReader start(JvmTable jvms, RuntimeNames names) throws IOException {
        RuntimeReader reader = new RuntimeReader(jvms, names);
        reader.thread.start();
        return reader;
    }

    private void run() {
        try {
            while (!ending) {
                reports.await(WAIT_NANOS);
                List<MemorySegment> found = new ArrayList<>();
                reports.drain((memory, offset, bytes) ->
                        found.add(
                                MemorySegment.ofArray(
                                        memory.asSlice(offset, bytes).toArray(JAVA_BYTE))));
                found.forEach(this::reported);
                jvms.read();
                names.readWanted();
            }
        } catch (IOException e) {
            ending = true; // these frames have no names from now on
        }
    }

    /** What a program told: {@link JvmTable#REPORT_BYTES}, or a function of JavaScript. */
    private void reported(MemorySegment report) {
        if (report.byteSize() == RuntimeScratch.SCRIPT_REPORT_BYTES) {
            names.scriptReported(report);
            return;
        }
        long word = report.get(JAVA_LONG_UNALIGNED, 0);
        int pid = (int) report.get(JAVA_LONG_UNALIGNED, 8);
        if (word == 0) {
            jvms.reported(report.get(JAVA_LONG_UNALIGNED, 16), pid);
        } else {
            names.read(pid, word);
        }
    }

    @Override
    public void close() {
        ending = true;
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        reports.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
