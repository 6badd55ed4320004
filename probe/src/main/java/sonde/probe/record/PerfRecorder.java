package sonde.probe.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.probe.names.NamesProgram;
import sonde.probe.perf.AttrFactory;
import sonde.probe.perf.CountedTasks;
import sonde.probe.perf.ExistingTasks;
import sonde.probe.perf.MappedFiles.ForeignMapping;
import sonde.probe.perf.PerfRings;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.SampledEvent;
import sonde.probe.snapshot.ThreadNow;
import sonde.probe.snapshot.ThreadRows;
import sonde.probe.stack.StackPrograms;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfDataWriter;
import sonde.recording.perfdata.PerfFeatures;
import sonde.recording.perfdata.PerfRecords;
import sonde.recording.perfdata.TracingData;
import sonde.symbol.RuntimeFrames;
import sonde.symbol.RuntimeSymbolFile;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** The perf side of a recording: rings into {@code perf.data}. */
final class PerfRecorder implements AutoCloseable {
    /** Name of the part. */
    static final String FILE = "perf.data";

    /** For names of frames that are being read. */
    private static final long MOST_WAIT_MILLIS = 500;

    private final PerfRings rings;
    private final PerfDataWriter writer;
    private final int file;
    private final @Nullable StackPrograms stacks;
    private final long threadsId;
    private final BundleFolder folder;
    private int frames = -1;
    private boolean symbols;
    private final List<String> notes = new ArrayList<>();
    private @Nullable NamesProgram names;

    /** Where the records end that were written in whole passes over all rings. */
    private volatile long endOffset;

    private int writeErrno;
    private long unwritten;
    private long wholeSince;
    private boolean closed;

    private PerfRecorder(
            PerfRings rings,
            PerfDataWriter writer,
            int file,
            long threadsId,
            @Nullable StackPrograms stacks,
            BundleFolder folder) {
        this.folder = folder;
        this.threadsId = threadsId;
        this.rings = rings;
        this.writer = writer;
        this.file = file;
        this.stacks = stacks;
        this.endOffset = writer.endOffset();
    }

    /** What the header of a perf.data says besides events. */
    record Headline(String version, List<String> argv, long startNanos, long startWallNanos) {}

    /** Opens rings and file, switched off. */
    static PerfRecorder open(
            RecordPlan plan,
            BundleFolder folder,
            List<Integer> cpus,
            CountedTasks target,
            Headline headline,
            @Nullable Tracefs tracefs,
            @Nullable FormatCopier formats,
            @Nullable StackPrograms stacks)
            throws SyscallException {
        Tracefs events = tracefs == null ? new Tracefs(Tracefs.USUAL) : tracefs;
        PerfRings rings = PerfRings.open(plan, cpus, target, plan.names(), stacks, events);
        int file = -1;
        try {
            file = folder.create(FILE);
            PerfFeatures.Builder early = features(headline);
            List<String> tracepoints =
                    plan.sampled().stream()
                            .filter(SampledEvent::raw)
                            .map(SampledEvent::name)
                            .toList();
            TracingData kernel =
                    formats == null
                            ? FormatCopier.noTracingData()
                            : formats.tracingData(tracepoints);
            early.tracingData(kernel.with(ThreadRows.FORMAT));
            List<AttrEntry> entries = new ArrayList<>(rings.entries());
            entries.add(AttrFactory.threads(entries.getFirst()));
            PerfDataWriter writer = PerfDataWriter.create(file, entries, early.build());
            long threadsId = entries.getLast().ids()[0];
            return new PerfRecorder(rings, writer, file, threadsId, stacks, folder);
        } catch (SyscallException e) {
            rings.close();
            if (file >= 0) {
                Fd.discard(file);
            }
            throw e;
        }
    }

    private static PerfFeatures.Builder features(Headline headline) throws SyscallException {
        MachineFacts.Uname uname = MachineFacts.uname();
        List<String> command = new ArrayList<>(List.of("sonde", "record"));
        if (!headline.argv().isEmpty()) {
            command.add("--");
            command.addAll(headline.argv());
        }
        return PerfFeatures.builder()
                .hostname(uname.node())
                .osRelease(uname.release())
                .version("sonde " + headline.version())
                .arch(uname.machine())
                .cpus(
                        MachineFacts.possibleCpus().cardinality(),
                        MachineFacts.onlineCpus().cardinality())
                .commandLine(command)
                .clock(Clocks.CLOCK_MONOTONIC, 1, headline.startWallNanos(), headline.startNanos());
    }

