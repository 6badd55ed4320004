package sonde.testkit;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Writes perf.data files field by field, in either byte order, in file and pipe mode
 * (tools/perf/Documentation/perf.data-file-format.txt).
 */
public final class PerfDataBytes {
    private static final int ATTR_BYTES = 136;
    private static final int FILE_HEADER_BYTES = 104;

    private final ByteOrder order;
    private final List<byte[]> attrs = new ArrayList<>();
    private final List<long[]> ids = new ArrayList<>();
    private final SortedMap<Integer, byte[]> features = new TreeMap<>();
    private final Fields data;

    public PerfDataBytes(ByteOrder order) {
        this.order = order;
        this.data = fields();
    }

    /** Bytes put one after the other, in the order of the file. */
    public static final class Fields {
        private ByteBuffer out = ByteBuffer.allocate(1 << 12);

        private Fields(ByteOrder order) {
            out.order(order);
        }

        public Fields u8(int value) {
            room(1).put((byte) value);
            return this;
        }

        public Fields u16(int value) {
            room(2).putShort((short) value);
            return this;
        }

        public Fields u32(long value) {
            room(4).putInt((int) value);
            return this;
        }

        public Fields u64(long... values) {
            for (long value : values) {
                room(8).putLong(value);
            }
            return this;
        }

        public Fields raw(byte[] bytes) {
            room(bytes.length).put(bytes);
            return this;
        }

        /** A text, its NUL and zeros until {@code sizeBytes} are filled. */
        public Fields text(String text, int sizeBytes) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            return raw(bytes).raw(new byte[sizeBytes - bytes.length]);
        }

        public int size() {
            return out.position();
        }

        public byte[] toArray() {
            byte[] bytes = new byte[out.position()];
            out.get(0, bytes);
            return bytes;
        }

