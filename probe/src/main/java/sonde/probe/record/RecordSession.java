package sonde.probe.record;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import sonde.format.bundle.Meta;
import sonde.format.tracedat.TraceDatMetadata;
import sonde.probe.perf.PerfTarget;
import sonde.probe.plan.Plan;
import sonde.probe.tracefs.CpuStats;
import sonde.probe.tracefs.InstanceName;
import sonde.probe.tracefs.Tracefs;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.Machine;
import sonde.sys.PollSet;
import sonde.sys.Processes;
import sonde.sys.SyscallException;

/**
 * A recording that runs. One platform thread moves what the kernel wrote into files; it looks at no
 * event. {@link #stop} ends it and finishes the bundle; {@link #close}, also called by a shutdown
 * hook, does so if nobody did, so that nothing stays switched on.
 *
 * <p>Killed at any moment it leaves a bundle that {@link BundleRepair} finishes, and instances that
 * the next session removes.
 */
public final class RecordSession implements AutoCloseable {
    /** Longest time between an event and its place in a file. */
    private static final long POLL_NANOS = 100_000_000;

    private static final int CLOCK_PROCESS_CPUTIME = 2;

    private final Plan plan;
    private final BundleFolder folder;
    private final RecordRequest request;
    private final long cpuAtStart = Clocks.nanos(CLOCK_PROCESS_CPUTIME);
    private final List<String> notes = new ArrayList<>();
    private final Object lock = new Object();
    private final CountDownLatch armed = new CountDownLatch(1);
    private @Nullable FtraceRecorder ftrace;
    private @Nullable PerfRecorder perf;
    private @Nullable Thread thread;
    private @Nullable Thread closing;
    private @Nullable Thread formatsThread;
    private @Nullable Thread hook;
    private volatile @Nullable TraceDatMetadata metadata;
    private volatile boolean stopping;
    private volatile String failure = "";
    private Meta meta;
    private boolean finished;

    private RecordSession(Plan plan, BundleFolder folder, RecordRequest request)
            throws SyscallException {
        this.plan = plan;
        this.folder = folder;
        this.request = request;
        this.meta = SessionMeta.initial(plan, request);
    }

    /**
     * Writes meta.json, arms every source of the plan, writes what exists already, and starts to
     * record. When this returns, events of the target are taken.
     *
     * @param folder empty; stays the caller's to close, after the session
     * @throws IOException when not even one source could be opened, or the folder not be written;
     *     nothing stays switched on
     */
    public static RecordSession start(Plan plan, BundleFolder folder, RecordRequest request)
            throws IOException {
        RecordSession session = new RecordSession(plan, folder, request);
        try {
            session.open();
            return session;
        } catch (IOException | RuntimeException e) {
            session.abandon();
            throw e;
        }
    }

    private void open() throws IOException {
        plan.gaps().forEach(gap -> notes.add(gap.sentence()));
        folder.reserve();
        folder.writeMeta(meta);
        hook = new Thread(this::close, "sonde-close");
        Runtime.getRuntime().addShutdownHook(hook);
        startThread();
        List<Integer> cpus = meta.machine().cpus();
        Tracefs tracefs = Tracefs.find().orElse(null);
        KernelFormats formats = null;
        if (tracefs != null) {
            for (String leftover : tracefs.removeLeftovers()) {
                notes.add("removed " + leftover + ", left by a killed recorder");
            }
            formats = KernelFormats.read(tracefs, tracepoints(), request.sondeVersion());
            startFormats(formats, cpus.size());
        }
        // Now that all threads run, so that filters know them.
        meta = meta.withRecorder(self());
        if (tracefs != null && !plan.buffers().isEmpty()) {
            ftrace = FtraceRecorder.open(plan, tracefs, folder, cpus);
        }
        openPerf(cpus, tracefs, formats);
        if (ftrace == null && perf == null) {
            throw new IOException("nothing can be recorded: " + String.join("; ", notes));
        }
        nameParts();
        arm();
    }

    private List<String> tracepoints() {
        List<String> names = new ArrayList<>();
        plan.buffers().forEach(buffer -> names.addAll(buffer.events()));
        plan.sampled().stream().filter(event -> event.raw()).forEach(e -> names.add(e.name()));
        return names;
    }

