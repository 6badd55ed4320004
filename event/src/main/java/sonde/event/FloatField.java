package sonde.event;

/** Reads one floating-point field of a payload. */
public final class FloatField {
    private final int offset;
    private final boolean isDouble;

    private FloatField(int offset, boolean isDouble) {
        this.offset = offset;
        this.isDouble = isDouble;
    }

    /** An accessor for a field of kind {@link Field.Kind#FLOAT}. */
    public static FloatField of(Field field) {
        boolean fits = field.sizeBytes() == 4 || field.sizeBytes() == 8;
        if (field.kind() != Field.Kind.FLOAT || !fits) {
            throw new IllegalArgumentException(field.declaration() + " is not a float");
        }
        return new FloatField(field.offset(), field.sizeBytes() == 8);
    }

    /** The value in that row; the row must be of the type the field was made for. */
    public double of(Batch batch, int row) {
        return isDouble
                ? Double.longBitsToDouble(batch.u64(row, offset))
                : Float.intBitsToFloat(batch.u32(row, offset));
    }

    /** The shortest decimal number that is the value in its own width. */
    public String text(Batch batch, int row) {
        double value = of(batch, row);
        return isDouble ? Double.toString(value) : Float.toString((float) value);
    }
}
