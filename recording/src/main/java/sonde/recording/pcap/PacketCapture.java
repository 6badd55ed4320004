package sonde.recording.pcap;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import sonde.recording.LongList;

/** Where the packets of a file lie, in the order of the file. */
final class PacketCapture {
    /** What a place holds. */
    enum Kind {
        PACKET,
        NAMES,
        STATISTICS,
        JOURNAL,
        LOST,
        CORRUPT,
    }

    /**
     * An interface as the file describes it.
     *
     * @param order of the section it stands in
     * @param resolution as {@code if_tsresol}: decimal digits, or with bit 7 binary ones
     * @param offsetSeconds added to every time
     */
    record Interface(
            String name,
            int linkType,
            int snapBytes,
            int resolution,
            long offsetSeconds,
            ByteOrder order) {

        /** A time in nanoseconds. */
        long nanos(long units) {
            int digits = resolution & 0x7f;
            long offset = offsetSeconds * 1_000_000_000;
            if (resolution > 0x7f) {
                long high = Math.multiplyHigh(units, 1_000_000_000);
                long low = units * 1_000_000_000;
                long value =
                        digits == 0 ? low : digits >= 64 ? 0 : high << 64 - digits | low >>> digits;
                return offset + value;
            }
            long value = units;
            for (int i = digits; i < 9; i++) {
                value *= 10;
            }
            for (int i = 9; i < Math.min(digits, 30); i++) {
                value = Long.divideUnsigned(value, 10);
            }
            return offset + value;
        }
    }

    /**
     * A packet or another thing with a time.
     *
     * @param offset of its bytes
     * @param captured bytes there
     * @param wire bytes there were
     * @param more offset of its options, 0 for none
     */
    record Entry(Kind kind, int port, long offset, int captured, int wire, long more) {}

    // In place of an interface: what belongs to a section, whose byte order is all it needs.
    private static final int BIG_ENDIAN_SECTION = 0xff_ffff;
    private static final int LITTLE_ENDIAN_SECTION = 0xff_fffe;

    final List<Interface> interfaces = new ArrayList<>();
    final LongList times = new LongList();
    private final LongList places = new LongList();
    private final LongList sizes = new LongList();
    private final LongList options = new LongList();

    /** Adds an entry. */
    void add(long time, Entry entry) {
        times.add(time);
        places.add(entry.offset);
        sizes.add((long) entry.captured << 32 | entry.wire & 0xffff_ffffL);
        long more = entry.more == 0 ? 0 : entry.more - entry.offset;
        options.add((long) entry.kind.ordinal() << 56 | (long) entry.port << 32 | more);
    }

    static int ofSection(ByteOrder order) {
        return order == ByteOrder.BIG_ENDIAN ? BIG_ENDIAN_SECTION : LITTLE_ENDIAN_SECTION;
    }

    /** Byte order of an entry. */
    ByteOrder order(Entry entry) {
        return switch (entry.port) {
            case BIG_ENDIAN_SECTION -> ByteOrder.BIG_ENDIAN;
            case LITTLE_ENDIAN_SECTION -> ByteOrder.LITTLE_ENDIAN;
            default -> interfaces.get(entry.port).order;
        };
    }

    long lastTime() {
        return times.size() == 0 ? 0 : times.at(times.size() - 1);
    }

    Entry entry(int index) {
        long offset = places.at(index);
        long option = options.at(index);
        long more = option & 0xffff_ffffL;
        return new Entry(
                Kind.values()[(int) (option >>> 56)],
                (int) (option >>> 32) & 0xff_ffff,
                offset,
                (int) (sizes.at(index) >>> 32),
                (int) sizes.at(index),
                more == 0 ? 0 : offset + more);
    }
}
