package sonde.recording.bundle;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What {@code meta.json} says about a recording. Times are CLOCK_MONOTONIC nanoseconds, the clock
 * of every event, unless named wall; -1 stands for "did not happen" or "not known".
 *
 * @param formatVersion {@link #FORMAT_VERSION} when written by this version
 * @param sondeVersion the recorder's version
 * @param losses what was not recorded; a source without a row lost nothing that the kernel counts
 * @param notes one sentence each: what is missing, why, and how to get it
 */
public record RecordingMeta(
        int formatVersion,
        String sondeVersion,
        RecordingState state,
        RecordedTarget target,
        Recorder recorder,
        RecordedMachine machine,
        RecordingTimes times,
        BundleLayout layout,
        List<RecordedLoss> losses,
        List<Descriptors> descriptors,
        List<JvmMap> jvmMaps,
        List<String> notes) {

    /** Name of the file in the bundle. */
    public static final String FILE = "meta.json";

    /** The version of the format this class writes; higher ones are read as far as known. */
    public static final int FORMAT_VERSION = 1;

    public RecordingMeta {
        losses = List.copyOf(losses);
        descriptors = List.copyOf(descriptors);
        jvmMaps = List.copyOf(jvmMaps);
        notes = List.copyOf(notes);
    }

    /** How far the recording came. */
    public enum RecordingState {
        /** Being written, or its recorder was killed. */
        RECORDING,
        /** Complete. */
        FINISHED,
        /** Its recorder was killed and the files were completed afterwards. */
        REPAIRED
    }

    /** What the recording follows. */
    public enum TargetMode {
        /** A command that sonde started, with all its descendants. */
        COMMAND,
        /** Processes that ran already, with all their descendants from then on. */
        PID,
        /** Everything on the machine. */
        ALL
    }

    /**
     * What the recording follows.
     *
     * @param argv the command, empty without one
     * @param rootPids the processes whose trees are meant; for {@link TargetMode#ALL} that of the
     *     command, if there was one
     * @param exit how the command ended, null when it did not or there was none
     * @param counters what was read from /proc and its cgroup at the start, meanwhile and at the
     *     end
     */
    public record RecordedTarget(
            TargetMode mode,
            List<String> argv,
            List<Integer> rootPids,
            @Nullable CommandExit exit,
            List<TargetReading> counters) {
        /** Without counters. */
        public RecordedTarget(
                TargetMode mode,
                List<String> argv,
                List<Integer> rootPids,
                @Nullable CommandExit exit) {
            this(mode, argv, rootPids, exit, List.of());
        }

        public RecordedTarget {
            argv = List.copyOf(argv);
            rootPids = List.copyOf(rootPids);
            counters = List.copyOf(counters);
        }
    }

    /**
     * A counter or size that was read several times.
     *
     * @param name what it is: {@link #RSS}, {@link #CPU}, {@link #THROTTLED}, {@link #QUOTA}, or
     *     the name of a counter of /proc/net/netstat
     * @param subject whose: {@code comm PID}, or the path of a cgroup
     */
    public record TargetReading(String name, String subject, long first, long last, long most) {
        /** Resident memory of a process, bytes. */
        public static final String PRIVATE = "private";

        /** CPU time of a process that was not recorded, nanoseconds. */
        public static final String CPU = "cpu";

        /** Time for which a cgroup's tasks were kept off the CPUs, nanoseconds. */
        public static final String THROTTLED = "throttled";

        /** CPU time that a cgroup may use in a second, nanoseconds. */
        public static final String QUOTA = "quota";

        /** CPUs, as bits, of a thread that may not run on all: {@code comm TID}. */
        public static final String BOUND = "bound";

        /** A nice value above zero: {@code comm TID}. */
        public static final String NICE = "nice";

        /** Time for which a CPU had nothing to do, nanoseconds; its number. */
        public static final String IDLE = "idle";

        /** A process that serves a peer of recorded ones: {@code comm PID ADDRESS}; its number. */
        public static final String SERVES = "serves";

        /**
         * The call in which most looks found who serves: {@code ADDRESS CALL}, {@code running}
         * outside a call; how many looks found it there, and how many there were.
         */
        public static final String SERVING = "serving";
    }

    /**
     * How the command ended: wait4's status word and rusage.
     *
     * @param status as wait(2) gives it: exit code in bits 8..15, signal in bits 0..6
     * @param maxRssBytes of the largest process of the tree; -1 when it was not above the
     *     recorder's, which the kernel counts as the command's own
     */
    public record CommandExit(
            int status,
            long userNanos,
            long systemNanos,
            long maxRssBytes,
            long minorFaults,
            long majorFaults,
            long voluntarySwitches,
            long involuntarySwitches) {}

    /**
     * The recording process; its own events are left out of results.
     *
     * @param tids its threads, all that ever were seen
     * @param startTicks field 22 of /proc/PID/stat: with pid and boot id it names the process
     * @param cpuNanos CPU time used between start and stop, -1 while recording
     * @param peakRssBytes VmHWM, -1 while recording
     */
    public record Recorder(
            int pid, List<Integer> tids, long startTicks, long cpuNanos, long peakRssBytes) {
        public Recorder {
            tids = List.copyOf(tids);
        }
    }

    /**
     * Where it was recorded.
     *
     * @param cpus numbers of the CPUs recorded
     * @param pidNamespace inode of the recorder's pid namespace
     */
    public record RecordedMachine(
            String hostname,
            String kernelRelease,
            String architecture,
            String bootId,
            long pidNamespace,
            List<Integer> cpus,
            long memoryBytes) {
        public RecordedMachine {
            cpus = List.copyOf(cpus);
        }
    }

    /**
     * When things happened.
     *
     * @param startWallNanos CLOCK_REALTIME at {@code startNanos}
     * @param execNanos when the command's program began (the execve of its pid); when that was let
     *     go where no event told more. What the pid did before belongs to sonde
     * @param endNanos when the sources were switched off
     */
    public record RecordingTimes(
            long startNanos, long startWallNanos, long execNanos, long endNanos) {}

    /**
     * Which file holds what.
     *
     * @param owners each event type once
     * @param rings kernel memory between event and file
     * @param parts every file of the bundle but {@code meta.json}
     */
    public record BundleLayout(
            List<EventOwner> owners, List<RecordedRing> rings, List<BundlePart> parts) {
        public BundleLayout {
            owners = List.copyOf(owners);
            rings = List.copyOf(rings);
            parts = List.copyOf(parts);
        }

        /** The part of that kind and buffer, of any CPU. */
        public Optional<BundlePart> part(PartKind kind, String buffer) {
            return parts.stream()
                    .filter(part -> part.kind() == kind && part.buffer().equals(buffer))
                    .findFirst();
        }
    }

    /**
     * The one source of an event type.
     *
     * @param event {@code system:name} of a tracepoint, else perf's name
     * @param source {@code "perf.data"} or {@code "trace.dat"}
     * @param buffer of a trace.dat, else empty
     * @param reason why this source and no other
     * @param stacks whether the stack of each such event was asked for
     * @param filter the condition on its fields, in the kernel's spelling; empty for every event
     * @param userStacks how many user stacks that were unwound in the kernel ended in which way:
     *     {@code "whole"}, or the reason, with the place where one is known
     */
    public record EventOwner(
            String event,
            String source,
            String buffer,
            String reason,
            boolean stacks,
            String filter,
            Map<String, Long> userStacks) {
        public EventOwner {
            userStacks = Map.copyOf(userStacks);
        }

        /** Every event, without a stack that anybody asked for. */
        public EventOwner(String event, String source, String buffer, String reason) {
            this(event, source, buffer, reason, false, "", Map.of());
        }

        /** This with another filter. */
        public EventOwner withFilter(String condition) {
            return new EventOwner(event, source, buffer, reason, stacks, condition, userStacks);
        }

        EventOwner withUserStacks(Map<String, Long> ends) {
            return new EventOwner(event, source, buffer, reason, stacks, filter, ends);
        }
    }

    /** Size of a source's rings; {@code overwrite} when the oldest events give way. */
    public record RecordedRing(String source, String buffer, long bytesPerCpu, boolean overwrite) {}

    /** What a file of the bundle is. */
    public enum PartKind {
        /** trace-cmd's file. */
        TRACE_DAT,
        /** perf's file. */
        PERF_DATA,
        /** Sub-buffers of one ftrace buffer and CPU, as the kernel gave them. */
        SPOOL,
        /** Formats, symbols and names that make spools a trace.dat. */
        KERNEL_FORMATS,
        /** Symbols of a JVM's compiled code. */
        JVM_MAP,
        /** A kind this version does not know. */
        OTHER
    }

    /**
     * A file of the bundle.
     *
     * @param name file name, no slash
     * @param buffer ftrace buffer of a spool, else empty
     * @param cpu of a spool, else -1
     */
    public record BundlePart(String name, PartKind kind, String buffer, int cpu) {}

    /**
     * Events that happened and are not in the files.
     *
     * @param source {@code "perf.data"} or {@code "trace.dat"}
     * @param subject event of a perf source, buffer of a trace.dat
     * @param cpu -1 for all together
     * @param count of events ({@link LossKind#THROTTLED}: of spans), -1 when only "some" is known
     */
    public record RecordedLoss(String source, String subject, int cpu, LossKind kind, long count) {}

    /** Why events are missing. */
    public enum LossKind {
        /** The ring was full (perf's LOST; ftrace's dropped events and overrun). */
        RING_FULL,
        /** ftrace: an interrupting writer outran the ring (commit overrun). */
        COMMIT_OVERRUN,
        /** The oldest gave way on purpose: a flight recorder. */
        OVERWRITTEN,
        /** perf slowed the sampling down; count is the number of spans. */
        THROTTLED,
        /** Read from the kernel but not written: full disk, or the recorder was killed. */
        NOT_WRITTEN,
        /** What was in the rings when the recorder was killed; its number is not known. */
        UNREAD,
        /** A kind this version does not know. */
        OTHER
    }

    /**
     * Descriptors of a process.
     *
     * @param atNanos when they were read
     * @param targets descriptor to what /proc/PID/fd shows: a path, {@code socket:[N]}, …
     */
    public record Descriptors(int pid, long atNanos, Map<Integer, String> targets) {
        public Descriptors {
            targets = Map.copyOf(targets);
        }
    }

    /** A map of JIT-compiled code: whose, which file of the bundle, read when. */
    public record JvmMap(int pid, String file, long atNanos) {}

    /** This with another state. */
    public RecordingMeta withState(RecordingState newState) {
        return with(newState, target, recorder, times);
    }

    /** This with another target. */
    public RecordingMeta withTarget(RecordedTarget newTarget) {
        return with(state, newTarget, recorder, times);
    }

    /** This with another account of the recorder. */
    public RecordingMeta withRecorder(Recorder newRecorder) {
        return with(state, target, newRecorder, times);
    }

    /** This with other times. */
    public RecordingMeta withTimes(RecordingTimes newTimes) {
        return with(state, target, recorder, newTimes);
    }

    /** This with other files. */
    public RecordingMeta withParts(List<BundlePart> newParts) {
        BundleLayout newLayout = new BundleLayout(layout.owners(), layout.rings(), newParts);
        return with(newLayout, losses, descriptors, jvmMaps, notes);
    }

    /** This with the ends of user stacks, by event. */
    public RecordingMeta withUserStacks(Map<String, Map<String, Long>> ends) {
        List<EventOwner> owners =
                layout.owners().stream()
                        .map(one -> one.withUserStacks(ends.getOrDefault(one.event(), Map.of())))
                        .toList();
        BundleLayout newLayout = new BundleLayout(owners, layout.rings(), layout.parts());
        return with(newLayout, losses, descriptors, jvmMaps, notes);
    }

    /** This with other losses and notes. */
    public RecordingMeta withAccount(List<RecordedLoss> newLosses, List<String> newNotes) {
        return with(layout, newLosses, descriptors, jvmMaps, newNotes);
    }

    /** This with what was read of processes: descriptors and maps of compiled code. */
    public RecordingMeta withProcesses(List<Descriptors> newDescriptors, List<JvmMap> newJvmMaps) {
        return with(layout, losses, newDescriptors, newJvmMaps, notes);
    }

    private RecordingMeta with(
            RecordingState newState,
            RecordedTarget newTarget,
            Recorder newRecorder,
            RecordingTimes newTimes) {
        return new RecordingMeta(
                formatVersion,
                sondeVersion,
                newState,
                newTarget,
                newRecorder,
                machine,
                newTimes,
                layout,
                losses,
                descriptors,
                jvmMaps,
                notes);
    }

    private RecordingMeta with(
            BundleLayout newLayout,
            List<RecordedLoss> newLosses,
            List<Descriptors> newDescriptors,
            List<JvmMap> newJvmMaps,
            List<String> newNotes) {
        return new RecordingMeta(
                formatVersion,
                sondeVersion,
                state,
                target,
                recorder,
                machine,
                times,
                newLayout,
                newLosses,
                newDescriptors,
                newJvmMaps,
                newNotes);
    }
}