    /** kallsyms takes the kernel 60 ms and more to print: beside everything else. */
    private void startFormats(KernelFormats formats, int cpuCount) {
        long traceId = meta.times().startNanos() * 31 + meta.recorder().pid();
        formatsThread =
                Thread.ofPlatform()
                        .daemon()
                        .name("sonde-formats")
                        .start(() -> {
                            try {
                                TraceDatMetadata read = formats.metadata(traceId, cpuCount);
                                metadata = read;
                                KernelFormats.save(folder, read);
                            } catch (IOException e) {
                                note("kernel formats not kept: " + e.getMessage());
                            }
                        });
    }

    private void openPerf(
            List<Integer> cpus, @Nullable Tracefs tracefs, @Nullable KernelFormats formats)
            throws IOException {
        if (plan.sampled().isEmpty()) {
            return;
        }
        List<Integer> bound =
                plan.systemWide() ? List.of() : List.copyOf(ProcessTree.allThreads(tree()));
        PerfTarget target = new PerfTarget(bound, meta.recorder().tids());
        try {
            perf =
                    PerfRecorder.open(
                            plan,
                            folder,
                            cpus,
                            target,
                            new PerfRecorder.Headline(
                                    request.sondeVersion(),
                                    request.argv(),
                                    meta.times().startNanos(),
                                    meta.times().startWallNanos()),
                            tracefs,
                            formats,
                            request.program());
        } catch (SyscallException e) {
            note("no perf events: " + e.getMessage());
        }
    }

    private List<Integer> tree() {
        return ProcessTree.processes(request.rootPids());
    }

    private void nameParts() throws SyscallException {
        List<Meta.Part> parts = new ArrayList<>();
        if (perf != null) {
            parts.add(new Meta.Part(PerfRecorder.FILE, Meta.PartKind.PERF_DATA, "", -1));
        }
        if (ftrace != null) {
            parts.add(new Meta.Part(KernelFormats.FILE, Meta.PartKind.KERNEL_FORMATS, "", -1));
            parts.addAll(ftrace.parts());
        }
        meta =
                meta.withParts(parts)
                        .withProcesses(
                                ProcessTree.descriptors(
                                        tree(), request.mode() == Meta.Mode.COMMAND),
                                List.of());
        folder.writeMeta(meta);
    }

    /** Filters first, then events; what starts meanwhile is found by looking until none is new. */
    private void arm() throws IOException {
        Set<Integer> followed = new HashSet<>();
        if (ftrace != null) {
            followed.addAll(ProcessTree.allThreads(tree()));
            ftrace.follow(followed);
            ftrace.exclude(meta.recorder().tids());
            ftrace.on();
        }
        if (perf != null) {
            perf.on();
        }
        while (ftrace != null) {
            Set<Integer> more = ProcessTree.allThreads(tree());
            more.removeAll(followed);
            if (more.isEmpty()) {
                break;
            }
            ftrace.follow(more);
            followed.addAll(more);
        }
        armed.countDown();
    }

    private void startThread() {
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("sonde-record")
                        .start(() -> {
                            try {
                                armed.await();
                                loop();
                            } catch (InterruptedException e) {
                                fail("interrupted");
                            }
                        });
    }

    private void loop() {
        List<Integer> fds = new ArrayList<>();
        if (stopping) {
            return;
        }
        if (perf != null) {
            fds.addAll(perf.pollable());
        }
        if (ftrace != null) {
            fds.addAll(ftrace.pollable());
        }
        try (Arena arena = Arena.ofConfined()) {
            PollSet poll = new PollSet(arena, Math.max(fds.size(), 1));
            for (int fd : fds) {
                poll.add(fd, PollSet.POLLIN);
            }
            while (!stopping) {
                if (poll.await(POLL_NANOS) > 0) {
                    dropDead(poll, fds.size());
                }
                if (drain()) {
                    return;
                }
            }
        } catch (IOException e) {
            fail(String.valueOf(e.getMessage()));
        }
    }

    /** A perf event whose last task is gone hangs up for ever; it is drained on the time limit. */
    private static void dropDead(PollSet poll, int count) {
        for (int i = 0; i < count; i++) {
            if ((poll.ready(i) & (PollSet.POLLHUP | PollSet.POLLERR | PollSet.POLLNVAL)) != 0) {
                poll.remove(i);
            }
        }
    }

