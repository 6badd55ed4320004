package sonde.recording;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Fields of a record one after the other, in one byte order; grows as needed. Text is put together
 * in {@code ftrace.TextBuffer}, which knows no byte order; payloads of CTF in {@code
 * ctf.PayloadBuffer}, where spans are added behind fixed fields; messages of Protocol Buffers in
 * {@code ProtoBuffer}, whose numbers have no fixed size.
 */
public final class GrowableBytes {
    private static final int LEAST_BYTES = 64;

    private final ByteOrder order;
    private byte[] bytes;
    private ByteBuffer view;
    private int size;

    /** Empty, with room for that many bytes. */
    public GrowableBytes(int expectedBytes, ByteOrder order) {
        this.order = order;
        bytes = new byte[Math.max(expectedBytes, LEAST_BYTES)];
        view = ByteBuffer.wrap(bytes).order(order);
    }

    /** Empty, of little-endian fields. */
    public static GrowableBytes littleEndian() {
        return new GrowableBytes(1 << 8, ByteOrder.LITTLE_ENDIAN);
    }

    /** Bytes in it. */
    public int size() {
        return size;
    }

    /** A copy. */
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    /** The bytes up to {@link #size}, and more; valid until some are added. */
    public byte[] array() {
        return bytes;
    }

    /** Begins again with so many zero bytes. */
    public void begin(int zeros) {
        size = 0;
        zeros(zeros);
    }

    /** Cuts the end off. */
    public void truncate(int newSize) {
        size = Math.min(size, newSize);
    }

    private int room(int count) {
        int at = size;
        int end = Math.addExact(size, count);
        if (end > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(end, (int) Math.min(2L * bytes.length, 1 << 30)));
            view = ByteBuffer.wrap(bytes).order(order);
        }
        size = end;
        return at;
    }

    /** Adds zero bytes; the offset where they begin. */
    public int zeros(int count) {
        int at = room(count);
        Arrays.fill(bytes, at, size, (byte) 0);
        return at;
    }

    /** Adds zero bytes up to a multiple of a power of two. */
    public void align(int multiple) {
        zeros(-size & multiple - 1);
    }

    /** Puts an integer of 1, 2, 4 or 8 bytes at an offset; higher bits are cut. */
    public void put(int at, int sizeBytes, long value) {
        switch (sizeBytes) {
            case 1 -> bytes[at] = (byte) value;
            case 2 -> view.putShort(at, (short) value);
            case 4 -> view.putInt(at, (int) value);
            default -> view.putLong(at, value);
        }
    }

    /** Adds an integer of 1, 2, 4 or 8 bytes. */
    public GrowableBytes add(int sizeBytes, long value) {
        put(room(sizeBytes), sizeBytes, value);
        return this;
    }

    /** Adds a byte. */
    public GrowableBytes u8(int value) {
        return add(1, value);
    }

    /** Adds two bytes. */
    public GrowableBytes u16(int value) {
        return add(2, value);
    }

    /** Adds four bytes. */
    public GrowableBytes u32(int value) {
        return add(4, value);
    }

    /** Adds eight bytes. */
    public GrowableBytes u64(long value) {
        return add(8, value);
    }

    /** Adds bytes. */
    public GrowableBytes raw(byte[] value) {
        return raw(value, 0, value.length);
    }

    /** Adds part of an array. */
    public GrowableBytes raw(byte[] value, int offset, int length) {
        int at = room(length);
        System.arraycopy(value, offset, bytes, at, length);
        return this;
    }

    /** Adds a text and its NUL. */
    public GrowableBytes text(String value) {
        return raw(value.getBytes(StandardCharsets.UTF_8)).u8(0);
    }

    /** Adds a text, its NUL, and zeros up to a multiple of {@code align} from the text's start. */
    public GrowableBytes paddedText(String value, int align) {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        raw(text);
        zeros((text.length / align + 1) * align - text.length);
        return this;
    }
}
