package sonde.open;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.binary.MalformedInputException;
import sonde.probe.record.BundleFolder;
import sonde.probe.record.BundleRepair;
import sonde.probe.tracefs.InstanceName;
import sonde.recording.bundle.JavaThreads;
import sonde.recording.bundle.MetaReader;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.recording.tracedat.TraceDatReader;
import sonde.recording.tracedat.TraceDatReader.SpoolFile;
import sonde.symbol.RuntimeFrames;

/** Reads a bundle: what {@code meta.json} says, and the parts that it names. */
final class BundleReader {
    /** Of our recordings: a page of x86-64 and most arm64 kernels. */
    private static final int SUB_BUFFER_BYTES = 4096;

    /** Of one JVM's names; the recorder takes no more either. */
    private static final long MAX_JVM_MAP_BYTES = 64L << 20;

    private static final long MAX_JVM_MAPS_BYTES = 256L << 20;

    /** With events; sonde writes two. */
    private static final int MAX_PARTS = 16;

    private final RecordingOpener opener;
    private final BundleParts parts;
    private static final int MAX_JAVA_THREADS = 256;

    private final Map<Integer, byte[]> jvmMaps = new HashMap<>();
    private final List<JavaThreads> javaThreads = new ArrayList<>();

    BundleReader(RecordingOpener opener, BundleParts parts) {
        this.opener = opener;
        this.parts = parts;
    }

    /** What JVMs said of their compiled code, by process; whole after {@link #read}. */
    Map<Integer, byte[]> jvmMaps() {
        return jvmMaps;
    }

    List<JavaThreads> javaThreads() {
        return javaThreads;
    }

    /** Names of frames of run times; a recorder that was killed has them in the folder alone. */
    byte[] runtimeFrames() throws IOException {
        String name = RuntimeFrames.FILE;
        if (!parts.has(name)) {
            return new byte[0];
        }
        if (parts.sizeBytes(name) > RuntimeFrames.LIMIT_BYTES) {
            opener.notes.add(name + " is too large: frames of run times have no names.");
            return new byte[0];
        }
        return parts.bytes(name);
    }

    /** Opens the parts; returns what the bundle says of itself. */
    RecordingMeta read() throws IOException {
        if (parts.sizeBytes(RecordingMeta.FILE) > MetaReader.MAX_BYTES) {
            throw new MalformedInputException("bundle", RecordingMeta.FILE, -1, "too large");
        }
        RecordingMeta meta = finished(MetaReader.read(parts.bytes(RecordingMeta.FILE)));
        opener.machine = meta.machine().architecture();
        opener.notes.addAll(meta.notes());
        List<BundlePart> events =
                meta.layout().parts().stream()
                        .filter(part ->
                                part.kind() == RecordingMeta.PartKind.TRACE_DAT
                                        || part.kind() == RecordingMeta.PartKind.PERF_DATA)
                        .toList();
        for (BundlePart part : events.subList(0, Math.min(MAX_PARTS, events.size()))) {
            if (parts.has(part.name())) {
                part(part.name());
            } else {
                opener.notes.add(part.name() + " is missing from the bundle.");
            }
        }
        if (events.size() > MAX_PARTS) {
            opener.notes.add(
                    "Of " + events.size() + " parts with events the first are read: " + MAX_PARTS);
        }
        if (meta.layout().part(RecordingMeta.PartKind.TRACE_DAT, "").isEmpty()) {
            spools(meta);
        }
        jvmMaps(meta);
        javaThreads(meta);
        boolean cutShort = meta.state() != RecordingState.FINISHED;
        if (opener.recordings.isEmpty() && !cutShort) {
            throw new MalformedInputException("bundle", "parts", -1, "no recording in it");
        }
        return meta;
    }

    /** A part that cannot be read does not hide the others. */
    private void part(String part) throws IOException {
        try {
            opener.take(opener.unwrapped(parts.open(part)));
        } catch (MalformedInputException e) {
            opener.notes.add(part + " cannot be read: " + e.getMessage());
        }
    }

