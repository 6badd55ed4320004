package sonde.recording.ftrace;

/**
 * An integer type of C after promotion: what decides how a value wraps, divides and compares.
 *
 * @param sizeBytes 1, 2, 4 or 8
 */
record CType(int sizeBytes, boolean unsigned) {
    static final CType INT = new CType(4, false);
    static final CType UNSIGNED = new CType(4, true);
    static final CType LONG_LONG = new CType(8, false);
    static final CType UNSIGNED_LONG_LONG = new CType(8, true);

    /** Integer promotion (C11 6.3.1.1): what is smaller becomes int. */
    CType promoted() {
        return sizeBytes < 4 ? INT : this;
    }

    /** Usual arithmetic conversions (C11 6.3.1.8). */
    CType with(CType other) {
        CType a = promoted();
        CType b = other.promoted();
        if (a.sizeBytes == b.sizeBytes) {
            return a.unsigned ? a : b;
        }
        return a.sizeBytes > b.sizeBytes ? a : b;
    }

    /** The value as this type holds it, in 64 bits. */
    long wrap(long value) {
        return switch (sizeBytes) {
            case 1 -> unsigned ? value & 0xff : (byte) value;
            case 2 -> unsigned ? value & 0xffff : (short) value;
            case 4 -> unsigned ? value & 0xffff_ffffL : (int) value;
            default -> value;
        };
    }
}
