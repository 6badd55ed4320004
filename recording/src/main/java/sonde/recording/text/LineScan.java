package sonde.recording.text;

/**
 * A place in a line that moves on over what is recognised. A method that says false has moved
 * nothing.
 */
final class LineScan {
    private static final long[] SCALE = {
        1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1
    };

    /** Largest number of seconds whose nanoseconds fit. */
    private static final long MAX_SECONDS = Long.MAX_VALUE / 1_000_000_000 - 1;

    byte[] bytes = {};
    int at;
    int to;

    /** What a number was. */
    long value;

    /** Digits behind the point of {@link #seconds}; -1 where there was no point. */
    int fraction;

    /** Begins with part of an array. */
    LineScan over(byte[] in, int from, int end) {
        bytes = in;
        at = from;
        to = end;
        return this;
    }

    boolean atEnd() {
        return at >= to;
    }

    /** The byte here; 0 at the end. */
    int peek() {
        return at < to ? bytes[at] : 0;
    }

    /** Goes over blanks and tabs; whether there were any. */
    boolean blanks() {
        int start = at;
        while (at < to && isBlank(bytes[at])) {
            at++;
        }
        return at > start;
    }

    /** Goes over one byte if it is that. */
    boolean take(char ascii) {
        if (at < to && bytes[at] == ascii) {
            at++;
            return true;
        }
        return false;
    }

    /** Goes over a word if it is here. */
    boolean take(byte[] word) {
        if (startsWith(bytes, at, to, word)) {
            at += word.length;
            return true;
        }
        return false;
    }

    /** Goes over a decimal number without sign, at most 2^63 - 1. */
    boolean decimal() {
        int i = at;
        long sum = 0;
        while (i < to && isDigit(bytes[i])) {
            int digit = bytes[i] - '0';
            if (sum > (Long.MAX_VALUE - digit) / 10) {
                return false;
            }
            sum = sum * 10 + digit;
            i++;
        }
        if (i == at) {
            return false;
        }
        value = sum;
        at = i;
        return true;
    }

    /** Goes over a decimal number with or without a minus. */
    boolean signed() {
        int start = at;
        boolean minus = take('-');
        if (!decimal()) {
            at = start;
            return false;
        }
        value = minus ? -value : value;
        return true;
    }

    /** Goes over a hexadecimal number of at most 64 bits without {@code 0x}. */
    boolean hex() {
        int i = at;
        long sum = 0;
        while (i < to && digit(bytes[i]) >= 0) {
            if (sum >>> 60 != 0) {
                return false;
            }
            sum = sum << 4 | digit(bytes[i]);
            i++;
        }
        if (i == at) {
            return false;
        }
        value = sum;
        at = i;
        return true;
    }

    /**
     * Goes over {@code digits[.digits]} as seconds; {@link #value} is nanoseconds. Digits behind
     * the ninth are dropped. A comma is a point too (ISO 8601 as dmesg writes it).
     */
    boolean seconds() {
        int start = at;
        if (!decimal() || value > MAX_SECONDS) {
            at = start;
            return false;
        }
        long nanos = value * 1_000_000_000;
        fraction = -1;
        if (at < to && (bytes[at] == '.' || bytes[at] == ',')) {
            at++;
            fraction = 0;
            while (at < to && isDigit(bytes[at])) {
                if (fraction < 9) {
                    nanos += (bytes[at] - '0') * SCALE[++fraction];
                }
                at++;
            }
        }
        value = nanos;
        return true;
    }

    /** Goes to the next blank or the end; whether that is a step. */
    boolean word() {
        int start = at;
        while (at < to && !isBlank(bytes[at])) {
            at++;
        }
        return at > start;
    }

    static boolean isBlank(int b) {
        return b == ' ' || b == '\t';
    }

    static boolean isDigit(int b) {
        return b >= '0' && b <= '9';
    }

    static boolean isLetter(int b) {
        return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_';
    }

    /** The value of a hexadecimal digit, -1 for anything else. */
    static int digit(int b) {
        if (isDigit(b)) {
            return b - '0';
        }
        int lower = b | 0x20;
        return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    }

    static boolean startsWith(byte[] bytes, int from, int to, byte[] word) {
        if (to - from < word.length) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            if (bytes[from + i] != word[i]) {
                return false;
            }
        }
        return true;
    }

    /** Whether part of an array is exactly a word. */
    static boolean is(byte[] bytes, int from, int to, byte[] word) {
        return to - from == word.length && startsWith(bytes, from, to, word);
    }

    /** Where a word begins in part of an array; -1 when it is not there. */
    static int find(byte[] bytes, int from, int to, byte[] word) {
        for (int i = from; i <= to - word.length; i++) {
            if (bytes[i] == word[0] && startsWith(bytes, i, to, word)) {
                return i;
            }
        }
        return -1;
    }

    /** The end of part of an array without the blanks there. */
    static int trimEnd(byte[] bytes, int from, int to) {
        int end = to;
        while (end > from && isBlank(bytes[end - 1])) {
            end--;
        }
        return end;
    }

    /** Behind the {@code " [module]"} that stands here, or here when none does. */
    static int afterModule(byte[] b, int from, int to) {
        if (to - from < 4 || b[from] != ' ' || b[from + 1] != '[') {
            return from;
        }
        for (int i = from + 2; i < to && !isBlank(b[i]); i++) {
            if (b[i] == ']') {
                return i + 1;
            }
        }
        return from;
    }
}
