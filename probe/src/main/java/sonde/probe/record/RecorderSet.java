package sonde.probe.record;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.Leftovers;
import sonde.probe.launch.Leftovers.Leftover;
import sonde.probe.names.NamesProgram;
import sonde.probe.perf.CountedTasks;
import sonde.probe.plan.CallGraph;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.SampledEvent;
import sonde.probe.snapshot.ThreadNow;
import sonde.probe.snapshot.ThreadSnapshot;
import sonde.probe.stack.HitSource;
import sonde.probe.stack.StackPrograms;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.recording.ftrace.CpuStats;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/** What a session records with: ftrace's rings, perf's, and the kernel's formats of both. */
final class RecorderSet {
    /** Somebody waits for the records: a table that is missing must not delay them for long. */
    private static final long FOLLOWED_HELD_NANOS = 100_000_000;

    private final RecordPlan plan;
    private final BundleFolder folder;
    private final RecordRequest request;
    private final SummaryNotes notes;
    private @Nullable Tracefs tracefs;
    private @Nullable FormatCopier formats;
    private volatile @Nullable FtraceRecorder ftrace;
    private @Nullable PerfRecorder perf;
    private @Nullable Thread formatsThread;
    private @Nullable Thread opening;
    private @Nullable Thread closing;
    private @Nullable Thread stacksThread;
    private volatile @Nullable StackPrograms stacks;
    private @Nullable Thread snapshotThread;
    private volatile @Nullable ThreadSnapshot snapshot;
    private @Nullable Thread removal;
    private volatile @Nullable SyscallException refusal;
    private volatile @Nullable TraceDatMetadata metadata;

    RecorderSet(RecordPlan plan, BundleFolder folder, RecordRequest request, SummaryNotes notes) {
        this.plan = plan;
        this.folder = folder;
        this.request = request;
        this.notes = notes;
    }

    /**
     * Cleans up behind killed recorders, and begins to make the instances and to read the formats
     * of the events.
     */
    void prepare(List<Integer> cpus, int cpuCount, long traceId) throws SyscallException {
        if (request.mode() != TargetMode.COMMAND && !plan.sampled().isEmpty()) {
            // Reads the kernel's types and loads a program: beside everything else.
            snapshotThread =
                    Thread.ofPlatform().daemon().name("sonde-threads").start(this::openSnapshot);
        }
        if (plan.spec().callGraph().kind() == CallGraph.Kind.BPF) {
            stacksThread = Thread.ofPlatform().name("sonde-stacks").start(this::loadStacks);
        }
        for (Leftover left : Leftovers.remove()) {
            notes.add("removed " + left.name() + ", left by a killed recorder");
        }
        Tracefs found = Tracefs.find().orElse(null);
        if (found == null) {
            return;
        }
        tracefs = found;
        if (!plan.buffers().isEmpty()) {
            // The kernel waits for RCU at each new clock and size of a ring, 20 to 70 ms each.
            opening =
                    Thread.ofPlatform()
                            .daemon()
                            .name("sonde-rings")
                            .start(() -> openDense(found, cpus));
        }
        FormatCopier read = formats(found);
        if (read == null) {
            return;
        }
        formats = read;
        // kallsyms takes the kernel 60 ms and more to print: beside everything else.
        formatsThread =
                Thread.ofPlatform()
                        .daemon()
                        .name("sonde-formats")
                        .start(() -> readMetadata(read, traceId, cpuCount));
    }

    /** Null where the kernel shows none (lockdown) and none is needed. */
    private @Nullable FormatCopier formats(Tracefs found) throws SyscallException {
        List<String> tracepoints = tracepoints();
        try {
            return FormatCopier.read(found, tracepoints, request.sondeVersion());
        } catch (SyscallException e) {
            if (tracepoints.isEmpty()) {
                return null;
            }
            throw e;
        }
    }

