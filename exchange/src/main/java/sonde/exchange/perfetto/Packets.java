package sonde.exchange.perfetto;

import io.airlift.compress.v3.zstd.ZstdInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.zip.InflaterInputStream;
import sonde.binary.MalformedInputException;
import sonde.exchange.Proto;

/** The packets of a trace, one after the other, those that lie compressed too. */
final class Packets {
    static final String FORMAT = "perfetto";

    /** The service compresses about 512 kB at a time; more than this is no trace. */
    private static final int MOST_INFLATED = 256 << 20;

    /** The field of Trace (trace.proto). */
    private static final int PACKET = 1;

    private final MemorySegment trace;
    private final List<String> notes;
    private long corrupt;
    private String why = "";

    Packets(MemorySegment trace, List<String> notes) {
        this.trace = trace;
        this.notes = notes;
    }

    /** Takes packets. */
    @FunctionalInterface
    interface Taker {
        /** The fields of a packet, from the first on. */
        void take(Proto packet) throws MalformedInputException;
    }

    /** Hands out every packet; a bad one is counted, a bad length ends the trace. */
    void forEach(Taker taker) {
        corrupt = 0;
        walk(trace, taker, 0);
    }

    /** Packets of the last pass that could not be read. */
    long corrupt() {
        return corrupt;
    }

    /** Says in a note what could not be read. */
    void tell() {
        if (corrupt > 0) {
            notes.add(corrupt + " packets could not be read whole; the first: " + why + ".");
        }
    }

    private void bad(IOException e) {
        if (corrupt++ == 0) {
            why = String.valueOf(e.getMessage());
        }
    }

    private void walk(MemorySegment bytes, Taker taker, int depth) {
        Proto all = new Proto(FORMAT, bytes);
        try {
            while (all.next()) {
                if (all.field() != PACKET || all.wire() != Proto.LENGTH) {
                    continue;
                }
                try {
                    packet(all, taker, depth);
                } catch (IOException e) {
                    bad(e);
                }
            }
        } catch (MalformedInputException e) {
            bad(e);
        }
    }

    private void packet(Proto all, Taker taker, int depth) throws IOException {
        Proto look = all.message();
        MemorySegment packed = null;
        int kind = 0;
        while (look.next()) {
            boolean compressed =
                    look.field() == Packet.COMPRESSED_PACKETS
                            || look.field() == Packet.ZSTD_COMPRESSED_PACKETS;
            if (compressed && look.wire() == Proto.LENGTH) {
                packed = look.bytes();
                kind = look.field();
            }
        }
        if (packed == null) {
            taker.take(all.message());
        } else if (depth == 0) {
            walk(inflated(packed, kind), taker, 1);
        } else {
            throw new MalformedInputException(
                    FORMAT, "compressed_packets", all.offset(), "inside another one");
        }
    }

    private static MemorySegment inflated(MemorySegment packed, int kind) throws IOException {
        byte[] bytes = packed.toArray(ValueLayout.JAVA_BYTE);
        InputStream raw = new ByteArrayInputStream(bytes);
        try (InputStream in =
                kind == Packet.COMPRESSED_PACKETS
                        ? new InflaterInputStream(raw)
                        : new ZstdInputStream(raw)) {
            byte[] whole = in.readNBytes(MOST_INFLATED);
            if (whole.length == MOST_INFLATED) {
                throw new IOException("more than 256 MB");
            }
            return MemorySegment.ofArray(whole);
        } catch (IOException | RuntimeException e) {
            throw new MalformedInputException(
                    FORMAT, "compressed_packets", -1, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Whether a file begins as a trace does: with packets whose fields have the types they should,
     * one of them at least known.
     */
    static boolean begin(MemorySegment trace) {
        Proto all = new Proto(FORMAT, trace);
        int known = 0;
        int packets = 0;
        try {
            while (packets < 8 && all.next()) {
                if (all.field() != PACKET || all.wire() != Proto.LENGTH) {
                    return false;
                }
                packets++;
                Proto packet = all.message();
                while (packet.next()) {
                    int fits = fits(packet);
                    if (fits < 0) {
                        return false;
                    }
                    known += fits;
                }
            }
        } catch (MalformedInputException e) {
            // A trace that was cut in its first packets is still one.
            return packets > 1 && known > 1;
        }
        return known > 0;
    }

    /** 1 for a known field, 0 for one that is not, -1 for a known one of another type. */
    private static int fits(Proto packet) {
        return switch (packet.field()) {
            case Packet.TIMESTAMP,
                    Packet.TRUSTED_PACKET_SEQUENCE_ID,
                    Packet.TRUSTED_UID,
                    Packet.SEQUENCE_FLAGS,
                    Packet.TIMESTAMP_CLOCK_ID,
                    Packet.TRUSTED_PID ->
                    packet.wire() == Proto.VARINT ? 1 : -1;
            case Packet.FTRACE_EVENTS,
                    Packet.PROCESS_TREE,
                    Packet.CLOCK_SNAPSHOT,
                    Packet.TRACK_EVENT,
                    Packet.INTERNED_DATA,
                    Packet.TRACE_CONFIG,
                    Packet.TRACE_STATS,
                    Packet.COMPRESSED_PACKETS,
                    Packet.TRACK_DESCRIPTOR,
                    Packet.TRACE_UUID ->
                    packet.wire() == Proto.LENGTH ? 1 : -1;
            case Packet.SYNCHRONIZATION_MARKER ->
                    packet.wire() == Proto.LENGTH && packet.value() == 16 ? 1 : -1;
            default -> packet.wire() == Proto.START_GROUP ? -1 : 0;
        };
    }
}
