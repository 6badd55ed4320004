package sonde.recording.ctf.schema;

/** Sums and products that stay at the largest value. */
final class SaturatedArithmetic {
    private SaturatedArithmetic() {}

    static long add(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    static long multiply(long a, long b) {
        return Math.multiplyHigh(a, b) != 0 || a * b < 0 ? Long.MAX_VALUE : a * b;
    }
}
