package sonde.tools.record;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import sonde.probe.jvm.JvmAttach;
import sonde.probe.launch.OutputFolder;
import sonde.probe.record.RecordSession;
import sonde.recording.bundle.JavaThreads;
import sonde.recording.bundle.RecordingMeta;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Fetches the perf map of every JVM among the recorded processes: when it is first seen, every five
 * seconds, and at the end. A map names code compiled until then; how old it is stands in meta.json.
 * Once a second at most it asks for the threads, with the locks that they hold and wait for. The
 * JVM stands still meanwhile, so a question that took long is asked less often: they cost the
 * program at most one part in {@link #COST_SHARE}.
 */
final class JvmWatch implements AutoCloseable {
    private static final long SCAN_MILLIS = 500;
    private static final long REFRESH_NANOS = 5_000_000_000L;

    /** Most dumps of one process. */
    private static final int MOST_DUMPS = 32;

    private static final int SCANS_PER_DUMP = 2;
    private static final int COST_SHARE = 50;

    /** A thread waits for a lock of java.util.concurrent that has an owner. */
    private static final Pattern OWNED =
            Pattern.compile(
                    "parking to wait for .*\\(a java\\.util\\.concurrent\\.locks\\.Reentrant");

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);

    /** Also the limit of one map, bytes. */
    private static final int MAP_LIMIT = 64 << 20;

    private final OutputFolder output;
    private final RecordSession session;
    private final Supplier<List<Integer>> processes;
    private final Map<Integer, Seen> seen = new TreeMap<>();
    private final Thread thread;
    private volatile boolean ended;

    /** What is known of a process. */
    private static final class Seen {
        private boolean jvm;
        private boolean refused;
        private int scans;
        private long fetchedNanos;
        private int dumps;
        private long dumpNanos;
        private long ownersNanos;
    }

    /**
     * @param processes whom to look at, asked twice a second
     */
    JvmWatch(OutputFolder output, RecordSession session, Supplier<List<Integer>> processes) {
        this.output = output;
        this.session = session;
        this.processes = processes;
        this.thread = Thread.ofPlatform().daemon().name("sonde-jvm").unstarted(this::watch);
    }

    void start() {
        thread.start();
    }

    private void watch() {
        try {
            while (!ended) {
                scan(false);
                Thread.sleep(SCAN_MILLIS);
            }
        } catch (InterruptedException e) {
            ended = true;
        }
    }

    private synchronized void scan(boolean last) throws InterruptedException {
        for (int pid : processes.get()) {
            Seen process = seen.computeIfAbsent(pid, _ -> new Seen());
            process.scans++;
            // A process becomes a JVM some time after it was forked: look again at 1, 2, 4, 8, …
            if (!process.jvm && (last || Integer.bitCount(process.scans) == 1)) {
                process.jvm = JvmAttach.isJvm(pid);
            }
            long age = Clocks.nanos(Clocks.CLOCK_MONOTONIC) - process.fetchedNanos;
            if (process.jvm && !process.refused && (last || age > REFRESH_NANOS)) {
                fetch(pid, process);
            }
            // The last one may come at the limit: it is the one that shows what hangs.
            boolean due = last || process.scans % SCANS_PER_DUMP == 1;
            if (process.jvm && due && process.dumps < (last ? MOST_DUMPS : MOST_DUMPS - 1)) {
                dump(pid, process, last);
            }
        }
    }

    private void fetch(int pid, Seen process) throws InterruptedException {
        try {
            byte[] map = JvmAttach.perfMap(pid, ANSWER_LIMIT);
            process.fetchedNanos = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            store(pid, map, process.fetchedNanos);
        } catch (IOException e) {
            if (lives(pid)) {
                process.refused = true;
                session.addNote("no names of compiled code of JVM " + pid + ": " + e.getMessage());
            }
        }
    }

    /** Who holds which lock, where the JVM answers. */
    private void dump(int pid, Seen process, boolean last) throws InterruptedException {
        try {
            long begin = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            if (begin < process.dumpNanos && !last) {
                return;
            }
            String told = JvmAttach.threads(pid, false, ANSWER_LIMIT);
            process.dumpNanos = paused(begin);
            begin = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            if ((last || begin >= process.ownersNanos) && OWNED.matcher(told).find()) {
                told = JvmAttach.threads(pid, true, ANSWER_LIMIT);
                process.ownersNanos = paused(begin);
            }
            byte[] text = told.getBytes(StandardCharsets.UTF_8);
            String name = JavaThreads.partName(pid, process.dumps++);
            int file = output.file(name);
            try {
                Fd.writeFully(file, text);
            } finally {
                Fd.discard(file);
            }
            session.addPart(name);
        } catch (IOException e) {
            process.dumps = MOST_DUMPS; // it has ended, or answers nobody
        }
    }

    /** When a question may be asked again that was asked then. */
    private static long paused(long begin) {
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        return now + (now - begin) * COST_SHARE;
    }

    private static boolean lives(int pid) {
        try {
            ProcessCalls.kill(pid, 0);
            return true;
        } catch (SyscallException e) {
            return e.errno() == Errno.EPERM;
        }
    }

    /** Replaces the map of that process: a reader sees the old one or the new one. */
    private void store(int pid, byte[] map, long atNanos) throws IOException {
        String name = "perf-" + pid + ".map";
        String fresh = name + ".new";
        int file = output.file(fresh);
        try {
            Fd.writeFully(file, map);
        } finally {
            Fd.discard(file);
        }
        output.rename(fresh, name);
        session.addJvmMap(new RecordingMeta.JvmMap(pid, name, atNanos));
    }

    /**
     * Takes the maps that JVMs wrote when they ended (-XX:+DumpPerfMapAtExit) and removes them from
     * /tmp; only regular files of root or of this user count.
     */
    synchronized void collectDumps() {
        for (int pid : seen.keySet()) {
            String path = "/tmp/perf-" + pid + ".map";
            try {
                int file =
                        FileCalls.open(
                                path,
                                FileCalls.O_RDONLY | FileCalls.O_NOFOLLOW | FileCalls.O_NONBLOCK);
                try {
                    FileStatus status = FileCalls.fstat(file);
                    boolean ours = status.uid() == 0 || status.uid() == ProcessCalls.geteuid();
                    if (status.isRegular() && ours && status.sizeBytes() <= MAP_LIMIT) {
                        byte[] map = FileCalls.readAll(file, MAP_LIMIT);
                        store(pid, map, Clocks.nanos(Clocks.CLOCK_MONOTONIC));
                        FileCalls.unlinkat(
                                FileCalls.AT_FDCWD, path.getBytes(StandardCharsets.UTF_8), 0);
                    }
                } finally {
                    Fd.discard(file);
                }
            } catch (IOException e) {
                continue; // not a JVM, or it wrote none
            }
        }
    }

    /** Asks those that still live once more and ends. */
    @Override
    public void close() {
        ended = true;
        thread.interrupt();
        try {
            thread.join(ANSWER_LIMIT.toMillis());
            scan(true);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
