package sonde.lang.bpftrace.run;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.bpf.ring.ByteRecords;
import sonde.bpf.ring.PerfBuffer;
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.EventAction.PacketAction;
import sonde.probe.launch.PrivateOutput;
import sonde.sys.Clocks;

/**
 * The files that a script writes packets to: pcap with microseconds, packets of the network layer
 * (draft-ietf-opsawg-pcap, LINKTYPE_RAW).
 */
final class PacketFiles implements AutoCloseable {
    private static final int MAGIC = 0xa1b2c3d4;
    private static final int SNAP_LENGTH = 65535;
    private static final int LINKTYPE_RAW = 101;

    private final PerfBuffer ring;
    private final List<EventAction> actions;
    private final Map<String, OutputStream> files = new LinkedHashMap<>();
    private final long epochOffset;
    private final ByteRecords records = new ByteRecords(this::accept);
    private @Nullable IOException failed;

    /**
     * The ring is closed with this.
     *
     * @param actions of the script, by number
     */
    PacketFiles(PerfBuffer ring, List<EventAction> actions) {
        this.ring = ring;
        this.actions = actions;
        this.epochOffset =
                Clocks.nanos(Clocks.CLOCK_REALTIME) - Clocks.nanos(Clocks.CLOCK_BOOTTIME);
    }

    /** Creates the files, over what was there; not through a link. */
    void create() throws IOException {
        for (EventAction action : actions) {
            if (action instanceof PacketAction packet && !files.containsKey(packet.path())) {
                OutputStream file =
                        new BufferedOutputStream(
                                PrivateOutput.open(
                                        Path.of(packet.path()), LinkOption.NOFOLLOW_LINKS));
                files.put(packet.path(), file);
                file.write(head());
            }
        }
    }

    /** u32 magic, u16 and u16 version, 8 bytes 0, u32 longest packet, u32 kind of link. */
    private static byte[] head() {
        return little(24)
                .putInt(MAGIC)
                .putShort((short) 2)
                .putShort((short) 4)
                .putLong(0)
                .putInt(SNAP_LENGTH)
                .putInt(LINKTYPE_RAW)
                .array();
    }

    private static ByteBuffer little(int sizeBytes) {
        return ByteBuffer.allocate(sizeBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Writes what has come. */
    void drain() throws IOException {
        try {
            ring.drain(records);
        } catch (MalformedInputException e) {
            throw new IOException(e);
        }
        IOException first = failed;
        if (first != null) {
            failed = null;
            throw first;
        }
        for (OutputStream file : files.values()) {
            file.flush();
        }
    }

    private void accept(byte[] bytes, int length) {
        int head = PacketAction.HEAD_BYTES;
        if (length < head) {
            return;
        }
        ByteBuffer record = ByteBuffer.wrap(bytes, 0, length).order(ByteOrder.LITTLE_ENDIAN);
        long number = record.getLong(0);
        // What the kernel rounds a record up to comes behind the packet.
        int count = (int) Math.clamp(record.getLong(16), 0L, length - head);
        if (number < 0
                || number >= actions.size()
                || !(actions.get((int) number) instanceof PacketAction packet)
                || packet.offset() >= count) {
            return;
        }
        try {
            int left = packet.offset();
            write(packet.path(), record.getLong(8), bytes, head + left, count - left);
        } catch (IOException e) {
            failed = e;
        }
    }

    private void write(String path, long bootNanos, byte[] bytes, int from, int count)
            throws IOException {
        long nanos = bootNanos + epochOffset;
        OutputStream file = files.get(path);
        if (file == null) {
            return;
        }
        // u32 seconds, u32 microseconds, u32 bytes that are here, u32 bytes that there were
        file.write(
                little(16)
                        .putInt((int) (nanos / 1_000_000_000))
                        .putInt((int) (nanos % 1_000_000_000 / 1000))
                        .putInt(count)
                        .putInt(count)
                        .array());
        file.write(bytes, from, count);
    }

    /** Packets that found their ring full. */
    long lost() {
        return ring.lost();
    }

    @Override
    public void close() {
        ring.close();
        for (OutputStream file : files.values()) {
            try {
                file.close();
            } catch (IOException e) {
                // All that was drained has been flushed.
            }
        }
    }
}