    private List<String> tracepoints() {
        List<String> names = new ArrayList<>();
        plan.buffers().forEach(buffer -> names.addAll(buffer.events()));
        plan.sampled().stream().filter(event -> event.raw()).forEach(e -> names.add(e.name()));
        return names;
    }

    private void readMetadata(FormatCopier read, long traceId, int cpuCount) {
        try {
            TraceDatMetadata whole = read.metadata(traceId, cpuCount);
            metadata = whole;
            FormatCopier.save(folder, whole);
        } catch (IOException e) {
            notes.add("kernel formats not kept: " + e.getMessage());
        }
    }

    private void openDense(Tracefs found, List<Integer> cpus) {
        try {
            ftrace = FtraceRecorder.open(plan, found, folder, cpus);
        } catch (SyscallException e) {
            refusal = e;
        }
    }

    /**
     * Opens perf's events and switches them on; one that is refused becomes a note. The instances
     * are being made meanwhile.
     */
    void openPerf(RecordingMeta meta) throws IOException {
        if (!plan.sampled().isEmpty()) {
            openPerf(meta, RecordSession.onlineCpus());
        }
        if (perf != null) {
            if (request.isFollowed()) {
                perf.rings().holdAtMost(FOLLOWED_HELD_NANOS);
            }
            perf.prepare(plan.names() ? names(perf.rings().outputs()) : null);
        }
    }

    /** The program that writes names into perf's rings; null where the kernel refuses. */
    private @Nullable NamesProgram names(Map<Integer, Integer> outputs) {
        IntUnaryOperator output = cpu -> outputs.getOrDefault(cpu, -1);
        try {
            return request.mode() == TargetMode.ALL
                    ? NamesProgram.ofAll(output)
                    : NamesProgram.ofTree(output, Set.copyOf(request.rootPids()));
        } catch (IOException e) {
            notes.add("no file names and socket addresses: " + e.getMessage());
            return null;
        }
    }

    /** Waits for the instances. */
    void awaitDense() throws IOException {
        join(opening);
        SyscallException refused = refusal;
        if (refused != null) {
            throw refused;
        }
        if (ftrace == null && perf == null) {
            throw new IOException("nothing can be recorded: " + String.join("; ", notes.all()));
        }
    }

    private void openPerf(RecordingMeta meta, List<Integer> cpus) throws IOException {
        List<Integer> bound =
                plan.systemWide() ? List.of() : List.copyOf(ProcessTree.allThreads(tree()));
        CountedTasks target =
                new CountedTasks(
                        bound,
                        meta.recorder().tids(),
                        request.mode() == TargetMode.ALL
                                ? List.of()
                                : request.rootPids().isEmpty()
                                        ? List.of(ProcessTree.unusedPid())
                                        : request.rootPids());
        PerfRecorder.Headline headline =
                new PerfRecorder.Headline(
                        request.sondeVersion(),
                        request.argv(),
                        meta.times().startNanos(),
                        meta.times().startWallNanos());
        join(stacksThread);
        try {
            perf =
                    PerfRecorder.open(
                            plan, folder, cpus, target, headline, tracefs, formats, stacks);
        } catch (SyscallException e) {
            boolean denied = e.errno() == Errno.EACCES || e.errno() == Errno.EPERM;
            if (denied && !bound.isEmpty() && opening == null) {
                // perf_event_open asks ptrace_may_access of the process.
                throw new IOException(
                        "process "
                                + request.rootPids().getFirst()
                                + " cannot be recorded: it is another user's, or has more rights"
                                + " than you; run as root or give CAP_PERFMON",
                        e);
            }
            notes.add("no perf events: " + e.getMessage());
        }
    }

