package sonde.probe.record;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.recording.tracedat.TraceDatWriter;
import sonde.sys.Fd;

/** Makes the trace.dat of a bundle from its spools, and then removes them. */
final class TraceDatAssembly {
    /** Name of the part. */
    static final String FILE = "trace.dat";

    private static final String UNFINISHED = "trace.dat.new";
    private static final int SUB_BUFFER_BYTES = 4096;

    private TraceDatAssembly() {}

    /**
     * Writes the file beside the spools, renames it, removes the spools.
     *
     * @param parts of the bundle; spools that are missing count as empty
     * @return the parts there are afterwards
     * @throws IOException when the file cannot be written: the spools are still there
     */
    static List<BundlePart> assemble(
            BundleFolder folder, List<BundlePart> parts, TraceDatMetadata metadata)
            throws IOException {
        folder.remove(UNFINISHED);
        List<FileChannel> open = new ArrayList<>();
        try {
            Map<String, List<TraceDatWriter.CpuPages>> buffers = new LinkedHashMap<>();
            buffers.put("", new ArrayList<>());
            for (BundlePart part : parts) {
                if (part.kind() == RecordingMeta.PartKind.SPOOL
                        && folder.sizeBytes(part.name()) >= 0) {
                    FileChannel channel = folder.reader(part.name());
                    open.add(channel);
                    long whole = channel.size() / SUB_BUFFER_BYTES * SUB_BUFFER_BYTES;
                    buffers.computeIfAbsent(part.buffer(), name -> new ArrayList<>())
                            .add(new TraceDatWriter.CpuPages(part.cpu(), channel, 0, whole));
                }
            }
            write(folder, metadata, buffers);
        } finally {
            for (FileChannel channel : open) {
                channel.close();
            }
        }
        folder.rename(UNFINISHED, FILE);
        return withoutSpools(folder, parts);
    }

    private static void write(
            BundleFolder folder,
            TraceDatMetadata metadata,
            Map<String, List<TraceDatWriter.CpuPages>> buffers)
            throws IOException {
        List<TraceDatWriter.BufferPages> data = new ArrayList<>();
        buffers.forEach((name, cpus) ->
                data.add(new TraceDatWriter.BufferPages(name, "mono", SUB_BUFFER_BYTES, cpus)));
        int file = folder.create(UNFINISHED);
        try (FileChannel channel =
                BundleFolder.channel(file, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
            TraceDatWriter.write(channel, metadata, data, false);
        } catch (IOException e) {
            folder.remove(UNFINISHED);
            throw e;
        } finally {
            Fd.discard(file);
        }
    }

    /** The trace.dat has its name already, so a crash from here on loses nothing. */
    static List<BundlePart> withoutSpools(BundleFolder folder, List<BundlePart> parts)
            throws IOException {
        List<BundlePart> rest = new ArrayList<>();
        for (BundlePart part : parts) {
            switch (part.kind()) {
                case SPOOL, KERNEL_FORMATS -> folder.remove(part.name());
                case TRACE_DAT -> {
                    // Named again below.
                }
                case PERF_DATA, JVM_MAP, OTHER -> rest.add(part);
            }
        }
        rest.add(new BundlePart(FILE, RecordingMeta.PartKind.TRACE_DAT, "", -1));
        return rest;
    }
}
