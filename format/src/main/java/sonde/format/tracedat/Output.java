package sonde.format.tracedat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Fields one after the other in one byte order. */
final class Output {
    private byte[] bytes;
    private final ByteOrder order;
    private int size;

    Output(int expectedBytes, ByteOrder order) {
        this.bytes = new byte[Math.max(expectedBytes, 64)];
        this.order = order;
    }

    Output u8(int value) {
        room(1)[size++] = (byte) value;
        return this;
    }

    Output u16(int value) {
        view(2).putShort((short) value);
        return this;
    }

    Output u32(int value) {
        view(4).putInt(value);
        return this;
    }

    Output u64(long value) {
        view(8).putLong(value);
        return this;
    }

    Output bytes(byte[] value) {
        return bytes(value, 0, value.length);
    }

    Output bytes(byte[] value, int offset, int length) {
        System.arraycopy(value, offset, room(length), size, length);
        size += length;
        return this;
    }

    /** A text and its NUL. */
    Output text(String value) {
        return bytes(value.getBytes(StandardCharsets.UTF_8)).u8(0);
    }

    int size() {
        return size;
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    private ByteBuffer view(int length) {
        ByteBuffer view = ByteBuffer.wrap(room(length), size, length);
        size += length;
        return view.order(order);
    }

    private byte[] room(int length) {
        if (size + length > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + length));
        }
        return bytes;
    }
}
