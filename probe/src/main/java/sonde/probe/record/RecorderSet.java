package sonde.probe.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.Leftovers;
import sonde.probe.launch.Leftovers.Leftover;
import sonde.probe.perf.CountedTasks;
import sonde.probe.plan.RecordPlan;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.ftrace.CpuStats;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/** What a session records with: ftrace's rings, perf's, and the kernel's formats of both. */
final class RecorderSet {
    private final RecordPlan plan;
    private final BundleFolder folder;
    private final RecordRequest request;
    private final SummaryNotes notes;
    private @Nullable Tracefs tracefs;
    private @Nullable FormatCopier formats;
    private @Nullable FtraceRecorder ftrace;
    private @Nullable PerfRecorder perf;
    private @Nullable Thread formatsThread;
    private @Nullable Thread closing;
    private volatile @Nullable TraceDatMetadata metadata;

    RecorderSet(RecordPlan plan, BundleFolder folder, RecordRequest request, SummaryNotes notes) {
        this.plan = plan;
        this.folder = folder;
        this.request = request;
        this.notes = notes;
    }

    /** Cleans up behind killed recorders and begins to read the formats of the events. */
    void prepare(int cpuCount, long traceId) throws SyscallException {
        for (Leftover left : Leftovers.remove()) {
            notes.add("removed " + left.name() + ", left by a killed recorder");
        }
        Tracefs found = Tracefs.find().orElse(null);
        if (found == null) {
            return;
        }
        tracefs = found;
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

    /** Opens every source of the plan, switched off; one that is refused becomes a note. */
    void open(RecordingMeta meta) throws IOException {
        List<Integer> cpus = meta.machine().cpus();
        Tracefs there = tracefs;
        if (there != null && !plan.buffers().isEmpty()) {
            ftrace = FtraceRecorder.open(plan, there, folder, cpus);
        }
        if (!plan.sampled().isEmpty()) {
            openPerf(meta, cpus);
        }
        if (ftrace == null && perf == null) {
            throw new IOException("nothing can be recorded: " + String.join("; ", notes.all()));
        }
    }

    private void openPerf(RecordingMeta meta, List<Integer> cpus) throws IOException {
        List<Integer> bound =
                plan.systemWide() ? List.of() : List.copyOf(ProcessTree.allThreads(tree()));
        CountedTasks target = new CountedTasks(bound, meta.recorder().tids());
        PerfRecorder.Headline headline =
                new PerfRecorder.Headline(
                        request.sondeVersion(),
                        request.argv(),
                        meta.times().startNanos(),
                        meta.times().startWallNanos());
        try {
            perf =
                    PerfRecorder.open(
                            plan,
                            folder,
                            cpus,
                            target,
                            headline,
                            tracefs,
                            formats,
                            request.program());
        } catch (SyscallException e) {
            boolean denied = e.errno() == Errno.EACCES || e.errno() == Errno.EPERM;
            if (denied && !bound.isEmpty() && ftrace == null) {
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
        Set<Integer> followed = new HashSet<>();
        FtraceRecorder dense = ftrace;
        if (dense != null) {
            followed.addAll(ProcessTree.allThreads(tree()));
            dense.follow(followed);
            dense.exclude(ownTids);
            dense.on();
        }
        if (perf != null) {
            perf.on();
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
        Map<Integer, String> comms = Map.of();
        if (perf != null) {
            losses.addAll(perf.losses());
            perf.finish(startNanos, endNanos);
            comms = perf.rings().comms().byTid();
        }
        return new RingAccount(losses, cpuStats, comms);
    }

    /** Makes the trace.dat; returns the parts there are then. */
    List<BundlePart> assemble(List<BundlePart> parts, RingAccount account) {
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

    /**
     * Instances go at once. perf events are silent since {@link #off}, but closing one on a
     * tracepoint waits for RCU grace periods under the kernel's event_mutex, 20 to 50 ms each
     * (Linux 6.18, perf_trace_event_unreg), so that is done aside; the end of the process does the
     * same.
     */
    void close() {
        if (ftrace != null) {
            ftrace.close();
        }
        PerfRecorder open = perf;
        if (open != null && closing == null) {
            closing = Thread.ofPlatform().daemon().name("sonde-close-perf").start(open::close);
        }
    }

    /** Waits for the thread that reads formats. */
    void awaitFormats() {
        join(formatsThread);
    }

    /** Waits until every descriptor is closed. */
    void awaitClosed() {
        join(closing);
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
