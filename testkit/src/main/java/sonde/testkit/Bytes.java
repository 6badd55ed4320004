package sonde.testkit;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Bytes put field by field, in either byte order. */
public final class Bytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteOrder order;

    /** None yet; integers in that order. */
    public Bytes(ByteOrder order) {
        this.order = order;
    }

    /** Bytes so far. */
    public int size() {
        return out.size();
    }

    /** A byte. */
    public Bytes u8(int value) {
        out.write(value);
        return this;
    }

    /** Two bytes. */
    public Bytes u16(int value) {
        return raw(ByteBuffer.allocate(2).order(order).putShort((short) value).array());
    }

    /** Four bytes. */
    public Bytes u32(long value) {
        return raw(ByteBuffer.allocate(4).order(order).putInt((int) value).array());
    }

    /** Eight bytes. */
    public Bytes u64(long value) {
        return raw(ByteBuffer.allocate(8).order(order).putLong(value).array());
    }

    /** Four or eight bytes. */
    public Bytes word(long value, int sizeBytes) {
        return sizeBytes == 4 ? u32(value) : u64(value);
    }

    /** Bytes as they are. */
    public Bytes raw(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    /** A text without NUL. */
    public Bytes ascii(String text) {
        return raw(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A text and its NUL. */
    public Bytes text(String text) {
        return ascii(text).u8(0);
    }

    /** A text in a field of that size, filled with NUL. */
    public Bytes chars(String text, int sizeBytes) {
        byte[] field = new byte[sizeBytes];
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(bytes, 0, field, 0, Math.min(bytes.length, sizeBytes));
        return raw(field);
    }

    /** Zeros up to a multiple. */
    public Bytes align(int bytes) {
        while (out.size() % bytes != 0) {
            out.write(0);
        }
        return this;
    }

    /** A copy. */
    public byte[] toBytes() {
        return out.toByteArray();
    }
}
