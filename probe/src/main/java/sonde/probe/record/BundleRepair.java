package sonde.probe.record;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.probe.tracefs.InstanceName;
import sonde.recording.bundle.MetaReader;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;

/**
 * Finishes a bundle whose recorder was killed: the trace.dat is made from spools and kept kernel
 * formats, {@code perf.data} is left as it is (its reader takes unfinished ones), meta.json says
 * what happened. Nothing is asked of the kernel. May be killed and run again.
 */
public final class BundleRepair {
    // include/uapi/linux/perf_event.h: { u32 pid, tid; char comm[]; }, { u32 pid, ppid, tid, ptid }
    private static final int COMM_TID = 4;
    private static final int COMM_TEXT = 8;
    private static final int FORK_TID = 8;
    private static final int FORK_PARENT_TID = 12;
    private static final int FORK_BYTES = 16;

    private static final int MAX_COMMS = 1 << 22;

    private BundleRepair() {}

    /**
     * Reads a bundle's meta.json and finishes the bundle when its recorder is gone, or could not
     * make the trace.dat.
     *
     * @return the meta as it is now: {@link RecordingMeta.RecordingState#RECORDING} only while the
     *     recorder lives
     * @throws IOException when there is no readable meta.json, or the disk is full
     */
    public static RecordingMeta finish(BundleFolder folder) throws IOException {
        RecordingMeta meta = MetaReader.read(folder.read(RecordingMeta.FILE));
        if (meta.state() != RecordingState.RECORDING) {
            return hasSpools(meta) ? assembleLater(folder, meta) : meta;
        }
        if (isAlive(meta)) {
            return meta;
        }
        folder.releaseReserve();
        List<String> notes = new ArrayList<>(meta.notes());
        notes.add("the recorder did not finish; this recording was completed afterwards");
        List<RecordedLoss> losses = new ArrayList<>(meta.losses());
        for (String source : List.of("perf.data", "trace.dat")) {
            if (meta.layout().owners().stream().anyMatch(o -> o.source().equals(source))) {
                losses.add(new RecordedLoss(source, "", -1, RecordingMeta.LossKind.UNREAD, -1));
            }
        }
        List<BundlePart> parts = existing(folder, meta.layout().parts());
        try {
            parts = traceDat(folder, parts, meta, notes);
        } catch (IOException e) {
            notes.add("trace.dat could not be made, its parts are kept: " + e.getMessage());
        }
        RecordingMeta repaired =
                meta.withState(RecordingState.REPAIRED).withParts(parts).withAccount(losses, notes);
        folder.writeMeta(repaired);
        return repaired;
    }

    /**
     * A disk that was full at the end of the recording may have space now; or it stays as it is.
     */
    private static RecordingMeta assembleLater(BundleFolder folder, RecordingMeta meta) {
        List<String> notes = new ArrayList<>(meta.notes());
        try {
            List<BundlePart> parts =
                    traceDat(folder, existing(folder, meta.layout().parts()), meta, notes);
            RecordingMeta assembled = meta.withParts(parts).withAccount(meta.losses(), notes);
            folder.writeMeta(assembled);
            return assembled;
        } catch (IOException e) {
            return meta; // the spools are kept, and can be read as they are
        }
    }

    /** Whether trace.dat is still to be made. */
    public static boolean hasSpools(RecordingMeta meta) {
        return meta.layout().parts().stream()
                .anyMatch(p -> p.kind() == RecordingMeta.PartKind.SPOOL);
    }

    /**
     * Whether the recorder still runs, as far as can be told: on another boot it cannot, a process
     * of another pid namespace cannot be seen. This process, which may have recorded before, does
     * so no more when it reads.
     */
    public static boolean isAlive(RecordingMeta meta) throws IOException {
        return meta.recorder().pid() != ProcessCalls.getpid()
                && InstanceName.bootId().equals(meta.machine().bootId())
                && InstanceName.namespace() == meta.machine().pidNamespace()
                && InstanceName.startTicks(meta.recorder().pid()) == meta.recorder().startTicks();
    }

    private static List<BundlePart> existing(BundleFolder folder, List<BundlePart> parts) {
        return parts.stream().filter(part -> folder.sizeBytes(part.name()) >= 0).toList();
    }

    private static List<BundlePart> traceDat(
            BundleFolder folder, List<BundlePart> parts, RecordingMeta meta, List<String> notes)
            throws IOException {
        boolean made = folder.sizeBytes(TraceDatAssembly.FILE) >= 0;
        boolean spooled = parts.stream().anyMatch(p -> p.kind() == RecordingMeta.PartKind.SPOOL);
        if (made) {
            return TraceDatAssembly.withoutSpools(folder, parts);
        }
        if (!spooled) {
            return parts;
        }
        TraceDatMetadata kept = FormatCopier.load(folder);
        return TraceDatAssembly.assemble(
                folder, parts, FormatCopier.complete(kept, comms(folder, meta, notes), List.of()));
    }

    /** Names of threads: the command's from meta.json, all others' from perf.data. */
    private static Map<Integer, String> comms(
            BundleFolder folder, RecordingMeta meta, List<String> notes) {
        Map<Integer, String> comms = new HashMap<>();
        if (!meta.target().argv().isEmpty() && !meta.target().rootPids().isEmpty()) {
            String command = meta.target().argv().getFirst();
            String name = command.substring(command.lastIndexOf('/') + 1);
            comms.put(
                    meta.target().rootPids().getFirst(),
                    name.substring(0, Math.min(name.length(), 15)));
        }
        if (folder.sizeBytes(PerfRecorder.FILE) > 0) {
            try {
                perfComms(folder, comms);
            } catch (IOException e) {
                notes.add("perf.data does not name all threads: " + e.getMessage());
            }
        }
        return comms;
    }

    private static void perfComms(BundleFolder folder, Map<Integer, String> comms)
            throws IOException {
        int file = folder.open(PerfRecorder.FILE, FileCalls.O_RDONLY);
        try (Recording perf = PerfDataReader.open(Input.open(Path.of("/proc/self/fd/" + file)))) {
            for (Lane lane : perf.lanes()) {
                Batch batch = lane.next();
                while (batch != null && comms.size() < MAX_COMMS) {
                    addComms(batch, comms);
                    batch = lane.next();
                }
                lane.close();
            }
        } finally {
            Fd.discard(file);
        }
    }

    /** PERF_RECORD_COMM names a thread, PERF_RECORD_FORK gives it its parent's name until then. */
    private static void addComms(Batch batch, Map<Integer, String> comms) {
        for (int row = 0; row < batch.size(); row++) {
            EventType type = batch.source().types().get(batch.type(row));
            if (!type.system().equals(EventType.PERF_RECORD)) {
                continue;
            }
            int size = batch.payloadBytes(row);
            if (type.name().equals("comm") && size > COMM_TEXT) {
                String name = type.string("comm").of(batch, row);
                if (name.indexOf('\n') < 0) {
                    comms.put(batch.u32(row, COMM_TID), name);
                }
            } else if (type.name().equals("fork") && size >= FORK_BYTES) {
                String parent = comms.get(batch.u32(row, FORK_PARENT_TID));
                if (parent != null) {
                    comms.put(batch.u32(row, FORK_TID), parent);
                }
            }
        }
    }
}
