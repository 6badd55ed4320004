package sonde.symbol.demangle;

import java.util.Arrays;

/** Punycode (RFC 3492) as Rust uses it: the delimiter is an underscore. */
final class Punycode {
    private static final int LENGTH_LIMIT = 256;

    private Punycode() {}

    static String decode(String encoded) {
        int delimiter = encoded.lastIndexOf('_');
        StringBuilder text = new StringBuilder(Math.max(0, delimiter));
        text.append(encoded, 0, Math.max(0, delimiter));
        int[] points = text.codePoints().toArray();
        int length = points.length;
        int[] out = Arrays.copyOf(points, LENGTH_LIMIT);
        if (length >= LENGTH_LIMIT) {
            throw UnfitNameException.INSTANCE;
        }
        int at = delimiter + 1;
        long code = 128;
        long index = 0;
        int bias = 72;
        while (at < encoded.length()) {
            long before = index;
            long weight = 1;
            for (int k = 36; ; k += 36) {
                if (at >= encoded.length()) {
                    throw UnfitNameException.INSTANCE;
                }
                int digit = digit(encoded.charAt(at++));
                index += digit * weight;
                int threshold = Math.clamp((long) k - bias, 1, 26);
                if (digit < threshold) {
                    break;
                }
                weight *= 36 - threshold;
                if (index > Integer.MAX_VALUE || weight > Integer.MAX_VALUE) {
                    throw UnfitNameException.INSTANCE;
                }
            }
            length++;
            bias = adapt(index - before, length, before == 0);
            code += index / length;
            index %= length;
            if (!Character.isValidCodePoint((int) code)
                    || code > Character.MAX_CODE_POINT
                    || length > LENGTH_LIMIT) {
                throw UnfitNameException.INSTANCE;
            }
            System.arraycopy(out, (int) index, out, (int) index + 1, length - 1 - (int) index);
            out[(int) index++] = (int) code;
        }
        return new String(out, 0, length);
    }

    private static int digit(char c) {
        if (c >= 'a' && c <= 'z') {
            return c - 'a';
        }
        if (c >= '0' && c <= '9') {
            return c - '0' + 26;
        }
        throw UnfitNameException.INSTANCE;
    }

    private static int adapt(long delta, int length, boolean first) {
        long d = first ? delta / 700 : delta / 2;
        d += d / length;
        int k = 0;
        while (d > 455) {
            d /= 35;
            k += 36;
        }
        return (int) (k + 36 * d / (d + 38));
    }
}
