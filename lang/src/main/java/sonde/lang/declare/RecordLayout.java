package sonde.lang.declare;

/**
 * Where members of a structure or union lie: System V ABI for x86-64, section 3.1.2, with the
 * attributes of gcc.
 */
final class RecordLayout {
    /** As large as a structure may be, in bits. */
    private static final long MOST_BITS = 8L * (1 << 30);

    private final boolean union;
    private final boolean packed;
    private long at;
    private long most;
    private int align = 1;

    RecordLayout(boolean union, boolean packed) {
        this.union = union;
        this.packed = packed;
    }

    /**
     * Places a member.
     *
     * @param wanted alignment given to the member itself, 0 for none
     * @return its offset in bits
     */
    long place(long sizeBytes, int typeAlign, boolean memberPacked, int wanted) {
        int own = Math.max(packed || memberPacked ? 1 : typeAlign, wanted);
        long offset = union ? 0 : up(at, 8L * own);
        align = Math.max(align, own);
        moveTo(offset + 8 * sizeBytes);
        return offset;
    }

    /**
     * Places a bitfield.
     *
     * @param typeBytes of its type, which it does not cross the boundaries of unless packed
     * @param bits not 0
     * @param named one without a name does not count for the alignment of the structure
     * @return its offset in bits
     */
    long placeBits(
            int typeBytes, int typeAlign, int bits, boolean named, boolean tight, int wanted) {
        boolean close = packed || tight;
        long offset = union ? 0 : at;
        if (wanted > 0) {
            offset = up(offset, 8L * wanted);
        }
        long unit = 8L * typeBytes;
        if (!close && offset / unit != (offset + bits - 1) / unit) {
            offset = up(offset, 8L * typeAlign);
        }
        if (named) {
            align = Math.max(align, Math.max(close ? 1 : typeAlign, wanted));
        }
        moveTo(offset + bits);
        return offset;
    }

    /** {@code int : 0}: what follows begins at a boundary of the type. */
    void close(int typeAlign, int wanted) {
        moveTo(up(union ? 0 : at, 8L * Math.max(typeAlign, wanted)));
    }

    private void moveTo(long end) {
        at = end;
        most = Math.max(most, end);
    }

    private static long up(long bits, long unit) {
        return (bits + unit - 1) / unit * unit;
    }

    /** Whether it has grown beyond all bounds. */
    boolean isTooLarge() {
        return most > MOST_BITS || most < 0;
    }

    int align(int wanted) {
        return Math.max(align, wanted);
    }

    long sizeBytes(int wanted) {
        return up(most, 8L * align(wanted)) / 8;
    }
}
