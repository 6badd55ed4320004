package sonde.recording.pcap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;
import sonde.recording.pcap.PacketCapture.Entry;
import sonde.recording.pcap.PacketCapture.Interface;
import sonde.recording.pcap.PacketCapture.Kind;

/** The newer format: blocks, in sections of either byte order (draft-ietf-opsawg-pcapng). */
final class PcapngFile {
    static final String FORMAT = "pcapng";
    static final int SECTION_HEADER = 0x0a0d0d0a;
    static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;
    static final int INTERFACE_DESCRIPTION = 1;
    static final int OBSOLETE_PACKET = 2;
    static final int SIMPLE_PACKET = 3;
    static final int NAME_RESOLUTION = 4;
    static final int INTERFACE_STATISTICS = 5;
    static final int ENHANCED_PACKET = 6;
    static final int SYSTEMD_JOURNAL = 9;
    private static final int MOST_BLOCK_BYTES = 512 << 20;
    private static final int MOST_INTERFACES = 1 << 20;

    private final MemorySegment file;
    private final PacketCapture capture = new PacketCapture();
    private final Map<Integer, Long> others = new TreeMap<>();
    private ByteOrder order = ByteOrder.LITTLE_ENDIAN;
    private int firstInterface;

    private PcapngFile(MemorySegment file) {
        this.file = file;
    }

    static boolean matches(MemorySegment file) {
        if (file.byteSize() < 28) {
            return false;
        }
        int order = file.get(ValueLayout.JAVA_INT_UNALIGNED, 8);
        return file.get(ValueLayout.JAVA_INT_UNALIGNED, 0) == SECTION_HEADER
                && (order == BYTE_ORDER_MAGIC || Integer.reverseBytes(order) == BYTE_ORDER_MAGIC);
    }

    static PacketCapture read(MemorySegment file, List<String> notes) {
        PcapngFile reader = new PcapngFile(file);
        long at = 0;
        while (at < file.byteSize()) {
            try {
                at += reader.block(at);
            } catch (MalformedInputException e) {
                notes.add("The rest of the file is not read: " + e.getMessage() + ".");
                long time = reader.capture.lastTime();
                reader.capture.add(time, new Entry(Kind.CORRUPT, 0, at, 0, 0, 0));
                break;
            }
        }
        reader.others.forEach((type, count) ->
                notes.add(
                        count
                                + " blocks of type 0x"
                                + Integer.toHexString(type)
                                + " are not read."));
        return reader.capture;
    }

    /** Reads the block at an offset; how long it is. */
    private int block(long at) throws MalformedInputException {
        FieldCursor head = new FieldCursor(FORMAT, file.asSlice(at), order);
        int type = head.s32("block type");
        if (type == SECTION_HEADER) {
            // The length before it is in the order that the magic number tells.
            head.seek("byte-order magic", 8);
            int magic = head.s32("byte-order magic");
            if (Integer.reverseBytes(magic) == BYTE_ORDER_MAGIC) {
                order =
                        order == ByteOrder.LITTLE_ENDIAN
                                ? ByteOrder.BIG_ENDIAN
                                : ByteOrder.LITTLE_ENDIAN;
            } else if (magic != BYTE_ORDER_MAGIC) {
                throw head.malformed("byte-order magic", "0x" + Integer.toHexString(magic));
            }
            firstInterface = capture.interfaces.size();
        }
        head = new FieldCursor(FORMAT, file.asSlice(at), order);
        head.s32("block type");
        int size = head.bounded("block total length", head.u32("length"), MOST_BLOCK_BYTES);
        if (size < 12 || size % 4 != 0 || size > head.remaining() + 8) {
            throw head.malformed("block total length", Integer.toString(size));
        }
        FieldCursor body = new FieldCursor(FORMAT, file.asSlice(at + 8, size - 12), order);
        try {
            body(type, body, at + 8);
        } catch (MalformedInputException e) {
            capture.add(capture.lastTime(), new Entry(Kind.CORRUPT, 0, at, 0, 0, 0));
        }
        return size;
    }

