package sonde.testkit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** A Protocol Buffers message put together field by field, tag bytes written out. */
public final class ProtoBytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private void leb(long value) {
        long rest = value;
        do {
            int low = (int) (rest & 0x7f);
            rest >>>= 7;
            out.write(rest == 0 ? low : low | 0x80);
        } while (rest != 0);
    }

    /** Wire type 0. */
    public ProtoBytes number(int field, long value) {
        leb((long) field * 8);
        leb(value);
        return this;
    }

    /** Wire type 1: a double. */
    public ProtoBytes real(int field, double value) {
        leb(field * 8L + 1);
        long bits = Double.doubleToRawLongBits(value);
        for (int i = 0; i < 8; i++) {
            out.write((int) (bits >> 8 * i));
        }
        return this;
    }

    /** Wire type 2: bytes. */
    public ProtoBytes bytes(int field, byte[] value) {
        leb(field * 8L + 2);
        leb(value.length);
        out.writeBytes(value);
        return this;
    }

    /** Wire type 2: text. */
    public ProtoBytes text(int field, String value) {
        return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    /** Wire type 2: a message. */
    public ProtoBytes message(int field, ProtoBytes nested) {
        return bytes(field, nested.toBytes());
    }

    /** Wire type 2: packed integers. */
    public ProtoBytes packed(int field, long... values) {
        ProtoBytes list = new ProtoBytes();
        for (long value : values) {
            list.leb(value);
        }
        return message(field, list);
    }

    /** A copy. */
    public byte[] toBytes() {
        return out.toByteArray();
    }
}
