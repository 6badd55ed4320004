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
import sonde.exchange.ProtoReader;

/** The packets of a trace, one after the other, those that lie compressed too. */
final class TracePackets {
    static final String FORMAT = "perfetto";

    /** The service compresses about 512 kB at a time; more than this is no trace. */
    private static final int MOST_INFLATED = 256 << 20;

    /** The field of Trace (trace.proto). */
    private static final int PACKET = 1;

    private final MemorySegment trace;
    private final List<String> notes;
    private long corrupt;
    private String why = "";

    TracePackets(MemorySegment trace, List<String> notes) {
        this.trace = trace;
        this.notes = notes;
    }

    /** Takes packets. */
    @FunctionalInterface
    interface PacketTaker {
        /** The fields of a packet, from the first on. */
        void take(ProtoReader packet) throws MalformedInputException;
    }

    /** Hands out every packet; a bad one is counted, a bad length ends the trace. */
    void forEach(PacketTaker taker) {
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

    private void walk(MemorySegment bytes, PacketTaker taker, int depth) {
        ProtoReader all = new ProtoReader(FORMAT, bytes);
        try {
            while (all.next()) {
                if (all.field() != PACKET || all.wire() != ProtoReader.LENGTH) {
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

    private void packet(ProtoReader all, PacketTaker taker, int depth) throws IOException {
        ProtoReader look = all.message();
        MemorySegment packed = null;
        int kind = 0;
        while (look.next()) {
            boolean compressed =
                    look.field() == TracePacket.COMPRESSED_PACKETS
                            || look.field() == TracePacket.ZSTD_COMPRESSED_PACKETS;
            if (compressed && look.wire() == ProtoReader.LENGTH) {
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
                kind == TracePacket.COMPRESSED_PACKETS
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
        ProtoReader all = new ProtoReader(FORMAT, trace);
        int known = 0;
        int packets = 0;
        try {
            while (packets < 8 && all.next()) {
                if (all.field() != PACKET || all.wire() != ProtoReader.LENGTH) {
                    return false;
                }
                packets++;
                ProtoReader packet = all.message();
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
    private static int fits(ProtoReader packet) {
        return switch (packet.field()) {
            case TracePacket.TIMESTAMP,
                    TracePacket.TRUSTED_PACKET_SEQUENCE_ID,
                    TracePacket.TRUSTED_UID,
                    TracePacket.SEQUENCE_FLAGS,
                    TracePacket.TIMESTAMP_CLOCK_ID,
                    TracePacket.TRUSTED_PID ->
                    packet.wire() == ProtoReader.VARINT ? 1 : -1;
            case TracePacket.FTRACE_EVENTS,
                    TracePacket.PROCESS_TREE,
                    TracePacket.CLOCK_SNAPSHOT,
                    TracePacket.TRACK_EVENT,
                    TracePacket.INTERNED_DATA,
                    TracePacket.TRACE_CONFIG,
                    TracePacket.TRACE_STATS,
                    TracePacket.COMPRESSED_PACKETS,
                    TracePacket.TRACK_DESCRIPTOR,
                    TracePacket.TRACE_UUID ->
                    packet.wire() == ProtoReader.LENGTH ? 1 : -1;
            case TracePacket.SYNCHRONIZATION_MARKER ->
                    packet.wire() == ProtoReader.LENGTH && packet.value() == 16 ? 1 : -1;
            default -> packet.wire() == ProtoReader.START_GROUP ? -1 : 0;
        };
    }
}
