package sonde.recording.pcap;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.Field;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.BatchWriter;
import sonde.recording.TimeOrder;
import sonde.recording.pcap.PacketCapture.Entry;
import sonde.recording.pcap.PacketCapture.Interface;

/**
 * Reads captures: a pass finds the packets, their headers are taken apart when a lane comes to
 * them. Packets have the bytes that were captured in {@code data}.
 */
public final class PcapReader implements Recording {
    private static final Field LENGTH = PacketTypes.field("length");
    private static final Field CAPTURED = PacketTypes.field("captured");
    private static final Field INTERFACE = PacketTypes.field("interface");
    private static final Field LINK_TYPE = PacketTypes.field("link_type");
    private static final Field DIRECTION = PacketTypes.field("direction");
    private static final Field COMMENT = PacketTypes.field("comment");
    private static final Field DATA = PacketTypes.field("data");

    private final Input input;
    private final PacketCapture capture;
    private final int[] order;
    private final List<String> notes;
    private final Source source;

    private PcapReader(Input input, PacketCapture capture, List<String> notes) {
        this.input = input;
        this.capture = capture;
        this.order = TimeOrder.of(capture.times);
        this.notes = notes;
        this.source = new Source("pcap", Clock.REALTIME, PacketTypes.ALL);
    }

    /** Whether the bytes are a pcap or pcapng file, by their magic numbers. */
    public static boolean isPcap(Input input) {
        return PcapFile.matches(input.segment()) || PcapngFile.matches(input.segment());
    }

    /**
     * Reads a capture; closing it closes the input.
     *
     * @throws MalformedInputException when it is none
     */
    public static Recording open(Input input) throws MalformedInputException {
        List<String> notes = new ArrayList<>();
        MemorySegment file = input.segment();
        if (PcapFile.matches(file)) {
            return new PcapReader(input, PcapFile.read(file, notes), notes);
        }
        if (PcapngFile.matches(file)) {
            return new PcapReader(input, PcapngFile.read(file, notes), notes);
        }
        throw new MalformedInputException(PcapFile.FORMAT, "magic", 0, "neither pcap nor pcapng");
    }

    @Override
    public List<Source> sources() {
        return List.of(source);
    }

    @Override
    public List<Lane> lanes() {
        return List.of(new PacketLane());
    }

    @Override
    public List<String> notes() {
        return List.copyOf(notes);
    }

    @Override
    public void close() {
        input.close();
    }

    /** The packets by time. */
    private final class PacketLane implements Lane {
        private final BatchWriter out = new BatchWriter(source);
        private int next;

        @Override
        public Source source() {
            return source;
        }

        @Override
        public String buffer() {
            return "";
        }

        @Override
        public @Nullable Batch next() throws IOException {
            out.clear();
            while (next < order.length && !out.isFull()) {
                int index = order[next++];
                row(capture.times.at(index), capture.entry(index));
            }
            return out.batch().size() == 0 ? null : out.batch();
        }

        private void row(long time, Entry entry) {
            switch (entry.kind()) {
                case PACKET -> packet(time, entry);
                case NAMES -> names(time, entry);
                case STATISTICS -> statistics(time, entry);
                case JOURNAL -> {
                    byte[] text = bytes(entry.offset(), entry.captured());
                    out.begin(time, -1, -1, PacketTypes.LOG);
                    out.bytes(PacketTypes.LOG.fields().getFirst(), text, 0, text.length);
                    out.end();
                }
                case LOST -> loss(time, entry.wire());
                case CORRUPT -> {
                    out.begin(time, -1, -1, PacketTypes.CORRUPT);
                    out.end();
                }
            }
        }

        private void packet(long time, Entry entry) {
            Interface port = capture.interfaces.get(entry.port());
            out.begin(time, -1, -1, PacketTypes.PACKET);
            out.integer(LENGTH, entry.wire());
            out.integer(CAPTURED, entry.captured());
            out.text(INTERFACE, port.name());
            out.integer(LINK_TYPE, port.linkType());
            MemorySegment data = input.segment().asSlice(entry.offset(), entry.captured());
            new PacketDissector(data, entry.wire(), out).link(port.linkType(), port.order());
            long dropped = entry.more() == 0 ? 0 : options(entry, port);
            out.bytes(DATA, data, 0, entry.captured());
            out.end();
            if (dropped > 0) {
                loss(time, dropped);
            }
        }

