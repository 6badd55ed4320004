package sonde.lang.bpftrace.syntax;

import java.math.BigInteger;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.ScriptToken.Kind;

/**
 * Integer literals: {@code 10}, {@code 0x1f}, {@code 017}, {@code 2e3}, {@code 1_000}, C suffixes
 * that mean nothing ({@code 1UL}), durations in nanoseconds ({@code 5ms}).
 */
final class IntegerLiterals {
    private static final BigInteger LIMIT = BigInteger.ONE.shiftLeft(64);

    private static final Map<String, Long> NANOS =
            Map.of(
                    "ns", 1L,
                    "us", 1_000L,
                    "ms", 1_000_000L,
                    "s", 1_000_000_000L,
                    "m", 60_000_000_000L,
                    "h", 3_600_000_000_000L,
                    "d", 86_400_000_000_000L);

    private IntegerLiterals() {}

    static ScriptToken read(ScriptLexer lexer, int from) {
        boolean hex = lexer.charAt(from) == '0' && (lexer.charAt(from + 1) | 0x20) == 'x';
        int start = hex ? from + 2 : from;
        int end = digits(lexer, start, hex ? 16 : 10);
        int exponent = -1;
        if (!hex && (lexer.charAt(end) | 0x20) == 'e') {
            exponent = end + 1;
            end = digits(lexer, exponent, 10);
        }
        int wordEnd = lexer.wordEnd(end);
        String suffix = lexer.text(end, wordEnd);
        Long nanos = NANOS.get(suffix);
        boolean plain = suffix.isEmpty() || suffix.toLowerCase(Locale.ROOT).matches("u|u?l{1,2}");
        BigInteger value = null;
        if (nanos == null && !plain) {
            lexer.error(
                    end,
                    wordEnd,
                    "no number ends with '" + suffix + "'",
                    "durations end with ns, us, ms, s, m, h, d");
        } else if (lexer.charAt(end - 1) == '_') {
            lexer.error(end - 1, end, "a number cannot end with '_'", "");
        } else {
            int mantissaEnd = exponent < 0 ? end : exponent - 1;
            value = value(lexer, start, mantissaEnd, hex);
            if (value != null && exponent >= 0) {
                value = raise(lexer, value, exponent, end);
            }
        }
        String text = lexer.text(from, wordEnd);
        if (value == null) {
            return new ScriptToken(Kind.INTEGER, from, wordEnd, text, 0);
        }
        BigInteger whole = nanos == null ? value : value.multiply(BigInteger.valueOf(nanos));
        if (whole.compareTo(LIMIT) >= 0) {
            lexer.error(from, wordEnd, "this number has more than 64 bits", "");
        }
        return new ScriptToken(Kind.INTEGER, from, wordEnd, text, whole.longValue());
    }

    private static int digits(ScriptLexer lexer, int from, int radix) {
        int at = from;
        while (lexer.charAt(at) == '_' || Character.digit(lexer.charAt(at), radix) >= 0) {
            at++;
        }
        return at;
    }

    private static @Nullable BigInteger value(ScriptLexer lexer, int from, int to, boolean hex) {
        String digits = lexer.text(from, to).replace("_", "");
        boolean octal = !hex && digits.length() > 1 && digits.charAt(0) == '0';
        int radix = hex ? 16 : octal ? 8 : 10;
        boolean right = !digits.isEmpty() && digits.length() <= 64;
        for (int i = 0; i < digits.length(); i++) {
            right &= Character.digit(digits.charAt(i), radix) >= 0;
        }
        if (!right) {
            lexer.error(
                    from,
                    Math.max(to, from + 1),
                    octal ? "this is not an octal number" : "this is not a number",
                    octal ? "a leading 0 means base 8" : "");
            return null;
        }
        return new BigInteger(digits, radix);
    }

    private static @Nullable BigInteger raise(
            ScriptLexer lexer, BigInteger mantissa, int from, int to) {
        String digits = lexer.text(from, to).replace("_", "");
        if (!digits.matches("[0-9]{1,2}") || Integer.parseInt(digits) > 19) {
            lexer.error(from - 1, Math.max(to, from), "the exponent goes from 0 to 19", "");
            return null;
        }
        return mantissa.multiply(BigInteger.TEN.pow(Integer.parseInt(digits)));
    }
}
