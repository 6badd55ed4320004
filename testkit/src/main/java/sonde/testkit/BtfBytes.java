package sonde.testkit;

import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes BTF, field by field (Documentation/bpf/btf.rst). Ids are given in order, from 1. */
public final class BtfBytes {
    private final ByteOrder order;
    private final Bytes types;
    private final Bytes strings;
    private final Map<String, Integer> offsets = new LinkedHashMap<>();
    private final int firstString;
    private int nextId;

    /** A blob by itself. */
    public BtfBytes(ByteOrder order) {
        this(order, 1, 0);
        strings.u8(0);
        offsets.put("", 0);
    }

    private BtfBytes(ByteOrder order, int firstId, int firstString) {
        this.order = order;
        this.firstString = firstString;
        nextId = firstId;
        types = new Bytes(order);
        strings = new Bytes(order);
    }

    /** A blob whose ids and strings go on where this one's end. */
    public BtfBytes split() {
        BtfBytes split = new BtfBytes(order, nextId, firstString + strings.size());
        split.offsets.putAll(offsets);
        return split;
    }

    private int string(String text) {
        Integer known = offsets.get(text);
        if (known != null) {
            return known;
        }
        int offset = firstString + strings.size();
        strings.text(text);
        offsets.put(text, offset);
        return offset;
    }

    /** struct btf_type; what the kind adds follows through {@link #word}. */
    public int type(String name, int kind, int count, boolean flag, int sizeOrType) {
        types.u32(string(name)); // name_off
        types.u32(kind << 24 | count | (flag ? 1 << 31 : 0)); // info
        types.u32(sizeOrType);
        return nextId++;
    }

    /** A word behind the last type. */
    public BtfBytes word(int value) {
        types.u32(value);
        return this;
    }

    /** The offset of a name behind the last type. */
    public BtfBytes name(String text) {
        types.u32(string(text));
        return this;
    }

    /** BTF_KIND_INT. */
    public int integer(String name, int sizeBytes, int encoding) {
        int id = type(name, 1, 0, false, sizeBytes);
        word(encoding << 24 | sizeBytes * 8);
        return id;
    }

    /** The blob. */
    public byte[] toBytes() {
        byte[] typeBytes = types.toBytes();
        byte[] stringBytes = strings.toBytes();
        return new Bytes(order)
                .u16(0xeb9f) // magic
                .u8(1) // version
                .u8(0) // flags
                .u32(24) // hdr_len
                .u32(0) // type_off
                .u32(typeBytes.length) // type_len
                .u32(typeBytes.length) // str_off
                .u32(stringBytes.length) // str_len
                .raw(typeBytes)
                .raw(stringBytes)
                .toBytes();
    }
}
