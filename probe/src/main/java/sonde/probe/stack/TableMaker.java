package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import sonde.bpf.ring.RingBuffer;

/** A thread that makes the tables of the files that programs in the kernel report. */
final class TableMaker implements AutoCloseable {
    private static final long WAIT_NANOS = 20_000_000;

    private final UnwindFiles files;
    private final RingBuffer reports;
    private final Thread thread;
    private volatile boolean ending;

    /** What a thread does before it waits for reports. */
    interface FirstTables {
        void make() throws IOException;
    }

    private TableMaker(UnwindFiles files, RingBuffer reports, FirstTables first) {
        this.files = files;
        this.reports = reports;
        thread = Thread.ofPlatform().daemon().name("sonde-unwind").unstarted(() -> run(first));
    }

    /** Starts the thread; it is over when this is closed. */
    static TableMaker start(UnwindTables tables, UnwindFiles files, FirstTables first)
            throws IOException {
        TableMaker maker = new TableMaker(files, RingBuffer.open(tables.reports()), first);
        maker.thread.start();
        return maker;
    }

    private void run(FirstTables first) {
        try {
            first.make();
            while (!ending) {
                reports.await(WAIT_NANOS);
                List<byte[]> found = new ArrayList<>();
                reports.drain((memory, offset, bytes) ->
                        found.add(memory.asSlice(offset, bytes).toArray(JAVA_BYTE)));
                for (byte[] report : found) {
                    files.reported(MemorySegment.ofArray(report));
                }
                files.makeWanted();
            }
        } catch (IOException e) {
            files.note("unwinding tables: " + e.getMessage());
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
