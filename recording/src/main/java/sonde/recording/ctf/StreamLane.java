package sonde.recording.ctf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;
import sonde.recording.ctf.DecodePlan.EventPlan;
import sonde.recording.ctf.DecodePlan.StreamPlan;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.FieldRole;

/** The events of a data stream, decoded into payloads. */
final class StreamLane implements Lane {
    /** Payload bytes at which a batch is handed out, for each row that it can have. */
    private static final int BYTES_PER_ROW = 128;

    private static final int FIRST_BYTES = 1 << 14;
    private static final int MOST_KEPT_BYTES = 1 << 24;

    /** Rows of a pending loss and of a corrupt packet come on top of a full batch. */
    private static final int SPARE_ROWS = 4;

    private static final int NO_PACKET = Integer.MIN_VALUE;

    private final Source source;
    private final DecodePlan plan;
    private final ReaderNotes notes;
    private final int rows;
    private final CtfDecoder decoder;
    private final PacketWalk packets;
    private final PacketLosses losses = new PacketLosses();
    private final List<StreamPage> pages = new ArrayList<>();
    private boolean inPacket;
    private int cpu = NO_PACKET;
    private long lastTime;

    /** The thread that runs on the CPU, as the last switch told; -1 when unknown. */
    private int running = -1;

    private Batch batch;
    private byte[] shared = {};

    /** A batch with the memory of its payloads. */
    private static final class StreamPage {
        final Batch batch;
        byte[] bytes = new byte[FIRST_BYTES];

        StreamPage(Source source) {
            batch = new Batch(source, ByteOrder.nativeOrder());
        }
    }

    /** A lane over the files of a stream whose batches have so many rows at most. */
    StreamLane(
            Source source, DecodePlan plan, List<StreamFile> files, ReaderNotes notes, int rows) {
        this.source = source;
        this.rows = rows;
        this.plan = plan;
        this.notes = notes;
        this.decoder = new CtfDecoder(plan);
        this.packets = new PacketWalk(plan, decoder, files);
        this.batch = page().batch;
    }

    @Override
    public Source source() {
        return source;
    }

    @Override
    public String buffer() {
        return "";
    }

    private boolean isFull(PayloadBuffer payload) {
        return batch.size() >= rows - SPARE_ROWS || payload.used >= rows * BYTES_PER_ROW;
    }

    private StreamPage page() {
        for (StreamPage page : pages) {
            if (!page.batch.isRetained()) {
                if (page.bytes.length > MOST_KEPT_BYTES) {
                    page.bytes = new byte[FIRST_BYTES]; // a giant has gone through
                }
                return page;
            }
        }
        StreamPage page = new StreamPage(source);
        pages.add(page);
        return page;
    }

    @Override
    public @Nullable Batch next() {
        StreamPage page = page();
        batch = page.batch;
        PayloadBuffer payload = decoder.payload;
        payload.bytes = page.bytes;
        payload.used = 0;
        payload.start = 0;
        batch.reset(MemorySegment.NULL);
        while (!isFull(payload)) {
            if (inPacket) {
                events();
            } else if (!open()) {
                break;
            }
        }
        page.bytes = payload.bytes;
        batch.moveTo(MemorySegment.ofArray(payload.bytes));
        return batch.size() == 0 ? null : batch;
    }

    private boolean open() {
        try {
            if (!packets.advance()) {
                losses.flush(this, Long.MAX_VALUE);
                return false;
            }
        } catch (PacketOverrun e) {
            notes.add(place(packets.offset) + e.getMessage() + "; it is left out.");
            corrupt();
            return true;
        }
        if (decoder.foreign) {
            notes.add(packets.file().name + ": packets have the UUID of another trace.");
        }
        StreamPlan stream = stream();
        int before = cpu;
        cpu = stream.cpuSlot >= 0 ? (int) decoder.slots[stream.cpuSlot] : -1;
        cpu = cpu > Short.MAX_VALUE || cpu < 0 ? -1 : cpu;
        running = cpu == before && cpu >= 0 ? running : -1;
        if (packets.cut) {
            notes.add(place(packets.offset) + "the file ends before the packet.");
        }
        boolean stamped = stream.clock != null && decoder.has(FieldRole.DEFAULT_CLOCK_TIMESTAMP);
        long begin = stamped ? decoder.nanos(stream.clock) : lastTime;
        losses.flush(this, begin);
        losses.packet(this, Math.max(begin, lastTime));
        share(stream);
        inPacket = true;
        return true;
    }

    /** Reads what the packet's events share once. */
    private void share(StreamPlan stream) {
        if (stream.sharedBytes == 0) {
            return;
        }
        PayloadBuffer payload = decoder.payload;
        int used = payload.used;
        long position = decoder.position;
        try {
            payload.begin(stream.sharedBytes, true);
            decoder.position = packets.context;
            decoder.run(stream.packetFields);
            int start = payload.start;
            shared = Arrays.copyOfRange(payload.bytes, start, start + stream.sharedBytes);
        } catch (PacketOverrun e) {
            throw new IllegalStateException(e); // it has been read before
        } finally {
            payload.used = used;
            decoder.position = position;
        }
    }

