package sonde.exchange.perfetto;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.exchange.ProtoReader;
import sonde.exchange.perfetto.TrackDescriptors.TrackDescriptor;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;

/** Turns packets to rows, in the order of the file: sequences have a state. */
final class PacketReader {
    private static final int MOST_SEQUENCES = 1 << 20;

    private final TraceRows rows;
    private final TraceClocks clocks;
    private final TrackDescriptors tracks;
    private final InternedCallstacks stacks;
    private final FtraceBundles ftrace;
    private final TrackEvents trackEvents;
    private final ProfilePackets profiles;
    private final ProcessPackets processes;
    private final Map<Long, PacketSequence> sequences = new HashMap<>();
    private final Map<Integer, Long> unread = new TreeMap<>();
    private final List<LongConsumer> timeless = new ArrayList<>();
    private long first = Long.MAX_VALUE;
    private long unrelated;

    PacketReader(
            TraceRows rows,
            TraceClocks clocks,
            TrackDescriptors tracks,
            InternedCallstacks stacks) {
        this.rows = rows;
        this.clocks = clocks;
        this.tracks = tracks;
        this.stacks = stacks;
        ftrace = new FtraceBundles(rows, clocks);
        trackEvents = new TrackEvents(rows, tracks, stacks);
        profiles = new ProfilePackets(rows, stacks);
        processes = new ProcessPackets(rows);
    }

    /** The fields of a packet that hold for all of it. */
    private static final class Head {
        long sequence;
        long time = -1;
        long clock;
        boolean cleared;
        boolean dropped;
        @Nullable ProtoReader interned;
        @Nullable ProtoReader defaults;
    }

    /** What must be known before the first event: clocks, tracks, names of functions. */
    void look(ProtoReader packet) throws MalformedInputException {
        Head head = head(packet.copy());
        while (packet.next()) {
            if (packet.wire() != ProtoReader.LENGTH) {
                continue;
            }
            switch (packet.field()) {
                case TracePacket.CLOCK_SNAPSHOT -> clocks.snapshot(packet.message(), head.sequence);
                case TracePacket.TRACK_DESCRIPTOR -> tracks.take(packet.message());
                case TracePacket.MODULE_SYMBOLS -> stacks.symbols(packet.message());
                default -> {}
            }
        }
    }

    private static Head head(ProtoReader packet) throws MalformedInputException {
        Head head = new Head();
        while (packet.next()) {
            switch (packet.field()) {
                case TracePacket.TIMESTAMP -> head.time = packet.value();
                case TracePacket.TIMESTAMP_CLOCK_ID -> head.clock = packet.value();
                case TracePacket.TRUSTED_PACKET_SEQUENCE_ID -> head.sequence = packet.value();
                case TracePacket.SEQUENCE_FLAGS -> head.cleared |= (packet.value() & 1) != 0;
                case TracePacket.INCREMENTAL_STATE_CLEARED -> head.cleared |= packet.value() != 0;
                case TracePacket.PREVIOUS_PACKET_DROPPED -> head.dropped = packet.value() != 0;
                case TracePacket.INTERNED_DATA -> head.interned = packet.message();
                case TracePacket.TRACE_PACKET_DEFAULTS -> head.defaults = packet.message();
                default -> {}
            }
        }
        return head;
    }

    /** Takes a packet. */
    void take(ProtoReader packet) throws MalformedInputException {
        ProtoReader again = packet.copy();
        Head head = head(packet.copy());
        if (sequences.size() > MOST_SEQUENCES) {
            throw new MalformedInputException(
                    TracePackets.FORMAT, "trusted_packet_sequence_id", packet.offset(), "too many");
        }
        // The first packet of a writer always says that it lost the one before.
        boolean lost = head.dropped && sequences.containsKey(head.sequence);
        PacketSequence sequence = sequences.computeIfAbsent(head.sequence, PacketSequence::new);
        if (head.cleared) {
            sequence.clear();
        }
        if (head.interned != null) {
            sequence.intern(head.interned);
        }
        if (head.defaults != null) {
            sequence.defaults(head.defaults);
        }
        long time = time(head, sequence);
        if (lost) {
            at(time, when -> rows.lost(new RowOrigin(when, -1, -1, -1), 0));
        }
        while (again.next()) {
            if (again.wire() == ProtoReader.LENGTH) {
                part(again, sequence, time);
            }
        }
    }

    private long time(Head head, PacketSequence sequence) {
        if (head.time < 0) {
            return -1;
        }
        long clock = head.clock != 0 ? head.clock : sequence.defaultClock;
        long key = clock == 0 ? TraceClocks.BOOTTIME : TraceClocks.key(head.sequence, clock);
        long time = head.time * clocks.multiplier(key);
        if (clocks.isIncremental(key)) {
            time = sequence.clockNow.merge(key, time, Long::sum);
        }
        // Without any snapshot, times of the default clock are the trace's.
        if (clock != 0 && !clocks.isRelated(key)) {
            unrelated++;
        }
        long converted = clocks.convert(key, time);
        first = Math.min(first, converted);
        return converted;
    }

    private void at(long time, LongConsumer row) {
        if (time >= 0) {
            row.accept(time);
        } else if (timeless.size() < 1 << 20) {
            timeless.add(row);
        }
    }