    /** Programs that unwind user stacks; what the kernel refuses becomes a note. */
    private void loadStacks() {
        List<StackPrograms.EventKind> kinds = new ArrayList<>();
        Path tracefs = Path.of(Tracefs.find().map(Tracefs::root).orElse(Tracefs.USUAL));
        for (int i = 0; i < plan.sampled().size(); i++) {
            SampledEvent event = plan.sampled().get(i);
            Optional<HitSource> source =
                    event.raw()
                            ? HitSource.ofTracepoint(event.name(), tracefs)
                            : Optional.of(HitSource.SAMPLE);
            if (event.callChain() && source.isPresent()) {
                boolean filtered = !plan.extras().filter(event.name()).isEmpty();
                kinds.add(new StackPrograms.EventKind(i, event.name(), source.get(), filtered));
            }
        }
        try {
            Set<Integer> roots =
                    request.mode() == TargetMode.ALL ? Set.of() : Set.copyOf(request.rootPids());
            stacks = StackPrograms.load(kinds, roots, request.argv());
        } catch (IOException e) {
            notes.add("user stacks are followed by frame pointers: " + e.getMessage());
        }
    }

    /** The target's processes now. */
    List<Integer> tree() {
        return ProcessTree.processes(request.rootPids());
    }

    /** Threads of the target, also of processes that are nobody's descendants any more. */
    Collection<Integer> threads() throws SyscallException {
        if (ftrace != null) {
            return ftrace.followed();
        }
        return perf == null || plan.systemWide() ? List.of() : perf.rings().comms().told();
    }

    /** The files that are written. */
    List<BundlePart> parts() {
        List<BundlePart> parts = new ArrayList<>();
        if (perf != null) {
            parts.add(new BundlePart(PerfRecorder.FILE, RecordingMeta.PartKind.PERF_DATA, "", -1));
        }
        if (ftrace != null) {
            parts.add(
                    new BundlePart(
                            FormatCopier.FILE, RecordingMeta.PartKind.KERNEL_FORMATS, "", -1));
            parts.addAll(ftrace.parts());
        }
        return parts;
    }

    /** The files that are written, opened for a second reader. */
    List<GrowingFile> growing() throws IOException {
        List<GrowingFile> files = new ArrayList<>();
        for (BundlePart part : parts()) {
            switch (part.kind()) {
                case SPOOL -> files.add(growing(part, FtraceRecorder::endOffset));
                case PERF_DATA -> {
                    PerfRecorder written = perf;
                    if (written != null) {
                        files.add(growing(part, _ -> written.endOffset()));
                    }
                }
                case TRACE_DAT, KERNEL_FORMATS, JVM_MAP, OTHER -> {} // hold no events yet
            }
        }
        return files;
    }

    private GrowingFile growing(BundlePart part, GrowingFile.WrittenExtent written)
            throws IOException {
        return new GrowingFile(part, folder.reader(part.name()), written);
    }

    /** Formats of the events, once {@link #awaitFormats} returned; null where there are none. */
    @Nullable TraceDatMetadata metadata() {
        return metadata;
    }

    /** Filters first, then events; what starts meanwhile is found by looking until none is new. */
    void arm(List<Integer> ownTids) throws IOException {
        List<ThreadNow> now = request.mode() == TargetMode.COMMAND ? List.of() : threadsNow();
        Set<Integer> followed = new HashSet<>();
        FtraceRecorder dense = ftrace;
        if (dense != null) {
            followed.addAll(ProcessTree.allThreads(tree()));
            // An empty list would take everybody's events.
            dense.follow(followed.isEmpty() ? List.of(ProcessTree.unusedPid()) : followed);
            dense.exclude(ownTids);
            dense.on();
        }
        if (perf != null) {
            perf.on(now);
        }
        while (dense != null) {
            Set<Integer> more = ProcessTree.allThreads(tree());
            more.removeAll(followed);
            if (more.isEmpty()) {
                break;
            }
            dense.follow(more);
            followed.addAll(more);
        }
    }