    private StreamPlan stream() {
        StreamPlan stream = packets.stream;
        if (stream == null) {
            throw new IllegalStateException("no packet");
        }
        return stream;
    }

    private String place(long offset) {
        return packets.file().name + ": packet at byte " + offset + ": ";
    }

    private void corrupt() {
        batch.add(lastTime, cpu < 0 ? -1 : cpu, -1, plan.corrupt, decoder.payload.used, 0);
    }

    /** Events until the batch is full or the packet ends. */
    private void events() {
        PayloadBuffer payload = decoder.payload;
        StreamPlan stream = stream();
        long start = decoder.position;
        try {
            while (decoder.position < decoder.end) {
                if (isFull(payload)) {
                    return;
                }
                start = decoder.position;
                payload.start = payload.used;
                event(stream, payload);
                if (decoder.position <= start) {
                    throw new PacketOverrun("an event of no bits");
                }
            }
        } catch (PacketOverrun e) {
            payload.used = payload.start;
            String at = " (event at bit " + start + ")";
            notes.add(place(packets.offset) + e.getMessage() + at + "; its rest is left out.");
            corrupt();
        }
        inPacket = false;
        losses.end(this, decoder, stream.clock, packets.begin);
    }

    private void event(StreamPlan stream, PayloadBuffer payload) throws PacketOverrun {
        decoder.forget(FieldRole.EVENT_CLASS_ID);
        decoder.run(stream.eventHeader);
        long id = decoder.told(FieldRole.EVENT_CLASS_ID, 0);
        EventPlan event = stream.event(id);
        if (event == null && !decoder.has(FieldRole.EVENT_CLASS_ID)) {
            event = stream.only();
        }
        if (event == null) {
            throw new PacketOverrun("an event of the unknown class " + Long.toUnsignedString(id));
        }
        long time = decoder.nanos(stream.clock);
        payload.begin(event.fixedBytes, event.clears);
        if (stream.sharedBytes > 0) {
            System.arraycopy(shared, 0, payload.bytes, payload.start, stream.sharedBytes);
        } else if (stream.packetNode != null) {
            long position = decoder.position;
            decoder.position = packets.context;
            decoder.run(stream.packetFields);
            decoder.position = position;
        }
        decoder.run(stream.commonContext);
        decoder.run(event.ops);
        ThreadIdentity identity = event.identity;
        int tid = identity.tid(payload, running);
        running = identity.next(payload, running);
        if (Long.compareUnsigned(time, lastTime) < 0) {
            notes.disordered(packets.file().name);
        }
        lastTime = time;
        int size = payload.used - payload.start;
        int row = batch.add(time, cpu, tid, event.type, payload.start, size);
        if (identity.hasPid()) {
            batch.sample(row, identity.pid(payload), 1, 0, 0);
        }
    }

    /** A row that tells of a loss. */
    void lost(long time, long events, long packetCount) {
        PayloadBuffer payload = decoder.payload;
        try {
            payload.begin(16, true);
        } catch (PacketOverrun e) {
            throw new IllegalStateException(e);
        }
        payload.put(0, 8, events);
        payload.put(8, 8, packetCount);
        int row = batch.add(time, cpu < 0 ? -1 : cpu, -1, plan.lost, payload.start, 16);
        batch.sample(row, -1, events, 0, 0);
        notes.lost(packets.file().name, events, packetCount);
        running = -1;
    }

    @Override
    public void close() {
        pages.clear();
    }

    /** What packets tell of losses, row by row. */
    private static final class PacketLosses {
        private long discarded = -1;
        private long sequence = -1;
        private boolean first = true;
        private long pending;
        private long pendingTime;

        /** A gap before a packet. */
        void packet(StreamLane lane, long time) {
            CtfDecoder decoder = lane.decoder;
            if (decoder.has(FieldRole.PACKET_SEQUENCE_NUMBER)) {
                long now = decoder.told(FieldRole.PACKET_SEQUENCE_NUMBER, 0);
                if (!first && now - sequence > 1) {
                    lane.lost(time, 0, now - sequence - 1);
                }
                sequence = now;
            }
        }

        /** What the counter says at the end of a packet. */
        void end(StreamLane lane, CtfDecoder decoder, @Nullable ClockClass clock, long begin) {
            if (decoder.has(FieldRole.DISCARDED_EVENTS)) {
                long now = decoder.told(FieldRole.DISCARDED_EVENTS, 0);
                // A counter begins at 0, unless packets are missing before the first one here.
                long before = first && sequence <= 0 ? 0 : first ? now : discarded;
                pending = Math.max(0, now - before);
                discarded = now;
                long end = decoder.told(FieldRole.PACKET_END_TIMESTAMP, begin);
                pendingTime = clock == null ? lane.lastTime : clock.nanos(end);
            }
            first = false;
        }

        /** Tells what is pending before the time at which the next packet begins. */
        void flush(StreamLane lane, long nextBegin) {
            if (pending > 0) {
                long time = Math.max(lane.lastTime, Math.min(pendingTime, nextBegin));
                long events = pending;
                pending = 0;
                lane.lost(time, events, 0);
            }
        }
    }
}
