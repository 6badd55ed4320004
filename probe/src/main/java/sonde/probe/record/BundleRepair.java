package sonde.probe.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.format.bundle.Meta;
import sonde.format.bundle.MetaReader;
import sonde.format.tracedat.TraceDatMetadata;
import sonde.probe.tracefs.InstanceName;

/**
 * Finishes a bundle whose recorder was killed: the trace.dat is made from spools and kept kernel
 * formats, {@code perf.data} is left as it is (its reader takes unfinished ones), meta.json says
 * what happened. Nothing is asked of the kernel. May be killed and run again.
 */
public final class BundleRepair {
    private BundleRepair() {}

    /**
     * Reads a bundle's meta.json and finishes the bundle when its recorder is gone, or could not
     * make the trace.dat.
     *
     * @return the meta as it is now: {@link Meta.State#RECORDING} only while the recorder lives
     * @throws IOException when there is no readable meta.json, or the disk is full
     */
    public static Meta finish(BundleFolder folder) throws IOException {
        Meta meta = MetaReader.read(folder.read(Meta.FILE));
        if (meta.state() != Meta.State.RECORDING) {
            return hasSpools(meta) ? assembleLater(folder, meta) : meta;
        }
        if (isAlive(meta)) {
            return meta;
        }
        folder.releaseReserve();
        List<String> notes = new ArrayList<>(meta.notes());
        notes.add("the recorder was killed; this recording was finished afterwards");
        List<Meta.Loss> losses = new ArrayList<>(meta.losses());
        for (String source : List.of("perf.data", "trace.dat")) {
            if (meta.layout().owners().stream().anyMatch(o -> o.source().equals(source))) {
                losses.add(new Meta.Loss(source, "", -1, Meta.LossKind.UNREAD, -1));
            }
        }
        List<Meta.Part> parts = existing(folder, meta.layout().parts());
        try {
            parts = traceDat(folder, parts, meta);
        } catch (IOException e) {
            notes.add("trace.dat could not be made, its parts are kept: " + e.getMessage());
        }
        Meta repaired =
                meta.withState(Meta.State.REPAIRED).withParts(parts).withAccount(losses, notes);
        folder.writeMeta(repaired);
        return repaired;
    }

    /** A disk that was full at the end of the recording may have space now. */
    private static Meta assembleLater(BundleFolder folder, Meta meta) throws IOException {
        List<Meta.Part> parts = traceDat(folder, existing(folder, meta.layout().parts()), meta);
        Meta assembled = meta.withParts(parts);
        folder.writeMeta(assembled);
        return assembled;
    }

    /** Whether trace.dat is still to be made. */
    public static boolean hasSpools(Meta meta) {
        return meta.layout().parts().stream().anyMatch(p -> p.kind() == Meta.PartKind.SPOOL);
    }

    /** Whether the recorder still runs; on another boot or in another namespace it cannot. */
    static boolean isAlive(Meta meta) throws IOException {
        return InstanceName.bootId().equals(meta.machine().bootId())
                && InstanceName.namespace() == meta.machine().pidNamespace()
                && InstanceName.startTicks(meta.recorder().pid()) == meta.recorder().startTicks();
    }

    private static List<Meta.Part> existing(BundleFolder folder, List<Meta.Part> parts) {
        return parts.stream().filter(part -> folder.sizeBytes(part.name()) >= 0).toList();
    }

    private static List<Meta.Part> traceDat(BundleFolder folder, List<Meta.Part> parts, Meta meta)
            throws IOException {
        boolean made = folder.sizeBytes(TraceDatAssembly.FILE) >= 0;
        boolean spooled = parts.stream().anyMatch(p -> p.kind() == Meta.PartKind.SPOOL);
        if (made) {
            return TraceDatAssembly.withoutSpools(folder, parts);
        }
        if (!spooled) {
            return parts;
        }
        TraceDatMetadata kept = KernelFormats.load(folder);
        return TraceDatAssembly.assemble(
                folder, parts, KernelFormats.complete(kept, comms(meta), List.of()));
    }

    /** The command's name at least; the others' are in perf.data. */
    private static Map<Integer, String> comms(Meta meta) {
        Map<Integer, String> comms = new HashMap<>();
        if (!meta.target().argv().isEmpty() && !meta.target().rootPids().isEmpty()) {
            String command = meta.target().argv().getFirst();
            String name = command.substring(command.lastIndexOf('/') + 1);
            comms.put(
                    meta.target().rootPids().getFirst(),
                    name.substring(0, Math.min(name.length(), 15)));
        }
        return comms;
    }
}
