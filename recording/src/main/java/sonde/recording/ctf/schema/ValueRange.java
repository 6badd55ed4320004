package sonde.recording.ctf.schema;

/** Values from {@code low} to {@code high}, both included; signed as the field they belong to. */
public record ValueRange(long low, long high) {
    /** Whether a value is in it. */
    public boolean contains(long value, boolean signed) {
        return signed
                ? low <= value && value <= high
                : Long.compareUnsigned(low, value) <= 0 && Long.compareUnsigned(value, high) <= 0;
    }
}
