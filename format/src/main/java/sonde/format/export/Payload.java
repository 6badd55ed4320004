package sonde.format.export;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** The bytes of one event, made anew for each; grows as needed. */
final class Payload {
    private final ByteOrder order;
    private byte[] bytes = new byte[1 << 12];
    private ByteBuffer view;
    private int size;

    Payload(ByteOrder order) {
        this.order = order;
        this.view = ByteBuffer.wrap(bytes).order(order);
    }

    /** Begins again with so many zero bytes. */
    void begin(int zeros) {
        size = 0;
        zeros(zeros);
    }

    int size() {
        return size;
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    byte[] array() {
        return bytes;
    }

    /** Adds zero bytes; where they begin. */
    int zeros(int count) {
        int at = size;
        int end = Math.addExact(size, count);
        if (end > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(end, (int) Math.min(2L * bytes.length, 1 << 30)));
            view = ByteBuffer.wrap(bytes).order(order);
        }
        Arrays.fill(bytes, at, end, (byte) 0);
        size = end;
        return at;
    }

    /** Adds zero bytes up to a multiple. */
    void align(int multiple) {
        zeros(-size & multiple - 1);
    }

    /** Puts an integer of 1, 2, 4 or 8 bytes; what does not fit is cut. */
    void put(int at, int sizeBytes, long value) {
        switch (sizeBytes) {
            case 1 -> bytes[at] = (byte) value;
            case 2 -> view.putShort(at, (short) value);
            case 4 -> view.putInt(at, (int) value);
            default -> view.putLong(at, value);
        }
    }

    /** Adds an integer. */
    void add(int sizeBytes, long value) {
        put(zeros(sizeBytes), sizeBytes, value);
    }

    /** Adds bytes. */
    void add(byte[] value) {
        int at = zeros(value.length);
        System.arraycopy(value, 0, bytes, at, value.length);
    }

    /** Cuts the end off. */
    void truncate(int newSize) {
        size = Math.min(size, newSize);
    }
}
