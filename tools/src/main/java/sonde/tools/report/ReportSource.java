package sonde.tools.report;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Tree;
import sonde.analysis.file.OpenFiles;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.format.Input;
import sonde.format.InputSet;
import sonde.format.MalformedInputException;
import sonde.format.bundle.Meta;
import sonde.format.bundle.MetaReader;
import sonde.format.ctf.CtfRecording;
import sonde.format.perfdata.PerfDataRecording;
import sonde.format.text.TextFormat;
import sonde.format.text.TextRecording;
import sonde.format.trace.TraceFormat;
import sonde.format.tracedat.TimeShift;
import sonde.format.tracedat.TraceDatMetadata;
import sonde.format.tracedat.TraceDatRecording;
import sonde.format.wrapper.Limits;
import sonde.format.wrapper.Spool;
import sonde.format.wrapper.Unwrapped;
import sonde.probe.record.BundleFolder;
import sonde.probe.record.BundleRepair;
import sonde.probe.tracefs.InstanceName;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.Arch;
import sonde.sys.FileStatus;
import sonde.sys.Machine;
import sonde.sys.Syscalls;

/** What a report is made from: a bundle, a trace.dat, a perf.data or CTF traces, opened. */
public final class ReportSource implements AutoCloseable {
    /** Of our recordings: a page of x86-64 and most arm64 kernels. */
    private static final int SUB_BUFFER_BYTES = 4096;

    /** Most sentences of one file. */
    private static final int MAX_NOTES = 3;

    /** Of one JVM's names; the recorder takes no more either. */
    private static final long MAX_JVM_MAP_BYTES = 64L << 20;

    private static final long MAX_JVM_MAPS_BYTES = 256L << 20;

    private static final String UNFINISHED = "the recorder did not finish";

    private final String name;
    private final GivenPlaces given;
    private final List<Recording> recordings = new ArrayList<>();
    private final Map<Recording, String> files = new IdentityHashMap<>();
    private final List<Unwrapped> owned = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final Map<Integer, String> comms = new HashMap<>();
    private final Map<Integer, byte[]> jvmMaps = new HashMap<>();
    private @Nullable StackUnwinding unwinding;
    private @Nullable Meta meta;
    private byte[] kallsyms = {};
    private String machine = "";
    private List<String> moreCalls = List.of();

    private ReportSource(String name, GivenPlaces given) {
        this.name = name;
        this.given = given;
    }

    /**
     * Opens a recording; {@code -} is the standard input.
     *
     * @throws MalformedInputException when it is neither a bundle, a trace.dat, a perf.data nor CTF
     * @throws NoSuchFileException when there is nothing of that name
     */
    public static ReportSource open(Path path) throws IOException {
        return open(path, GivenPlaces.NONE);
    }

    /** As {@link #open(Path)}, with places of symbols that the user named. */
    public static ReportSource open(Path path, GivenPlaces given) throws IOException {
        Path file = path.getFileName();
        String shown = file == null ? path.toString() : file.toString();
        ReportSource source = new ReportSource(shown, given);
        try {
            if (!Files.isDirectory(path)) {
                source.file(path.toString().equals("-") ? Path.of("/dev/stdin") : path);
                source.tellBundle(path);
            } else if (PerfFolder.isOne(path)) {
                source.recordings.add(PerfFolder.open(path));
                source.kallsyms = PerfFolder.kallsyms(path);
            } else if (!source.takesParquet(path) && !source.takesCtf(path)) {
                source.bundle(path);
            }
            source.unwind();
            return source;
        } catch (IOException | RuntimeException e) {
            source.close();
            throw e;
        }
    }

    /**
     * Opens several files as one: recordings of a host and its guests, or of one machine. Bundles
     * are opened one at a time.
     *
     * @throws MalformedInputException when one is neither a trace.dat nor a perf.data
     */
    public static ReportSource open(List<Path> paths, GivenPlaces given) throws IOException {
        if (paths.size() == 1) {
            return open(paths.getFirst(), given);
        }
        ReportSource source = new ReportSource(paths.size() + " files", given);
        try {
            for (Path path : paths) {
                int before = source.recordings.size();
                source.file(path);
                List<Recording> added =
                        source.recordings.stream()
                                .filter(one -> !source.files.containsKey(one))
                                .toList();
                if (added.size() != 1 || source.recordings.size() != before + 1) {
                    throw new IllegalStateException("one recording of " + path);
                }
                Path file = path.getFileName();
                String shown = file == null ? path.toString() : file.toString();
                source.files.put(added.getFirst(), shown);
            }
            source.relate();
            source.unwind();
            return source;
        } catch (IOException | RuntimeException e) {
            source.close();
            throw e;
        }
    }

