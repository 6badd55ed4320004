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
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.Role;

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
    private final Plan plan;
    private final Notes notes;
    private final int rows;
    private final Decoder decoder;
    private final Packets packets;
    private final Losses losses = new Losses();
    private final List<Page> pages = new ArrayList<>();
    private boolean inPacket;
    private int cpu = NO_PACKET;
    private long lastTime;

    /** The thread that runs on the CPU, as the last switch told; -1 when unknown. */
    private int running = -1;

    private Batch batch;
    private byte[] shared = {};

    /** A batch with the memory of its payloads. */
    private static final class Page {
        final Batch batch;
        byte[] bytes = new byte[FIRST_BYTES];

        Page(Source source) {
            batch = new Batch(source, ByteOrder.nativeOrder());
        }
    }

    /** A lane over the files of a stream whose batches have so many rows at most. */
    StreamLane(Source source, Plan plan, List<StreamFile> files, Notes notes, int rows) {
        this.source = source;
        this.rows = rows;
        this.plan = plan;
        this.notes = notes;
        this.decoder = new Decoder(plan);
        this.packets = new Packets(plan, decoder, files);
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

    private boolean isFull(Payload payload) {
        return batch.size() >= rows - SPARE_ROWS || payload.used >= rows * BYTES_PER_ROW;
    }

    private Page page() {
        for (Page page : pages) {
            if (!page.batch.isRetained()) {
                if (page.bytes.length > MOST_KEPT_BYTES) {
                    page.bytes = new byte[FIRST_BYTES]; // a giant has gone through
                }
                return page;
            }
        }
        Page page = new Page(source);
        pages.add(page);
        return page;
    }

    @Override
    public @Nullable Batch next() {
        Page page = page();
        batch = page.batch;
        Payload payload = decoder.payload;
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
        } catch (Overrun e) {
            notes.add(place(packets.offset) + e.getMessage() + "; it is left out.");
            corrupt();
            return true;
        }
        if (decoder.foreign) {
            notes.add(packets.file().name + ": packets have the UUID of another trace.");
        }
        Plan.Stream stream = stream();
        int before = cpu;
        cpu = stream.cpuSlot >= 0 ? (int) decoder.slots[stream.cpuSlot] : -1;
        cpu = cpu > Short.MAX_VALUE || cpu < 0 ? -1 : cpu;
        running = cpu == before && cpu >= 0 ? running : -1;
        if (packets.cut) {
            notes.add(place(packets.offset) + "the file ends before the packet.");
        }
        boolean stamped = stream.clock != null && decoder.has(Role.DEFAULT_CLOCK_TIMESTAMP);
        long begin = stamped ? decoder.nanos(stream.clock) : lastTime;
        losses.flush(this, begin);
        losses.packet(this, Math.max(begin, lastTime));
        share(stream);
        inPacket = true;
        return true;
    }

    /** Reads what the packet's events share once. */
    private void share(Plan.Stream stream) {
        if (stream.sharedBytes == 0) {
            return;
        }
        Payload payload = decoder.payload;
        int used = payload.used;
        long position = decoder.position;
        try {
            payload.begin(stream.sharedBytes, true);
            decoder.position = packets.context;
            decoder.run(stream.packetFields);
            int start = payload.start;
            shared = Arrays.copyOfRange(payload.bytes, start, start + stream.sharedBytes);
        } catch (Overrun e) {
            throw new IllegalStateException(e); // it has been read before
        } finally {
            payload.used = used;
            decoder.position = position;
        }
    }

    private Plan.Stream stream() {
        Plan.Stream stream = packets.stream;
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
        Payload payload = decoder.payload;
        Plan.Stream stream = stream();
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
                    throw new Overrun("an event of no bits");
                }
            }
        } catch (Overrun e) {
            payload.used = payload.start;
            String at = " (event at bit " + start + ")";
            notes.add(place(packets.offset) + e.getMessage() + at + "; its rest is left out.");
            corrupt();
        }
        inPacket = false;
        losses.end(this, decoder, stream.clock, packets.begin);
    }

    private void event(Plan.Stream stream, Payload payload) throws Overrun {
        decoder.forget(Role.EVENT_CLASS_ID);
        decoder.run(stream.eventHeader);
        long id = decoder.told(Role.EVENT_CLASS_ID, 0);
        Plan.Event event = stream.event(id);
        if (event == null && !decoder.has(Role.EVENT_CLASS_ID)) {
            event = stream.only();
        }
        if (event == null) {
            throw new Overrun("an event of the unknown class " + Long.toUnsignedString(id));
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
        Identity identity = event.identity;
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
        Payload payload = decoder.payload;
        try {
            payload.begin(16, true);
        } catch (Overrun e) {
            throw new IllegalStateException(e);
        }
        payload.put(0, 8, events);
        payload.put(8, 8, packetCount);
        int row = batch.add(time, cpu < 0 ? -1 : cpu, -1, plan.lost, payload.start, 16);
        batch.sample(row, -1, events, 0, 0);
        notes.lost(packets.file().name, events, packetCount);
        running = -1;
    }

    long lastTime() {
        return lastTime;
    }

    @Override
    public void close() {
        pages.clear();
    }

    /** What packets tell of losses, row by row. */
    private static final class Losses {
        private long discarded = -1;
        private long sequence = -1;
        private boolean first = true;
        private long pending;
        private long pendingTime;

        /** A gap before a packet. */
        void packet(StreamLane lane, long time) {
            Decoder decoder = lane.decoder;
            if (decoder.has(Role.PACKET_SEQUENCE_NUMBER)) {
                long now = decoder.told(Role.PACKET_SEQUENCE_NUMBER, 0);
                if (!first && now - sequence > 1) {
                    lane.lost(time, 0, now - sequence - 1);
                }
                sequence = now;
            }
        }

        /** What the counter says at the end of a packet. */
        void end(StreamLane lane, Decoder decoder, @Nullable ClockClass clock, long begin) {
            if (decoder.has(Role.DISCARDED_EVENTS)) {
                long now = decoder.told(Role.DISCARDED_EVENTS, 0);
                // A counter begins at 0, unless packets are missing before the first one here.
                long before = first && sequence <= 0 ? 0 : first ? now : discarded;
                pending = Math.max(0, now - before);
                discarded = now;
                long end = decoder.told(Role.PACKET_END_TIMESTAMP, begin);
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
