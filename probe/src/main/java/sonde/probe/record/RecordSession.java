package sonde.probe.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.probe.plan.RecordPlan;
import sonde.probe.record.RecorderSet.RingAccount;
import sonde.probe.tracefs.InstanceName;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.MachineFacts;
import sonde.sys.ProcessCalls;
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
    private static final int CLOCK_PROCESS_CPUTIME = 2;

    /** Processes that a sentence names. */
    private static final int MOST_SHOWN = 5;

    /** Nice value of our threads while recording: on a busy machine they must not come too late. */
    private static final int NICE = -10;

    private final RecordPlan plan;
    private final BundleFolder folder;
    private final RecordRequest request;
    private final long cpuAtStart = Clocks.nanos(CLOCK_PROCESS_CPUTIME);
    private final SummaryNotes notes = new SummaryNotes();
    private final Object lock = new Object();
    private final RecorderSet sources;
    private final DrainLoop loop;
    private @Nullable Thread hook;
    private RecordingMeta meta;

    /** VmHWM of this process when the command left its memory. */
    private volatile long ownPeakRss;

    private @Nullable TargetCounters counters;
    private volatile long armedNanos;

    /** What a full disk cost; empty for nothing. */
    private String unwritten = "";

    private boolean finished;
    private final int usualNice;

    private RecordSession(RecordPlan plan, BundleFolder folder, RecordRequest request)
            throws SyscallException {
        this.plan = plan;
        this.folder = folder;
        this.request = request;
        this.meta = SessionMeta.initial(plan, request);
        this.usualNice = nice(NICE);
        this.sources = new RecorderSet(plan, folder, request, notes);
        this.loop = new DrainLoop(sources, request.isFollowed(), notes);
    }

    /**
     * Writes meta.json, arms every source of the plan, writes what exists already, and starts to
     * record. When this returns, events of the target are taken.
     *
     * @param folder empty; stays the caller's to close, after the session
     * @throws IOException when not even one source could be opened, or the folder not be written;
     *     nothing stays switched on
     */
    public static RecordSession start(RecordPlan plan, BundleFolder folder, RecordRequest request)
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

    /** Under the lock: a shutdown hook that comes meanwhile waits, and then stops all of it. */
    private void open() throws IOException {
        synchronized (lock) {
            plan.gaps().forEach(gap -> notes.add(gap.sentence()));
            folder.reserve();
            folder.writeMeta(meta);
            hook = new Thread(this::closeWholly, "sonde-close");
            Runtime.getRuntime().addShutdownHook(hook);
            long traceId = meta.times().startNanos() * 31 + meta.recorder().pid();
            sources.prepare(meta.machine().cpus(), onlineCpus().size(), traceId);
            // Now that all threads run, so that filters know them.
            meta = meta.withRecorder(self());
            sources.openPerf(meta);
            List<RecordingMeta.Descriptors> descriptors = descriptors();
            sources.awaitDense();
            meta = meta.withParts(sources.parts()).withProcesses(descriptors, List.of());
            folder.writeMeta(meta);
            if (request.mode() == TargetMode.ALL) {
                // Nobody waits for the start: our reading is not to be among the first events.
                sources.awaitFormats();
            }
            counters = TargetCounters.begin(request.mode(), request.rootPids());
            sources.arm(meta.recorder().tids());
            armedNanos = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            long wall = Clocks.nanos(Clocks.CLOCK_REALTIME);
            meta = meta.withTimes(new RecordingTimes(armedNanos, wall, -1, -1));
            folder.writeMeta(meta);
            loop.armed();
        }
    }

    private List<RecordingMeta.Descriptors> descriptors() {
        boolean all = request.mode() == TargetMode.ALL;
        boolean waiting = request.mode() == TargetMode.COMMAND;
        DescriptorTables.Taken taken =
                DescriptorTables.take(
                        all ? DescriptorTables.everybody() : sources.tree(),
                        waiting,
                        DescriptorTables.LIMIT_NANOS);
        if (taken.left() > 0) {
            notes.add(
                    "open files of "
                            + taken.left()
                            + " processes were not looked at, it would have taken too long; what"
                            + " they open from now on has its name");
        }
        return taken.tables();
    }

    /** Says when the command was let go; its pid's events before that are sonde's own. */
    public void released(long execNanos) throws IOException {
        synchronized (lock) {
            RecordingTimes times = meta.times();
            meta =
                    meta.withTimes(
                            new RecordingTimes(
                                    times.startNanos(), times.startWallNanos(), execNanos, -1));
            folder.writeMeta(meta);
        }
        ownPeakRss = SessionMeta.peakRss();
    }

    /** Takes another process in, with its threads and what it starts from now on. */
    public void follow(int pid) throws IOException {
        synchronized (lock) {
            if (finished) {
                return;
            }
            sources.follow(pid);
            RecordedTarget target = meta.target();
            List<Integer> roots = new ArrayList<>(target.rootPids());
            roots.add(pid);
            meta =
                    meta.withTarget(
                            new RecordedTarget(
                                    target.mode(), target.argv(), roots, null, target.counters()));
            folder.writeMeta(meta);
        }
    }

    /** Adds a map of compiled code that lies in the folder. */
    public void addJvmMap(RecordingMeta.JvmMap map) throws IOException {
        synchronized (lock) {
            List<RecordingMeta.JvmMap> maps = new ArrayList<>(meta.jvmMaps());
            maps.removeIf(known -> known.file().equals(map.file()));
            maps.add(map);
            List<BundlePart> parts = new ArrayList<>(meta.layout().parts());
            parts.removeIf(part -> part.name().equals(map.file()));
            parts.add(new BundlePart(map.file(), RecordingMeta.PartKind.JVM_MAP, "", -1));
            meta = meta.withProcesses(meta.descriptors(), maps).withParts(parts);
            folder.writeMeta(meta);
        }
    }

    /** Adds a text that lies in the folder. */
    public void addPart(String name) throws IOException {
        synchronized (lock) {
            List<BundlePart> parts = new ArrayList<>(meta.layout().parts());
            parts.add(new BundlePart(name, RecordingMeta.PartKind.OTHER, "", -1));
            meta = meta.withParts(parts);
            folder.writeMeta(meta);
        }
    }

    /** The files that hold events, opened for a reader beside the session, which closes them. */
    public List<GrowingFile> growing() throws IOException {
        return sources.growing();
    }

    /** The formats of the events of spools, waited for; empty where the kernel shows none. */
    public Optional<TraceDatMetadata> formats() {
        sources.awaitFormats();
        return Optional.ofNullable(sources.metadata());
    }

    /** Reads the counters of the target again: memory, throttling. */
    public void look() {
        synchronized (lock) {
            if (counters != null && !finished) {
                counters.look();
            }
        }
    }

    /** Adds a sentence for the summary. */
    public void addNote(String sentence) {
        notes.add(sentence);
    }

    /** How it goes. */
    public RecordProgress progress() {
        RecordProgress sum = new RecordProgress(0, 0, 0, 0, "");
        synchronized (lock) {
            if (finished) {
                return new RecordProgress(0, 0, 0, 0, loop.failure());
            }
            try {
                sum = sources.progress();
            } catch (SyscallException e) {
                notes.add(String.valueOf(e.getMessage()));
            }
            return new RecordProgress(
                    nanos(), sum.events(), sum.bytes(), sum.lost(), loop.failure());
        }
    }

    /** Nanoseconds since the sources were switched on. */
    public long nanos() {
        return Clocks.nanos(Clocks.CLOCK_MONOTONIC) - armedNanos;
    }

    /** What meta.json says now. */
    public RecordingMeta meta() {
        synchronized (lock) {
            return meta;
        }
    }

    /**
     * Switches off, drains to the end, accounts, and finishes the files. What cannot be finished
     * (full disk) stays as {@link BundleRepair} can take it, with a note and a {@link #failure}:
     * how the command ended is to be said in any case.
     *
     * @param exit how the command ended, null without one
     */
    public RecordingMeta stop(RecordingMeta.@Nullable CommandExit exit) {
        synchronized (lock) {
            if (finished) {
                return meta;
            }
            finished = true;
            try {
                end(exit);
            } catch (IOException | RuntimeException e) {
                String why =
                        e instanceof IOException ? String.valueOf(e.getMessage()) : e.toString();
                loop.fail("the recording could not be finished: " + why);
            } finally {
                sources.close(this::removeHook);
                nice(usualNice);
            }
            return meta;
        }
    }

    /** Of this thread, and of those that it starts from now on; returns what it was. */
    private static int nice(int wanted) {
        try {
            int own = ProcessCalls.nice(0);
            ProcessCalls.nice(0, wanted);
            return own;
        } catch (SyscallException e) {
            return 0; // not permitted without CAP_SYS_NICE
        }
    }

    /** When the command's own program began, once all is drained. */
    private OptionalLong firstExec() {
        return !request.argv().isEmpty()
                ? sources.firstExec(request.rootPids().getFirst())
                : OptionalLong.empty();
    }

    private void end(RecordingMeta.@Nullable CommandExit exit) throws IOException {
        Collection<Integer> threads = exit == null ? List.of() : sources.threads();
        long endNanos = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        sources.off();
        loop.stop();
        int errno = sources.drainToEnd();
        if (errno != 0) {
            loop.fail("the recording could not be written to its end: " + Errno.describe(errno));
        }
        sources.threadsAtEnd(endNanos);
        List<RecordingMeta.Descriptors> tables = new ArrayList<>(meta.descriptors());
        if (request.mode() == TargetMode.PID) {
            tables.addAll(descriptors());
        }
        RecordingTimes times = meta.times();
        meta =
                meta.withTimes(
                                new RecordingTimes(
                                        times.startNanos(),
                                        times.startWallNanos(),
                                        firstExec().orElse(times.execNanos()),
                                        endNanos))
                        .withTarget(
                                new RecordedTarget(
                                        request.mode(),
                                        request.argv(),
                                        meta.target().rootPids(),
                                        SessionMeta.own(exit, ownPeakRss),
                                        counters == null ? List.of() : counters.end()))
                        .withProcesses(tables, meta.jvmMaps());
        // On a full disk this is the room for the end of perf.data and for meta.json.
        folder.releaseReserve();
        RingAccount account = sources.account(times.startNanos(), endNanos);
        tellUnwritten(account.losses());
        sources.close(this::removeHook);
        meta = meta.withParts(sources.assemble(meta.layout().parts(), account));
        tellLiving(threads);
        meta =
                meta.withState(RecordingState.FINISHED)
                        .withAccount(account.losses(), sources.sentences())
                        .withUserStacks(sources.userStacks())
                        .withRecorder(SessionMeta.recorder(meta.recorder(), cpuAtStart));
        folder.writeMeta(meta);
    }

    /**
     * A command that ends may leave processes that run on: a daemon, what a shell did not await.
     */
    private void tellLiving(Collection<Integer> threads) {
        List<Integer> living = new ArrayList<>(ProcessTree.owners(threads));
        living.removeAll(request.rootPids());
        living.remove((Integer) ProcessCalls.getpid());
        if (living.isEmpty()) {
            return;
        }
        List<Integer> shown = living.subList(0, Math.min(MOST_SHOWN, living.size()));
        String names =
                String.join(
                        ", ",
                        shown.stream().map(pid -> ProcessTree.name(pid) + " " + pid).toList());
        String pids = String.join(",", shown.stream().map(String::valueOf).toList());
        int more = living.size() - shown.size();
        boolean one = living.size() == 1;
        notes.add(
                (one ? "1 process" : living.size() + " processes")
                        + " that the command started still "
                        + (one ? "runs" : "run")
                        + ", and the recording ended before: "
                        + names
                        + (more > 0 ? " and " + more + " more" : "")
                        + "; 'sonde record -p "
                        + pids
                        + "' records "
                        + (one ? "it" : "them"));
    }

    private void tellUnwritten(List<RecordedLoss> losses) throws SyscallException {
        long missing =
                losses.stream()
                        .filter(loss -> loss.kind() == RecordingMeta.LossKind.NOT_WRITTEN)
                        .mapToLong(RecordedLoss::count)
                        .sum();
        if (missing > 0) {
            unwritten =
                    String.format(
                            Locale.ROOT,
                            "%,d events were not written after the %.1f MiB that are there",
                            missing,
                            sources.progress().bytes() / 1048576.0);
            notes.add(unwritten);
        }
    }

    /**
     * Waits until nothing of the recording is left in the kernel.
     *
     * @return what could not be removed, a sentence each
     */
    public List<String> awaitRemoved() {
        return sources.awaitRemoved();
    }

    /** After a start that failed: as if it had never been, but for the folder. */
    private void abandon() {
        synchronized (lock) {
            finished = true;
            loop.stop();
            sources.close(this::removeHook);
            sources.awaitFormats();
            sources.awaitRemoved();
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
        stop(null);
    }

    private void closeWholly() {
        close();
        sources.awaitRemoved();
    }

    /** Why it ended by itself, or could not be finished. */
    public Optional<String> failure() {
        String detail = unwritten.isEmpty() ? "" : "; " + unwritten;
        return Optional.of(loop.failure())
                .filter(reason -> !reason.isEmpty())
                .map(reason -> reason + detail);
    }

    /** Names the session's own process in a way that survives it. */
    static RecordingMeta.Recorder self() {
        int pid = ProcessCalls.getpid();
        return new RecordingMeta.Recorder(
                pid, ProcessTree.threads(pid), InstanceName.startTicks(pid), -1, -1);
    }

    /** The CPUs that could be recorded. */
    static List<Integer> onlineCpus() throws SyscallException {
        return MachineFacts.onlineCpus().stream().boxed().toList();
    }
}
