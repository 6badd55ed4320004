package sonde.probe.record;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.TraceBuffer;
import sonde.probe.plan.TracerSpec;
import sonde.probe.tracefs.InstanceName;
import sonde.probe.tracefs.SplicedRing;
import sonde.probe.tracefs.TraceInstance;
import sonde.probe.tracefs.Tracefs;
import sonde.probe.tracefs.TracerRefusedException;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.ftrace.CpuStats;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/** The ftrace side of a recording: an instance per buffer of the plan, a spool per CPU. */
final class FtraceRecorder implements AutoCloseable {
    /** Fill at which poll(2) wakes: half would leave a fast CPU little time, zero wakes always. */
    private static final int WAKE_AT_PERCENT = 25;

    private static final int F_PIPE_BYTES = 1 << 20;
    private static final int SUB_BUFFER_BYTES = 4096;

    private final RecordPlan plan;
    private final Map<TraceBuffer, TraceInstance> instances = new LinkedHashMap<>();
    private final Map<TraceBuffer, List<SplicedRing>> spools = new LinkedHashMap<>();
    private final List<BundlePart> parts = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final Fd.Pipe pipe;
    private boolean closed;

    private FtraceRecorder(RecordPlan plan) throws SyscallException {
        this.plan = plan;
        this.pipe = Fd.pipe2(FileCalls.O_CLOEXEC);
        try {
            Fd.fcntl(pipe.writeEnd(), Fd.F_SETPIPE_SZ, F_PIPE_BYTES);
        } catch (SyscallException e) {
            // fs.pipe-max-size is lower: then 64 KiB at a time.
            notes.add("spools through a small pipe: " + Errno.describe(e.errno()));
        }
    }

    /** Makes the instances, everything set and enabled but {@link #on}. */
    static FtraceRecorder open(
            RecordPlan plan, Tracefs tracefs, BundleFolder folder, List<Integer> cpus)
            throws SyscallException {
        FtraceRecorder recorder = new FtraceRecorder(plan);
        try {
            for (TraceBuffer buffer : plan.buffers()) {
                recorder.openBuffer(buffer, tracefs, folder, cpus);
            }
            return recorder;
        } catch (SyscallException e) {
            recorder.close();
            throw e;
        }
    }

    private void openBuffer(
            TraceBuffer buffer, Tracefs tracefs, BundleFolder folder, List<Integer> cpus)
            throws SyscallException {
        TraceInstance instance = place(buffer, tracefs);
        instances.put(buffer, instance);
        instance.bufferBytes(buffer.bytesPerCpu());
        instance.option("overwrite", plan.spec().flightRecorder());
        instance.wakeAtPercent(WAKE_AT_PERCENT);
        if (!plan.spec().limits().cpus().isEmpty()) {
            instance.cpus(cpus);
        }
        if (!plan.extras().ringStacks().isEmpty()) {
            instance.option("stacktrace", true);
            instance.option("userstacktrace", true);
        }
        if (plan.spec().tracer().name().equals("function_graph")) {
            instance.widen();
        }
        for (TracerSpec.Setting setting : plan.spec().tracer().settings()) {
            try {
                instance.set(setting.file(), setting.value(), setting.file().startsWith("set_"));
            } catch (SyscallException e) {
                throw TracerRefusedException.setting(setting.file(), setting.meaning(), e, tracefs);
            }
        }
        if (plan.spec().tracer().isSet()) {
            // Now: while a raw ring is open, the kernel answers EBUSY.
            instance.tracer(plan.spec().tracer().name());
        }
        List<SplicedRing> rings = new ArrayList<>();
        spools.put(buffer, rings);
        for (int cpu : cpus) {
            String name = "spool." + buffer.word() + ".cpu" + cpu;
            int raw = instance.openRaw(cpu);
            int file;
            try {
                file = folder.create(name);
            } catch (SyscallException e) {
                Fd.discard(raw);
                throw e;
            }
            rings.add(new SplicedRing(cpu, raw, file, pipe, SUB_BUFFER_BYTES));
            parts.add(new BundlePart(name, RecordingMeta.PartKind.SPOOL, buffer.name(), cpu));
        }
    }

    /** An instance of its own, but for a tracer that the kernel has only once. */
    private TraceInstance place(TraceBuffer buffer, Tracefs tracefs) throws SyscallException {
        TracerSpec tracer = plan.spec().tracer();
        if (tracer.isSet() && !tracefs.tracers().contains(tracer.name())) {
            throw TracerRefusedException.missing(tracer.name(), tracefs);
        }
        TraceInstance instance =
                TraceInstance.create(tracefs, InstanceName.ofThisProcess(buffer.word()));
        if (!tracer.isSet() || instance.hasTracer(tracer.name())) {
            return instance;
        }
        instance.close();
        return TraceInstance.top(tracefs);
    }