    /** Samples with registers and a piece of stack get their call chains while they are read. */
    private void unwind() throws IOException {
        StackUnwinding made = new StackUnwinding(symbolOptions(), machine);
        recordings.forEach(made::take);
        unwinding = made;
    }

    /** How stacks are unwound, and how well. */
    StackUnwinding unwinding() {
        return Objects.requireNonNull(unwinding);
    }

    /** Whether samples have fields beside their columns, in readings that begin from now on. */
    void sampleFields(boolean wanted) {
        for (Recording recording : recordings) {
            if (recording instanceof PerfDataRecording perf) {
                perf.fields(wanted);
            }
        }
    }

    /** Leaves call chains as they were recorded: for copies in the same format. */
    public void keepRecordedStacks() {
        for (Recording recording : recordings) {
            if (recording instanceof PerfDataRecording perf) {
                perf.recordedStacks();
            }
        }
    }

    /** A file out of a bundle has but some of its events, and nothing says whose they are. */
    private void tellBundle(Path path) {
        Path bundle = path.toAbsolutePath().getParent();
        if (bundle != null && Files.isRegularFile(bundle.resolve(Meta.FILE))) {
            Path name = bundle.getFileName();
            notes.add("This is one part of a recording; " + name + " has all of it.");
        }
    }

    /** Says where the clocks of several files are not known to be one. */
    private void relate() {
        Set<Long> ids = new HashSet<>();
        Set<Clock> clocks = new TreeSet<>();
        for (Recording recording : recordings) {
            recording.sources().forEach(one -> clocks.add(one.clock()));
            if (recording instanceof TraceDatRecording trace) {
                ids.add(trace.metadata().traceId());
            }
        }
        for (Recording recording : recordings) {
            TimeShift shift =
                    recording instanceof TraceDatRecording trace
                            ? trace.timeShift().orElse(null)
                            : null;
            if (shift != null && !ids.contains(shift.peerId())) {
                notes.add(
                        files.get(recording)
                                + " is a guest's and has the times of its host, whose own file"
                                + " is not among these.");
            }
        }
        if (clocks.size() > 1) {
            notes.add("Their clocks differ: " + clocks + ". Times are compared as numbers.");
        }
    }

    /** Whether it is several files. */
    boolean isSeveral() {
        return files.size() > 1;
    }

    /** The name of the file of a recording. */
    String fileOf(Recording recording) {
        return files.getOrDefault(recording, name);
    }

    /** Takes a folder that holds CTF, one trace or a tree of them; false when it holds none. */
    private boolean takesCtf(Path folder) throws IOException {
        if (Files.exists(folder.resolve(Meta.FILE)) || !Files.isExecutable(folder)) {
            return false;
        }
        InputSet inputs = InputSet.below(folder);
        if (!CtfRecording.isCtf(inputs)) {
            inputs.close();
            return false;
        }
        recordings.add(CtfRecording.open(inputs));
        return true;
    }

    /** Takes a folder of Parquet that sonde wrote; false when it holds none. */
    private boolean takesParquet(Path folder) throws IOException {
        if (Files.exists(folder.resolve(Meta.FILE)) || !Files.isReadable(folder)) {
            return false;
        }
        List<Path> tables = ParquetTables.in(folder);
        if (!tables.isEmpty()) {
            recordings.add(ParquetTables.open(tables));
        }
        return !tables.isEmpty();
    }

