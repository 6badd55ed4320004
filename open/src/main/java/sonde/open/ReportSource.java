package sonde.open;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.analysis.CountedThreads;
import sonde.analysis.file.OpenFiles;
import sonde.binary.MalformedInputException;
import sonde.binary.archive.UnwrappedFiles;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.probe.tracefs.InstanceName;
import sonde.recording.bundle.JavaThreads;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.EventOwner;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedMachine;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.recording.perfdata.CopiedStackSamples;
import sonde.recording.tracedat.TraceDatDescription;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.Arch;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallNames;

/** What a user named, opened as one recording: a bundle, a file of any format, several files. */
public final class ReportSource implements AutoCloseable {
    /** Most sentences of one file. */
    private static final int MAX_NOTES = 3;

    private static final String UNFINISHED = "the recorder did not finish";

    private final String name;
    private final GivenPlaces given;
    private final List<Recording> recordings;
    private final Map<Recording, String> files;
    private final List<UnwrappedFiles> owned;
    private final List<String> notes;
    private final Map<Integer, String> comms;
    private final Map<Integer, byte[]> jvmMaps;
    private final List<JavaThreads> javaThreads;
    private final byte[] runtimeFrames;
    private final StackUnwinding unwinding;
    private final @Nullable RecordingMeta meta;
    private final byte[] kallsyms;
    private final String machine;
    private final List<String> moreCalls;
    private boolean commandOnly;

    ReportSource(RecordingOpener opened) throws IOException {
        name = opened.name;
        given = opened.given;
        recordings = List.copyOf(opened.recordings);
        files = opened.files;
        owned = opened.owned;
        notes = opened.notes;
        comms = opened.comms;
        meta = opened.meta;
        jvmMaps = opened.jvmMaps;
        javaThreads = List.copyOf(opened.javaThreads);
        runtimeFrames = opened.runtimeFrames;
        kallsyms = opened.kallsyms;
        machine = opened.machine;
        moreCalls = opened.moreCalls;
        // Samples with registers and a piece of stack get their call chains while they are read.
        unwinding = new StackUnwinding(symbolOptions(), machine);
        recordings.forEach(unwinding::take);
    }

    /**
     * Opens a recording; {@code -} is the standard input.
     *
     * @throws MalformedInputException when it is neither a bundle nor of a format known to us
     * @throws NoSuchFileException when there is nothing of that name
     */
    public static ReportSource open(Path path) throws IOException {
        return open(path, GivenPlaces.NONE);
    }

    /** As {@link #open(Path)}, with places of symbols that the user named. */
    public static ReportSource open(Path path, GivenPlaces given) throws IOException {
        return RecordingOpener.open(path, given);
    }

    /**
     * Opens several files as one: recordings of a host and its guests, or of one machine. Bundles
     * are opened one at a time.
     *
     * @throws MalformedInputException when one is not a recording
     */
    public static ReportSource open(List<Path> paths, GivenPlaces given) throws IOException {
        return paths.size() == 1
                ? open(paths.getFirst(), given)
                : RecordingOpener.open(paths, given);
    }

    /** How stacks are unwound, and how well. */
    public StackUnwinding unwinding() {
        return unwinding;
    }

    /** Whether samples have fields beside their columns, in readings that begin from now on. */
    public void sampleFields(boolean wanted) {
        for (Recording recording : recordings) {
            recording
                    .capability(CopiedStackSamples.class)
                    .ifPresent(stacks -> stacks.sampleFields(wanted));
        }
    }

    /** Leaves call chains as they were recorded: for copies in the same format. */
    public void keepRecordedStacks() {
        for (Recording recording : recordings) {
            recording
                    .capability(CopiedStackSamples.class)
                    .ifPresent(CopiedStackSamples::recordedStacks);
        }
    }

    /** Whether it is several files. */
    public boolean isSeveral() {
        return files.size() > 1;
    }

    /** The name of the file of a recording. */
    public String fileOf(Recording recording) {
        return files.getOrDefault(recording, name);
    }

    /** File or folder name. */
    public String name() {
        return name;
    }

    /** The recordings, on one clock; perf.data first. */
    public List<Recording> recordings() {
        return recordings;
    }

    /** What the bundle says; null for a file by itself. */
    public @Nullable RecordingMeta meta() {
        return meta;
    }

    /**
     * What was lost: by the recorder's account in a bundle, else by what the files themselves say.
     */
    public List<RecordedLoss> losses() {
        RecordingMeta read = meta;
        return read != null
                ? read.losses()
                : recordings.stream()
                        .flatMap(one -> one.capability(TraceDatDescription.class).stream())
                        .flatMap(trace -> trace.losses().stream())
                        .toList();
    }

    /** Whether the bundle says that all of one of these events was to be recorded. */
    public boolean planned(String... events) {
        return owners().anyMatch(
                        one -> one.filter().isEmpty() && List.of(events).contains(one.event()));
    }

    private Stream<EventOwner> owners() {
        RecordingMeta read = meta;
        return read == null ? Stream.of() : read.layout().owners().stream();
    }

    /**
     * Whether an event is of the scheduler, and the switches are those that a filter let through.
     */
    public boolean lacksSwitches(EventType type) {
        return type.system().equals("sched")
                && owners().anyMatch(one ->
                        one.event().equals("sched:sched_switch") && !one.filter().isEmpty());
    }

    /** Whether the stack of each event of that name was asked for. */
    public boolean isStacked(String event) {
        return owners().anyMatch(one -> one.stacks() && one.event().equals(event));
    }

