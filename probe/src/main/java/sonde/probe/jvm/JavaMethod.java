package sonde.probe.jvm;

import java.nio.ByteBuffer;
import java.util.Arrays;
import sonde.event.result.Frame;

/**
 * A method of a JVM.
 *
 * @param name with its class, {@code java.util.HashMap.get}
 * @param file of the source, without folders; empty when the class does not say it
 * @param bcis where lines begin in its bytecode, ascending
 * @param lines of the source, as many
 */
public record JavaMethod(String name, String file, int[] bcis, int[] lines) {
    static final String MODULE = "[java]";
    private static final int MOST_LINES = 1 << 16;

    /** The method at an index in its bytecode; an index below 0 is not known. */
    public Frame frame(int bci, boolean inlined) {
        int at = Arrays.binarySearch(bcis, bci);
        int entry = at >= 0 ? at : -at - 2;
        int line = bci < 0 || entry < 0 || file.isEmpty() ? 0 : lines[entry];
        return new Frame(name, MODULE, Frame.Kind.JIT, inlined, file, line);
    }

    /** The line of its first statement; 0 when it is not known. */
    public int firstLine() {
        return lines.length == 0 || file.isEmpty() ? 0 : lines[0];
    }

    /** A method with the table of lines that follows its bytecode. */
    static JavaMethod of(String name, String file, ByteBuffer table, NumberCode code) {
        int[] bcis = new int[16];
        int[] lines = new int[16];
        int count = 0;
        int bci = 0;
        int line = 0;
        // src/hotspot/share/code/compressedStream.hpp: CompressedLineNumberReadStream
        while (table.hasRemaining() && count < MOST_LINES) {
            int next = table.get() & 0xff;
            if (next == 0) {
                break;
            }
            if (next == 0xff) {
                bci += code.readSigned(table);
                line += code.readSigned(table);
            } else {
                bci += next >> 3;
                line += next & 7;
            }
            if (count > 0 && bci < bcis[count - 1]) {
                break; // entries need not be in order, but javac's are
            }
            if (count == bcis.length) {
                bcis = Arrays.copyOf(bcis, 2 * count);
                lines = Arrays.copyOf(lines, 2 * count);
            }
            bcis[count] = bci;
            lines[count++] = Math.max(0, line);
        }
        return new JavaMethod(name, file, Arrays.copyOf(bcis, count), Arrays.copyOf(lines, count));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JavaMethod one
                && name.equals(one.name)
                && file.equals(one.file)
                && Arrays.equals(bcis, one.bcis)
                && Arrays.equals(lines, one.lines);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name;
    }

    /**
     * HotSpot's numbers of one to five bytes (src/hotspot/share/utilities/unsigned5.hpp).
     *
     * @param excluded lowest values that no byte has: 1 since JDK 20, else 0
     */
    record NumberCode(int excluded) {
        private static final int HIGH_BITS = 6;
        private static final int MOST_BYTES = 5;

        /** The next number; 0 at the end of the bytes. */
        int read(ByteBuffer bytes) {
            int low = 256 - (1 << HIGH_BITS);
            int sum = 0;
            for (int i = 0; i < MOST_BYTES && bytes.hasRemaining(); i++) {
                int next = bytes.get() & 0xff;
                sum += next - excluded << HIGH_BITS * i;
                if (next < low) {
                    break;
                }
            }
            return sum;
        }

        int readSigned(ByteBuffer bytes) {
            int number = read(bytes);
            return number >>> 1 ^ -(number & 1);
        }
    }
}
