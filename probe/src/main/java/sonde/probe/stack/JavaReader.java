package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.bpf.ring.RingBuffer;

/**
 * A thread that reads JVMs, their methods and their code when programs in the kernel first meet
 * them. It waits for no tables, since a JVM may end soon.
 */
final class JavaReader implements AutoCloseable {
    private static final long WAIT_NANOS = 10_000_000;

    private final JvmTable jvms;
    private final RuntimeNames names;
    private final RingBuffer reports;
    private final Thread thread;
    private volatile boolean ending;

    private JavaReader(JvmTable jvms, RuntimeNames names) throws IOException {
        this.jvms = jvms;
        this.names = names;
        reports = RingBuffer.open(jvms.reports());
        thread = Thread.ofPlatform().daemon().name("sonde-java").unstarted(this::run);
    }

    /** Starts the thread; it is over when this is closed. */
    static JavaReader start(JvmTable jvms, RuntimeNames names) throws IOException {
        JavaReader reader = new JavaReader(jvms, names);
        reader.thread.start();
        return reader;
    }

    /**
     * What a program told.
     *
     * @param word of an object; 0 for a process
     */
    private record JavaReport(long word, int pid, long memory) {}

    private void run() {
        try {
            while (!ending) {
                reports.await(WAIT_NANOS);
                List<JavaReport> found = new ArrayList<>();
                reports.drain((memory, offset, bytes) ->
                        found.add(
                                new JavaReport(
                                        memory.get(JAVA_LONG_UNALIGNED, offset),
                                        (int) memory.get(JAVA_LONG_UNALIGNED, offset + 8),
                                        memory.get(JAVA_LONG_UNALIGNED, offset + 16))));
                for (JavaReport one : found) {
                    if (one.word() == 0) {
                        jvms.reported(one.memory(), one.pid());
                    } else {
                        names.read(one.pid(), one.word());
                    }
                }
                jvms.read();
                names.readWanted();
            }
        } catch (IOException e) {
            ending = true; // frames of Java have no names from now on
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