    private void body(int type, FieldCursor body, long at) throws MalformedInputException {
        switch (type) {
            case SECTION_HEADER -> {}
            case INTERFACE_DESCRIPTION -> describe(body);
            case ENHANCED_PACKET -> {
                long port = body.u32("interface id");
                long high = body.u32("timestamp (upper)");
                long time = high << 32 | body.u32("timestamp (lower)");
                packet(body, at, port, time);
            }
            case OBSOLETE_PACKET -> {
                long port = body.u16("interface id");
                body.u16("drops count");
                long high = body.u32("timestamp (upper)");
                long time = high << 32 | body.u32("timestamp (lower)");
                packet(body, at, port, time);
            }
            case SIMPLE_PACKET -> {
                long wire = body.u32("original packet length");
                int port = port(body, 0);
                int snap = capture.interfaces.get(port).snapBytes();
                long limit = snap <= 0 ? wire : Math.min(wire, snap);
                int size = (int) Math.min(limit, body.remaining());
                Entry entry =
                        new Entry(
                                Kind.PACKET, port, at + 4, size, (int) Math.min(wire, 1 << 30), 0);
                capture.add(capture.lastTime(), entry);
            }
            case INTERFACE_STATISTICS -> {
                int port = port(body, body.u32("interface id"));
                long high = body.u32("timestamp (upper)");
                long time = high << 32 | body.u32("timestamp (lower)");
                long nanos = statisticsTime(capture.interfaces.get(port), time);
                int rest = (int) body.remaining();
                long from = at + body.position();
                capture.add(nanos, new Entry(Kind.STATISTICS, port, from, rest, 0, 0));
            }
            case NAME_RESOLUTION -> whole(Kind.NAMES, body, at);
            case SYSTEMD_JOURNAL -> whole(Kind.JOURNAL, body, at);
            default -> others.merge(type, 1L, Long::sum);
        }
    }

    /** dumpcap writes microseconds there, whatever the interface's resolution is. */
    private long statisticsTime(Interface port, long time) {
        long nanos = port.nanos(time);
        long last = capture.lastTime();
        return last > 0 && nanos < last / 100 ? time * 1000 : nanos;
    }

    private void whole(Kind kind, FieldCursor body, long at) {
        int port = PacketCapture.ofSection(order);
        Entry entry = new Entry(kind, port, at, (int) body.remaining(), 0, 0);
        capture.add(capture.lastTime(), entry);
    }

    private int port(FieldCursor body, long number) throws MalformedInputException {
        int known = capture.interfaces.size() - firstInterface;
        return firstInterface + body.bounded("interface id", number, known - 1L);
    }

    private void packet(FieldCursor body, long at, long number, long time)
            throws MalformedInputException {
        int port = port(body, number);
        long captured = body.u32("captured packet length");
        int wire = (int) Math.min(body.u32("original packet length"), 1 << 30);
        int size = body.bounded("captured packet length", captured, body.remaining());
        long from = at + body.position();
        long padded = Math.min(size + 3L & -4, body.remaining());
        body.slice("packet data", padded);
        long more = body.remaining() >= 4 ? at + body.position() : 0;
        Interface of = capture.interfaces.get(port);
        capture.add(of.nanos(time), new Entry(Kind.PACKET, port, from, size, wire, more));
    }

    private void describe(FieldCursor body) throws MalformedInputException {
        int link = body.u16("LinkType");
        body.u16("Reserved");
        int snap = (int) Math.min(body.u32("SnapLen"), Integer.MAX_VALUE);
        String name = "";
        int resolution = 6;
        long offset = 0;
        while (body.remaining() >= 4) {
            int code = body.u16("option code");
            int length = body.u16("option length");
            if (code == 0) {
                break;
            }
            byte[] value = body.bytes("option", length);
            body.slice("option padding", Math.min(-length & 3, body.remaining()));
            switch (code) {
                case 2 -> name = new String(value, StandardCharsets.UTF_8);
                case 9 -> resolution = length == 1 ? value[0] & 0xff : resolution;
                case 14 -> offset = length == 8 ? number(value) : offset;
                default -> {}
            }
        }
        if (capture.interfaces.size() >= MOST_INTERFACES) {
            throw body.malformed("interface", "more than " + MOST_INTERFACES);
        }
        capture.interfaces.add(new Interface(name, link, snap, resolution, offset, order));
    }

    private long number(byte[] eight) throws MalformedInputException {
        return new FieldCursor(FORMAT, MemorySegment.ofArray(eight), order).u64("if_tsoffset");
    }
}
