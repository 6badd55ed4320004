package sonde.recording.syscall;

/** Strings of a traced process between quotation marks, with strace's escapes. */
final class QuotedBytes {
    private static final String SPECIAL = "\"\\\f\n\r\t\u000b";
    private static final String LETTERS = "\"\\fnrtv";

    private QuotedBytes() {}

    /** Appends bytes with quotation marks. */
    static void append(CallOut out, byte[] bytes, int from, int length, int hex) {
        out.append('"');
        appendBare(out, bytes, from, length, hex);
        out.append('"');
    }

    /** Appends bytes without quotation marks. */
    static void appendBare(CallOut out, byte[] bytes, int from, int length, int hex) {
        boolean all = hex == 2;
        for (int i = from; hex == 1 && i < from + length; i++) {
            all |= !isPrintable(bytes[i]) && (bytes[i] < 9 || bytes[i] > 13);
        }
        for (int i = from; i < from + length; i++) {
            if (all) {
                hex(out, bytes[i]);
            } else {
                append(out, bytes[i], i + 1 < from + length ? bytes[i + 1] : 0, hex == 3);
            }
        }
    }

    private static void hex(CallOut out, byte b) {
        out.append("\\x").append(Character.forDigit(b >> 4 & 15, 16));
        out.append(Character.forDigit(b & 15, 16));
    }

    private static boolean isPrintable(byte b) {
        return b >= ' ' && b < 127;
    }

    private static void append(CallOut out, byte b, byte next, boolean hex) {
        int special = SPECIAL.indexOf(b & 0xff);
        if (special >= 0) {
            out.append('\\').append(LETTERS.charAt(special));
        } else if (isPrintable(b)) {
            out.append((char) b);
        } else if (hex) {
            hex(out, b);
        } else {
            int value = b & 0xff;
            // A digit that follows would be read as part of a shorter number.
            boolean whole = next >= '0' && next <= '7';
            out.append('\\');
            if (whole || value >= 64) {
                out.append((char) ('0' + (value >> 6)));
            }
            if (whole || value >= 8) {
                out.append((char) ('0' + (value >> 3 & 7)));
            }
            out.append((char) ('0' + (value & 7)));
        }
    }
}
