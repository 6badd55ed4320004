package sonde.recording.ctf;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.FieldRole;
import sonde.recording.ctf.schema.ValueRange;

/**
 * A step of reading a field. Steps are made once for each class of events; reading is going through
 * them.
 */
final class ReadOp {
    /** Moves to a multiple of {@link #mask} + 1. */
    static final int ALIGN = 0;

    /** Reads an integer of 8, 16, 32 or 64 bits on a byte, in the machine's order. */
    static final int BYTES_8 = 1;

    static final int BYTES_16 = 2;
    static final int BYTES_32 = 3;
    static final int BYTES_64 = 4;

    /** Reads any other integer. */
    static final int BITS = 5;

    static final int VARIABLE = 6;
    static final int REAL = 7;

    /** Text up to its NUL. */
    static final int TERMINATED = 8;

    /** Text or bytes of a length; text ends at its NUL. */
    static final int TEXT = 9;

    static final int BLOB = 10;

    /** An array of integers. */
    static final int INTEGERS = 11;

    /** Any other array. */
    static final int VALUES = 12;

    static final int VARIANT = 13;

    /** Reads an integer of more than 64 bits. */
    static final int WIDE = 14;

    /** Copies {@link #bits} on bytes as they are. */
    static final int COPY = 15;

    final int code;
    final long mask;
    long bits;
    int storedBytes;
    int at = -1;
    int slot = -1;
    int selector = -1;
    long count = -1;
    boolean signed;
    boolean bigEndian;
    boolean reversed;
    boolean bool;

    /** What it tells the reader: {@link FieldRole#ordinal()}; empty for nothing. */
    int[] roles = {};

    @Nullable FieldNode node;

    /** What to do for each option of a variant. */
    ReadOp[][] options = {};

    long[][] lows = {};
    long[][] highs = {};

    ReadOp(int code, long alignment) {
        this.code = code;
        this.mask = alignment - 1;
    }

    void choices(List<List<ValueRange>> choices) {
        lows = new long[choices.size()][];
        highs = new long[choices.size()][];
        for (int i = 0; i < choices.size(); i++) {
            List<ValueRange> ranges = choices.get(i);
            lows[i] = ranges.stream().mapToLong(ValueRange::low).toArray();
            highs[i] = ranges.stream().mapToLong(ValueRange::high).toArray();
        }
    }

    void roles(Set<FieldRole> all) {
        roles = all.stream().mapToInt(FieldRole::ordinal).toArray();
    }

    /** The option that a value chooses, -1 for none. */
    int choice(long value) {
        long flip = signed ? 0 : Long.MIN_VALUE;
        for (int i = 0; i < lows.length; i++) {
            for (int j = 0; j < lows[i].length; j++) {
                if ((lows[i][j] ^ flip) <= (value ^ flip)
                        && (value ^ flip) <= (highs[i][j] ^ flip)) {
                    return i;
                }
            }
        }
        return -1;
    }
}
