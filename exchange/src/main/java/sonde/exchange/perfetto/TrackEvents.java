package sonde.exchange.perfetto;

import java.util.HashMap;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.exchange.ProtoReader;
import sonde.exchange.perfetto.TrackDescriptors.CounterDescriptor;
import sonde.exchange.perfetto.TrackDescriptors.TrackDescriptor;
import sonde.recording.LongList;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.recording.TraceRows.TracedSlice;

/** Rows of TrackEvent (track_event.proto): slices, moments, counters. */
final class TrackEvents {
    private static final int SLICE_BEGIN = 1;
    private static final int SLICE_END = 2;
    private static final int INSTANT = 3;
    private static final int COUNTER = 4;
    private static final int STATE = 5;

    private final TraceRows rows;
    private final TrackDescriptors tracks;
    private final InternedCallstacks stacks;
    private final Map<Long, Double> sums = new HashMap<>();
    private long typed;

    TrackEvents(TraceRows rows, TrackDescriptors tracks, InternedCallstacks stacks) {
        this.rows = rows;
        this.tracks = tracks;
        this.stacks = stacks;
    }

    /** Events that had arguments of a type of their own, which are not kept. */
    long typed() {
        return typed;
    }

    /** An event as it lies. */
    private static final class TrackEvent {
        int type;
        long track;
        boolean hasTrack;
        String name = "";
        final StringBuilder categories = new StringBuilder();
        double value;
        long callstack;
        final LongList flows = new LongList();
        final LongList flowEnds = new LongList();
        LongList extraTracks = new LongList();
        final LongList extraValues = new LongList();
        LongList extraRealTracks = new LongList();
        final LongList extraReals = new LongList();
        LegacyEvent legacy = new LegacyEvent();
        String args = "";
        boolean typed;

        void category(String category) {
            categories.append(categories.isEmpty() ? "" : ",").append(category);
        }
    }

    /** TrackEvent.LegacyEvent: what came from Chrome's older format. */
    private static final class LegacyEvent {
        int phase;
        long durMicros = -1;
        String id = "";
        String scope = "";
        long bind;
        boolean hasBind;
        int flowDirection;
        int pid = -1;
        int tid = -1;
    }

    /** Time that the event says itself, in microseconds; -1 when the packet says it. */
    static long ownMicros(ProtoReader look, PacketSequence sequence)
            throws MalformedInputException {
        while (look.next()) {
            if (look.field() == 1) {
                sequence.referenceMicros += look.value();
                return sequence.referenceMicros;
            }
            if (look.field() == 16) {
                return look.value();
            }
        }
        return -1;
    }

    /** Takes an event at a time of the trace's clock. */
    void take(ProtoReader message, PacketSequence sequence, long time)
            throws MalformedInputException {
        TrackEvent event = read(message, sequence);
        if (!event.hasTrack) {
            event.track = sequence.defaultTrack;
        }
        int[] owner = tracks.owner(event.track);
        int pid = owner[0] < 0 ? sequence.pid : owner[0];
        int tid = owner[1];
        TrackDescriptor track = tracks.track(event.track);
        if (track == null && tid < 0) {
            tid = sequence.tid;
        }
        pid = event.legacy.pid >= 0 ? event.legacy.pid : pid;
        tid = event.legacy.tid >= 0 ? event.legacy.tid : tid;
        RowOrigin place = new RowOrigin(time, -1, pid, tid);
        extra(event, sequence, place);
        boolean ofThread = track == null || track.tid() >= 0;
        String id = ofThread ? "" : "0x" + Long.toHexString(event.track);
        String name = event.name.isEmpty() && track != null ? track.name() : event.name;
        TracedSlice slice =
                new TracedSlice(event.track, name, event.categories.toString(), id, event.args);
        if (event.typed) {
            typed++;
        }
        switch (event.type) {
            case SLICE_BEGIN -> rows.begin(place, slice);
            case SLICE_END ->
                    rows.end(
                            place,
                            new TracedSlice(
                                    event.track, event.name, slice.category(), id, event.args));
            case INSTANT, STATE ->
                    rows.instant(place, slice, stacks.chain(event.callstack, sequence));
            case COUNTER -> counter(place, event.track, event.value);
            default -> legacy(event, place, slice);
        }
        flows(event, place, slice);
    }

    private void counter(RowOrigin place, long uuid, double value) {
        TrackDescriptor track = tracks.track(uuid);
        CounterDescriptor counter = track == null ? null : track.counter();
        double real = counter == null ? value : value * counter.multiplier();
        if (counter != null && counter.incremental()) {
            real = sums.merge(uuid, real, Double::sum);
        }
        String name = track == null ? "counter" : track.name();
        rows.counter(place, uuid, name, counter == null ? "" : counter.unit(), real);
    }