    /** One pass over all rings; true when a file cannot be written any more. */
    private boolean drain() throws IOException {
        int errno = 0;
        if (ftrace != null) {
            errno = ftrace.drain();
        }
        if (perf != null) {
            int perfErrno = perf.drain();
            errno = errno == 0 ? perfErrno : errno;
        }
        if (errno != 0) {
            fail("the recording could not be written: " + Errno.describe(errno));
            return true;
        }
        return false;
    }

    /** Ends the recording early; what is there is kept. */
    private void fail(String reason) {
        failure = reason;
        note(reason);
        try {
            off();
        } catch (IOException e) {
            note(String.valueOf(e.getMessage()));
        }
    }

    private void note(String sentence) {
        synchronized (notes) {
            notes.add(sentence);
        }
    }

    private void off() throws IOException {
        if (ftrace != null) {
            ftrace.off();
        }
        if (perf != null) {
            perf.off();
        }
    }

    /** Says when the command was let go; its pid's events before that are sonde's own. */
    public void released(long execNanos) throws IOException {
        synchronized (lock) {
            Meta.Times times = meta.times();
            meta =
                    meta.withTimes(
                            new Meta.Times(
                                    times.startNanos(), times.startWallNanos(), execNanos, -1));
            folder.writeMeta(meta);
        }
    }

    /** Adds a map of compiled code that lies in the folder. */
    public void addJvmMap(Meta.JvmMap map) throws IOException {
        synchronized (lock) {
            List<Meta.JvmMap> maps = new ArrayList<>(meta.jvmMaps());
            maps.removeIf(known -> known.file().equals(map.file()));
            maps.add(map);
            List<Meta.Part> parts = new ArrayList<>(meta.layout().parts());
            parts.removeIf(part -> part.name().equals(map.file()));
            parts.add(new Meta.Part(map.file(), Meta.PartKind.JVM_MAP, "", -1));
            meta = meta.withProcesses(meta.descriptors(), maps).withParts(parts);
            folder.writeMeta(meta);
        }
    }

    /** Adds a sentence for the summary. */
    public void addNote(String sentence) {
        note(sentence);
    }

    /** How it goes. */
    public Progress progress() {
        long events = 0;
        long bytes = 0;
        long lost = 0;
        synchronized (lock) {
            if (finished) {
                return new Progress(0, 0, 0, 0, failure);
            }
            try {
                if (perf != null) {
                    events += perf.rings().records();
                    bytes += perf.bytes();
                    lost += perf.rings().lostSoFar();
                }
                if (ftrace != null) {
                    CpuStats stats = ftrace.total();
                    events += stats.read();
                    bytes += ftrace.bytes();
                    lost += stats.dropped() + stats.commitOverrun();
                }
            } catch (SyscallException e) {
                note(String.valueOf(e.getMessage()));
            }
        }
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        return new Progress(now - meta.times().startNanos(), events, bytes, lost, failure);
    }

    /** What meta.json says now. */
    public Meta meta() {
        synchronized (lock) {
            return meta;
        }
    }

    /**
     * Switches off, drains to the end, accounts, and finishes the files. What cannot be finished
     * (full disk) stays as {@link BundleRepair} can take it, with a note.
     *
     * @param exit how the command ended, null without one
     */
    public Meta stop(Meta.@Nullable Exit exit) throws IOException {
        synchronized (lock) {
            if (finished) {
                return meta;
            }
            finished = true;
            try {
                end(exit);
            } finally {
                closeSources();
                removeHook();
            }
            return meta;
        }
    }

    private void end(Meta.@Nullable Exit exit) throws IOException {
        off();
        long endNanos = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        stopping = true;
        armed.countDown();
        join(thread);
        drainToEnd();
        List<Meta.Descriptors> tables = new ArrayList<>(meta.descriptors());
        if (request.mode() == Meta.Mode.PID) {
            tables.addAll(ProcessTree.descriptors(tree(), false));
        }
        Meta.Times times = meta.times();
        meta =
                meta.withTimes(
                                new Meta.Times(
                                        times.startNanos(),
                                        times.startWallNanos(),
                                        times.execNanos(),
                                        endNanos))
                        .withTarget(
                                new Meta.Target(
                                        request.mode(), request.argv(), request.rootPids(), exit))
                        .withProcesses(tables, meta.jvmMaps());
        List<Meta.Loss> losses = new ArrayList<>();
        List<byte[]> cpuStats = List.of();
        if (ftrace != null) {
            losses.addAll(ftrace.losses());
            cpuStats = ftrace.cpuStats();
        }
        Map<Integer, String> comms = Map.of();
        if (perf != null) {
            losses.addAll(perf.losses());
            perf.finish(times.startNanos(), endNanos);
            comms = perf.rings().comms().byTid();
        }
        closeSources();
        folder.releaseReserve();
        assemble(comms, cpuStats);
        meta =
                meta.withState(Meta.State.FINISHED)
                        .withAccount(losses, allNotes())
                        .withRecorder(SessionMeta.recorder(meta.recorder(), cpuAtStart));
        folder.writeMeta(meta);
    }