    private void part(ProtoReader packet, PacketSequence sequence, long time)
            throws MalformedInputException {
        ProtoReader message = packet.message();
        switch (packet.field()) {
            case TracePacket.FTRACE_EVENTS -> ftrace.take(message, packet.message());
            case TracePacket.TRACK_EVENT -> trackEvent(packet, sequence, time);
            case TracePacket.TRACK_DESCRIPTOR -> descriptor(tracks.take(message), time);
            case TracePacket.PERF_SAMPLE -> profiles.sample(message, sequence, time);
            case TracePacket.PROFILE_PACKET -> profiles.heap(message, packet.message(), sequence);
            case TracePacket.STREAMING_PROFILE_PACKET ->
                    profiles.streaming(message, sequence, time);
            case TracePacket.PROCESS_TREE -> {
                List<LongConsumer> found = processes.tree(message);
                found.forEach(one -> at(time, one));
            }
            case TracePacket.PROCESS_STATS -> processes.stats(message, time);
            case TracePacket.SYS_STATS -> processes.system(message, time);
            case TracePacket.ANDROID_LOG -> processes.log(message, clocks);
            case TracePacket.PROCESS_DESCRIPTOR -> sequence.pid = processes.pid(message);
            case TracePacket.THREAD_DESCRIPTOR -> thread(message, sequence);
            case TracePacket.CLOCK_SNAPSHOT ->
                    clocks.shown(message, sequence.id)
                            .forEach((clock, now) -> {
                                if (clocks.isIncremental(clock)) {
                                    sequence.clockNow.put(clock, now);
                                }
                            });
            case TracePacket.MODULE_SYMBOLS -> {}
            default -> {
                if (!TracePacket.isBookkeeping(packet.field())) {
                    unread.merge(packet.field(), 1L, Long::sum);
                }
            }
        }
    }

    private void trackEvent(ProtoReader packet, PacketSequence sequence, long time)
            throws MalformedInputException {
        long when = time;
        if (time < 0) {
            long micros = TrackEvents.ownMicros(packet.message(), sequence);
            when = micros < 0 ? 0 : clocks.convert(TraceClocks.MONOTONIC, micros * 1000);
            first = micros < 0 ? first : Math.min(first, when);
        }
        trackEvents.take(packet.message(), sequence, when);
    }

    /** ThreadDescriptor as a packet: the thread of a sequence (thread_descriptor.proto). */
    private void thread(ProtoReader message, PacketSequence sequence)
            throws MalformedInputException {
        String name = "";
        while (message.next()) {
            switch (message.field()) {
                case 1 -> sequence.pid = (int) message.value();
                case 2 -> sequence.tid = (int) message.value();
                case 5 -> name = message.text();
                case 6 -> sequence.referenceMicros = message.value();
                default -> {}
            }
        }
        named(sequence.pid, sequence.tid, name, -1);
    }

    private void named(int pid, int tid, String name, long time) {
        if (!name.isEmpty()) {
            at(time, when -> rows.thread(new RowOrigin(when, -1, pid, tid), name));
        }
    }

    private void descriptor(TrackDescriptor track, long time) {
        if (track.tid() >= 0) {
            named(track.pid(), track.tid(), track.name(), time);
        } else if (track.pid() >= 0) {
            if (!track.name().isEmpty()) {
                at(
                        time,
                        when ->
                                rows.process(
                                        new RowOrigin(when, -1, track.pid(), -1),
                                        -1,
                                        track.name()));
            }
        }
        at(
                time,
                when ->
                        rows.track(
                                new RowOrigin(when, -1, track.pid(), track.tid()),
                                track.uuid(),
                                track.parent(),
                                track.name()));
    }

    /** Ends: rows without a time stand at the first time there is. */
    void finish(List<String> notes, long corrupt) {
        long start = first == Long.MAX_VALUE ? 0 : first;
        timeless.forEach(row -> row.accept(start));
        for (long i = 0; i < Math.min(corrupt, 1); i++) {
            rows.corrupt(start);
        }
        if (unrelated > 0) {
            notes.add(
                    unrelated
                            + " packets have times of a clock that no snapshot relates to the"
                            + " trace's; they are taken as they are.");
        }
        unread.forEach((field, count) ->
                notes.add(count + " packets of " + packet(field) + " are not read."));
        ftrace.unknown()
                .forEach((number, count) ->
                        notes.add(
                                count
                                        + " ftrace events of number "
                                        + number
                                        + ", which is not known here."));
        if (trackEvents.typed() > 0) {
            notes.add(
                    trackEvents.typed()
                            + " track events have typed arguments, which are not read.");
        }
    }

    /** What the packets of a field are: TracePacket in trace_packet.proto of Perfetto. */
    private static String packet(int field) {
        String name =
                switch (field) {
                    case 4 -> "inode_file_map";
                    case 38 -> "battery";
                    case 40 -> "power_rails";
                    case 52 -> "gpu_counter_event";
                    case 53 -> "gpu_render_stage_event";
                    case 56 -> "heap_graph";
                    case 57 -> "graphics_frame_event";
                    case 62 -> "vulkan_memory_event";
                    case 63 -> "gpu_log";
                    case 65 -> "vulkan_api_event";
                    case 71 -> "gpu_mem_total_event";
                    case 76 -> "frame_timeline_event";
                    case 88 -> "network_packet";
                    default -> "";
                };
        return name.isEmpty() ? "field " + field : name + " (field " + field + ")";
    }
}
