package sonde.symbol.demangle;

import java.util.ArrayList;
import java.util.List;

/** A place in a mangled name, and what the Itanium ABI makes one remember on the way. */
final class MangledCursor {
    private static final int DEPTH_LIMIT = 256;
    private static final int STEP_LIMIT = 1 << 17;

    final List<CxxNode> substitutions = new ArrayList<>();

    /** Whether the type is read that an operator converts to. */
    boolean isConversion;

    /** Whether {@code srN} is read as the ABI has it, not as GCC writes it. */
    boolean isStrict;

    private final String text;
    private int at;
    private int depth;
    private int steps;

    MangledCursor(String text, int at) {
        this.text = text;
        this.at = at;
    }

    int position() {
        return at;
    }

    boolean atEnd() {
        return at >= text.length();
    }

    char peek() {
        return peek(0);
    }

    char peek(int ahead) {
        return at + ahead < text.length() ? text.charAt(at + ahead) : 0;
    }

    char next() {
        if (at >= text.length()) {
            throw UnfitNameException.INSTANCE;
        }
        return text.charAt(at++);
    }

    boolean accept(char c) {
        if (peek() == c) {
            at++;
            return true;
        }
        return false;
    }

    boolean accept(String s) {
        if (text.startsWith(s, at)) {
            at += s.length();
            return true;
        }
        return false;
    }

    void expect(char c) {
        if (!accept(c)) {
            throw UnfitNameException.INSTANCE;
        }
    }

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    int number() {
        int start = at;
        long value = 0;
        while (isDigit(peek()) && value < 1 << 28) {
            value = 10 * value + (next() - '0');
        }
        if (at == start || value >= 1 << 28) {
            throw UnfitNameException.INSTANCE;
        }
        return (int) value;
    }

    /** A length and as many characters. */
    String identifier() {
        return take(number());
    }

    String take(int length) {
        if (length <= 0 || length > text.length() - at) {
            throw UnfitNameException.INSTANCE;
        }
        String taken = text.substring(at, at + length);
        at += length;
        return taken;
    }

    /** {@code _} is 0, {@code 0_} is 1 and so on, in base 36 when {@code wide}. */
    int sequence(boolean wide) {
        if (accept('_')) {
            return 0;
        }
        long value = 0;
        int start = at;
        while (peek() != '_') {
            char c = next();
            int digit = isDigit(c) ? c - '0' : wide && c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;
            value = (wide ? 36 : 10) * value + digit;
            if (digit < 0 || value > 1 << 28) {
                throw UnfitNameException.INSTANCE;
            }
        }
        if (at == start) {
            throw UnfitNameException.INSTANCE;
        }
        at++;
        return (int) value + 1;
    }

    /** Whether nothing but digits, and some, are left. */
    boolean onlyDigits() {
        int end = at;
        while (end < text.length() && isDigit(text.charAt(end))) {
            end++;
        }
        return end > at && end == text.length();
    }

    CxxNode remember(CxxNode node) {
        substitutions.add(node);
        return node;
    }

    void enter() {
        if (++depth > DEPTH_LIMIT || ++steps > STEP_LIMIT) {
            throw UnfitNameException.INSTANCE;
        }
    }

    void leave() {
        depth--;
    }
}
