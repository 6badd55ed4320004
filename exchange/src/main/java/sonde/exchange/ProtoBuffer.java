package sonde.exchange;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes one Protocol Buffers message, field by field (protobuf.dev, "Encoding"). */
public final class ProtoBuffer {
    private byte[] bytes;
    private int size;

    /** An empty message. */
    public ProtoBuffer() {
        bytes = new byte[256];
    }

    /** Bytes so far. */
    public int size() {
        return size;
    }

    /** A varint field; negative numbers take ten bytes. */
    public ProtoBuffer integer(int field, long value) {
        varint((long) field << 3);
        return varint(value);
    }

    /** A fixed64 or double field. */
    public ProtoBuffer real(int field, double value) {
        return fixed(field, Double.doubleToRawLongBits(value));
    }

    /** A fixed64 field. */
    public ProtoBuffer fixed(int field, long value) {
        varint((long) field << 3 | ProtoReader.FIXED64);
        room(8);
        for (int i = 0; i < 8; i++) {
            bytes[size++] = (byte) (value >>> 8 * i);
        }
        return this;
    }

    /** A string field. */
    public ProtoBuffer text(int field, String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        return raw(field, utf8, utf8.length);
    }

    /** A bytes field. */
    public ProtoBuffer bytes(int field, byte[] value) {
        return raw(field, value, value.length);
    }

    /** A nested message. */
    public ProtoBuffer message(int field, ProtoBuffer nested) {
        return raw(field, nested.bytes, nested.size);
    }

    /** A packed repeated varint field; nothing for an empty list. */
    public ProtoBuffer packed(int field, long... values) {
        if (values.length == 0) {
            return this;
        }
        ProtoBuffer list = new ProtoBuffer();
        for (long value : values) {
            list.varint(value);
        }
        return message(field, list);
    }

    private ProtoBuffer raw(int field, byte[] value, int count) {
        varint((long) field << 3 | ProtoReader.LENGTH);
        varint(count);
        room(count);
        System.arraycopy(value, 0, bytes, size, count);
        size += count;
        return this;
    }

    private ProtoBuffer varint(long value) {
        room(10);
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes[size++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
        return this;
    }

    private void room(int count) {
        if (count > bytes.length - size) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(size, count)));
        }
    }

    /** Writes everything and empties the buffer. */
    public void drainTo(OutputStream out) throws IOException {
        out.write(bytes, 0, size);
        size = 0;
    }
}
