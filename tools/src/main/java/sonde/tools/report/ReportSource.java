package sonde.tools.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Tree;
import sonde.analysis.file.OpenFiles;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.format.Input;
import sonde.format.MalformedInputException;
import sonde.format.bundle.Meta;
import sonde.format.bundle.MetaReader;
import sonde.format.perfdata.PerfDataRecording;
import sonde.format.tracedat.TimeShift;
import sonde.format.tracedat.TraceDatMetadata;
import sonde.format.tracedat.TraceDatRecording;
import sonde.probe.record.BundleFolder;
import sonde.probe.record.BundleRepair;
import sonde.probe.tracefs.InstanceName;
import sonde.symbol.SymbolOptions;
import sonde.sys.Arch;
import sonde.sys.Machine;
import sonde.sys.Syscalls;

/** What a report is made from: a bundle, a trace.dat or a perf.data, opened. */
public final class ReportSource implements AutoCloseable {
    /** Of our recordings: a page of x86-64 and most arm64 kernels. */
    private static final int SUB_BUFFER_BYTES = 4096;

    /** Most sentences of one file. */
    private static final int MAX_NOTES = 3;

    private final String name;
    private final List<Recording> recordings = new ArrayList<>();
    private final Map<Recording, String> files = new IdentityHashMap<>();
    private final List<String> notes = new ArrayList<>();
    private final Map<Integer, String> comms = new HashMap<>();
    private final Map<Integer, byte[]> jvmMaps = new HashMap<>();
    private @Nullable Meta meta;
    private byte[] kallsyms = {};
    private String machine = "";

    private ReportSource(String name) {
        this.name = name;
    }

    /**
     * Opens a recording.
     *
     * @throws MalformedInputException when it is neither a bundle, a trace.dat nor a perf.data
     * @throws NoSuchFileException when there is nothing of that name
     */
    public static ReportSource open(Path path) throws IOException {
        Path file = path.getFileName();
        ReportSource source = new ReportSource(file == null ? path.toString() : file.toString());
        try {
            if (Files.isDirectory(path)) {
                source.bundle(path);
            } else {
                source.file(path);
            }
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
    public static ReportSource open(List<Path> paths) throws IOException {
        if (paths.size() == 1) {
            return open(paths.getFirst());
        }
        ReportSource source = new ReportSource(paths.size() + " files");
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
            return source;
        } catch (IOException | RuntimeException e) {
            source.close();
            throw e;
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

    private void bundle(Path folder) throws IOException {
        Path metaFile = folder.resolve(Meta.FILE);
        if (!Files.isRegularFile(metaFile)) {
            throw new MalformedInputException(
                    "bundle", Meta.FILE, -1, "no such file in " + folder.getFileName());
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
        for (Meta.JvmMap map : read.jvmMaps()) {
            Path file = inside(folder, map.file());
            if (Files.isRegularFile(file) && Files.size(file) < 1L << 30) {
                jvmMaps.put(map.pid(), Files.readAllBytes(file));
            }
        }
        boolean cutShort = read.state() != Meta.State.FINISHED;
        if (recordings.isEmpty() && !cutShort) {
            throw new MalformedInputException("bundle", "parts", -1, "no recording in it");
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

    private void file(Path path) throws IOException {
        Input input = Input.open(path);
        boolean taken = false;
        try {
            if (TraceDatRecording.isTraceDat(input)) {
                TraceDatRecording opened = TraceDatRecording.of(input);
                taken = true;
                take(opened);
            } else {
                PerfDataRecording opened = PerfDataRecording.open(input);
                taken = true;
                recordings.addFirst(opened);
            }
        } finally {
            if (!taken) {
                input.close();
            }
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
            List<String> found =
                    switch (recording) {
                        case PerfDataRecording perf -> perf.notes();
                        case TraceDatRecording trace -> trace.notes();
                        default -> List.of();
                    };
            found.stream().limit(MAX_NOTES).forEach(all::add);
            if (found.size() > MAX_NOTES) {
                all.add("… and " + (found.size() - MAX_NOTES) + " more of the kind.");
            }
        }
        return all;
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
        SymbolOptions here = SymbolOptions.here();
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
                here.folders(), here.debugFolders(), same, read.times().startWallNanos());
    }

    /** Names of system calls on the recorded machine; ours when it does not say. */
    Syscalls syscalls() {
        try {
            return Syscalls.of(machine.isEmpty() ? Arch.current() : Arch.find(machine));
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

    /** Time of the first row of all, for windows that count from it. */
    long firstTime() throws IOException {
        Meta read = meta;
        if (read != null && read.times().execNanos() > 0) {
            return read.times().execNanos();
        }
        long first = Long.MAX_VALUE;
        for (Recording recording : recordings) {
            for (Lane lane : recording.lanes()) {
                Batch batch = lane.next();
                if (batch != null && batch.size() > 0) {
                    first = Math.min(first, batch.time(0));
                }
                lane.close();
            }
        }
        return first == Long.MAX_VALUE ? 0 : first;
    }

    @Override
    public void close() {
        recordings.forEach(Recording::close);
    }
}
