package sonde.recording.ftrace;

/**
 * An integer type of C after promotion: what decides how a value wraps, divides and compares.
 *
 * @param sizeBytes 1, 2, 4 or 8
 */
record CIntegerType(int sizeBytes, boolean unsigned) {
    static final CIntegerType INT = new CIntegerType(4, false);
    static final CIntegerType UNSIGNED = new CIntegerType(4, true);
    static final CIntegerType LONG_LONG = new CIntegerType(8, false);
    static final CIntegerType UNSIGNED_LONG_LONG = new CIntegerType(8, true);

    /** Integer promotion (C11 6.3.1.1): what is smaller becomes int. */
    CIntegerType promoted() {
        return sizeBytes < 4 ? INT : this;
    }

    /** Usual arithmetic conversions (C11 6.3.1.8). */
    CIntegerType with(CIntegerType other) {
        CIntegerType a = promoted();
        CIntegerType b = other.promoted();
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