        /** Options of a packet; what epb_dropcount says. */
        private long options(Entry entry, Interface port) {
            // A block ends with its length; options that are not ended stop before it.
            long room = input.segment().byteSize() - entry.more();
            FieldCursor cursor =
                    new FieldCursor(
                            PcapngFile.FORMAT,
                            input.segment().asSlice(entry.more(), room),
                            port.order());
            long dropped = 0;
            try {
                while (cursor.remaining() >= 4) {
                    int code = cursor.u16("option code");
                    int length = cursor.u16("option length");
                    if (code == 0) {
                        break;
                    }
                    long start = cursor.position();
                    switch (code) {
                        case 1 -> {
                            byte[] text = cursor.bytes("opt_comment", length);
                            out.bytes(COMMENT, text, 0, text.length);
                        }
                        case 2 -> {
                            int direction = (int) cursor.u32("epb_flags") & 3;
                            out.text(DIRECTION, direction(direction));
                        }
                        case 4 -> dropped = cursor.u64("epb_dropcount");
                        default -> {}
                    }
                    cursor.seek("option", start + (length + 3L & -4));
                }
            } catch (MalformedInputException e) {
                return dropped;
            }
            return dropped;
        }

        private static String direction(int bits) {
            return bits == 1 ? "in" : bits == 2 ? "out" : "";
        }

        private void loss(long time, long count) {
            out.begin(time, -1, -1, PacketTypes.LOST);
            out.sample(-1, count);
            out.end();
        }

        private void names(long time, Entry entry) {
            FieldCursor cursor = cursor(entry);
            try {
                while (cursor.remaining() >= 4) {
                    int type = cursor.u16("record type");
                    int length = cursor.u16("record length");
                    if (type == 0) {
                        return;
                    }
                    byte[] value = cursor.bytes("record", length);
                    cursor.slice("padding", Math.min(-length & 3, cursor.remaining()));
                    name(time, type, value);
                }
            } catch (MalformedInputException e) {
                out.begin(time, -1, -1, PacketTypes.CORRUPT);
                out.end();
            }
        }

        private void name(long time, int type, byte[] value) {
            int size = type == 1 ? 4 : type == 2 ? 16 : 0;
            if (size == 0 || value.length <= size) {
                return;
            }
            MemorySegment bytes = MemorySegment.ofArray(value);
            String address = type == 1 ? AddressText.ipv4(bytes, 0) : AddressText.ipv6(bytes, 0);
            String all = new String(value, size, value.length - size, StandardCharsets.UTF_8);
            for (String name : all.split("\0")) {
                out.begin(time, -1, -1, PacketTypes.NAME);
                out.text(PacketTypes.NAME.fields().get(0), address);
                out.text(PacketTypes.NAME.fields().get(1), name);
                out.end();
            }
        }

        private void statistics(long time, Entry entry) {
            FieldCursor cursor = cursor(entry);
            long received = -1;
            long dropped = -1;
            try {
                while (cursor.remaining() >= 4) {
                    int code = cursor.u16("option code");
                    int length = cursor.u16("option length");
                    if (code == 0) {
                        break;
                    }
                    long start = cursor.position();
                    if (code == 4) {
                        received = cursor.u64("isb_ifrecv");
                    } else if (code == 5) {
                        dropped = cursor.u64("isb_ifdrop");
                    }
                    cursor.seek("option", start + (length + 3L & -4));
                }
            } catch (MalformedInputException e) {
                out.begin(time, -1, -1, PacketTypes.CORRUPT);
                out.end();
            }
            out.begin(time, -1, -1, PacketTypes.STATISTICS);
            List<Field> fields = PacketTypes.STATISTICS.fields();
            out.text(fields.get(0), capture.interfaces.get(entry.port()).name());
            out.integer(fields.get(1), received);
            out.integer(fields.get(2), dropped);
            out.end();
            if (dropped > 0) {
                loss(time, dropped);
            }
        }

        /** A cursor over an entry in the byte order of its section. */
        private FieldCursor cursor(Entry entry) {
            MemorySegment bytes = input.segment().asSlice(entry.offset(), entry.captured());
            return new FieldCursor(PcapngFile.FORMAT, bytes, capture.order(entry));
        }

        private byte[] bytes(long offset, int count) {
            byte[] copy = new byte[count];
            MemorySegment.copy(input.segment(), ValueLayout.JAVA_BYTE, offset, copy, 0, count);
            return copy;
        }

        @Override
        public void close() {
            next = order.length;
        }
    }
}