    /**
     * Attaches the programs that unwind, switches on what tells of processes, then writes what
     * exists already; before {@link #on}.
     *
     * @param attached writes names into the rings, null without it; is closed with them
     */
    void prepare(@Nullable NamesProgram attached) throws IOException {
        names = attached;
        try {
            rings.attachStacks();
        } catch (IOException e) {
            notes.add("no user stacks: " + e.getMessage());
        }
        rings.enableLife();
        AttrEntry dummy = rings.entries().getFirst();
        ExistingTasks existing = new ExistingTasks(writer, dummy, rings.comms(), rings.files());
        existing.kernel();
        // No FINISHED_ROUND here: what exists already has time 0 and belongs before all of this.
        existing.processes(() -> rings.drain(writer::append));
        writer.flush();
    }

    /**
     * Switches on what is recorded.
     *
     * @param threads what they are in, read just before
     */
    void on(List<ThreadNow> threads) throws IOException {
        for (ThreadNow one : threads) {
            writer.appendSynthetic(ThreadRows.sample(one, threadsId, one.atNanos(), false));
        }
        writer.flush();
        rings.enable();
    }

    /**
     * Writes what threads are in at the end; after {@link #drainToEnd}.
     *
     * @param endNanos when recording ended, a little before they were read
     */
    void threads(List<ThreadNow> threads, long endNanos) {
        try {
            for (ThreadNow one : threads) {
                writer.appendSynthetic(
                        ThreadRows.sample(one, threadsId, Math.min(one.atNanos(), endNanos), true));
            }
            writer.flush();
        } catch (SyscallException e) {
            notes.add("what threads were in at the end is not kept: " + Errno.describe(e.errno()));
        }
    }

    void off() throws SyscallException {
        rings.disable();
    }

    List<Integer> pollable() {
        return rings.pollable();
    }

    PerfRings rings() {
        return rings;
    }

    /** Bytes of records in the file. */
    long bytes() {
        return writer.dataBytes();
    }

    /** Where the records end that are in the file; by any thread. */
    long endOffset() {
        return endOffset;
    }

    /** Keeps or makes names and stacks of another process; by any thread. */
    void follow(int pid) throws SyscallException {
        rings.follow(pid);
        if (names != null) {
            names.add(pid);
        }
        if (stacks != null) {
            stacks.follow(pid);
        }
    }

    /** What was refused. */
    List<String> notes() {
        List<String> all = new ArrayList<>(rings.notes());
        all.addAll(notes);
        if (stacks != null) {
            all.addAll(stacks.notes());
        }
        return all;
    }

    /**
     * Drains all rings and marks the round. A flight recorder's rounds are not marked: what it kept
     * comes last and is older than what was drained meanwhile.
     *
     * @return errno when the file cannot be written any more, else 0
     */
    int drain() throws IOException {
        return write(() -> {
            boolean isRound = rings.drain(writer::append) && !rings.isFlight();
            mapRunTimes();
            mapForeign();
            if (isRound) {
                writer.finishedRound();
            }
        });
    }

    /** {@link #drain}, then what a flight recorder kept; after {@link #off}. */
    int drainToEnd() throws IOException {
        if (stacks != null) {
            stacks.waitForTables();
        }
        int errno = drain();
        if (errno != 0 || !rings.isFlight()) {
            return errno;
        }
        return write(() -> wholeSince = rings.takeFlight(writer::append));
    }

    private interface RecorderStep {
        void run() throws IOException;
    }

    private int write(RecorderStep step) throws IOException {
        long before = rings.records();
        if (writeErrno != 0) {
            rings.drain((first, second) -> {});
            unwritten += rings.records() - before;
            return writeErrno;
        }
        try {
            step.run();
        } catch (SyscallException e) {
            if (!Set.of("pwrite64", "pwrite", "write").contains(e.call())) {
                throw e;
            }
            writeErrno = e.errno();
            unwritten += rings.records() - before;
        }
        keepFrames();
        endOffset = writer.endOffset();
        return writeErrno;
    }

    /** Writes what addresses of frames of run times mean, as far as it is known. */
    private void keepFrames() {
        byte[] lines = stacks == null ? new byte[0] : stacks.runTimeLines();
        if (lines.length == 0) {
            return;
        }
        try {
            frames = frames < 0 ? folder.create(RuntimeFrames.FILE) : frames;
            Fd.writeFully(frames, lines);
        } catch (SyscallException e) {
            notes.add("functions of run times have no names: " + Errno.describe(e.errno()));
        }
    }