    private void bundle(Path folder) throws IOException {
        Path metaFile = folder.resolve(Meta.FILE);
        if (!Files.isRegularFile(metaFile)) {
            if (!Files.isExecutable(folder)) {
                throw new AccessDeniedException(folder.toString());
            }
            throw new MalformedInputException(
                    "bundle",
                    Meta.FILE,
                    -1,
                    "is missing, so this folder is no recording of sonde; a trace.dat or"
                            + " perf.data in it can be given by its own name");
        }
        if (Files.size(metaFile) > MetaReader.MAX_BYTES) {
            throw new MalformedInputException("bundle", Meta.FILE, -1, "too large");
        }
        Meta read = finished(folder, MetaReader.read(Files.readAllBytes(metaFile)));
        meta = read;
        machine = read.machine().architecture();
        notes.addAll(read.notes());
        for (Meta.Part part : read.layout().parts()) {
            Path file = inside(folder, part.name());
            boolean isEvents =
                    part.kind() == Meta.PartKind.TRACE_DAT
                            || part.kind() == Meta.PartKind.PERF_DATA;
            if (isEvents && Files.isRegularFile(file)) {
                part(part.name(), file);
            } else if (isEvents) {
                notes.add(part.name() + " is missing from the bundle.");
            }
        }
        if (read.layout().part(Meta.PartKind.TRACE_DAT, "").isEmpty()) {
            spools(folder, read);
        }
        jvmMaps(folder, read);
        boolean cutShort = read.state() != Meta.State.FINISHED;
        if (recordings.isEmpty() && !cutShort) {
            throw new MalformedInputException("bundle", "parts", -1, "no recording in it");
        }
    }

    private void jvmMaps(Path folder, Meta read) throws IOException {
        long sum = 0;
        for (Meta.JvmMap map : read.jvmMaps()) {
            Path file = inside(folder, map.file());
            long size = Files.isRegularFile(file) ? Files.size(file) : 0;
            if (size > MAX_JVM_MAP_BYTES || sum + size > MAX_JVM_MAPS_BYTES) {
                notes.add(
                        map.file()
                                + " is too large ("
                                + (size >> 20)
                                + " MiB): compiled code of JVM "
                                + map.pid()
                                + " has no names.");
            } else if (size > 0) {
                sum += size;
                jvmMaps.put(map.pid(), Files.readAllBytes(file));
            }
        }
    }

    /** A part that cannot be read does not hide the others. */
    private void part(String part, Path file) throws IOException {
        try {
            file(file);
        } catch (MalformedInputException e) {
            notes.add(part + " cannot be read: " + e.getMessage());
        }
    }

    /** Names are checked by the reader of meta.json to be plain file names. */
    private static Path inside(Path folder, String name) {
        return folder.resolve(Path.of(name).getFileName());
    }

    /** Finishes a bundle whose recorder was killed, where that can be known and written. */
    private Meta finished(Path folder, Meta read) throws IOException {
        boolean killed = read.state() == Meta.State.RECORDING;
        if (!killed && !BundleRepair.hasSpools(read)) {
            return read;
        }
        if (killed && BundleRepair.isAlive(read)) {
            throw new IOException(
                    name
                            + ": still being recorded by process "
                            + read.recorder().pid()
                            + "; ask again when that has ended");
        }
        boolean elsewhere =
                InstanceName.bootId().equals(read.machine().bootId())
                        && InstanceName.namespace() != read.machine().pidNamespace();
        String why = "the recorder may still run in another container";
        if (!elsewhere) {
            try (BundleFolder opened = BundleFolder.open(folder.toString())) {
                return BundleRepair.finish(opened);
            } catch (IOException e) {
                why = String.valueOf(e.getMessage());
            }
        }
        if (!killed) {
            return read; // a full disk kept its spools from becoming a trace.dat, and still does
        }
        notes.add(
                "The recorder did not finish this; it is read as it lies, without what was still"
                        + " in the kernel's rings ("
                        + why
                        + ").");
        return read;
    }