        private ByteBuffer room(int bytes) {
            if (out.remaining() < bytes) {
                ByteBuffer larger =
                        ByteBuffer.allocate(out.capacity() * 2 + bytes).order(out.order());
                larger.put(out.flip());
                out = larger;
            }
            return out;
        }
    }

    /** Empty fields in the byte order of this file. */
    public Fields fields() {
        return new Fields(order);
    }

    /**
     * struct perf_event_attr.
     *
     * @param flags the bit fields, the first one as bit 0; turned round for big-endian files
     */
    public byte[] attr(int type, long config, long sampleType, long readFormat, long flags) {
        Fields out = fields();
        out.u32(type).u32(ATTR_BYTES); // type, size
        out.u64(config);
        out.u64(1); // sample_period
        out.u64(sampleType);
        out.u64(readFormat);
        out.u64(order == ByteOrder.LITTLE_ENDIAN ? flags : Long.reverse(flags));
        out.u32(0).u32(0); // wakeup_events, bp_type
        out.u64(0, 0); // config1, config2
        out.u64(1L << 17); // branch_sample_type: HW_INDEX
        out.u64(0b111); // sample_regs_user
        out.u32(64).u32(1); // sample_stack_user, clockid
        out.u64(0b11); // sample_regs_intr
        out.u32(0).u16(0).u16(0); // aux_watermark, sample_max_stack, reserved
        out.u32(0).u32(0); // aux_sample_size, reserved
        out.u64(0, 0); // sig_data, config3
        return out.toArray();
    }

    /** The same attr with other branches asked for (branch_sample_type, at byte 72). */
    public byte[] withBranches(byte[] attr, long branchSampleType) {
        byte[] changed = attr.clone();
        ByteBuffer.wrap(changed).order(order).putLong(72, branchSampleType);
        return changed;
    }

    /** Adds an event. */
    public PerfDataBytes event(byte[] attr, long... eventIds) {
        attrs.add(attr);
        ids.add(eventIds.clone());
        return this;
    }

    /** Adds a header feature. */
    public PerfDataBytes feature(int number, byte[] content) {
        features.put(number, content.clone());
        return this;
    }

    /** A header string: u32 length, text with zeros up to it. */
    public byte[] headerString(String text) {
        return fields().u32(64).text(text, 64).toArray();
    }

    /** HEADER_NRCPUS (7): available, online. */
    public PerfDataBytes cpus(int available, int online) {
        return feature(7, fields().u32(available).u32(online).toArray());
    }

    /** A count, then that many header strings: CMDLINE (11), halves of CPU_TOPOLOGY (13). */
    public byte[] strings(String... texts) {
        Fields out = fields().u32(texts.length);
        for (String text : texts) {
            out.raw(headerString(text));
        }
        return out.toArray();
    }

    /** HEADER_EVENT_DESC (12): count, attr size, then attr, number of ids, name, ids of each. */
    public PerfDataBytes describe(String... names) {
        Fields out = fields().u32(names.length).u32(ATTR_BYTES);
        for (int i = 0; i < names.length; i++) {
            out.raw(attrs.get(i)).u32(ids.get(i).length).raw(headerString(names[i]));
            out.u64(ids.get(i));
        }
        return feature(12, out.toArray());
    }

    /** Adds bytes behind the latest record that its size does not count: an AUX area. */
    public PerfDataBytes area(byte[] bytes) {
        data.raw(bytes);
        return this;
    }

    /** Adds a record with its header. */
    public PerfDataBytes record(int type, int misc, Fields body) {
        data.u32(type).u16(misc).u16(8 + body.size()).raw(body.toArray());
        return this;
    }

    /** The bytes of the records so far. */
    public byte[] records() {
        return data.toArray();
    }

    /** File mode. */
    public byte[] file() {
        return file(data.size());
    }

    /** File mode of perf before 3.2: "PERFFILE", whose bytes tell no byte order. */
    public byte[] version1() {
        byte[] bytes = file();
        System.arraycopy("PERFFILE".getBytes(StandardCharsets.US_ASCII), 0, bytes, 0, 8);
        return bytes;
    }

    /** File mode as a killed recorder leaves it: no size of data, no features. */
    public byte[] unfinished() {
        return file(0);
    }

    private byte[] file(long dataBytes) {
        Fields idBytes = fields();
        Fields attrBytes = fields();
        for (int i = 0; i < attrs.size(); i++) {
            attrBytes.raw(attrs.get(i));
            attrBytes.u64(FILE_HEADER_BYTES + idBytes.size(), 8L * ids.get(i).length);
            idBytes.u64(ids.get(i));
        }
        long attrsOffset = (long) FILE_HEADER_BYTES + idBytes.size();
        long dataOffset = attrsOffset + attrBytes.size();
        Fields out = fields();
        out.u64(0x32454c4946524550L); // "PERFILE2" read in the file's order
        out.u64(FILE_HEADER_BYTES);
        out.u64(ATTR_BYTES + 16); // attr_size
        out.u64(attrsOffset, attrBytes.size());
        out.u64(dataOffset, dataBytes);
        out.u64(0, 0); // event_types
        long[] bitmap = new long[4];
        features.keySet().forEach(f -> bitmap[f / 64] |= 1L << f % 64);
        out.u64(dataBytes == 0 ? new long[4] : bitmap);
        out.raw(idBytes.toArray()).raw(attrBytes.toArray()).raw(data.toArray());
        if (dataBytes > 0) {
            long at = out.size() + 16L * features.size();
            for (byte[] content : features.values()) {
                out.u64(at, content.length);
                at += content.length;
            }
            features.values().forEach(out::raw);
        }
        return out.toArray();
    }

    /** Pipe mode: events and features as records in front of the others. */
    public byte[] pipe() {
        Fields out = fields();
        out.u64(0x32454c4946524550L).u64(16);
        for (int i = 0; i < attrs.size(); i++) {
            int size = 8 + ATTR_BYTES + 8 * ids.get(i).length;
            out.u32(64).u16(0).u16(size).raw(attrs.get(i)).u64(ids.get(i));
        }
        features.forEach((number, content) -> {
            if (number == 1) { // TRACING_DATA: the content follows the record
                int padding = -content.length & 7;
                out.u32(66).u16(0).u16(12).u32(content.length);
                out.raw(content).raw(new byte[padding]);
            } else {
                out.u32(80).u16(0).u16(16 + content.length).u64(number).raw(content);
            }
        });
        return out.raw(data.toArray()).toArray();
    }
}
