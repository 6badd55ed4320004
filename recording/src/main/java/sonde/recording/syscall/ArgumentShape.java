package sonde.recording.syscall;

import org.jspecify.annotations.Nullable;

/** What an argument, a field or a result means. */
sealed interface ArgumentShape {
    /** A number by itself. */
    record PlainNumber(NumberForm form) implements ArgumentShape {}

    /**
     * A constant, or flags.
     *
     * @param bits of the number: 16, 32 or 64
     * @param zero what no flags are called; empty for {@code 0}
     */
    record ConstantNumber(ConstantSet set, boolean isFlags, int bits, String zero)
            implements ArgumentShape {}

    /**
     * An address of memory that the kernel reads ({@code in}), writes ({@code out}) or both.
     *
     * @param count elements, or bytes of what has no elements; null for one
     */
    record PointerTo(boolean in, boolean out, TargetShape target, @Nullable LengthShape count)
            implements ArgumentShape {}

    /** StructShape of memory, within another struct or behind a pointer. */
    record Inner(TargetShape.StructShape struct) implements ArgumentShape {}

    /** How a number is written. */
    enum NumberForm {
        D(4),
        U(4),
        U16(2),
        LD(8),
        LU(8),
        X(4),
        LX(8),
        P(8),
        FD(4),
        PID(4),
        AT(4),
        MODE(4),
        PERM(4),
        PERM64(8),
        DEV(4),
        UID(4),
        SIG(4),
        RLIM(8),
        OPENFLAGS(4),
        OPENFLAGS64(8),
        MAPFLAGS(4),
        STATXFLAGS(4),
        SOCKTYPE(4),
        PROTOCOL(4),
        SOCKOPT(4),
        IOCTL(4),
        FUTEXOP(4),
        FUTEXBITS(4),
        CAPVERSION(4),
        EPOLLDATA(8),
        FSID(8),
        LU3(24),
        TEXT65(65),
        CLONE(8),
        CAPDATA(8),
        SIGFRAME(8),
        RESTART(8),
        /** An argument that is not shown. */
        NONE(8),
        /** Results. */
        OCTAL(8),
        HEX(8),
        SIG0(8),
        DUMPABLE(8),
        SCHEDPOLICY(8),
        POLLED(8),
        SELECTED(8);

        /** Size as a field of a struct. */
        final int bytes;

        NumberForm(int bytes) {
            this.bytes = bytes;
        }
    }

    /** Where the number of elements comes from. */
    sealed interface LengthShape {
        /** A constant. */
        record FixedCount(int count) implements LengthShape {}

        /** An argument's value. */
        record ByArgument(int index) implements LengthShape {}

        /** The u32 that an argument points to. */
        record BehindArgument(int index) implements LengthShape {}

        /** The call's result. */
        record ByResult() implements LengthShape {}
    }

    /** Bytes that the shape takes within a struct or an array. */
    static int bytes(ArgumentShape shape) {
        return switch (shape) {
            case PlainNumber number -> number.form().bytes;
            case ConstantNumber named -> named.bits() / 8;
            case PointerTo _ -> 8;
            case Inner inner -> inner.struct().bytes();
        };
    }
}
