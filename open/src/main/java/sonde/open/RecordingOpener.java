package sonde.open;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.archive.UnwrapLimits;
import sonde.binary.archive.UnwrapSpool;
import sonde.binary.archive.UnwrappedFiles;
import sonde.event.Clock;
import sonde.event.Recording;
import sonde.open.format.FolderFormat;
import sonde.open.format.TraceFormat;
import sonde.probe.snapshot.SystemSnapshot;
import sonde.recording.InputSet;
import sonde.recording.InputSet.InputOpener;
import sonde.recording.bundle.JavaThreads;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.perfdata.PerfDescription;
import sonde.recording.tracedat.TimeShift;
import sonde.recording.tracedat.TraceDatDescription;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;

/** Finds out what was named, takes its wrappers off and opens the recordings in it. */
final class RecordingOpener {
    /** The running system, or processes of it. */
    private static final Pattern RUNNING = Pattern.compile("proc:((?:\\d{1,9}(?:,\\d{1,9})*)?)");

    final String name;
    final GivenPlaces given;
    final List<Recording> recordings = new ArrayList<>();
    final Map<Recording, String> files = new IdentityHashMap<>();
    final List<UnwrappedFiles> owned = new ArrayList<>();
    final List<String> notes = new ArrayList<>();
    final Map<Integer, String> comms = new HashMap<>();
    Map<Integer, byte[]> jvmMaps = Map.of();
    List<JavaThreads> javaThreads = List.of();
    byte[] runtimeFrames = {};
    @Nullable RecordingMeta meta;
    byte[] kallsyms = {};
    String machine = "";
    List<String> moreCalls = List.of();

    private RecordingOpener(String name, GivenPlaces given) {
        this.name = name;
        this.given = given;
    }

    static ReportSource open(Path path, GivenPlaces given) throws IOException {
        RecordingOpener opener = new RecordingOpener(shown(path), given);
        return opener.opened(() -> opener.path(path));
    }

    static ReportSource open(List<Path> paths, GivenPlaces given) throws IOException {
        RecordingOpener opener = new RecordingOpener(paths.size() + " files", given);
        return opener.opened(() -> opener.each(paths));
    }

    /** Recordings of a session that still records; closed with the source. */
    static ReportSource live(RecordingMeta meta, List<Recording> recordings) throws IOException {
        RecordingOpener opener = new RecordingOpener("live", GivenPlaces.NONE);
        opener.meta = meta;
        return opener.opened(() -> recordings.forEach(opener::take));
    }

    private static String shown(Path path) {
        Path file = path.getFileName();
        return file == null ? path.toString() : file.toString();
    }

    private interface Opening {
        void run() throws IOException;
    }

    /** Closes what was opened when the rest cannot be. */
    private ReportSource opened(Opening opening) throws IOException {
        try {
            opening.run();
            return new ReportSource(this);
        } catch (IOException | RuntimeException e) {
            recordings.forEach(Recording::close);
            owned.forEach(UnwrappedFiles::close);
            throw e;
        }
    }

    private void path(Path path) throws IOException {
        Matcher running = RUNNING.matcher(path.toString());
        if (running.matches() && !Files.exists(path)) {
            String pids = running.group(1);
            recordings.add(
                    SystemSnapshot.of(
                            pids.isEmpty()
                                    ? List.of()
                                    : Stream.of(pids.split(",")).map(Integer::valueOf).toList()));
        } else if (!Files.isDirectory(path)) {
            file(path.toString().equals("-") ? Path.of("/dev/stdin") : path);
            tellBundle(path);
        } else if (Files.isRegularFile(path.resolve(RecordingMeta.FILE))) {
            bundle(BundleParts.in(path));
        } else if (!takesParquet(path) && !takesFolder(path)) {
            if (!Files.isExecutable(path)) {
                throw new AccessDeniedException(path.toString());
            }
            throw new MalformedInputException(
                    "bundle",
                    RecordingMeta.FILE,
                    -1,
                    "is missing, so this folder is not a recording of sonde; a trace.dat or"
                            + " perf.data in it can be given by its own name");
        }
    }

    private void each(List<Path> paths) throws IOException {
        for (Path path : paths) {
            int before = recordings.size();
            file(path);
            List<Recording> added =
                    recordings.stream().filter(one -> !files.containsKey(one)).toList();
            if (added.size() != 1 || recordings.size() != before + 1) {
                throw new IllegalStateException("one recording of " + path);
            }
            files.put(added.getFirst(), shown(path));
        }
        relate();
    }

