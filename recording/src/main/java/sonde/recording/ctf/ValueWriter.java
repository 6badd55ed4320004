package sonde.recording.ctf;

import java.util.Arrays;
import sonde.recording.ftrace.TextBuffer;

/**
 * Values of an array that is not an array of integers, one behind the other as its class says:
 * integers and floating-point numbers of 8 bytes, counts and options of 4, bytes behind their
 * count.
 */
final class ValueWriter {
    private static final int MOST_BYTES = 1 << 26;

    private byte[] bytes = new byte[256];
    private int size;

    void clear() {
        size = 0;
    }

    int size() {
        return size;
    }

    void copyTo(byte[] target, int at) {
        System.arraycopy(bytes, 0, target, at, size);
    }

    private void put(long value, int count) throws PacketOverrun {
        room(count);
        for (int i = 0; i < count; i++) {
            bytes[size++] = (byte) (value >>> 8 * i);
        }
    }

    private void room(int count) throws PacketOverrun {
        if (size + (long) count > MOST_BYTES) {
            throw new PacketOverrun("an array of more than " + MOST_BYTES + " bytes");
        }
        if (size + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + count));
        }
    }

    void integer(long value) throws PacketOverrun {
        put(value, 8);
    }

    void real(double value) throws PacketOverrun {
        put(Double.doubleToRawLongBits(value), 8);
    }

    void count(int value) throws PacketOverrun {
        put(value, 4);
    }

    void choice(int value) throws PacketOverrun {
        put(value, 4);
    }

    void bytes(byte[] value) throws PacketOverrun {
        count(value.length);
        room(value.length);
        System.arraycopy(value, 0, bytes, size, value.length);
        size += value.length;
    }

    /** The array as JSON. */
    byte[] json(FieldNode array) {
        TextBuffer out = new TextBuffer(4 * size + 16);
        JsonArrays.append(out, array, new ValueReader(bytes, 0));
        return out.since(0);
    }
}
