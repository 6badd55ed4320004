package sonde.testkit;

import java.nio.charset.StandardCharsets;
import java.util.BitSet;

/**
 * Bits of a CTF packet put field by field (CTF 1.8.3, section 4.1.5): little-endian fields fill
 * each byte from its least significant bit, big-endian ones from its most significant.
 */
public final class CtfBits {
    private final BitSet bits = new BitSet();
    private int size;

    /** Bits so far. */
    public int size() {
        return size;
    }

    /** Zeros up to a multiple of so many bits. */
    public CtfBits align(int multiple) {
        size = (size + multiple - 1) / multiple * multiple;
        return this;
    }

    /** A little-endian integer. */
    public CtfBits le(long value, int count) {
        for (int i = 0; i < count; i++) {
            set(size + i, (value >>> i & 1) != 0, false);
        }
        size += count;
        return this;
    }

    /** A big-endian integer. */
    public CtfBits be(long value, int count) {
        for (int i = 0; i < count; i++) {
            set(size + i, (value >>> (count - 1 - i) & 1) != 0, true);
        }
        size += count;
        return this;
    }

    /** An integer in either order. */
    public CtfBits put(long value, int count, boolean bigEndian) {
        return bigEndian ? be(value, count) : le(value, count);
    }

    /** Writes over an integer that stands at a bit. */
    public CtfBits patch(int at, long value, int count, boolean bigEndian) {
        int end = size;
        size = at;
        put(value, count, bigEndian);
        size = end;
        return this;
    }

    /** An unsigned LEB128 integer. */
    public CtfBits leb(long value) {
        align(8);
        long rest = value;
        while (Long.compareUnsigned(rest, 0x7f) > 0) {
            le(rest & 0x7f | 0x80, 8);
            rest >>>= 7;
        }
        return le(rest, 8);
    }

    /** A signed LEB128 integer. */
    public CtfBits signedLeb(long value) {
        align(8);
        long rest = value;
        while (rest < -64 || rest > 63) {
            le(rest & 0x7f | 0x80, 8);
            rest >>= 7;
        }
        return le(rest & 0x7f, 8);
    }

    /** Bytes as they are, on a byte. */
    public CtfBits raw(byte... bytes) {
        align(8);
        for (byte one : bytes) {
            le(one, 8);
        }
        return this;
    }

    /** A text in UTF-8 with its NUL. */
    public CtfBits text(String text) {
        return raw(text.getBytes(StandardCharsets.UTF_8)).le(0, 8);
    }

    // In the BitSet bit i of byte b is 8 * b + i, i counted from the least significant.
    private void set(int at, boolean value, boolean bigEndian) {
        int inByte = at % 8;
        bits.set(at - inByte + (bigEndian ? 7 - inByte : inByte), value);
    }

    /** A copy, filled with zeros to whole bytes. */
    public byte[] toBytes() {
        byte[] bytes = new byte[(size + 7) / 8];
        for (int i = bits.nextSetBit(0); i >= 0; i = bits.nextSetBit(i + 1)) {
            bytes[i / 8] |= (byte) (1 << i % 8);
        }
        return bytes;
    }
}
