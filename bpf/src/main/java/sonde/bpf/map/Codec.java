package sonde.bpf.map;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * How a Java value lies in a map, in the machine's byte order.
 *
 * @param <T> immutable, or copied by {@link #decode}
 */
public interface Codec<T> {
    /** Bytes taken; those of the map's key or value. */
    int bytes();

    /** Writes a value into zeroed memory of {@link #bytes()}. */
    void encode(T value, MemorySegment to);

    /** Reads a value; must not keep the segment. */
    T decode(MemorySegment from);

    /** 32 bits. */
    Codec<Integer> INT =
            new Codec<>() {
                @Override
                public int bytes() {
                    return 4;
                }

                @Override
                public void encode(Integer value, MemorySegment to) {
                    to.set(JAVA_INT_UNALIGNED, 0, value);
                }

                @Override
                public Integer decode(MemorySegment from) {
                    return from.get(JAVA_INT_UNALIGNED, 0);
                }
            };

    /** 64 bits. */
    Codec<Long> LONG =
            new Codec<>() {
                @Override
                public int bytes() {
                    return 8;
                }

                @Override
                public void encode(Long value, MemorySegment to) {
                    to.set(JAVA_LONG_UNALIGNED, 0, value);
                }

                @Override
                public Long decode(MemorySegment from) {
                    return from.get(JAVA_LONG_UNALIGNED, 0);
                }
            };

    /**
     * Bytes as they lie.
     *
     * @param size of each; shorter arrays are filled with zeros, longer ones refused
     */
    static Codec<byte[]> bytes(int size) {
        return new Codec<>() {
            @Override
            public int bytes() {
                return size;
            }

            @Override
            public void encode(byte[] value, MemorySegment to) {
                if (value.length > size) {
                    throw new IllegalArgumentException(value.length + " bytes for " + size);
                }
                MemorySegment.copy(value, 0, to, ValueLayout.JAVA_BYTE, 0, value.length);
            }

            @Override
            public byte[] decode(MemorySegment from) {
                return from.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
            }
        };
    }

    /**
     * Text that ends with NUL or with its room: {@code char comm[16]}.
     *
     * @param size of the array; longer text is refused
     */
    static Codec<String> text(int size) {
        Codec<byte[]> raw = bytes(size);
        return new Codec<>() {
            @Override
            public int bytes() {
                return size;
            }

            @Override
            public void encode(String value, MemorySegment to) {
                raw.encode(value.getBytes(StandardCharsets.UTF_8), to);
            }

            @Override
            public String decode(MemorySegment from) {
                byte[] bytes = raw.decode(from);
                int length = 0;
                while (length < bytes.length && bytes[length] != 0) {
                    length++;
                }
                return new String(bytes, 0, length, StandardCharsets.UTF_8);
            }
        };
    }
}
