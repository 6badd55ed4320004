package sonde.bpf.insn;

/** The words of one line, from left to right. */
final class LineScanner {
    private final String text;
    private final int line;
    private int at;

    /** A line without its comment; lines count from 1. */
    LineScanner(String text, int line) {
        this.text = text;
        this.line = line;
    }

    private void skipBlanks() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    boolean atEnd() {
        skipBlanks();
        return at == text.length();
    }

    /** Where the next word begins. */
    int mark() {
        skipBlanks();
        return at;
    }

    /** Goes back to a {@link #mark}. */
    void back(int mark) {
        at = mark;
    }

    /** Takes the sign when it is next. */
    boolean take(String sign) {
        skipBlanks();
        if (!text.startsWith(sign, at)) {
            return false;
        }
        at += sign.length();
        return true;
    }

    /** Takes a word of letters when exactly it is next. */
    boolean takeWord(String word) {
        int start = mark();
        if (word().equals(word)) {
            return true;
        }
        at = start;
        return false;
    }

    boolean takeHexDigit() {
        boolean digit = at < text.length() && digit(text.charAt(at), 16) >= 0;
        at += digit ? 1 : 0;
        return digit;
    }

    void expect(String sign) throws AssemblyException {
        if (!take(sign)) {
            throw error("'" + sign + "' is missing before " + rest(), "");
        }
    }

    /**
     * Letters, digits, {@code _}, {@code .} and {@code $}, not beginning with a digit; or empty.
     */
    String word() {
        skipBlanks();
        int start = at;
        while (at < text.length() && isWord(text.charAt(at), at > start)) {
            at++;
        }
        return text.substring(start, at);
    }

    private static boolean isWord(char c, boolean inside) {
        return c >= 'a' && c <= 'z'
                || c >= 'A' && c <= 'Z'
                || c == '_'
                || c == '.'
                || c == '$'
                || inside && c >= '0' && c <= '9';
    }

    /** ASCII only. */
    private static int digit(char c, int radix) {
        return c < 0x80 ? Character.digit(c, radix) : -1;
    }

    /** Whether a number is next, with or without sign. */
    boolean atNumber() {
        skipBlanks();
        int digit = at;
        if (digit < text.length() && (text.charAt(digit) == '-' || text.charAt(digit) == '+')) {
            digit++;
        }
        return digit < text.length() && text.charAt(digit) >= '0' && text.charAt(digit) <= '9';
    }

    /** Whether the number that is next is written in hexadecimal. */
    boolean atHex() {
        skipBlanks();
        return text.startsWith("0x", at) || text.startsWith("0X", at);
    }

    /** A number of 64 bits, decimal or {@code 0x}, unsigned ones up to all bits. */
    long number() throws AssemblyException {
        int start = mark();
        boolean negative = take("-");
        if (!negative) {
            take("+");
        }
        int radix = 10;
        if (atHex()) {
            at += 2;
            radix = 16;
        }
        int first = at;
        while (at < text.length() && digit(text.charAt(at), radix) >= 0) {
            at++;
        }
        String digits = text.substring(first, at);
        try {
            if (digits.isEmpty()) {
                throw new NumberFormatException();
            }
            long value = Long.parseUnsignedLong(digits, radix);
            return negative ? -value : value;
        } catch (NumberFormatException e) {
            at = start;
            throw error(
                    digits.isEmpty()
                            ? "a number is missing before " + rest()
                            : "the number " + digits + " has more than 64 bits",
                    "");
        }
    }

    /** A number between two bounds. */
    long number(long least, long most, String what) throws AssemblyException {
        int start = mark();
        long value = number();
        if (value < least || value > most) {
            at = start;
            throw error(what + " " + value + " is not between " + least + " and " + most, "");
        }
        return value;
    }

    /** 32 bits, signed or unsigned. */
    int immediate() throws AssemblyException {
        return (int)
                number(
                        Integer.MIN_VALUE,
                        0xffffffffL,
                        "a constant of this instruction: the number");
    }

    short offset() throws AssemblyException {
        return (short) number(Short.MIN_VALUE, Short.MAX_VALUE, "the offset");
    }

    void expectEnd() throws AssemblyException {
        if (!atEnd()) {
            throw error("the instruction ends before " + rest(), "write one a line");
        }
    }

    /** What is left, for messages. */
    String rest() {
        skipBlanks();
        String rest = text.substring(at).strip();
        if (rest.isEmpty()) {
            return "the end of the line";
        }
        return "'" + (rest.length() > 24 ? rest.substring(0, 24) + "…" : rest) + "'";
    }

    /** An error at the next word. */
    AssemblyException error(String problem, String hint) {
        skipBlanks();
        return new AssemblyException(line, at + 1, problem, hint);
    }
}