    /** Pages that were never put into a trace.dat: the disk was full, or nobody may write. */
    private void spools(Path folder, Meta read) throws IOException {
        List<Meta.Part> parts =
                read.layout().parts().stream()
                        .filter(part -> part.kind() == Meta.PartKind.SPOOL)
                        .toList();
        Path formats =
                read.layout()
                        .part(Meta.PartKind.KERNEL_FORMATS, "")
                        .map(part -> inside(folder, part.name()))
                        .orElse(null);
        if (parts.isEmpty()) {
            return;
        }
        if (formats == null || !Files.isRegularFile(formats)) {
            notes.add("The kernel's formats are missing: only perf.data can be read.");
            return;
        }
        TraceDatMetadata metadata;
        try (TraceDatRecording kept = TraceDatRecording.open(formats)) {
            metadata = kept.metadata();
        } catch (MalformedInputException e) {
            notes.add("The kernel's formats were not written whole: only perf.data can be read.");
            return;
        }
        List<TraceDatRecording.Spool> spools = new ArrayList<>();
        for (Meta.Part part : parts) {
            Path file = inside(folder, part.name());
            if (Files.isRegularFile(file) && Files.size(file) > 0) {
                Input input = Input.open(file);
                spools.add(
                        new TraceDatRecording.Spool(
                                part.buffer(), "mono", SUB_BUFFER_BYTES, part.cpu(), input));
            }
        }
        take(TraceDatRecording.ofSpools(metadata, spools));
        notes.add("There is no trace.dat, its parts are read.");
    }

    private void take(TraceDatRecording opened) {
        recordings.add(opened);
        comms.putAll(opened.comms());
        kallsyms = opened.metadata().kallsyms();
        String uname = opened.metadata().uname().strip();
        if (machine.isEmpty()) {
            machine = uname.substring(uname.lastIndexOf(' ') + 1);
        }
    }

    private void take(TextRecording opened) {
        recordings.add(opened);
        opened.comms().forEach(comms::putIfAbsent);
        if (machine.isEmpty()) {
            machine = opened.machine();
        }
        moreCalls = opened.moreCalls();
    }

    /** A file, what it is wrapped in taken off; what is no file (a pipe) is kept in one first. */
    private void file(Path path) throws IOException {
        Input input;
        if (Files.isRegularFile(path) && ParquetTables.isOne(path)) {
            recordings.add(ParquetTables.open(List.of(path)));
            return;
        }
        if (Files.isRegularFile(path) || !Files.exists(path)) {
            input = Input.open(path);
        } else {
            FileStatus status = sonde.sys.Files.stat(path.toString());
            if (status.isDevice()) {
                // /dev/zero never ends
                throw new MalformedInputException("file", "kind", -1, "it is " + status.kind());
            }
            try (InputStream stream = Files.newInputStream(path)) {
                input = Spool.of(path.toString(), stream);
            }
        }
        Unwrapped unwrapped = Unwrapped.of(input, Limits.DEFAULT);
        owned.add(unwrapped);
        notes.addAll(unwrapped.notes());
        List<Input> inputs = unwrapped.inputs();
        if (inputs.size() == 1 && CtfRecording.isMetadata(inputs.getFirst())) {
            // The metadata of a trace stands for the folder it lies in.
            Path folder = path.toAbsolutePath().getParent();
            if (folder == null || !takesCtf(folder)) {
                throw new MalformedInputException("CTF", "folder", -1, "no streams beside " + path);
            }
        } else if (unwrapped.isArchive()) {
            archive(inputs);
        } else {
            input(inputs.getFirst());
        }
    }

    private void input(Input input) throws IOException {
        if (TraceDatRecording.isTraceDat(input)) {
            take(TraceDatRecording.of(input));
            return;
        }
        Optional<TraceFormat> other = TraceFormat.of(input);
        if (other.isPresent()) {
            recordings.add(other.get().open(input));
        } else if (TextFormat.of(input) != null) {
            take(TextRecording.open(input));
        } else {
            String refusal = TextFormat.refusal(input);
            if (!refusal.isEmpty()) {
                throw new MalformedInputException("text", "kind", -1, refusal);
            }
            recordings.addFirst(PerfDataRecording.open(input));
        }
    }

    /** A trace of several files, or every file by itself; what is no recording is passed over. */
    private void archive(List<Input> inputs) throws IOException {
        Map<String, InputSet.Opener> byName = new HashMap<>();
        inputs.forEach(one -> byName.put(one.name(), () -> one));
        InputSet set = InputSet.of(name, byName);
        if (CtfRecording.isCtf(set)) {
            recordings.add(CtfRecording.open(set));
            return;
        }
        for (Input one : inputs) {
            try {
                input(one);
            } catch (MalformedInputException e) {
                notes.add(one.name() + " in the archive is not read: " + e.getMessage());
            }
        }
        if (recordings.isEmpty()) {
            throw new MalformedInputException(
                    "archive", "files", -1, "none of " + inputs.size() + " is a recording");
        }
    }

