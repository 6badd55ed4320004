package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import sonde.bpf.ring.RingBuffer;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** A thread that makes the tables of the files that programs in the kernel report. */
final class TableMaker implements AutoCloseable {
    private static final long WAIT_NANOS = 20_000_000;

    private final UnwindFiles files;
    private final RuntimeNames names;
    private final RingBuffer reports;
    private final Thread thread;
    private final CountDownLatch commandRead = new CountDownLatch(1);
    private volatile boolean ending;
    private volatile boolean making = true;

    private TableMaker(
            UnwindFiles files,
            RuntimeNames names,
            RingBuffer reports,
            List<String> command,
            Set<Integer> pids) {
        this.files = files;
        this.names = names;
        this.reports = reports;
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("sonde-unwind")
                        .unstarted(() -> run(command, pids));
    }

    /**
     * Starts the thread; it is over when this is closed.
     *
     * @param command whose files are read first; empty without one
     * @param pids processes whose files are read then
     */
    static TableMaker start(
            UnwindTables tables,
            UnwindFiles files,
            RuntimeNames names,
            List<String> command,
            Set<Integer> pids)
            throws IOException {
        RingBuffer reports = RingBuffer.open(tables.reports());
        TableMaker maker = new TableMaker(files, names, reports, command, pids);
        maker.thread.start();
        return maker;
    }

    private void run(List<String> command, Set<Integer> pids) {
        try {
            // The recorder's threads come before those of the program, but this one computes.
            ProcessCalls.nice(0, ProcessCalls.nice(ProcessCalls.getpid()));
        } catch (SyscallException e) {
            // It goes on as the others do.
        }
        try {
            files.vdso();
            files.command(command);
            commandRead.countDown();
            for (int pid : pids) {
                for (String path : files.unread(pid)) {
                    files.file(path);
                    readReports();
                }
            }
            making = false;
            while (!ending) {
                reports.await(WAIT_NANOS);
                making = true;
                readReports();
                files.makeWanted();
                names.readWanted();
                making = false;
            }
        } catch (IOException e) {
            files.note("unwinding tables: " + e.getMessage());
        } finally {
            making = false;
            commandRead.countDown();
        }
    }

    /** Reads what programs reported. */
    private void readReports() throws IOException {
        List<byte[]> found = new ArrayList<>();
        reports.drain((memory, offset, bytes) ->
                found.add(memory.asSlice(offset, bytes).toArray(JAVA_BYTE)));
        for (byte[] report : found) {
            if (report.length >= PythonReport.BYTES) {
                names.reported(MemorySegment.ofArray(report));
            } else {
                files.reported(MemorySegment.ofArray(report));
            }
        }
    }

    /** Waits for the tables of the command's files, though not long. */
    void awaitCommand(long millis) {
        try {
            commandRead.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until nothing is left to do, though not long. */
    void awaitQuiet(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        while (isMaking() && System.nanoTime() < end) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Whether a table is being made that stacks in the rings may lack. */
    boolean isMaking() {
        return making || reports.hasRecords();
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
