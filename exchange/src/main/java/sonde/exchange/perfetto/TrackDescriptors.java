package sonde.exchange.perfetto;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.exchange.ProtoReader;

/** What track descriptors say (track_descriptor.proto). */
final class TrackDescriptors {
    private static final int MOST_PARENTS = 32;

    private final Map<Long, TrackDescriptor> tracks = new HashMap<>();

    /**
     * A track.
     *
     * @param pid -1 when it says none
     * @param tid -1 when it says none
     * @param counter how its values are to be taken; null for tracks of slices
     */
    record TrackDescriptor(
            long uuid,
            long parent,
            String name,
            int pid,
            int tid,
            @Nullable CounterDescriptor counter) {}

    /** counter_descriptor.proto. */
    record CounterDescriptor(String unit, long multiplier, boolean incremental) {}

    /** Takes a descriptor; the last one of a track holds, its names are kept. */
    TrackDescriptor take(ProtoReader message) throws MalformedInputException {
        long uuid = 0;
        long parent = 0;
        String name = "";
        String inner = "";
        int pid = -1;
        int tid = -1;
        CounterDescriptor counter = null;
        while (message.next()) {
            switch (message.field()) {
                case 1 -> uuid = message.value();
                case 5 -> parent = message.value();
                case 2, 10, 13 -> name = message.text();
                case 3 -> {
                    ProtoReader process = message.message();
                    while (process.next()) {
                        if (process.field() == 1) {
                            pid = (int) process.value();
                        } else if (process.field() == 6) {
                            inner = process.text();
                        }
                    }
                }
                case 4 -> {
                    ProtoReader thread = message.message();
                    while (thread.next()) {
                        switch (thread.field()) {
                            case 1 -> pid = (int) thread.value();
                            case 2 -> tid = (int) thread.value();
                            case 5 -> inner = thread.text();
                            default -> {}
                        }
                    }
                }
                case 8 -> counter = counter(message.message());
                default -> {}
            }
        }
        TrackDescriptor old = tracks.get(uuid);
        String shown = name.isEmpty() ? inner : name;
        if (old != null && shown.isEmpty()) {
            shown = old.name;
        }
        TrackDescriptor track = new TrackDescriptor(uuid, parent, shown, pid, tid, counter);
        tracks.put(uuid, track);
        return track;
    }

    private static CounterDescriptor counter(ProtoReader message) throws MalformedInputException {
        String unit = "";
        long multiplier = 1;
        boolean incremental = false;
        while (message.next()) {
            switch (message.field()) {
                case 1 -> unit = message.value() == 1 ? "ns" : unit;
                case 3 ->
                        unit =
                                switch ((int) message.value()) {
                                    case 1 -> "ns";
                                    case 2 -> "count";
                                    case 3 -> "bytes";
                                    default -> unit;
                                };
                case 4 -> multiplier = message.value() == 0 ? 1 : message.value();
                case 5 -> incremental = message.value() != 0;
                case 6 -> unit = message.text();
                default -> {}
            }
        }
        return new CounterDescriptor(unit, multiplier, incremental);
    }

    @Nullable TrackDescriptor track(long uuid) {
        return tracks.get(uuid);
    }

    /** Process and thread of a track: its own, or those of the nearest ancestor that has them. */
    int[] owner(long uuid) {
        int pid = -1;
        int tid = -1;
        TrackDescriptor at = tracks.get(uuid);
        for (int i = 0; at != null && i < MOST_PARENTS; i++) {
            tid = tid < 0 ? at.tid : tid;
            pid = pid < 0 ? at.pid : pid;
            at = at.parent == 0 ? null : tracks.get(at.parent);
        }
        return new int[] {pid, tid};
    }
}