    /** Takes another process in, and what it started and starts from now on. */
    void follow(int pid) throws IOException {
        FtraceRecorder dense = ftrace;
        Set<Integer> followed = new HashSet<>();
        for (int pass = 0; dense != null && pass < 3; pass++) { // what starts meanwhile is found
            Set<Integer> more = ProcessTree.allThreads(ProcessTree.processes(List.of(pid)));
            if (pass == 0) {
                more.add(pid);
            }
            more.removeAll(followed);
            if (more.isEmpty()) {
                break;
            }
            dense.follow(more);
            followed.addAll(more);
        }
        if (perf != null) {
            perf.follow(pid);
        }
    }

    private void openSnapshot() {
        snapshot = ThreadSnapshot.open(request.mode() == TargetMode.ALL);
    }

    /** What the threads are in that are recorded; none without a perf.data to keep it. */
    private List<ThreadNow> threadsNow() {
        List<Integer> pids =
                request.mode() == TargetMode.ALL ? DescriptorTables.everybody() : tree();
        if (perf == null || pids.isEmpty()) {
            return List.of();
        }
        join(snapshotThread);
        if (snapshot == null) {
            openSnapshot();
        }
        ThreadSnapshot taking = snapshot;
        if (taking == null) {
            return List.of();
        }
        List<ThreadNow> threads = taking.take(pids);
        if (taking.left() > 0) {
            notes.add(
                    "calls and stacks of "
                            + taking.left()
                            + (taking.left() == 1 ? " thread" : " threads")
                            + " were not looked at: it would have taken too long");
        }
        return threads;
    }

    /** Keeps what the threads are in at the end; after {@link #drainToEnd}. */
    void threadsAtEnd(long endNanos) {
        if (perf != null) {
            perf.threads(threadsNow(), endNanos);
        }
    }

    List<Integer> pollable() {
        List<Integer> fds = new ArrayList<>();
        if (perf != null) {
            fds.addAll(perf.pollable());
        }
        if (ftrace != null) {
            fds.addAll(ftrace.pollable());
        }
        return fds;
    }

    /**
     * One pass over all rings.
     *
     * @param partly whether what ftrace's sub-buffers hold that are not full yet is taken, too
     * @return errno when a file cannot be written any more, else 0
     */
    int drain(boolean partly) throws IOException {
        int errno = ftrace == null ? 0 : ftrace.drain(partly);
        int perfErrno = perf == null ? 0 : perf.drain();
        return errno == 0 ? perfErrno : errno;
    }

    /** Takes everything that is left, after {@link #off}; returns as {@link #drain}. */
    int drainToEnd() throws IOException {
        int errno = perf == null ? 0 : perf.drainToEnd();
        int denseErrno = ftrace == null ? 0 : ftrace.drainToEnd();
        return errno == 0 ? denseErrno : errno;
    }

    void off() throws IOException {
        if (ftrace != null) {
            ftrace.off();
        }
        if (perf != null) {
            perf.off();
        }
    }

    /** Events, bytes and losses so far; time and failure are the caller's to add. */
    RecordProgress progress() throws SyscallException {
        long events = 0;
        long bytes = 0;
        long lost = 0;
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
        return new RecordProgress(0, events, bytes, lost, "");
    }

    /** What the rings tell when all is drained. */
    record RingAccount(
            List<RecordedLoss> losses, List<byte[]> cpuStats, Map<Integer, String> commByTid) {}

    /** When a process that was let go ran its program, if perf events told it. */
    OptionalLong firstExec(int pid) {
        return perf == null ? OptionalLong.empty() : perf.rings().comms().firstExec(pid);
    }

    /** Accounts, and writes the end of {@code perf.data}. */
    RingAccount account(long startNanos, long endNanos) throws SyscallException {
        List<RecordedLoss> losses = new ArrayList<>();
        List<byte[]> cpuStats = List.of();
        if (ftrace != null) {
            losses.addAll(ftrace.losses());
            cpuStats = ftrace.cpuStats();
            ftrace.tellWhole(endNanos);
        }
        Map<Integer, String> comms = savedComms();
        if (perf != null) {
            losses.addAll(perf.losses());
            perf.finish(startNanos, endNanos);
            comms = perf.rings().comms().byTid();
        }
        return new RingAccount(losses, cpuStats, comms);
    }

