package sonde.recording.ctf;

import java.util.Arrays;

/** Reads what a {@link ValueWriter} wrote. */
final class ValueReader {
    private final byte[] bytes;
    private int at;

    ValueReader(byte[] bytes, int from) {
        this.bytes = bytes;
        this.at = from;
    }

    private long take(int count) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            value |= (bytes[at++] & 0xffL) << 8 * i;
        }
        return value;
    }

    long integer() {
        return take(8);
    }

    double real() {
        return Double.longBitsToDouble(take(8));
    }

    int count() {
        return (int) take(4);
    }

    /** The number of the chosen option, -1 for none. */
    int choice() {
        return (int) take(4);
    }

    byte[] bytes() {
        int count = count();
        at += count;
        return Arrays.copyOfRange(bytes, at - count, at);
    }
}
