package sonde.recording.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Numbers distinct byte strings in the order they come; bounded. */
final class ByteTable {
    private final int most;
    private byte[][] strings = new byte[64][];
    private int[] slots = new int[256];
    private int size;

    /** An empty table that never has more than {@code most} strings. */
    ByteTable(int most) {
        this.most = most;
    }

    int size() {
        return size;
    }

    byte[] get(int index) {
        return strings[index];
    }

    String text(int index) {
        return new String(strings[index], StandardCharsets.UTF_8);
    }

    /** The number of part of an array, -1 when it is not in the table. */
    int find(byte[] bytes, int from, int to) {
        int mask = slots.length - 1;
        int slot = hash(bytes, from, to) & mask;
        while (slots[slot] != 0) {
            byte[] string = strings[slots[slot] - 1];
            if (LineScan.is(bytes, from, to, string)) {
                return slots[slot] - 1;
            }
            slot = slot + 1 & mask;
        }
        return -1;
    }

    /** The number of part of an array, which is added; -1 when the table is full. */
    int add(byte[] bytes, int from, int to) {
        int found = find(bytes, from, to);
        if (found >= 0 || size == most) {
            return found;
        }
        if (size == strings.length) {
            strings = Arrays.copyOf(strings, 2 * size);
        }
        strings[size] = Arrays.copyOfRange(bytes, from, to);
        int added = size++;
        if (2 * size > slots.length) {
            slots = new int[2 * slots.length];
            for (int i = 0; i < size; i++) {
                place(i);
            }
        } else {
            place(added);
        }
        return added;
    }

    private void place(int index) {
        int mask = slots.length - 1;
        byte[] string = strings[index];
        int slot = hash(string, 0, string.length) & mask;
        while (slots[slot] != 0) {
            slot = slot + 1 & mask;
        }
        slots[slot] = index + 1;
    }

    private static int hash(byte[] bytes, int from, int to) {
        int hash = to - from;
        for (int i = from; i < to; i++) {
            hash = hash * 31 + bytes[i];
        }
        hash *= 0x9E3779B9;
        return hash ^ hash >>> 15;
    }
}