    private void extra(TrackEvent event, PacketSequence sequence, RowOrigin place) {
        LongList uuids =
                event.extraTracks.size() > 0 ? event.extraTracks : sequence.defaultCounterTracks;
        for (int i = 0; i < event.extraValues.size() && i < uuids.size(); i++) {
            counter(place, uuids.at(i), event.extraValues.at(i));
        }
        for (int i = 0; i < event.extraReals.size(); i++) {
            double value = Double.longBitsToDouble(event.extraReals.at(i));
            counter(place, event.extraRealTracks.at(i, 0), value);
        }
    }

    private void flows(TrackEvent event, RowOrigin place, TracedSlice slice) {
        for (int i = 0; i < event.flows.size(); i++) {
            rows.flow(place, flow(slice, event.flows.at(i)), 's');
        }
        for (int i = 0; i < event.flowEnds.size(); i++) {
            rows.flow(place, flow(slice, event.flowEnds.at(i)), 'f');
        }
        LegacyEvent legacy = event.legacy;
        if (legacy.hasBind) {
            char phase = legacy.flowDirection == 1 ? 'f' : legacy.flowDirection == 2 ? 's' : 't';
            rows.flow(place, flow(slice, legacy.bind), phase);
        }
    }

    private static TracedSlice flow(TracedSlice slice, long id) {
        String text = "0x" + Long.toHexString(id);
        return new TracedSlice(slice.track(), slice.name(), slice.category(), text, "");
    }

    /** The phases of the "Trace Event Format" document. */
    private void legacy(TrackEvent event, RowOrigin place, TracedSlice slice) {
        LegacyEvent legacy = event.legacy;
        String id = legacy.scope.isEmpty() ? legacy.id : legacy.scope + ":" + legacy.id;
        String key = legacy.phase + slice.category() + id;
        TracedSlice own =
                new TracedSlice(
                        key.substring(1).hashCode() & 0xffff_ffffL,
                        slice.name(),
                        slice.category(),
                        id,
                        slice.args());
        switch (legacy.phase) {
            case 'B' -> rows.begin(place, slice);
            case 'E' -> rows.end(place, slice);
            case 'X' -> rows.complete(place, slice, Math.max(0, legacy.durMicros) * 1000);
            case 'b', 'S' -> rows.begin(place, own);
            case 'e', 'F' -> rows.end(place, own);
            case 's', 't', 'f' -> rows.flow(place, own, (char) legacy.phase);
            case 0 -> rows.instant(place, slice, 0);
            default -> rows.instant(place, id.isEmpty() ? slice : own, 0);
        }
    }

    private static TrackEvent read(ProtoReader message, PacketSequence sequence)
            throws MalformedInputException {
        TrackEvent event = new TrackEvent();
        DebugAnnotations args = null;
        while (message.next()) {
            switch (message.field()) {
                case 1, 2, 8, 16, 17, 20 -> {}
                case 3 -> {
                    LongList iids = new LongList();
                    message.integers(iids);
                    for (int i = 0; i < iids.size(); i++) {
                        event.category(sequence.categories.getOrDefault(iids.at(i), ""));
                    }
                }
                case 22 -> event.category(message.text());
                case 10 -> event.name = sequence.eventNames.getOrDefault(message.value(), "");
                case 23 -> event.name = message.text();
                case 9 -> event.type = (int) message.value();
                case 11 -> {
                    event.track = message.value();
                    event.hasTrack = true;
                }
                case 30 -> event.value = message.value();
                case 44 -> event.value = message.real();
                case 31 -> message.integers(event.extraTracks);
                case 12 -> message.integers(event.extraValues);
                case 45 -> message.integers(event.extraRealTracks);
                case 46 -> event.extraReals.add(message.value());
                case 36, 47 -> message.integers64(event.flows);
                case 42, 48 -> message.integers64(event.flowEnds);
                case 56 -> event.callstack = message.value();
                case 4 -> {
                    args = args == null ? new DebugAnnotations(sequence) : args;
                    args.add(message.message());
                }
                case 6 -> event.legacy = legacy(message.message());
                default -> event.typed |= message.wire() == ProtoReader.LENGTH;
            }
        }
        event.args = args == null ? "" : args.json();
        return event;
    }

    private static LegacyEvent legacy(ProtoReader message) throws MalformedInputException {
        LegacyEvent legacy = new LegacyEvent();
        while (message.next()) {
            switch (message.field()) {
                case 2 -> legacy.phase = (int) message.value();
                case 3 -> legacy.durMicros = message.value();
                case 6, 10, 11 -> legacy.id = "0x" + Long.toHexString(message.value());
                case 7 -> legacy.scope = message.text();
                case 8 -> {
                    legacy.bind = message.value();
                    legacy.hasBind = true;
                }
                case 13 -> legacy.flowDirection = (int) message.value();
                case 18 -> legacy.pid = (int) message.value();
                case 19 -> legacy.tid = (int) message.value();
                default -> {}
            }
        }
        return legacy;
    }
}