    /** Adds threads to those followed; buffers that follow nobody take everything. */
    void follow(Collection<Integer> tids) throws SyscallException {
        for (Map.Entry<TraceBuffer, TraceInstance> entry : instances.entrySet()) {
            if (entry.getKey().targetOnly()) {
                entry.getValue().follow(tids);
                if (plan.spec().tracer().isSet()) {
                    entry.getValue().traceOnly(tids);
                }
            }
        }
    }

    /** Threads that are followed now: those named, and what they made, as long as they live. */
    Set<Integer> followed() throws SyscallException {
        Set<Integer> tids = new TreeSet<>();
        for (Map.Entry<TraceBuffer, TraceInstance> entry : instances.entrySet()) {
            if (entry.getKey().targetOnly()) {
                for (String tid : entry.getValue().text("set_event_pid").split("\n")) {
                    if (tid.matches("\\d{1,9}")) {
                        tids.add(Integer.parseInt(tid));
                    }
                }
            }
        }
        return tids;
    }

    /**
     * Leaves our own threads out where tasks of all are taken. Not in the outside buffer: a
     * completion whose interrupt hits one of our threads is not ours.
     */
    void exclude(Collection<Integer> tids) throws SyscallException {
        for (Map.Entry<TraceBuffer, TraceInstance> entry : instances.entrySet()) {
            TraceBuffer buffer = entry.getKey();
            if (!buffer.targetOnly() && !buffer.name().equals(TraceBuffer.OUTSIDE)) {
                entry.getValue().exclude(tids);
                if (plan.spec().tracer().isSet()) {
                    entry.getValue().traceNone(tids);
                }
            }
        }
    }

    /** Enables the events and starts. */
    void on() throws SyscallException {
        for (Map.Entry<TraceBuffer, TraceInstance> entry : instances.entrySet()) {
            List<String> events = new ArrayList<>();
            for (String event : entry.getKey().events()) {
                if (filter(entry.getValue(), event)) {
                    events.add(event);
                }
            }
            for (String refused : entry.getValue().enable(events)) {
                notes.add("no event " + refused);
            }
            entry.getValue().on();
        }
    }

    private boolean filter(TraceInstance instance, String event) {
        String condition = plan.extras().filter(event);
        try {
            if (!condition.isEmpty()) {
                instance.filter(event, condition);
            }
            return true;
        } catch (SyscallException e) {
            notes.add("no event " + event + ": its filter, " + Errno.describe(e.errno()));
            return false;
        }
    }

    /** Stops; what is in the rings stays. */
    void off() throws SyscallException {
        for (TraceInstance instance : instances.values()) {
            instance.off();
        }
    }

    /** Descriptors to poll; none for a flight recorder, whose rings are read at the end. */
    List<Integer> pollable() {
        return plan.spec().flightRecorder()
                ? List.of()
                : allSpools().stream().map(SplicedRing::raw).toList();
    }

    /**
     * Moves what is there into the spools.
     *
     * @param partly whether what sub-buffers hold that are not full yet is moved, too
     * @return errno of a spool that cannot be written any more, else 0
     */
    int drain(boolean partly) throws SyscallException {
        if (plan.spec().flightRecorder()) {
            return 0;
        }
        int errno = 0;
        for (SplicedRing spool : allSpools()) {
            if (partly) {
                spool.drainPartly();
            } else {
                spool.drain();
            }
            errno = errno == 0 ? spool.writeErrno() : errno;
        }
        return errno;
    }

    /** Moves the rest, after {@link #off}; returns as {@link #drain}. */
    int drainToEnd() throws SyscallException {
        int errno = 0;
        for (SplicedRing spool : allSpools()) {
            spool.drainToEnd();
            errno = errno == 0 ? spool.writeErrno() : errno;
        }
        return errno;
    }

    private List<SplicedRing> allSpools() {
        return spools.values().stream().flatMap(List::stream).toList();
    }

    /** The spools as parts of the bundle. */
    List<BundlePart> parts() {
        return List.copyOf(parts);
    }

    /** Where the whole sub-buffers of a spool end. */
    static long endOffset(FileChannel spool) throws IOException {
        return spool.size() / SUB_BUFFER_BYTES * SUB_BUFFER_BYTES;
    }