    private void drainToEnd() throws IOException {
        if (perf != null) {
            perf.drain();
            if (perf.drain() != 0 && failure.isEmpty()) {
                failure = "perf.data could not be written to its end";
                note(failure);
            }
        }
        if (ftrace != null) {
            int errno = ftrace.drainToEnd();
            if (errno != 0 && failure.isEmpty()) {
                failure = "spools could not be written: " + Errno.describe(errno);
                note(failure);
            }
        }
    }

    private void assemble(Map<Integer, String> comms, List<byte[]> cpuStats) {
        join(formatsThread);
        TraceDatMetadata kept = metadata;
        if (ftrace == null || kept == null) {
            return;
        }
        try {
            TraceDatMetadata whole = KernelFormats.complete(kept, comms, cpuStats);
            meta = meta.withParts(TraceDatAssembly.assemble(folder, meta.layout().parts(), whole));
        } catch (IOException e) {
            note("trace.dat could not be made, its parts are kept: " + e.getMessage());
        }
    }

    private List<String> allNotes() {
        List<String> all = new ArrayList<>();
        synchronized (notes) {
            all.addAll(notes);
        }
        if (perf != null) {
            all.addAll(perf.notes());
        }
        if (ftrace != null) {
            all.addAll(ftrace.notes());
        }
        return all;
    }

    private static void join(@Nullable Thread waited) {
        boolean interrupted = false;
        while (waited != null && waited.isAlive()) {
            try {
                waited.join();
            } catch (InterruptedException e) {
                // The files come first; the caller learns of it afterwards.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Instances go at once. perf events are silent since {@link #off}, but closing one on a
     * tracepoint waits for RCU grace periods under the kernel's event_mutex, 20 to 50 ms each
     * (Linux 6.18, perf_trace_event_unreg), so that is done aside; the end of the process does the
     * same.
     */
    private void closeSources() {
        if (ftrace != null) {
            ftrace.close();
        }
        PerfRecorder open = perf;
        if (open != null && closing == null) {
            closing = Thread.ofPlatform().daemon().name("sonde-close-perf").start(open::close);
        }
    }

    /** Waits until every descriptor of the recording is closed. */
    public void awaitClosed() {
        join(closing);
    }

    /** After a start that failed: as if it had never been, but for the folder. */
    private void abandon() {
        synchronized (lock) {
            finished = true;
            stopping = true;
            armed.countDown();
            join(thread);
            closeSources();
            join(formatsThread);
            removeHook();
        }
    }

    private void removeHook() {
        Thread registered = hook;
        if (registered != null && !registered.equals(Thread.currentThread())) {
            try {
                Runtime.getRuntime().removeShutdownHook(registered);
            } catch (IllegalStateException e) {
                // The JVM is going down: the hook waits for the lock and finds nothing to do.
                hook = null;
            }
        }
    }

    /** {@link #stop} without a command's end, if nobody stopped it. */
    @Override
    public void close() {
        try {
            stop(null);
        } catch (IOException e) {
            failure = "the recording could not be finished: " + e.getMessage();
        }
    }

    /** Why it ended by itself, or could not be finished. */
    public Optional<String> failure() {
        return failure.isEmpty() ? Optional.empty() : Optional.of(failure);
    }

    /** Names the session's own process in a way that survives it. */
    static Meta.Recorder self() {
        int pid = Processes.getpid();
        return new Meta.Recorder(
                pid, ProcessTree.threads(pid), InstanceName.startTicks(pid), -1, -1);
    }

    /** The CPUs that are recorded. */
    static List<Integer> onlineCpus() throws SyscallException {
        return Machine.onlineCpus().stream().boxed().toList();
    }
}