    /** Names as the kernel keeps them for ftrace, by default of 128 threads; and of what lives. */
    private Map<Integer, String> savedComms() {
        Map<Integer, String> comms = new HashMap<>();
        Tracefs there = tracefs;
        if (there == null || perf != null) {
            return comms; // perf's records tell them
        }
        for (int tid : ProcessTree.allThreads(DescriptorTables.everybody())) {
            comms.put(tid, ProcessTree.comm(tid));
        }
        try {
            for (String line : there.text("saved_cmdlines").split("\n")) {
                String[] words = line.split(" ", 2);
                if (words.length == 2 && words[0].matches("\\d{1,9}")) {
                    comms.put(Integer.parseInt(words[0]), words[1]);
                }
            }
        } catch (SyscallException e) {
            notes.add("names of threads that ended are not known: " + e.getMessage());
        }
        comms.values().removeIf(String::isEmpty);
        return comms;
    }

    /** Makes the trace.dat; returns the parts there are then. */
    List<BundlePart> assemble(List<BundlePart> told, RingAccount account) {
        List<BundlePart> parts = new ArrayList<>(told);
        for (String name : perf == null ? List.<String>of() : perf.frameFiles()) {
            parts.add(new BundlePart(name, RecordingMeta.PartKind.OTHER, "", -1));
        }
        join(formatsThread);
        TraceDatMetadata kept = metadata;
        if (ftrace == null || kept == null) {
            return parts;
        }
        try {
            return TraceDatAssembly.assemble(
                    folder,
                    parts,
                    FormatCopier.complete(kept, account.commByTid(), account.cpuStats()));
        } catch (IOException e) {
            notes.add("trace.dat could not be made, its parts are kept: " + e.getMessage());
            return parts;
        }
    }

    /** What was refused, and what the rings have to say. */
    List<String> sentences() {
        List<String> all = new ArrayList<>(notes.all());
        if (perf != null) {
            all.addAll(perf.notes());
        }
        if (ftrace != null) {
            all.addAll(ftrace.notes());
        }
        return all;
    }

    /** How user stacks ended, by event. */
    Map<String, Map<String, Long>> userStacks() {
        StackPrograms loaded = stacks;
        return loaded == null ? Map.of() : loaded.endsByEvent();
    }

    /**
     * Instances are silent at once; the kernel takes 30 to 100 ms to remove each, so that is done
     * aside. perf events are silent since {@link #off}, but closing one on a tracepoint waits for
     * RCU grace periods under the kernel's event_mutex, 20 to 50 ms each (Linux 6.18,
     * perf_trace_event_unreg), so that is done aside, too; the end of the process does the same.
     *
     * @param then called when the instances are gone
     */
    void close(Runnable then) {
        join(opening);
        FtraceRecorder dense = ftrace;
        if (removal == null) {
            removal =
                    Thread.ofPlatform()
                            .name("sonde-remove")
                            .start(() -> {
                                if (dense != null) {
                                    dense.close();
                                }
                                then.run();
                            });
        }
        join(stacksThread);
        StackPrograms loaded = stacks;
        if (perf == null && loaded != null) {
            loaded.close();
        }
        join(snapshotThread);
        ThreadSnapshot taken = snapshot;
        if (taken != null) {
            taken.close();
            snapshot = null;
        }
        PerfRecorder open = perf;
        if (open != null && closing == null) {
            closing = Thread.ofPlatform().daemon().name("sonde-close-perf").start(open::close);
        }
    }

    /** Waits until the instances are gone; says what could not be removed. */
    List<String> awaitRemoved() {
        join(removal);
        join(closing);
        FtraceRecorder dense = ftrace;
        return dense == null ? List.of() : dense.failures();
    }

    /** Waits for the thread that reads formats. */
    void awaitFormats() {
        join(formatsThread);
    }

    static void join(@Nullable Thread waited) {
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
}
