package sonde.tools.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Tree;
import sonde.analysis.file.OpenFiles;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.format.Input;
import sonde.format.MalformedInputException;
import sonde.format.bundle.Meta;
import sonde.format.bundle.MetaReader;
import sonde.format.perfdata.PerfDataRecording;
import sonde.format.tracedat.TraceDatRecording;
import sonde.sys.Arch;
import sonde.sys.Syscalls;

/** What a report is made from: a bundle, a trace.dat or a perf.data, opened. */
public final class ReportSource implements AutoCloseable {
    private final String name;
    private final List<Recording> recordings = new ArrayList<>();
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

    private void bundle(Path folder) throws IOException {
        Path metaFile = folder.resolve(Meta.FILE);
        if (!Files.isRegularFile(metaFile)) {
            throw new MalformedInputException(
                    "bundle", Meta.FILE, -1, "no such file in " + folder.getFileName());
        }
        if (Files.size(metaFile) > MetaReader.MAX_BYTES) {
            throw new MalformedInputException("bundle", Meta.FILE, -1, "too large");
        }
        Meta read = MetaReader.read(Files.readAllBytes(metaFile));
        meta = read;
        machine = read.machine().architecture();
        notes.addAll(read.notes());
        if (read.state() == Meta.State.REPAIRED) {
            notes.add("The recorder was killed; this is what it had written until then.");
        }
        for (Meta.Part part : read.layout().parts()) {
            // Names are checked by the reader of meta.json to be plain file names.
            Path file = folder.resolve(Path.of(part.name()).getFileName());
            boolean isEvents =
                    part.kind() == Meta.PartKind.TRACE_DAT
                            || part.kind() == Meta.PartKind.PERF_DATA;
            if (isEvents && Files.isRegularFile(file)) {
                file(file);
            } else if (isEvents) {
                notes.add(part.name() + " is missing from the bundle.");
            }
        }
        for (Meta.JvmMap map : read.jvmMaps()) {
            Path file = folder.resolve(Path.of(map.file()).getFileName());
            if (Files.isRegularFile(file) && Files.size(file) < 1L << 30) {
                jvmMaps.put(map.pid(), Files.readAllBytes(file));
            }
        }
        if (recordings.isEmpty()) {
            throw new MalformedInputException("bundle", "parts", -1, "no recording in it");
        }
    }

    private void file(Path path) throws IOException {
        Input input = Input.open(path);
        boolean taken = false;
        try {
            if (TraceDatRecording.isTraceDat(input)) {
                TraceDatRecording opened = TraceDatRecording.of(input);
                taken = true;
                recordings.add(opened);
                comms.putAll(opened.comms());
                kallsyms = opened.metadata().kallsyms();
                if (machine.isEmpty()) {
                    String uname = opened.metadata().uname().strip();
                    machine = uname.substring(uname.lastIndexOf(' ') + 1);
                }
            } else {
                PerfDataRecording opened = PerfDataRecording.open(input);
                taken = true;
                recordings.addFirst(opened);
                if (!opened.isFinished()) {
                    notes.add("perf.data was not finished; it is read as far as it goes.");
                }
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

    /** Sentences about the recording as such. */
    public List<String> notes() {
        return List.copyOf(notes);
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