    /** What was refused. */
    List<String> notes() {
        return List.copyOf(notes);
    }

    /** Bytes in the spools. */
    long bytes() {
        return allSpools().stream().mapToLong(SplicedRing::written).sum();
    }

    /** Sum of all rings' accounts. */
    CpuStats total() throws SyscallException {
        CpuStats sum = new CpuStats(0, 0, 0, 0, 0);
        for (Map.Entry<TraceBuffer, List<SplicedRing>> entry : spools.entrySet()) {
            for (SplicedRing spool : entry.getValue()) {
                CpuStats stats = stats(entry.getKey(), spool.cpu());
                sum =
                        new CpuStats(
                                sum.entries() + stats.entries(),
                                sum.overrun() + stats.overrun(),
                                sum.commitOverrun() + stats.commitOverrun(),
                                sum.dropped() + stats.dropped(),
                                sum.read() + stats.read());
            }
        }
        return sum;
    }

    private CpuStats stats(TraceBuffer buffer, int cpu) throws SyscallException {
        TraceInstance instance = instances.get(buffer);
        return instance == null ? new CpuStats(0, 0, 0, 0, 0) : instance.stats(cpu);
    }

    /** What was lost, per buffer and CPU; after {@link #drainToEnd}. */
    List<RecordedLoss> losses() throws SyscallException {
        List<RecordedLoss> losses = new ArrayList<>();
        RecordingMeta.LossKind full =
                plan.spec().flightRecorder()
                        ? RecordingMeta.LossKind.OVERWRITTEN
                        : RecordingMeta.LossKind.RING_FULL;
        for (Map.Entry<TraceBuffer, List<SplicedRing>> entry : spools.entrySet()) {
            String buffer = entry.getKey().name();
            for (SplicedRing spool : entry.getValue()) {
                CpuStats stats = stats(entry.getKey(), spool.cpu());
                add(losses, buffer, spool.cpu(), full, stats.overrun() + stats.dropped());
                add(
                        losses,
                        buffer,
                        spool.cpu(),
                        RecordingMeta.LossKind.COMMIT_OVERRUN,
                        stats.commitOverrun());
                if (spool.writeErrno() != 0) {
                    // Whatever the ring ever had and the file does not have.
                    long missing = stats.read() + stats.entries() - spool.writtenEvents();
                    add(losses, buffer, spool.cpu(), RecordingMeta.LossKind.NOT_WRITTEN, missing);
                }
            }
        }
        return losses;
    }

    /** Says, of a flight recorder, since when nothing is missing; after {@link #drainToEnd}. */
    void tellWhole(long endNanos) throws SyscallException {
        long wholeSince = 0;
        if (plan.spec().flightRecorder()) {
            for (Map.Entry<TraceBuffer, List<SplicedRing>> entry : spools.entrySet()) {
                for (SplicedRing spool : entry.getValue()) {
                    if (stats(entry.getKey(), spool.cpu()).overrun() > 0) {
                        wholeSince = Math.max(wholeSince, spool.oldestNanos());
                    }
                }
            }
        }
        if (wholeSince > 0) {
            notes.add(PerfRecorder.wholeFor("trace.dat", endNanos - wholeSince));
        }
    }

    private static void add(
            List<RecordedLoss> losses,
            String buffer,
            int cpu,
            RecordingMeta.LossKind kind,
            long count) {
        if (count != 0) {
            losses.add(new RecordedLoss("trace.dat", buffer, cpu, kind, count));
        }
    }

    /** The accounts of the first buffer's CPUs as a trace.dat carries them (CPUSTAT). */
    List<byte[]> cpuStats() throws SyscallException {
        List<byte[]> texts = new ArrayList<>();
        TraceBuffer first = plan.buffers().getFirst();
        TraceInstance instance = instances.get(first);
        for (SplicedRing spool : spools.getOrDefault(first, List.of())) {
            if (instance != null) {
                String stats = instance.text("per_cpu/cpu" + spool.cpu() + "/stats");
                String text = "CPU: " + spool.cpu() + "\n" + stats;
                texts.add(text.getBytes(StandardCharsets.UTF_8));
            }
        }
        return texts;
    }

    /** Closes the rings and spools, then takes the instances away. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        allSpools().forEach(SplicedRing::close);
        Fd.discard(pipe.readEnd());
        Fd.discard(pipe.writeEnd());
        instances.values().forEach(TraceInstance::close);
    }

    /** What could not be undone, once {@link #close} returned. */
    List<String> failures() {
        return instances.values().stream().flatMap(one -> one.failures().stream()).toList();
    }
}
