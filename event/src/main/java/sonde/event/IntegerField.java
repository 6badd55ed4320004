package sonde.event;

/** Reads one integer field of a payload, sign- or zero-extended to 64 bits. */
public final class IntegerField {
    private final int offset;
    private final int code;
    private final boolean isDerived;
    private final int unused;
    private final long added;

    private IntegerField(Field field, int code, boolean isDerived) {
        this.offset = field.offset();
        this.code = code;
        this.isDerived = isDerived;
        this.unused = Long.SIZE - (field.bits() == 0 ? 8 * field.sizeBytes() : field.bits());
        this.added = field.added();
    }

    /** An accessor for a field of kind {@link Field.Kind#INTEGER}. */
    public static IntegerField of(Field field) {
        return of(field, field.isDerived());
    }

    /** As {@link #of(Field)}, the number in the bytes alone: what print formats calculate with. */
    public static IntegerField stored(Field field) {
        return of(field, false);
    }

    private static IntegerField of(Field field, boolean isDerived) {
        if (field.kind() != Field.Kind.INTEGER) {
            throw new IllegalArgumentException(field.declaration() + " is not an integer");
        }
        int code =
                switch (field.sizeBytes()) {
                    case 1 -> 0;
                    case 2 -> 1;
                    case 4 -> 2;
                    case 8 -> 3;
                    default ->
                            throw new IllegalArgumentException(
                                    field.declaration() + " is " + field.sizeBytes() + " bytes");
                };
        return new IntegerField(field, field.signed() ? code + 4 : code, isDerived);
    }

    /** The value in that row; the row must be of the type the field was made for. */
    public long of(Batch batch, int row) {
        long value = stored(batch, row);
        if (!isDerived) {
            return value;
        }
        long high = value + added << unused;
        return code < 4 ? high >>> unused : high >> unused;
    }

    private long stored(Batch batch, int row) {
        return switch (code) {
            case 0 -> batch.u8(row, offset);
            case 1 -> batch.u16(row, offset);
            case 2 -> batch.u32(row, offset) & 0xffff_ffffL;
            case 4 -> (byte) batch.u8(row, offset);
            case 5 -> (short) batch.u16(row, offset);
            case 6 -> batch.u32(row, offset);
            default -> batch.u64(row, offset);
        };
    }
}
