package sonde.format.perfdata;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing run of little-endian bytes: what records and header sections are put together in. */
final class Bytes {
    private static final int NAME_ALIGN = 64;

    private byte[] bytes = new byte[256];
    private int size;

    int size() {
        return size;
    }

    byte[] toArray() {
        return Arrays.copyOf(bytes, size);
    }

    Bytes u8(int value) {
        at(1).put((byte) value);
        return this;
    }

    Bytes u16(int value) {
        at(2).putShort((short) value);
        return this;
    }

    Bytes u32(int value) {
        at(4).putInt(value);
        return this;
    }

    Bytes u64(long value) {
        at(8).putLong(value);
        return this;
    }

    Bytes raw(byte[] value) {
        at(value.length).put(value);
        return this;
    }

    /** A string, its NUL, and zeros up to a multiple of {@code align} from the string's start. */
    Bytes paddedString(String value, int align) {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        int padded = (text.length / align + 1) * align;
        at(padded).put(text);
        return this;
    }

    /** A header string: u32 length of what follows, the string padded to 64 bytes. */
    Bytes headerString(String value) {
        int mark = size;
        u32(0);
        paddedString(value, NAME_ALIGN);
        patch32(mark, size - mark - 4);
        return this;
    }

    void patch16(int offset, int value) {
        view().putShort(offset, (short) value);
    }

    void patch32(int offset, int value) {
        view().putInt(offset, value);
    }

    private ByteBuffer view() {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Zeroed room for that many bytes, counted as written. */
    private ByteBuffer at(int room) {
        if (bytes.length - size < room) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + room));
        }
        ByteBuffer place = view().position(size);
        size += room;
        return place;
    }
}
