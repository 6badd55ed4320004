package sonde.recording.pcap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;
import sonde.recording.pcap.PacketCapture.Entry;
import sonde.recording.pcap.PacketCapture.Interface;
import sonde.recording.pcap.PacketCapture.Kind;

/** The older format: a header, then packets one behind the other. */
final class PcapFile {
    static final String FORMAT = "pcap";
    private static final int MICROSECONDS = 0xa1b2c3d4;
    private static final int NANOSECONDS = 0xa1b23c4d;
    // Alexey Kuznetsov's variant: eight more bytes before each packet.
    private static final int MODIFIED = 0xa1b2cd34;
    private static final int HEADER_BYTES = 24;
    private static final long MOST_PACKET_BYTES = 256 << 20;

    private PcapFile() {}

    /** Byte order, by the magic number; null for another file. */
    static boolean matches(MemorySegment file) {
        if (file.byteSize() < HEADER_BYTES) {
            return false;
        }
        int magic = file.get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0);
        return isMagic(magic) || isMagic(Integer.reverseBytes(magic));
    }

    private static boolean isMagic(int value) {
        return value == MICROSECONDS || value == NANOSECONDS || value == MODIFIED;
    }

    static PacketCapture read(MemorySegment file, List<String> notes)
            throws MalformedInputException {
        int first = file.get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0);
        ByteOrder order = isMagic(first) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        FieldCursor cursor = new FieldCursor(FORMAT, file, order);
        int magic = cursor.s32("magic");
        cursor.u16("version_major");
        cursor.u16("version_minor");
        cursor.s32("thiszone");
        cursor.u32("sigfigs");
        int snap = cursor.s32("snaplen");
        int link = cursor.s32("linktype") & 0xffff;
        PacketCapture capture = new PacketCapture();
        int digits = magic == NANOSECONDS ? 9 : 6;
        capture.interfaces.add(new Interface("", link, snap, digits, 0, order));
        try {
            while (cursor.remaining() > 0) {
                packet(cursor, capture, digits, magic == MODIFIED);
            }
        } catch (MalformedInputException e) {
            notes.add("The file ends in a packet: " + e.getMessage() + ".");
            long at = Math.min(cursor.position(), file.byteSize());
            capture.add(capture.lastTime(), new Entry(Kind.CORRUPT, 0, at, 0, 0, 0));
        }
        return capture;
    }

    private static void packet(
            FieldCursor cursor, PacketCapture capture, int digits, boolean modified)
            throws MalformedInputException {
        long seconds = cursor.u32("ts_sec");
        long fraction = cursor.u32("ts_frac");
        long captured = cursor.u32("incl_len");
        long wire = cursor.u32("orig_len");
        if (modified) {
            cursor.u64("ifindex, protocol, pkt_type");
        }
        int size = cursor.bounded("incl_len", captured, MOST_PACKET_BYTES);
        long offset = cursor.position();
        cursor.slice("packet", size);
        long time = seconds * 1_000_000_000 + fraction * (digits == 9 ? 1 : 1000);
        int wireBytes = (int) Math.min(wire, Integer.MAX_VALUE);
        capture.add(time, new Entry(Kind.PACKET, 0, offset, size, wireBytes, 0));
    }
}
