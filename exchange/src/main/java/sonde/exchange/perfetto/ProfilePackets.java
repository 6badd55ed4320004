package sonde.exchange.perfetto;

import sonde.binary.MalformedInputException;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.exchange.ProtoReader;
import sonde.recording.LongList;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;

/** Rows of samples (profile_packet.proto). */
final class ProfilePackets {
    private final TraceRows rows;
    private final InternedCallstacks stacks;

    ProfilePackets(TraceRows rows, InternedCallstacks stacks) {
        this.rows = rows;
        this.stacks = stacks;
        rows.counts("cpu-profile");
    }

    /** PerfSample. */
    void sample(ProtoReader message, PacketSequence sequence, long time)
            throws MalformedInputException {
        int cpu = -1;
        int pid = -1;
        int tid = -1;
        long callstack = 0;
        long lost = 0;
        boolean skipped = false;
        boolean stop = false;
        while (message.next()) {
            switch (message.field()) {
                case 1 -> cpu = (int) Math.min(message.value() & 0xffff_ffffL, Short.MAX_VALUE);
                case 2 -> pid = (int) message.value();
                case 3 -> tid = (int) message.value();
                case 4 -> callstack = message.value();
                case 17 -> lost = message.value();
                case 18 -> skipped = message.value() != 0;
                case 19 -> stop = true;
                default -> {}
            }
        }
        RowOrigin place = new RowOrigin(Math.max(0, time), cpu, pid, tid);
        if (lost > 0 || skipped) {
            rows.lost(place, Math.max(1, lost));
        }
        if (lost == 0 && !skipped && !stop) {
            int chain = stacks.chain(callstack, sequence);
            rows.sample(place, sequence.sampleEvent, sequence.samplePeriod, chain);
        }
    }

    /** StreamingProfilePacket: chains, each some microseconds after the one before. */
    void streaming(ProtoReader message, PacketSequence sequence, long time)
            throws MalformedInputException {
        LongList callstacks = new LongList();
        LongList deltas = new LongList();
        while (message.next()) {
            if (message.field() == 1) {
                message.integers(callstacks);
            } else if (message.field() == 2) {
                message.integers(deltas);
            }
        }
        long when = Math.max(0, time);
        for (int i = 0; i < callstacks.size(); i++) {
            when += deltas.at(i, 0) * 1000;
            RowOrigin place = new RowOrigin(when, -1, sequence.pid, sequence.tid);
            rows.sample(place, "cpu-profile", 1, stacks.chain(callstacks.at(i), sequence));
        }
    }

    /** ProfilePacket: what was allocated and freed, by call chain, since the program began. */
    void heap(ProtoReader strings, ProtoReader message, PacketSequence sequence)
            throws MalformedInputException {
        while (strings.next()) {
            switch (strings.field()) {
                case 1 -> {
                    // Older recorders put all strings into one table.
                    PacketSequence.text(strings.message(), sequence.functionNames);
                    PacketSequence.text(strings.message(), sequence.mappingPaths);
                    PacketSequence.text(strings.message(), sequence.buildIds);
                }
                case 4 -> sequence.mapping(strings.message());
                case 2 -> sequence.frame(strings.message());
                case 3 -> sequence.callstack(strings.message());
                default -> {}
            }
        }
        while (message.next()) {
            if (message.field() == 5) {
                dump(message.message(), message.message(), sequence);
            }
        }
    }

    private void dump(ProtoReader head, ProtoReader samples, PacketSequence sequence)
            throws MalformedInputException {
        int pid = -1;
        long time = 0;
        String heap = "malloc";
        while (head.next()) {
            switch (head.field()) {
                case 1 -> pid = (int) head.value();
                case 9 -> time = head.value();
                case 11 -> heap = head.text();
                default -> {}
            }
        }
        while (samples.next()) {
            if (samples.field() == 2) {
                heapSample(new RowOrigin(time, -1, pid, -1), heap, samples.message(), sequence);
            }
        }
    }

    private void heapSample(
            RowOrigin place, String heap, ProtoReader sample, PacketSequence sequence)
            throws MalformedInputException {
        long[] values = new long[10];
        while (sample.next()) {
            if (sample.field() < values.length) {
                values[sample.field()] = sample.value();
            }
        }
        EventType type =
                rows.type(
                        "heap",
                        "dump",
                        builder ->
                                builder.integer("allocated_bytes", 8, false)
                                        .integer("freed_bytes", 8, false)
                                        .integer("allocations", 8, false)
                                        .integer("frees", 8, false)
                                        .integer("peak_bytes", 8, false)
                                        .text("heap"));
        long time = values[4] != 0 ? values[4] : place.time();
        Field[] fields = type.fields().toArray(new Field[0]);
        RowStore row = rows.begin(new RowOrigin(time, -1, place.pid(), -1), type);
        row.integer(fields[0], values[2]).integer(fields[1], values[3]);
        row.integer(fields[2], values[5]).integer(fields[3], values[6]);
        row.integer(fields[4], values[8]).text(fields[5], heap);
        row.sample(place.pid(), values[2] - values[3]);
        row.stack(stacks.chain(values[1], sequence)).end();
    }
}