    private void javaThreads(RecordingMeta meta) throws IOException {
        for (BundlePart part : meta.layout().parts()) {
            int pid = JavaThreads.pidOf(part.name());
            boolean told = pid >= 0 && parts.sizeBytes(part.name()) <= JavaThreads.LIMIT;
            if (told && javaThreads.size() < MAX_JAVA_THREADS && parts.has(part.name())) {
                String text = new String(parts.bytes(part.name()), StandardCharsets.UTF_8);
                javaThreads.add(JavaThreads.parse(pid, text));
            }
        }
    }

    private void jvmMaps(RecordingMeta meta) throws IOException {
        long sum = 0;
        for (RecordingMeta.JvmMap map : meta.jvmMaps()) {
            long size = parts.sizeBytes(map.file());
            if (size > MAX_JVM_MAP_BYTES || sum + size > MAX_JVM_MAPS_BYTES) {
                opener.notes.add(
                        map.file()
                                + " is too large ("
                                + (size >> 20)
                                + " MiB): compiled code of JVM "
                                + map.pid()
                                + " has no names.");
            } else if (size > 0) {
                sum += size;
                jvmMaps.put(map.pid(), parts.bytes(map.file()));
            }
        }
    }

    /** Finishes a bundle whose recorder was killed, where that can be known and written. */
    private RecordingMeta finished(RecordingMeta read) throws IOException {
        boolean killed = read.state() == RecordingState.RECORDING;
        if (!killed && !BundleRepair.hasSpools(read)) {
            return read;
        }
        Optional<Path> folder = parts.folder();
        if (killed && folder.isPresent() && BundleRepair.isAlive(read)) {
            throw new IOException(
                    opener.name
                            + ": still being recorded by process "
                            + read.recorder().pid()
                            + "; ask again when that has ended");
        }
        boolean elsewhere =
                InstanceName.bootId().equals(read.machine().bootId())
                        && InstanceName.namespace() != read.machine().pidNamespace();
        String why = "the recorder may still run in another container";
        if (folder.isEmpty()) {
            why = "an archive is left as it is";
        } else if (!elsewhere) {
            try (BundleFolder opened = BundleFolder.open(folder.get().toString())) {
                return BundleRepair.finish(opened);
            } catch (IOException e) {
                why = String.valueOf(e.getMessage());
            }
        }
        if (!killed) {
            return read; // a full disk kept its spools from becoming a trace.dat, and still does
        }
        opener.notes.add(
                "The recorder did not finish this; it is read as it lies, without what was still"
                        + " in the kernel's rings ("
                        + why
                        + ").");
        return read;
    }

    /** Pages that were never put into a trace.dat: the disk was full, or nobody may write. */
    private void spools(RecordingMeta meta) throws IOException {
        List<BundlePart> pages =
                meta.layout().parts().stream()
                        .filter(part -> part.kind() == RecordingMeta.PartKind.SPOOL)
                        .toList();
        if (pages.isEmpty()) {
            return;
        }
        String formats =
                meta.layout()
                        .part(RecordingMeta.PartKind.KERNEL_FORMATS, "")
                        .map(BundlePart::name)
                        .orElse("");
        if (formats.isEmpty() || !parts.has(formats)) {
            opener.notes.add("The kernel's formats are missing: only perf.data can be read.");
            return;
        }
        TraceDatMetadata metadata;
        try {
            metadata = TraceDatReader.metadata(opener.unwrapped(parts.open(formats)));
        } catch (MalformedInputException e) {
            opener.notes.add(
                    "The kernel's formats were not written whole: only perf.data can be read.");
            return;
        }
        List<SpoolFile> spools = new ArrayList<>();
        for (BundlePart part : pages) {
            if (parts.sizeBytes(part.name()) > 0) {
                spools.add(
                        new SpoolFile(
                                part.buffer(),
                                "mono",
                                SUB_BUFFER_BYTES,
                                part.cpu(),
                                parts.open(part.name())));
            }
        }
        opener.take(TraceDatReader.ofSpools(metadata, spools));
        opener.notes.add("trace.dat is missing; its parts are read instead.");
    }
}
