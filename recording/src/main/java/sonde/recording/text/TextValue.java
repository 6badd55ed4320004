package sonde.recording.text;

/** What a value in a text looks like, and what it is worth. */
final class TextValue {
    /** Decimal digits. */
    static final int DECIMAL = 1;

    /** Hexadecimal digits without {@code 0x}, letters among them. */
    static final int HEX = 2;

    /** {@code 0x…}, also with its decimal form behind it: {@code 0x10 (16)}, or in parentheses. */
    static final int PREFIXED = 4;

    /** Anything else. */
    static final int TEXT = 8;

    /** Larger than 2^63 - 1. */
    static final int BIG = 16;

    /** Begins with a minus. */
    static final int NEGATIVE = 32;

    private static final int MAX_HEX_DIGITS = 16;

    // prev_state as sched_switch reports it since 4.14: the bit of each letter; 'x' and 'W' are
    // those of older kernels and of libtraceevent's plugin.
    private static final String STATES = "SDTtXZPIxW";
    private static final int[] STATE_BITS = {1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x10, 0x80};
    private static final int TASK_REPORT_MAX = 0x100;

    private TextValue() {}

    /** What part of a line looks like: the flags above; 0 when it is empty. */
    static int classify(byte[] b, int from, int to) {
        if (from >= to) {
            return 0;
        }
        if (prefix(b, from, to) >= 0) {
            return prefixedEnd(b, prefix(b, from, to), to) ? PREFIXED : TEXT;
        }
        int i = b[from] == '-' ? from + 1 : from;
        int digits = 0;
        int letters = 0;
        for (int k = i; k < to; k++) {
            if (LineScan.isDigit(b[k])) {
                digits++;
            } else if (b[k] >= 'a' && b[k] <= 'f') {
                letters++;
            } else {
                return TEXT;
            }
        }
        if (letters == 0) {
            return decimal(b, from, i, to, digits);
        }
        boolean number = i == from && letters + digits <= MAX_HEX_DIGITS;
        return number && (digits > 0 || letters >= 8) ? HEX : TEXT;
    }

    private static int decimal(byte[] b, int from, int i, int to, int digits) {
        if (digits == 0 || digits > 20) {
            return TEXT;
        }
        if (i > from) {
            return digits > 18 ? TEXT : DECIMAL | NEGATIVE;
        }
        if (digits <= 18) {
            return DECIMAL;
        }
        try {
            long value = Long.parseUnsignedLong(ascii(b, i, to));
            return value < 0 ? DECIMAL | BIG : DECIMAL;
        } catch (NumberFormatException e) {
            return TEXT;
        }
    }

    private static String ascii(byte[] b, int from, int to) {
        return new String(b, from, to - from, java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    /** Where the digits behind {@code 0x} or {@code (0x} begin, -1 for none. */
    private static int prefix(byte[] b, int from, int to) {
        int i = b[from] == '(' ? from + 1 : from;
        boolean found =
                i + 2 < to && b[i] == '0' && b[i + 1] == 'x' && LineScan.digit(b[i + 2]) >= 0;
        return found ? i + 2 : -1;
    }

    private static boolean prefixedEnd(byte[] b, int start, int to) {
        int i = start;
        while (i < to && LineScan.digit(b[i]) >= 0) {
            i++;
        }
        if (i - start > MAX_HEX_DIGITS) {
            return false;
        }
        // fields option of ftrace: "0x10 (16)"; a pointer there: "(0x10)"
        return i == to
                || b[i] == ')' && i + 1 == to
                || i + 1 < to && b[i] == ' ' && b[i + 1] == '(';
    }

    /** The number, hexadecimal without {@code 0x} where {@code bareHex}; 0 for no number. */
    static long number(byte[] b, int from, int to, boolean bareHex) {
        if (from >= to) {
            return 0;
        }
        int prefix = prefix(b, from, to);
        int i = prefix >= 0 ? prefix : b[from] == '-' ? from + 1 : from;
        long sum = 0;
        if (prefix >= 0 || bareHex) {
            for (; i < to && LineScan.digit(b[i]) >= 0; i++) {
                sum = sum << 4 | LineScan.digit(b[i]);
            }
            return sum;
        }
        for (; i < to && LineScan.isDigit(b[i]); i++) {
            sum = sum * 10 + b[i] - '0';
        }
        return b[from] == '-' ? -sum : sum;
    }

    /** A task's state in letters ({@code S}, {@code D|K}, {@code R+}) or as a number. */
    static long state(byte[] b, int from, int to) {
        if (from < to && (LineScan.isDigit(b[from]) || b[from] == '(')) {
            return number(b, from, to, false);
        }
        long bits = 0;
        for (int i = from; i < to; i++) {
            int letter = STATES.indexOf(b[i]);
            if (letter >= 0) {
                bits |= STATE_BITS[letter];
            } else if (b[i] == '+') {
                bits |= TASK_REPORT_MAX;
            }
        }
        return bits;
    }
}
