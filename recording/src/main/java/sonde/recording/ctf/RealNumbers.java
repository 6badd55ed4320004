package sonde.recording.ctf;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import sonde.recording.ftrace.TextBuffer;

/** Floating-point numbers: binary128 and C's {@code %g}. */
final class RealNumbers {
    private static final MathContext SIX = new MathContext(6, RoundingMode.HALF_EVEN);

    private RealNumbers() {}

    /** The double next to a binary128 number; what is too small becomes 0. */
    static double quadruple(long high, long low) {
        int exponent = (int) (high >>> 48) & 0x7fff;
        long mantissa = (high & 0xffff_ffff_ffffL) << 4 | low >>> 60;
        double value;
        if (exponent == 0x7fff) {
            boolean isNumber = mantissa == 0 && low == 0;
            value = isNumber ? Double.POSITIVE_INFINITY : Double.NaN;
        } else if (exponent == 0) {
            value = 0;
        } else {
            double one = Double.longBitsToDouble(0x3ffL << 52 | mantissa);
            value = Math.scalb(one, exponent - 16383);
        }
        return high < 0 ? -value : value;
    }

    /** Appends a number as C's {@code %g} does. */
    static void append(TextBuffer out, double value) {
        if (Double.isNaN(value)) {
            out.put(Double.doubleToRawLongBits(value) < 0 ? "-nan" : "nan");
            return;
        }
        if (value < 0 || value == 0 && 1 / value < 0) {
            out.put('-');
        }
        double size = Math.abs(value);
        if (Double.isInfinite(size)) {
            out.put("inf");
        } else if (size == 0) {
            out.put('0');
        } else {
            rounded(out, new BigDecimal(size).round(SIX).stripTrailingZeros());
        }
    }

    private static void rounded(TextBuffer out, BigDecimal value) {
        int exponent = value.precision() - value.scale() - 1;
        if (exponent >= -4 && exponent < 6) {
            out.put(value.toPlainString());
            return;
        }
        String digits = value.unscaledValue().toString();
        out.put(digits.charAt(0));
        if (digits.length() > 1) {
            out.put('.').put(digits.substring(1));
        }
        out.put('e').put(exponent < 0 ? '-' : '+').digits(Math.abs(exponent), 2);
    }
}
