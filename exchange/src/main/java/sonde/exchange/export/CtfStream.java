package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import sonde.recording.GrowableBytes;

/** The packets of one data stream, that of a CPU, in a file of their own. */
final class CtfStream {
    private static final int MAGIC = 0xc1fc1fc1;

    private final Path file;
    private final CtfTrace trace;
    private final long number;
    private final int cpu;
    private final int packetBytes;
    private final GrowableBytes packet = new GrowableBytes(1 << 12, ByteOrder.LITTLE_ENDIAN);
    private boolean open;
    private long begin;
    private long end;
    private long discarded;
    private long sequence;

    /**
     * A stream without packets.
     *
     * @param cpu -1 when unknown
     * @param packetBytes a packet ends when it is as long
     */
    CtfStream(Path file, CtfTrace trace, long number, int cpu, int packetBytes) {
        this.file = file;
        this.trace = trace;
        this.number = number;
        this.cpu = cpu;
        this.packetBytes = packetBytes;
    }

    /** Whether this is its file. */
    boolean isIn(Path other) {
        return file.equals(other);
    }

    void event(ExportRow row, CtfType type) throws IOException {
        if (open && packet.size() >= packetBytes) {
            flush();
        }
        begin(row.time());
        end = row.time();
        packet.add(trace.wide ? 4 : 2, type.id);
        packet.add(8, row.time());
        packet.add(4, row.tid());
        packet.add(4, row.pid());
        type.encode(row, packet);
    }

    /**
     * Events were lost before this time.
     *
     * @param count 0 when unknown: as if a packet were missing
     */
    void lost(long time, long count) throws IOException {
        if (open) {
            flush();
        }
        if (count == 0) {
            sequence++;
        } else {
            discarded += count;
        }
        begin(time);
        end = time;
    }

    private void begin(long time) {
        if (!open) {
            packet.begin(CtfTrace.HEAD_BYTES);
            begin = time;
            open = true;
        }
    }

    /** Writes the packet that is open. */
    void flush() throws IOException {
        if (!open) {
            return;
        }
        UUID uuid = trace.uuid;
        byte[] bytes = packet.array();
        ByteBuffer big = ByteBuffer.wrap(bytes);
        big.putLong(4, uuid.getMostSignificantBits()).putLong(12, uuid.getLeastSignificantBits());
        packet.put(0, 4, MAGIC);
        packet.put(20, 4, 0);
        packet.put(24, 8, number);
        packet.put(32, 8, 8L * packet.size());
        packet.put(40, 8, 8L * packet.size());
        packet.put(48, 8, begin);
        packet.put(56, 8, end);
        packet.put(64, 8, discarded);
        packet.put(72, 8, sequence++);
        packet.put(80, 4, cpu);
        try (OutputStream out =
                Files.newOutputStream(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.APPEND)) {
            out.write(bytes, 0, packet.size());
        }
        open = false;
    }
}
