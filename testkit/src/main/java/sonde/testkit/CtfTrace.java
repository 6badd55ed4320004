package sonde.testkit;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A small CTF trace as files: metadata and data streams, written without the reader's help. Packets
 * have a header of magic, UUID, stream class and instance, and LTTng's packet context.
 */
public final class CtfTrace {
    /** UUID of the traces made here. */
    public static final String UUID = "00010203-0405-0607-0809-0a0b0c0d0e0f";

    /** TSDL up to and including the packet context of stream 0; BYTE_ORDER is be or le. */
    public static final String TSDL =
            """
            /* CTF 1.8 */
            typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
            typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
            typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
            typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
            typealias integer { size = 32; align = 8; signed = true; } := int;
            trace {
                major = 1; minor = 8; byte_order = BYTE_ORDER;
                uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
                packet.header := struct {
                    uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;
                    uint64_t stream_instance_id;
                };
            };
            env { hostname = "box"; procname = "app"; vpid = 7; domain = "ust"; };
            clock { name = "mono"; freq = 1000000000; offset_s = 100; offset = 5; };
            typealias integer { size = 64; align = 8; map = clock.mono.value; } := time64;
            """;

    private final boolean bigEndian;
    private final Map<String, byte[]> files = new LinkedHashMap<>();

    /** An empty trace in that byte order. */
    public CtfTrace(ByteOrder order) {
        bigEndian = order == ByteOrder.BIG_ENDIAN;
    }

    /** The files by name. */
    public Map<String, byte[]> files() {
        return files;
    }

    /** Metadata as plain text; BYTE_ORDER in it becomes the trace's. */
    public CtfTrace metadata(String text) {
        files.put("metadata", order(text).getBytes(StandardCharsets.UTF_8));
        return this;
    }

    private String order(String text) {
        return text.replace("BYTE_ORDER", bigEndian ? "be" : "le");
    }

    /** TSDL in packets of a few bytes of content each (CTF 1.8.3, section 7.1). */
    public CtfTrace packetizedMetadata(String text) {
        byte[] all = order(text).getBytes(StandardCharsets.UTF_8);
        Bytes out = new Bytes(bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < all.length; at += 100) {
            int count = Math.min(100, all.length - at);
            out.u32(0x75d11d57L);
            for (int i = 0; i < 16; i++) {
                out.u8(i); // uuid
            }
            out.u32(0); // checksum
            out.u32(8L * (37 + count)); // content_size
            out.u32(8L * (37 + 128)); // packet_size
            out.u8(0).u8(0).u8(0); // compression, encryption, checksum schemes
            out.u8(1).u8(8); // major, minor
            byte[] content = new byte[128];
            System.arraycopy(all, at, content, 0, count);
            out.raw(content);
        }
        files.put("metadata", out.toBytes());
        return this;
    }

    /** A file of any content. */
    public CtfTrace file(String name, byte[] content) {
        files.put(name, content);
        return this;
    }

    /** Appends a packet to a stream's file. */
    public CtfTrace append(String name, Packet packet) {
        byte[] old = files.getOrDefault(name, new byte[0]);
        byte[] more = packet.toBytes();
        byte[] all = new byte[old.length + more.length];
        System.arraycopy(old, 0, all, 0, old.length);
        System.arraycopy(more, 0, all, old.length, more.length);
        files.put(name, all);
        return this;
    }

    /** A packet of stream class 0. */
    public Packet packet(long instance) {
        return new Packet(instance, bigEndian);
    }

    /** TSDL's packet context of the packets made here. */
    public static final String PACKET_CONTEXT =
            """
            packet.context := struct {
                time64 timestamp_begin; time64 timestamp_end;
                uint64_t content_size; uint64_t packet_size;
                uint64_t events_discarded; uint64_t packet_seq_num; uint32_t cpu_id;
            };
            """;

    /** A packet: header and context first, then events. */
    public static final class Packet {
        private static final int CONTEXT_AT = 32 + 128 + 32 + 64;

        private final CtfBits bits = new CtfBits();
        private final boolean bigEndian;
        private int paddingBytes;

        private Packet(long instance, boolean bigEndian) {
            this.bigEndian = bigEndian;
            bits.put(0xc1fc1fc1L, 32, bigEndian); // magic
            for (int i = 0; i < 16; i++) {
                bits.le(i, 8); // uuid
            }
            bits.put(0, 32, bigEndian); // stream_id
            bits.put(instance, 64, bigEndian); // stream_instance_id
            for (int i = 0; i < 6; i++) {
                bits.put(0, 64, bigEndian); // the context, see below
            }
            bits.put(0, 32, bigEndian);
        }

        private Packet context(int member, long value, int count) {
            bits.patch(CONTEXT_AT + 64 * member, value, count, bigEndian);
            return this;
        }

        /** {@code timestamp_begin} and {@code timestamp_end}. */
        public Packet time(long begin, long end) {
            return context(0, begin, 64).context(1, end, 64);
        }

        /** {@code events_discarded}. */
        public Packet discarded(long count) {
            return context(4, count, 64);
        }

        /** {@code packet_seq_num}. */
        public Packet sequence(long number) {
            return context(5, number, 64);
        }

        /** {@code cpu_id}. */
        public Packet cpu(int number) {
            return context(6, number, 32);
        }

        /** Zeros behind the content. */
        public Packet padding(int bytes) {
            paddingBytes = bytes;
            return this;
        }

        /** Where events are put. */
        public CtfBits bits() {
            return bits;
        }

        /** An integer in the trace's byte order, on a byte. */
        public Packet put(long value, int count) {
            bits.align(8).put(value, count, bigEndian);
            return this;
        }

        /** An integer of any number of bits where the last one ended. */
        public Packet bits(long value, int count) {
            bits.put(value, count, bigEndian);
            return this;
        }

        /** A text with its NUL. */
        public Packet text(String text) {
            bits.text(text);
            return this;
        }

        byte[] toBytes() {
            int content = bits.size();
            bits.align(8);
            context(2, content, 64); // content_size
            context(3, bits.size() + 8L * paddingBytes, 64); // packet_size
            byte[] bytes = bits.toBytes();
            byte[] padded = new byte[bits.size() / 8 + paddingBytes];
            System.arraycopy(bytes, 0, padded, 0, bytes.length);
            return padded;
        }
    }
}
