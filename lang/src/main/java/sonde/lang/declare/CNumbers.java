package sonde.lang.declare;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import sonde.lang.declare.CExpression.CValue;

/** Literals of C: numbers, characters, strings (C17, 6.4.4 and 6.4.5). */
final class CNumbers {
    private static final int MOST_DIGITS = 70;

    private CNumbers() {}

    /** {@code 10}, {@code 0x1fUL}, {@code 017}, {@code 0b11}. */
    static CValue integer(CToken token) throws CSyntaxException {
        String text = token.text().toLowerCase(Locale.ROOT).replace("'", "");
        boolean hex = text.startsWith("0x");
        int end = text.length();
        while (end > 0 && (text.charAt(end - 1) == 'u' || text.charAt(end - 1) == 'l')) {
            end--;
        }
        String suffix = text.substring(end);
        boolean binary = text.startsWith("0b");
        int radix = hex ? 16 : binary ? 2 : text.startsWith("0") ? 8 : 10;
        String digits = text.substring(hex || binary ? 2 : 0, end);
        try {
            if (digits.length() > MOST_DIGITS) {
                throw new NumberFormatException(digits);
            }
            BigInteger value = new BigInteger(digits, radix);
            if (value.signum() < 0 || value.bitLength() > 64) {
                throw new NumberFormatException(digits);
            }
            boolean isLong = suffix.contains("l");
            boolean unsigned = suffix.contains("u");
            int bits = value.bitLength();
            // The first of int, unsigned (not for decimals), long, unsigned long that holds it.
            boolean four = !isLong && (bits < 32 || bits == 32 && (unsigned || radix != 10));
            boolean top = bits == (four ? 32 : 64);
            return new CValue(value.longValue(), four ? 4 : 8, unsigned || top);
        } catch (NumberFormatException e) {
            throw new CSyntaxException(token, "'" + token.text() + "' is not an integer");
        }
    }

    /** {@code 'a'}, {@code '\n'}. */
    static CValue character(CToken token) throws CSyntaxException {
        byte[] bytes = content(token.text());
        if (bytes.length == 0) {
            throw new CSyntaxException(token, "an empty character");
        }
        return new CValue(bytes[bytes.length - 1], 4, false);
    }

    /** What a string or character means, without its quotes. */
    static byte[] content(String literal) {
        int quote = Math.max(literal.indexOf('"'), 0);
        if (literal.indexOf('\'') >= 0
                && (literal.indexOf('"') < 0 || literal.indexOf('\'') < quote)) {
            quote = literal.indexOf('\'');
        }
        boolean closed =
                literal.length() > quote + 1
                        && literal.charAt(literal.length() - 1) == literal.charAt(quote);
        int end = closed ? literal.length() - 1 : literal.length();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int at = quote + 1;
        while (at < end) {
            if (literal.charAt(at) != '\\' || at + 1 >= end) {
                int next = Math.min(end, literal.offsetByCodePoints(at, 1));
                out.writeBytes(literal.substring(at, next).getBytes(StandardCharsets.UTF_8));
                at = next;
            } else {
                at = escape(literal, at + 1, end, out);
            }
        }
        return out.toByteArray();
    }

    private static int escape(String text, int from, int end, ByteArrayOutputStream out) {
        char c = text.charAt(from);
        int simple = "abefnrtv".indexOf(c);
        if (simple >= 0) {
            out.write("\u0007\b\u001b\f\n\r\t\u000b".charAt(simple));
            return from + 1;
        }
        boolean hex = c == 'x';
        int at = hex ? from + 1 : from;
        int most = hex ? end : Math.min(end, from + 3);
        int value = 0;
        int start = at;
        while (at < most && Character.digit(text.charAt(at), hex ? 16 : 8) >= 0) {
            value = value * (hex ? 16 : 8) + Character.digit(text.charAt(at), hex ? 16 : 8);
            at++;
        }
        if (at == start && !hex) {
            out.writeBytes(text.substring(from, from + 1).getBytes(StandardCharsets.UTF_8));
            return from + 1;
        }
        out.write(value & 0xff);
        return at;
    }
}