    /**
     * Tells perf where frames of run times have names, in each process that has some: before its
     * first one, but behind the fork that made it.
     */
    private void mapRunTimes() throws IOException {
        Map<Integer, Long> met = stacks == null ? Map.of() : stacks.takeRunTimes();
        for (Map.Entry<Integer, Long> one : met.entrySet()) {
            int pid = one.getKey();
            AttrEntry dummy = rings.entries().getFirst();
            PerfRecords.MmapRecord names =
                    new PerfRecords.MmapRecord(
                            pid,
                            pid,
                            RuntimeSymbolFile.START,
                            RuntimeSymbolFile.SIZE_BYTES,
                            0,
                            folder.path().resolve(RuntimeSymbolFile.FILE).toString());
            PerfRecords.SampleId stamp =
                    new PerfRecords.SampleId(pid, pid, one.getValue() - 1, dummy.ids()[0], 0);
            writer.appendSynthetic(
                    new PerfRecords(dummy.attr())
                            .mmap(stamp, PerfAbi.PERF_RECORD_MISC_USER, names));
        }
    }

    /**
     * Tells again of mappings whose paths mean other files here, immediately behind the kernel's.
     */
    private void mapForeign() throws IOException {
        AttrEntry dummy = rings.entries().getFirst();
        for (ForeignMapping one : rings.files().takeForeign()) {
            int pid = one.pid();
            PerfRecords.SampleId stamp =
                    new PerfRecords.SampleId(pid, pid, one.timeNanos() + 1, dummy.ids()[0], 0);
            writer.appendSynthetic(ExistingTasks.record(new PerfRecords(dummy.attr()), stamp, one));
        }
    }

    /** Makes the file of {@link #mapRunTimes}. */
    private void nameRunTimes() {
        byte[] names = stacks == null ? new byte[0] : stacks.symbolFile();
        if (names.length == 0) {
            return;
        }
        try {
            int file = folder.create(RuntimeSymbolFile.FILE);
            try {
                Fd.writeFully(file, names);
                symbols = true;
            } finally {
                Fd.discard(file);
            }
        } catch (SyscallException e) {
            notes.add(
                    "perf shows functions of run times without names: "
                            + Errno.describe(e.errno()));
        }
    }

    /** Names of the files of frames of run times that there are. */
    List<String> frameFiles() {
        List<String> files = new ArrayList<>(frames < 0 ? List.of() : List.of(RuntimeFrames.FILE));
        if (symbols) {
            files.add(RuntimeSymbolFile.FILE);
        }
        return files;
    }

    /** What was lost; after {@link #off} and the last {@link #drain}. */
    List<RecordedLoss> losses() throws SyscallException {
        List<RecordedLoss> losses = new ArrayList<>(rings.losses());
        if (writeErrno != 0) {
            losses.add(
                    new RecordedLoss(
                            FILE,
                            "",
                            -1,
                            RecordingMeta.LossKind.NOT_WRITTEN,
                            Math.max(unwritten, 1)));
        }
        long unnamed = names == null ? 0 : names.counters().dropped();
        if (unnamed > 0) {
            losses.add(
                    new RecordedLoss(
                            FILE, "bpf-output", -1, RecordingMeta.LossKind.RING_FULL, unnamed));
        }
        return losses;
    }

    /** Writes the features known at the end and the final header. */
    void finish(long startNanos, long endNanos) {
        if (stacks != null) {
            stacks.awaitTables(MOST_WAIT_MILLIS);
            keepFrames();
            nameRunTimes();
        }
        if (wholeSince > 0) {
            notes.add(wholeFor(FILE, endNanos - wholeSince));
        }
        try {
            writer.finish(
                    PerfFeatures.builder()
                            .sampleTime(startNanos, endNanos)
                            .buildIds(rings.files().buildIds())
                            .build());
        } catch (SyscallException e) {
            notes.add("perf.data has no final header: " + Errno.describe(e.errno()));
        }
    }

    /** What a flight recorder has to say. */
    static String wholeFor(String part, long nanos) {
        return String.format(
                Locale.ROOT,
                "flight recorder: %s is whole for the last %.2f s, what is older has gaps",
                part,
                nanos / 1e9);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        List<Integer> slow = new ArrayList<>(rings.tracepointFds());
        if (names != null) {
            slow.addAll(names.detach());
        }
        if (stacks != null) {
            stacks.close();
        }
        try (EventKeeper _ = EventKeeper.start(slow)) {
            closeAll();
        } catch (SyscallException e) {
            closeAll(); // without a shell it takes half a second longer
        }
    }

    private void closeAll() {
        if (names != null) {
            names.close();
        }
        rings.close();
        writer.close();
        Fd.discard(file);
        if (frames >= 0) {
            Fd.discard(frames);
        }
    }
}