    /** A file out of a bundle has but some of its events, and nothing says whose they are. */
    private void tellBundle(Path path) {
        Path bundle = path.toAbsolutePath().getParent();
        if (bundle != null && Files.isRegularFile(bundle.resolve(RecordingMeta.FILE))) {
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
            recording
                    .capability(TraceDatDescription.class)
                    .ifPresent(trace -> ids.add(trace.metadata().traceId()));
        }
        for (Recording recording : recordings) {
            TimeShift shift =
                    recording
                            .capability(TraceDatDescription.class)
                            .flatMap(TraceDatDescription::timeShift)
                            .orElse(null);
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

    /** Takes a folder whose files are one recording; false when they are none. */
    private boolean takesFolder(Path folder) throws IOException {
        if (!Files.isExecutable(folder)) {
            return false;
        }
        InputSet inputs = InputSet.below(folder);
        Optional<FolderFormat> format = FolderFormat.of(inputs);
        if (format.isEmpty()) {
            inputs.close();
            return false;
        }
        take(format.get().open(inputs));
        return true;
    }

    /** Takes a folder of Parquet that sonde wrote; false when it holds none. */
    private boolean takesParquet(Path folder) throws IOException {
        if (!Files.isReadable(folder)) {
            return false;
        }
        List<Path> tables = ParquetTables.in(folder);
        if (!tables.isEmpty()) {
            recordings.add(ParquetTables.open(tables));
        }
        return !tables.isEmpty();
    }

    private void bundle(BundleParts parts) throws IOException {
        BundleReader reader = new BundleReader(this, parts);
        meta = reader.read();
        jvmMaps = reader.jvmMaps();
        javaThreads = reader.javaThreads();
        runtimeFrames = reader.runtimeFrames();
    }

    void take(Input input) throws IOException {
        take(TraceFormat.read(input));
    }

    /** Records of perf come first: of equal times they tell what the others' rows need. */
    void take(Recording opened) {
        Optional<PerfDescription> perf = opened.capability(PerfDescription.class);
        if (perf.isPresent()) {
            recordings.addFirst(opened);
            byte[] copied = perf.get().copiedKallsyms();
            kallsyms = copied.length > 0 ? copied : kallsyms;
            return;
        }
        recordings.add(opened);
        opened.threadNames().ifPresent(comms::putAll);
        kallsyms = opened.kallsyms().length > 0 ? opened.kallsyms() : kallsyms;
        machine = machine.isEmpty() ? opened.kernel().architecture() : machine;
        moreCalls = opened.moreCalls().isEmpty() ? moreCalls : opened.moreCalls();
    }

    /**
     * A file, what it is wrapped in taken off; what is not a file (a pipe) is kept in one first.
     */
    private void file(Path path) throws IOException {
        Input input;
        if (Files.isRegularFile(path) && ParquetTables.isOne(path)) {
            recordings.add(ParquetTables.open(List.of(path)));
            return;
        }
        if (Files.isRegularFile(path) || !Files.exists(path)) {
            input = Input.open(path);
        } else {
            FileStatus status = FileCalls.stat(path.toString());
            if (status.isDevice()) {
                // /dev/zero never ends
                throw new MalformedInputException("file", "kind", -1, "it is " + status.kind());
            }
            try (InputStream stream = Files.newInputStream(path)) {
                input = UnwrapSpool.of(path.toString(), stream);
            }
        }
        UnwrappedFiles unwrapped = unwrap(input);
        List<Input> inputs = unwrapped.inputs();
        if (inputs.size() == 1 && FolderFormat.isMetadata(inputs.getFirst())) {
            // The metadata of a trace stands for the folder it lies in.
            Path folder = path.toAbsolutePath().getParent();
            if (folder == null || !takesFolder(folder)) {
                throw new MalformedInputException("CTF", "folder", -1, "no streams beside " + path);
            }
        } else if (unwrapped.isArchive()) {
            archive(inputs);
        } else {
            take(inputs.getFirst());
        }
    }

    /** The file in a part of a bundle, which is closed with the recording. */
    Input unwrapped(Input part) throws IOException {
        return unwrap(part).inputs().getFirst();
    }

    private UnwrappedFiles unwrap(Input input) throws IOException {
        UnwrapLimits limits = UnwrapLimits.of(System.getenv(UnwrapLimits.VARIABLE));
        UnwrappedFiles unwrapped = UnwrappedFiles.of(input, limits);
        owned.add(unwrapped);
        notes.addAll(unwrapped.notes());
        return unwrapped;
    }

    /**
     * A bundle, a trace of several files, or every file by itself; what is not a recording is
     * passed over.
     */
    private void archive(List<Input> inputs) throws IOException {
        Optional<BundleParts> parts = BundleParts.in(inputs);
        if (parts.isPresent()) {
            bundle(parts.get());
            return;
        }
        for (String folder : List.of("", commonFolder(inputs))) {
            Map<String, InputOpener> byName = new HashMap<>();
            inputs.forEach(one -> byName.put(one.name().substring(folder.length()), () -> one));
            InputSet set = InputSet.of(byName);
            Optional<FolderFormat> format = FolderFormat.of(set);
            if (format.isPresent()) {
                take(format.get().open(set));
                return;
            }
        }
        for (Input one : inputs) {
            try {
                take(one);
            } catch (MalformedInputException e) {
                notes.add(one.name() + " in the archive is not read: " + e.getMessage());
            }
        }
        if (recordings.isEmpty()) {
            throw new MalformedInputException(
                    "archive", "files", -1, "none of " + inputs.size() + " is a recording");
        }
    }

    /** The folder that all files of an archive lie in, with a slash at its end; may be empty. */
    private static String commonFolder(List<Input> inputs) {
        String first = inputs.getFirst().name();
        String folder = first.substring(0, first.indexOf('/') + 1);
        return inputs.stream().allMatch(one -> one.name().startsWith(folder)) ? folder : "";
    }
}
