package sonde.recording.ctf.schema;

/**
 * A clock that time stamps are samples of.
 *
 * @param name TSDL's name, or CTF 2's id
 * @param frequency cycles per second, larger than 0
 * @param offsetSeconds of cycle 0 from the origin
 * @param offsetCycles further offset
 * @param epoch whether the origin is known to be the Unix epoch
 */
public record ClockClass(
        String name, long frequency, long offsetSeconds, long offsetCycles, boolean epoch) {
    private static final long NANOS = 1_000_000_000L;

    /** Doubles count every integer up to here. */
    private static final double EXACT = 0x1p53;

    /**
     * Nanoseconds from the origin; what does not fit wraps. Offset and cycles are rounded down one
     * by one, and up to 2^53 ns by way of doubles, as babeltrace2 does: the times are the same.
     */
    public long nanos(long cycles) {
        if (frequency == NANOS) {
            return offsetSeconds * NANOS + offsetCycles + cycles;
        }
        return offsetSeconds * NANOS + scaled(offsetCycles) + scaled(cycles);
    }

    private long scaled(long cycles) {
        double nearly = (double) NANOS * cycles / frequency;
        if (cycles >= 0 && nearly < EXACT) {
            return (long) nearly;
        }
        long seconds = Long.divideUnsigned(cycles, frequency);
        long rest = cycles - seconds * frequency;
        long nanos =
                Math.unsignedMultiplyHigh(rest, NANOS) == 0
                        ? Long.divideUnsigned(rest * NANOS, frequency)
                        : (long) ((double) rest / frequency * NANOS);
        return seconds * NANOS + nanos;
    }
}
