package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import sonde.bpf.ring.RingBuffer;
import sonde.probe.stack.UnwindFiles.ReportedFile;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * A thread that makes the tables of the files that programs in the kernel report, and one that
 * opens these files at once: a process may be over before its file's turn comes.
 */
final class TableMaker implements AutoCloseable {
    private static final long WAIT_NANOS = 20_000_000;
    private static final int MOST_OPEN = 200;

    private final UnwindFiles files;
    private final RuntimeNames names;
    private final RingBuffer reports;
    private final Thread maker;
    private final Thread opener;
    private final CountDownLatch commandRead = new CountDownLatch(1);
    private final BlockingQueue<ReportedFile> opened = new LinkedBlockingQueue<>(MOST_OPEN);

    /** Files in {@link #opened}, and the one that was taken from it last. */
    private final AtomicInteger unmade = new AtomicInteger();

    private volatile boolean ending;
    private volatile boolean opening;
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
        maker = thread("sonde-unwind", () -> make(command, pids));
        opener = thread("sonde-files", this::open);
    }

    private static Thread thread(String name, Runnable work) {
        return Thread.ofPlatform().daemon().name(name).unstarted(work);
    }

    /**
     * Starts the threads; they are over when this is closed.
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
        maker.maker.start();
        maker.opener.start();
        return maker;
    }

    private void make(List<String> command, Set<Integer> pids) {
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
                    makeOpened(0);
                }
            }
            making = false;
            while (!ending) {
                makeOpened(WAIT_NANOS);
                making = true;
                files.makeWanted();
                names.readWanted();
                making = false;
            }
        } catch (IOException e) {
            files.note("unwinding tables: " + e.getMessage());
        } catch (InterruptedException e) {
            // nobody interrupts it
        } finally {
            making = false;
            commandRead.countDown();
        }
    }

    /** Makes the tables of opened files; waits for the first one. */
    private void makeOpened(long nanos) throws IOException, InterruptedException {
        ReportedFile one = opened.poll(nanos, TimeUnit.NANOSECONDS);
        while (one != null) {
            try (ReportedFile file = one) {
                files.reported(file);
            } finally {
                unmade.decrementAndGet();
            }
            one = ending ? null : opened.poll();
        }
    }

    private void open() {
        try {
            while (!ending) {
                reports.await(WAIT_NANOS);
                opening = true;
                readReports();
                opening = false;
            }
        } catch (IOException e) {
            files.note("unwinding tables: " + e.getMessage());
        } finally {
            opening = false;
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
                unmade.incrementAndGet();
                ReportedFile file = files.open(MemorySegment.ofArray(report));
                if (!opened.offer(file)) {
                    file.close();
                    files.forget(file.key());
                    unmade.decrementAndGet();
                }
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
        return making || unmade.get() > 0 || opening || reports.hasRecords();
    }

    @Override
    public void close() {
        ending = true;
        boolean interrupted = false;
        while (maker.isAlive() || opener.isAlive()) {
            try {
                maker.join();
                opener.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        opened.forEach(ReportedFile::close);
        reports.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