    /** File or folder name. */
    public String name() {
        return name;
    }

    /** The recordings, on one clock; perf.data first. */
    public List<Recording> recordings() {
        return List.copyOf(recordings);
    }

    /** What the bundle says; null for a file by itself. */
    public @Nullable Meta meta() {
        return meta;
    }

    /** Whether the bundle says that one of these events was to be recorded. */
    boolean planned(String... events) {
        Meta read = meta;
        return read != null
                && read.layout().owners().stream()
                        .anyMatch(owner -> List.of(events).contains(owner.event()));
    }

    /** Sentences about the recording as such; whole when it has been read. */
    public List<String> notes() {
        List<String> all = new ArrayList<>(notes);
        for (Recording recording : recordings) {
            List<String> found = recording.notes();
            Meta read = meta;
            if (read != null && read.state() != Meta.State.FINISHED) {
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
        return recording instanceof PerfDataRecording ? "perf.data" : "trace.dat";
    }

    Map<Integer, String> comms() {
        return comms;
    }

    byte[] kallsyms() {
        return kallsyms;
    }

    Map<Integer, byte[]> jvmMaps() {
        return jvmMaps;
    }

    /** What /proc showed of descriptors. */
    List<OpenFiles> openFiles() {
        Meta read = meta;
        if (read == null) {
            return List.of();
        }
        boolean inherited = read.target().mode() == Meta.Mode.COMMAND;
        return read.descriptors().stream()
                .map(one -> new OpenFiles(one.pid(), one.atNanos(), one.targets(), inherited))
                .toList();
    }

    /**
     * Where symbols may come from. A bundle names its machine and boot: on any other, only files of
     * equal build-id are used. A file by itself says too little, so it is trusted as perf does.
     */
    SymbolOptions symbolOptions() throws IOException {
        SymbolOptions here = SymbolOptions.here().with(given);
        Meta read = meta;
        if (read == null) {
            return here;
        }
        Meta.Machine recorded = read.machine();
        Machine.Uname own = Machine.uname();
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
    GivenPlaces given() {
        return given;
    }

    /** Build-ids of files by path, where a mapping does not tell its own. */
    Map<String, byte[]> fileIds() {
        Map<String, byte[]> all = new HashMap<>();
        recordings.forEach(one -> RecordedKernel.fileIds(one).forEach(all::putIfAbsent));
        return all;
    }

    /** Names of system calls on the recorded machine; ours when it does not say. */
    Syscalls syscalls() {
        try {
            Arch arch = machine.isEmpty() ? Arch.current() : Arch.find(machine);
            return Syscalls.of(arch).and(moreCalls);
        } catch (IllegalArgumentException unknown) {
            return Syscalls.of(Arch.current());
        }
    }

    /** Whose rows count. */
    Tree tree() {
        Meta read = meta;
        if (read == null) {
            return Tree.everything();
        }
        Set<Integer> recorder = new HashSet<>(read.recorder().tids());
        recorder.add(read.recorder().pid());
        Meta.Target target = read.target();
        return new Tree(
                target.mode() == Meta.Mode.ALL,
                Set.copyOf(target.rootPids()),
                target.mode() == Meta.Mode.COMMAND,
                read.times().execNanos(),
                recorder);
    }

    /** Whether the whole machine was recorded, not a tree of processes. */
    boolean isMachine() {
        Meta read = meta;
        return read != null && read.target().mode() == Meta.Mode.ALL;
    }

    /** Time of the first row of all, for windows that count from it. */
    long firstTime() throws IOException {
        Meta read = meta;
        if (read != null && read.times().execNanos() > 0) {
            return read.times().execNanos();
        }
        long first = Long.MAX_VALUE;
        for (Recording recording : recordings) {
            for (Lane lane : recording.lanes()) {
                // Records of perf tell of what was before, and of its own beginning.
                boolean perf = recording instanceof PerfDataRecording;
                first = Math.min(first, firstTime(lane, perf));
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
        owned.forEach(Unwrapped::close);
    }
}