    /** Sentences about the recording as such; whole when it has been read. */
    public List<String> notes() {
        List<String> all = new ArrayList<>(notes);
        for (Recording recording : recordings) {
            List<String> found = recording.notes();
            RecordingMeta read = meta;
            if (read != null && read.state() != RecordingState.FINISHED) {
                // meta.json says already that the recorder was killed.
                found = found.stream().filter(note -> !note.contains(UNFINISHED)).toList();
            }
            String part = recordings.size() > 1 ? part(recording) + ": " : "";
            found.stream().limit(MAX_NOTES).forEach(note -> all.add(part + note));
            if (found.size() > MAX_NOTES) {
                all.add(part + "… and " + (found.size() - MAX_NOTES) + " more of the kind.");
            }
        }
        return all;
    }

    private static String part(Recording recording) {
        return recording.sources().getFirst().name();
    }

    /** Names of threads by tid, where its parts list them. */
    public Map<Integer, String> comms() {
        return comms;
    }

    /** The text of {@code /proc/kallsyms} that was kept for naming code; empty when none was. */
    public byte[] kallsyms() {
        return kallsyms;
    }

    /** What JVMs said of their compiled code, by process, as a perf map. */
    public Map<Integer, byte[]> jvmMaps() {
        return jvmMaps;
    }

    /** What JVMs said of their threads, in the order of time. */
    public List<JavaThreads> javaThreads() {
        return javaThreads;
    }

    /** What the addresses of frames of run times mean: {@link sonde.symbol.RuntimeFrames#FILE}. */
    public byte[] runtimeFrames() {
        return runtimeFrames;
    }

    /** What /proc showed of descriptors. */
    public List<OpenFiles> openFiles() {
        RecordingMeta read = meta;
        if (read == null) {
            return List.of();
        }
        boolean inherited = read.target().mode() == TargetMode.COMMAND;
        return read.descriptors().stream()
                .map(one -> new OpenFiles(one.pid(), one.atNanos(), one.targets(), inherited))
                .toList();
    }

    /**
     * Where symbols may come from. A bundle names its machine and boot: on any other, only files of
     * equal build-id are used. A file by itself says too little, so it is trusted as perf does.
     */
    public SymbolOptions symbolOptions() throws IOException {
        SymbolOptions here = SymbolOptions.here().with(given);
        RecordingMeta read = meta;
        if (read == null) {
            return here;
        }
        RecordedMachine recorded = read.machine();
        MachineFacts.Uname own = MachineFacts.uname();
        boolean same =
                recorded.bootId().equals(InstanceName.bootId())
                        && recorded.hostname().equals(own.node())
                        && recorded.architecture().equals(own.machine())
                        && recorded.kernelRelease().equals(own.release());
        return new SymbolOptions(
                here.folders(),
                here.debugFolders(),
                same,
                read.times().startWallNanos(),
                here.servers());
    }

    /** Where the user said that symbols are. */
    public GivenPlaces given() {
        return given;
    }

    /** Build-ids of files by path, where a mapping does not tell its own. */
    public Map<String, byte[]> fileIds() {
        Map<String, byte[]> all = new HashMap<>();
        recordings.forEach(one -> one.fileIds().forEach(all::putIfAbsent));
        return all;
    }

    /** Names of system calls on the recorded machine; ours when it does not say. */
    public SyscallNames syscalls() {
        try {
            Arch arch = machine.isEmpty() ? Arch.current() : Arch.find(machine);
            return SyscallNames.of(arch).and(moreCalls);
        } catch (IllegalArgumentException unknown) {
            return SyscallNames.of(Arch.current());
        }
    }

    /** Whose rows count. */
    public CountedThreads tree() {
        RecordingMeta read = meta;
        if (read == null) {
            return CountedThreads.everything();
        }
        Set<Integer> recorder = new HashSet<>(read.recorder().tids());
        recorder.add(read.recorder().pid());
        RecordedTarget target = read.target();
        return new CountedThreads(
                isMachine(),
                Set.copyOf(target.rootPids()),
                !target.argv().isEmpty(),
                read.times().execNanos(),
                recorder);
    }

    /** Whether the whole machine was recorded, not a tree of processes. */
    public boolean isMachine() {
        RecordingMeta read = meta;
        return read != null && read.target().mode() == TargetMode.ALL && !commandOnly;
    }

    /**
     * Counts the command's tree only, where everything was recorded beside it.
     *
     * @return whether there is a command
     */
    public boolean narrowToCommand() {
        RecordingMeta read = meta;
        commandOnly = read != null && !read.target().argv().isEmpty();
        return commandOnly;
    }

    /** Time of the first row of all, for windows that count from it. */
    public long firstTime() throws IOException {
        RecordingMeta read = meta;
        if (read != null && read.times().execNanos() > 0) {
            return read.times().execNanos();
        }
        long first = Long.MAX_VALUE;
        for (Recording recording : recordings) {
            for (Lane lane : recording.lanes()) {
                // Records of perf tell of what was before, and of its own beginning.
                first = Math.min(first, firstTime(lane, recording.hasKernelRecords()));
                lane.close();
            }
        }
        return first == Long.MAX_VALUE ? 0 : first;
    }

    private static long firstTime(Lane lane, boolean ofSamples) throws IOException {
        long records = Long.MAX_VALUE;
        for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
            List<EventType> types = batch.source().types();
            for (int row = 0; row < batch.size(); row++) {
                String system = types.get(batch.type(row)).system();
                if (!ofSamples || !system.equals(EventType.PERF_RECORD)) {
                    return batch.time(row);
                }
                records = Math.min(records, batch.time(row));
            }
        }
        return records;
    }

    @Override
    public void close() {
        recordings.forEach(Recording::close);
        owned.forEach(UnwrappedFiles::close);
    }
}
