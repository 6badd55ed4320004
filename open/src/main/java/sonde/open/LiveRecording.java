package sonde.open;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import sonde.binary.Input;
import sonde.event.KernelIdentity;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.probe.record.GrowingFile;
import sonde.recording.AppendedEvents;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.recording.tracedat.TraceDatReader;
import sonde.recording.tracedat.TraceDatReader.SpoolFile;

/**
 * What a session writes, read while it is written. The lanes have the events from the first on and
 * wait for nobody: while there is no new one they give empty batches, and they end when the session
 * has.
 */
public final class LiveRecording implements Recording {
    private static final int SUB_BUFFER_BYTES = 4096;

    private final Recording opened;
    private final AppendedEvents format;
    private final List<GrowingFile> files;
    private final BooleanSupplier ended;
    private final List<GrowingLane> lanes = new ArrayList<>();

    private LiveRecording(Recording opened, List<GrowingFile> files, BooleanSupplier ended) {
        this.opened = opened;
        this.format = opened.capability(AppendedEvents.class).orElseThrow();
        this.files = files;
        this.ended = ended;
    }

    /**
     * What was left out.
     *
     * @param events about how many
     */
    public record SkippedEvents(long events, long bytes) {}

    /**
     * Opens what a session that records has written and will write.
     *
     * @param meta of the session now
     * @param all its files, which are closed with the source
     * @param formats of the events in spools, waited for
     * @param ended whether the session has written everything
     * @throws IOException when the files cannot be read
     */
    public static ReportSource open(
            RecordingMeta meta,
            List<GrowingFile> all,
            Supplier<Optional<TraceDatMetadata>> formats,
            BooleanSupplier ended)
            throws IOException {
        List<GrowingFile> spools = new ArrayList<>();
        List<Recording> recordings = new ArrayList<>();
        try {
            for (GrowingFile file : all) {
                if (file.part().kind() == RecordingMeta.PartKind.PERF_DATA) {
                    Recording perf = PerfDataReader.open(file.input());
                    recordings.add(new LiveRecording(perf, List.of(file), ended));
                } else {
                    spools.add(file);
                }
            }
            Optional<TraceDatMetadata> known = spools.isEmpty() ? Optional.empty() : formats.get();
            if (known.isPresent()) {
                List<SpoolFile> none = spools.stream().map(LiveRecording::none).toList();
                Recording dense = TraceDatReader.ofSpools(known.get(), none);
                recordings.add(new LiveRecording(dense, spools, ended));
            }
            return RecordingOpener.live(withExec(meta, recordings), recordings);
        } catch (IOException | RuntimeException e) {
            all.forEach(GrowingFile::close);
            throw e;
        }
    }

    private static SpoolFile none(GrowingFile file) {
        BundlePart part = file.part();
        Input input = Input.of(part.name(), new byte[0]);
        return new SpoolFile(part.buffer(), "mono", SUB_BUFFER_BYTES, part.cpu(), input);
    }

    /** A command counts from its exec on; the session knows it at the end, the records now. */
    private static RecordingMeta withExec(RecordingMeta meta, List<Recording> recordings) {
        RecordingTimes times = meta.times();
        return recordings.stream().noneMatch(Recording::hasKernelRecords)
                ? meta
                : meta.withTimes(
                        new RecordingTimes(times.startNanos(), times.startWallNanos(), -1, -1));
    }

    @Override
    public List<Source> sources() {
        return opened.sources();
    }

    @Override
    public List<Lane> lanes() {
        lanes.clear();
        for (GrowingFile file : files) {
            lanes.add(new GrowingLane(opened.sources().getFirst(), format, file, ended));
        }
        return List.copyOf(lanes);
    }

    /** What its lanes passed over since the last call because they were read too slowly. */
    public SkippedEvents takeSkipped() {
        long events = 0;
        long bytes = 0;
        for (GrowingLane lane : lanes) {
            long skipped = lane.takeSkippedBytes();
            bytes += skipped;
            events += lane.events(skipped);
        }
        return new SkippedEvents(events, bytes);
    }

    @Override
    public List<String> notes() {
        return opened.notes();
    }

    @Override
    public KernelIdentity kernel() {
        return opened.kernel();
    }

    @Override
    public byte[] kallsyms() {
        return opened.kallsyms();
    }

    @Override
    public Map<String, byte[]> fileIds() {
        return opened.fileIds();
    }

    @Override
    public boolean hasKernelRecords() {
        return opened.hasKernelRecords();
    }

    @Override
    public <C> Optional<C> capability(Class<C> kind) {
        return kind.isInstance(this) ? Optional.of(kind.cast(this)) : opened.capability(kind);
    }

    @Override
    public void close() {
        opened.close();
        files.forEach(GrowingFile::close);
    }
}
