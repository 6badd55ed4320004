package sonde.lang.bpftrace.expand;

import java.math.BigInteger;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Numbers on a command line: as literals of the language are ({@code 0x1f}, {@code 017}, {@code
 * 2e3}, {@code 1_000}, {@code 5ms}), and {@code 0b101}, with a minus before them.
 */
final class NumberWords {
    private static final Pattern FORM =
            Pattern.compile(
                    "(-?)(?:0[xX]([0-9a-fA-F]{1,32})|0[bB]([01]{1,128})|0([0-7]{1,32})"
                            + "|([0-9]{1,40})(?:[eE]([1-9][0-9]?))?)"
                            + "(ns|us|ms|s|m|h|d|u|ul|ull|l|ll)?");

    private static final Map<String, Long> FACTORS =
            Map.of(
                    "us", 1_000L,
                    "ms", 1_000_000L,
                    "s", 1_000_000_000L,
                    "m", 60_000_000_000L,
                    "h", 3_600_000_000_000L,
                    "d", 86_400_000_000_000L);

    private NumberWords() {}

    /** The number that a word is; null when it is none. It may have more than 64 bits. */
    static @Nullable BigInteger parse(String word) {
        if (word.length() > 200 || word.isEmpty() || word.charAt(0) == '_') {
            return null;
        }
        Matcher form = FORM.matcher(word.replace("_", ""));
        if (!form.matches()) {
            return null;
        }
        BigInteger value;
        if (form.group(2) != null) {
            value = new BigInteger(form.group(2), 16);
        } else if (form.group(3) != null) {
            value = new BigInteger(form.group(3), 2);
        } else if (form.group(4) != null) {
            value = new BigInteger(form.group(4), 8);
        } else {
            value = new BigInteger(form.group(5));
        }
        if (form.group(6) != null) {
            value = value.multiply(BigInteger.TEN.pow(Integer.parseInt(form.group(6))));
        }
        String suffix = form.group(7);
        Long factor = suffix == null ? null : FACTORS.get(suffix);
        if (factor != null) {
            value = value.multiply(BigInteger.valueOf(factor));
        }
        return form.group(1).isEmpty() ? value : value.negate();
    }
}
