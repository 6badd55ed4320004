package sonde.symbol;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import sonde.binary.AddressOrder;

/**
 * A perf map, the text a JIT compiler writes to {@code /tmp/perf-PID.map}: lines {@code start size
 * name}, numbers hexadecimal with or without 0x (kernel, tools/perf/Documentation/jit-interface).
 * Where lines overlap, the later one is the newer code and wins.
 */
final class PerfMap {
    private static final int LINE_LIMIT = 1 << 22;
    private static final int NAME_LIMIT = 4096;

    private final byte[] text;
    private final long[] starts;

    /** Line of the interval that begins at {@code starts[i]}, -1 for a gap. */
    private final int[] owners;

    private final int[] names;

    private PerfMap(byte[] text, PerfMapLines lines, long[] starts, int[] owners) {
        this.text = text;
        this.names = lines.names;
        this.starts = starts;
        this.owners = owners;
    }

    /** Parses the text; lines that make no sense are left out. */
    static PerfMap parse(byte[] text) {
        PerfMapLines lines = new PerfMapLines(text);
        long[] borders = new long[2 * lines.count];
        for (int i = 0; i < lines.count; i++) {
            borders[2 * i] = lines.starts[i];
            borders[2 * i + 1] = lines.ends[i];
        }
        int[] order = AddressOrder.of(borders, borders.length);
        long[] starts = new long[borders.length];
        int[] owners = new int[borders.length];
        int count = 0;
        PriorityQueue<Integer> active = new PriorityQueue<>(Comparator.reverseOrder());
        for (int i = 0; i < order.length; ) {
            long at = borders[order[i]];
            for (; i < order.length && borders[order[i]] == at; i++) {
                if ((order[i] & 1) == 0) {
                    active.add(order[i] >> 1);
                }
            }
            while (!active.isEmpty()
                    && Long.compareUnsigned(lines.ends[active.element()], at) <= 0) {
                active.remove();
            }
            starts[count] = at;
            owners[count++] = active.isEmpty() ? -1 : active.element();
        }
        return new PerfMap(text, lines, Arrays.copyOf(starts, count), Arrays.copyOf(owners, count));
    }

    /** The line that holds an address, -1 when none does. */
    int find(long address) {
        int at = AddressOrder.floor(starts, starts.length, address);
        return at < 0 ? -1 : owners[at];
    }

    /** Where the code that holds an address begins. */
    long start(long address) {
        return starts[AddressOrder.floor(starts, starts.length, address)];
    }

    String name(int line) {
        int start = names[line];
        int end = start;
        int limit = Math.min(text.length, start + NAME_LIMIT);
        while (end < limit && text[end] != '\n') {
            end++;
        }
        return new String(text, start, end - start, StandardCharsets.UTF_8).strip();
    }

    /** The lines as arrays. */
    private static final class PerfMapLines {
        private final byte[] text;
        private long[] starts = new long[256];
        private long[] ends = new long[256];
        private int[] names = new int[256];
        private int count;
        private int at;

        PerfMapLines(byte[] text) {
            this.text = text;
            while (at < text.length && count < LINE_LIMIT) {
                line();
                while (at < text.length && text[at] != '\n') {
                    at++;
                }
                at++;
            }
        }

        private void line() {
            int first = at;
            long start = hex();
            boolean good = at > first && blank();
            int second = at;
            long size = hex();
            good &= at > second && blank();
            long end = start + size;
            if (!good || size <= 0 || Long.compareUnsigned(end, start) <= 0) {
                return;
            }
            if (count == names.length) {
                starts = Arrays.copyOf(starts, 2 * count);
                ends = Arrays.copyOf(ends, 2 * count);
                names = Arrays.copyOf(names, 2 * count);
            }
            starts[count] = start;
            ends[count] = end;
            names[count++] = at;
        }

        private boolean blank() {
            boolean found = at < text.length && text[at] == ' ';
            while (at < text.length && text[at] == ' ') {
                at++;
            }
            return found;
        }

        private long hex() {
            if (at + 1 < text.length && text[at] == '0' && (text[at + 1] | 0x20) == 'x') {
                at += 2;
            }
            long value = 0;
            while (at < text.length) {
                int digit = Character.digit(text[at], 16);
                if (digit < 0) {
                    break;
                }
                value = value << 4 | digit;
                at++;
            }
            return value;
        }
    }
}
