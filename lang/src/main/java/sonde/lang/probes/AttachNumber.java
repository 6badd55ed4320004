package sonde.lang.probes;

import java.math.BigInteger;
import java.util.Locale;
import java.util.Map;

/**
 * Numbers as attach points have them: {@code 0x10}, {@code 0b11}, {@code 017}, {@code 1e6}, {@code
 * 100_000}, {@code 1s}, {@code 250ms}. Units of time are brought to nanoseconds.
 */
final class AttachNumber {
    private static final BigInteger LIMIT = BigInteger.ONE.shiftLeft(64);
    private static final int MOST_DIGITS = 128;
    private static final long SECOND = 1_000_000_000L;

    private static final Map<String, Long> FACTORS =
            Map.ofEntries(
                    Map.entry("", 1L),
                    Map.entry("u", 1L),
                    Map.entry("ul", 1L),
                    Map.entry("ull", 1L),
                    Map.entry("l", 1L),
                    Map.entry("ll", 1L),
                    Map.entry("ns", 1L),
                    Map.entry("us", 1_000L),
                    Map.entry("ms", 1_000_000L),
                    Map.entry("s", SECOND),
                    Map.entry("m", 60 * SECOND),
                    Map.entry("h", 3_600 * SECOND),
                    Map.entry("d", 86_400 * SECOND));

    private AttachNumber() {}

    /**
     * The number, unsigned.
     *
     * @throws NumberFormatException with the words for a message
     */
    static long parse(String text) {
        String digits = text.replace("_", "");
        if (digits.length() > MOST_DIGITS) {
            throw overflow(text);
        }
        int radix = radix(digits);
        int from = radix == 16 || radix == 2 ? 2 : radix == 8 ? 1 : 0;
        int at = from;
        while (at < digits.length() && Character.digit(digits.charAt(at), radix) >= 0) {
            at++;
        }
        if (at == from) {
            throw new NumberFormatException(
                    text.isEmpty() ? "a number is missing" : "invalid integer: " + text);
        }
        BigInteger value = new BigInteger(digits.substring(from, at), radix);
        int end = at;
        boolean exponent =
                at + 1 < digits.length()
                        && (digits.charAt(at) | 0x20) == 'e'
                        && Character.isDigit(digits.charAt(at + 1));
        if (exponent) {
            end = at + 1;
            while (end < digits.length() && Character.isDigit(digits.charAt(end))) {
                end++;
            }
            value = value.multiply(power(text, value, digits.substring(at + 1, end)));
        }
        Long factor = FACTORS.get(digits.substring(end).toLowerCase(Locale.ROOT));
        if (factor == null) {
            throw new NumberFormatException("invalid trailing bytes: " + text);
        }
        value = value.multiply(BigInteger.valueOf(factor));
        if (value.compareTo(LIMIT) >= 0) {
            throw overflow(text);
        }
        return value.longValue();
    }

    private static int radix(String digits) {
        if (digits.length() < 2 || digits.charAt(0) != '0') {
            return 10;
        }
        int mark = digits.charAt(1) | 0x20;
        if (mark == 'x') {
            return 16;
        } else if (mark == 'b') {
            return 2;
        }
        return digits.charAt(1) >= '0' && digits.charAt(1) <= '7' ? 8 : 10;
    }

    private static BigInteger power(String text, BigInteger coefficient, String exponent) {
        if (coefficient.signum() == 0 || coefficient.compareTo(BigInteger.TEN) >= 0) {
            throw new NumberFormatException(
                    "coefficient part of scientific literal must be 1-9: " + text);
        }
        if (exponent.length() > 2) {
            throw overflow(text);
        }
        return BigInteger.TEN.pow(Integer.parseInt(exponent));
    }

    private static NumberFormatException overflow(String text) {
        return new NumberFormatException(
                "overflow error, maximum value is " + LIMIT.subtract(BigInteger.ONE) + ": " + text);
    }
}
