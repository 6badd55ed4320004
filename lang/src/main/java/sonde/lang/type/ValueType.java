package sonde.lang.type;

import java.util.Map;

/**
 * What a value is and how its bytes lie, little-endian, in maps, on the stack and in events. {@code
 * toString} spells it as the languages do.
 */
public sealed interface ValueType
        permits ValueType.PlainType, ValueType.AggregateType, CompositeType {
    /** Bytes of a value; of an aggregate those of one CPU. */
    int sizeBytes();

    /** What its address is a multiple of: 1, 2, 4 or 8. */
    int align();

    /** All but aggregates and what has members. */
    sealed interface PlainType extends ValueType {}

    /** No value. */
    record VoidType() implements PlainType {
        @Override
        public int sizeBytes() {
            return 0;
        }

        @Override
        public int align() {
            return 1;
        }

        @Override
        public String toString() {
            return "void";
        }
    }

    /**
     * An integer of 1, 2, 4 or 8 bytes (16 for members that nothing can be done with).
     *
     * @param isChar a character of C: arrays of it are text
     * @param either written as a number that is not negative: its sign is what the other side's is
     */
    record IntType(int sizeBytes, boolean signed, boolean isChar, boolean either)
            implements PlainType {
        public static final IntType I64 = new IntType(8, true);
        public static final IntType U64 = new IntType(8, false);
        public static final IntType I32 = new IntType(4, true);
        public static final IntType U32 = new IntType(4, false);
        public static final IntType U16 = new IntType(2, false);
        public static final IntType U8 = new IntType(1, false);
        public static final IntType I8 = new IntType(1, true);

        /** An integer of a known sign. */
        public IntType(int sizeBytes, boolean signed) {
            this(sizeBytes, signed, false, false);
        }

        /** An integer or a character. */
        public IntType(int sizeBytes, boolean signed, boolean isChar) {
            this(sizeBytes, signed, isChar, false);
        }

        @Override
        public int align() {
            return Math.min(8, sizeBytes);
        }

        @Override
        public String toString() {
            return (signed ? "int" : "uint") + sizeBytes * 8;
        }
    }

    /** 0 or 1 in a byte. */
    record BoolType() implements PlainType {
        @Override
        public int sizeBytes() {
            return 1;
        }

        @Override
        public int align() {
            return 1;
        }

        @Override
        public String toString() {
            return "bool";
        }
    }

    /** A floating point number: can be a member, nothing can be done with it. */
    record FloatType(int sizeBytes) implements PlainType {
        @Override
        public int align() {
            return Math.min(8, sizeBytes);
        }

        @Override
        public String toString() {
            return "float" + sizeBytes * 8;
        }
    }

    /**
     * Text: bytes up to the first NUL, or all.
     *
     * @param sizeBytes with the NUL
     */
    record TextType(int sizeBytes) implements PlainType {
        @Override
        public int align() {
            return 1;
        }

        @Override
        public String toString() {
            return "string[" + sizeBytes + "]";
        }
    }

    /** Bytes: their count in 4 bytes, then as many of {@code capacity}. */
    record BytesType(int capacity) implements PlainType {
        @Override
        public int sizeBytes() {
            return 4 + capacity;
        }

        @Override
        public int align() {
            return 4;
        }

        @Override
        public String toString() {
            return "buffer[" + capacity + "]";
        }
    }

    /** Where a pointer points, which says how it is read. */
    enum PointerSpace {
        /** The kernel's memory: bpf_probe_read_kernel. */
        KERNEL,
        /** The current process's: bpf_probe_read_user. */
        USER,
        /** The program's own: its stack, its maps; read directly. */
        OWN,
        /** The kernel's, of a type that the verifier knows: read directly, faults give 0. */
        TYPED,
    }

    /** An address. */
    record PointerType(ValueType to, PointerSpace space) implements PlainType {
        @Override
        public int sizeBytes() {
            return 8;
        }

        @Override
        public int align() {
            return 8;
        }

        @Override
        public String toString() {
            return to + (to instanceof PointerType ? "*" : " *");
        }
    }

    /** Elements behind each other; {@code count} 0 for a flexible array. */
    record ArrayType(ValueType element, int count) implements PlainType {
        @Override
        public int sizeBytes() {
            return element.sizeBytes() * count;
        }

        @Override
        public int align() {
            return element.align();
        }

        @Override
        public String toString() {
            return element + "[" + count + "]";
        }
    }

    /** An enumeration; the first name of a value counts. */
    record EnumType(String name, int sizeBytes, boolean signed, Map<Long, String> names)
            implements PlainType {
        @Override
        public int align() {
            return sizeBytes;
        }

        @Override
        public String toString() {
            return "enum " + name;
        }
    }

    /** Values that are numbers in the kernel and words on the screen. */
    enum SpecialValue {
        /** 8 bytes: an address of kernel code. */
        KERNEL_SYMBOL("ksym_t", 8, 8),
        /** 8 bytes address, 4 bytes process (pid as the tracer sees it), 4 bytes 0. */
        USER_SYMBOL("usym_t", 16, 8),
        /** 4 bytes family (AF_INET 2, AF_INET6 10), 16 bytes address in network order. */
        INET("inet", 20, 4),
        /** 6 bytes. */
        MAC_ADDRESS("macaddr_t", 6, 1),
        /** 8 bytes number of the pattern, 8 bytes cgroup id. */
        CGROUP_PATH("cgroup_path_t", 16, 8),
        /** 8 bytes uid. */
        USERNAME("username", 8, 8),
        /** 4 bytes number of the format, 4 bytes clock, 8 bytes nanoseconds. */
        TIMESTAMP("timestamp", 16, 8),
        /** 8 bytes errno. */
        STRERROR("strerror", 8, 8);

        private final String spelling;
        private final int sizeBytes;
        private final int align;

        SpecialValue(String spelling, int sizeBytes, int align) {
            this.spelling = spelling;
            this.sizeBytes = sizeBytes;
            this.align = align;
        }
    }

    /** A value that is shown as a word. */
    record SpecialType(SpecialValue kind) implements PlainType {
        @Override
        public int sizeBytes() {
            return kind.sizeBytes;
        }

        @Override
        public int align() {
            return kind.align;
        }

        @Override
        public String toString() {
            return kind.spelling;
        }
    }

    /** Whether a stack that is followed later is in a value. */
    default boolean isCopied() {
        return switch (this) {
            case StackType s -> s.copied();
            case TupleType t -> t.fields().stream().anyMatch(field -> field.type().isCopied());
            default -> false;
        };
    }

    /** How a stack is shown. */
    enum StackMode {
        BPFTRACE,
        PERF,
        RAW,
        BUILD_ID
    }

    /**
     * A call stack: for a user stack 4 bytes process (pid as the tracer sees it) and 4 bytes 0;
     * then {@code frames} addresses of 8 bytes, innermost first, 0 behind the last. In mode
     * BUILD_ID a frame is struct bpf_stack_build_id, 32 bytes.
     *
     * @param copied whether it is {@link StackCopy} instead, to be followed later
     */
    record StackType(boolean user, StackMode mode, int frames, boolean copied)
            implements PlainType {
        /** Followed where it is taken. */
        public StackType(boolean user, StackMode mode, int frames) {
            this(user, mode, frames, false);
        }

        @Override
        public int sizeBytes() {
            return copied
                    ? StackCopy.BYTES
                    : (user ? 8 : 0) + frames * (mode == StackMode.BUILD_ID ? 32 : 8);
        }

        @Override
        public int align() {
            return 8;
        }

        @Override
        public String toString() {
            return copied ? "dw_ustack" : user ? "ustack" : "kstack";
        }
    }

    /** What many values became; each CPU has its own, they are put together when read. */
    sealed interface AggregateType extends ValueType {
        @Override
        default int align() {
            return 8;
        }
    }

    /** 8 bytes: how often. */
    record CountType() implements AggregateType {
        @Override
        public int sizeBytes() {
            return 8;
        }

        @Override
        public String toString() {
            return "count_t";
        }
    }

    /** 8 bytes: the sum. */
    record SumType(boolean signed) implements AggregateType {
        @Override
        public int sizeBytes() {
            return 8;
        }

        @Override
        public String toString() {
            return signed ? "sum_t" : "usum_t";
        }
    }

    /** 8 bytes value, 8 bytes 1 once there is one. */
    record ExtremeType(boolean max, boolean signed) implements AggregateType {
        @Override
        public int sizeBytes() {
            return 16;
        }

        @Override
        public String toString() {
            return (signed ? "" : "u") + (max ? "max_t" : "min_t");
        }
    }

    /**
     * 8 bytes sum, 8 bytes count.
     *
     * @param full shown with count and total (stats), else the average alone (avg)
     */
    record AverageType(boolean full, boolean signed) implements AggregateType {
        @Override
        public int sizeBytes() {
            return 16;
        }

        @Override
        public String toString() {
            return (signed ? "" : "u") + (full ? "stats_t" : "avg_t");
        }
    }

    /**
     * Counts of 8 bytes by powers of two, each of which has {@code 1 << bits} steps. Bucket 0 is
     * for negative values, bucket {@code n + 1} for {@code n} below {@code 1 << bits}; of others,
     * with {@code l} the place of their highest bit, {@code ((l - bits + 1) << bits) + 1 +} the
     * {@code bits} bits that follow it.
     *
     * @param bits 0 to 5
     */
    record HistType(int bits) implements AggregateType {
        /** How many buckets there are. */
        public int buckets() {
            return ((65 - bits) << bits) + 1;
        }

        @Override
        public int sizeBytes() {
            return buckets() * 8;
        }

        @Override
        public String toString() {
            return "hist_t";
        }
    }

    /**
     * Counts of 8 bytes by equal steps: bucket 0 is for values below {@code min}, the last for
     * {@code max} and above.
     */
    record LhistType(long min, long max, long step) implements AggregateType {
        /** How many buckets there are. */
        public int buckets() {
            return (int) ((max - min + step - 1) / step) + 2;
        }

        @Override
        public int sizeBytes() {
            return buckets() * 8;
        }

        @Override
        public String toString() {
            return "lhist_t";
        }
    }

    /** What a bucket of a time series keeps. */
    enum SeriesKind {
        LAST,
        AVERAGE,
        MAX,
        MIN,
        SUM
    }

    /**
     * Values by time: {@code buckets} of 8 bytes value, 8 bytes meta (for AVERAGE how many; for
     * LAST the time; for MIN and MAX 1 once there is one), 8 bytes number of the interval since the
     * clock's start; interval {@code i} lies in bucket {@code i % buckets}.
     */
    record SeriesType(long intervalNanos, int buckets, boolean signed, SeriesKind kind)
            implements AggregateType {
        @Override
        public int sizeBytes() {
            return buckets * 24;
        }

        @Override
        public String toString() {
            return "tseries_t";
        }
    }
}
