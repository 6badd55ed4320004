package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import sonde.sys.NativeLibrary;

/** A column of a chunk being filled. Rows are set once, in any order; for one thread. */
public final class ColumnVector {
    /** Rows of a chunk (STANDARD_VECTOR_SIZE). */
    public static final int CAPACITY = 2048;

    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;

    // duckdb_string_t: u32 length, then up to 12 bytes in place or a prefix and a pointer.
    private static final int STRING_BYTES = 16;
    private static final int INLINE_BYTES = 12;

    private static final MemorySegment DATA = DuckDbApi.function("vector_get_data");
    private static final MemorySegment WRITABLE =
            DuckDbApi.function("vector_ensure_validity_writable");
    private static final MemorySegment VALIDITY = DuckDbApi.function("vector_get_validity");
    private static final MemorySegment ASSIGN =
            DuckDbApi.function("vector_assign_string_element_len");
    private static final MemorySegment LIST_SIZE = DuckDbApi.function("list_vector_get_size");
    private static final MemorySegment LIST_CHILD = DuckDbApi.function("list_vector_get_child");
    private static final MemorySegment LIST_RESERVE = DuckDbApi.function("list_vector_reserve");
    private static final MemorySegment LIST_SET_SIZE = DuckDbApi.function("list_vector_set_size");

    private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

    private final long pointer;
    private final MemorySegment data;
    private MemorySegment validity = MemorySegment.NULL;

    /** Native memory that long texts pass through. */
    private static final class Scratch {
        MemorySegment memory = Arena.ofAuto().allocate(1 << 12);

        MemorySegment of(int sizeBytes) {
            if (memory.byteSize() < sizeBytes) {
                memory = Arena.ofAuto().allocate(Math.max(sizeBytes, 2 * memory.byteSize()));
            }
            return memory;
        }
    }

    ColumnVector(long pointer, int widthBytes) {
        this.pointer = pointer;
        data = NativeLibrary.memory(DuckDbApi.call(DATA, pointer), (long) CAPACITY * widthBytes);
    }

    /** A value of 8 bytes. */
    public void setLong(int row, long value) {
        data.set(U64, 8L * row, value);
    }

    /** A value of 4 bytes. */
    public void setInt(int row, int value) {
        data.set(U32, 4L * row, value);
    }

    /** A value of 2 bytes. */
    public void setShort(int row, int value) {
        data.set(U16, 2L * row, (short) value);
    }

    /** A value of 1 byte. */
    public void setByte(int row, int value) {
        data.set(U8, row, (byte) value);
    }

    /** A floating-point number. */
    public void setDouble(int row, double value) {
        data.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8L * row, value);
    }

    /** A text. */
    public void setText(int row, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        setUtf8(row, bytes, bytes.length);
    }

    /** A text of {@code length} bytes, which must be UTF-8. */
    public void setUtf8(int row, byte[] bytes, int length) {
        long at = (long) STRING_BYTES * row;
        if (length <= INLINE_BYTES) {
            data.set(U64, at, 0);
            data.set(U64, at + 8, 0);
            data.set(U32, at, length);
            MemorySegment.copy(bytes, 0, data, U8, at + 4, length);
            return;
        }
        MemorySegment scratch = SCRATCH.get().of(length);
        MemorySegment.copy(bytes, 0, scratch, U8, 0, length);
        DuckDbApi.call(ASSIGN, pointer, row, scratch.address(), length);
    }

    /** Numbers of this vector's own width, from its first row on. */
    void copyFrom(MemorySegment numbers) {
        MemorySegment.copy(numbers, 0, data, 0, numbers.byteSize());
    }

    /** A text of up to 12 bytes, as it lies in another vector. */
    void copyInline(int row, long low, long high) {
        data.set(U64, (long) STRING_BYTES * row, low);
        data.set(U64, (long) STRING_BYTES * row + 8, high);
    }

    /** A list of integers; lists are set in the order of their rows. */
    public void setList(int row, long[] values, int count) {
        long before = DuckDbApi.call(LIST_SIZE, pointer);
        DuckDbApi.call(LIST_RESERVE, pointer, before + count);
        long child = DuckDbApi.call(LIST_CHILD, pointer);
        MemorySegment all = NativeLibrary.memory(DuckDbApi.call(DATA, child), 8 * (before + count));
        MemorySegment.copy(values, 0, all, U64, 8 * before, count);
        DuckDbApi.call(LIST_SET_SIZE, pointer, before + count);
        data.set(U64, (long) STRING_BYTES * row, before);
        data.set(U64, (long) STRING_BYTES * row + 8, count);
    }

    /** No value. */
    public void setNull(int row) {
        if (validity.address() == 0) {
            DuckDbApi.call(WRITABLE, pointer);
            validity = NativeLibrary.memory(DuckDbApi.call(VALIDITY, pointer), CAPACITY / 8);
        }
        long at = (row >>> 6) * 8L;
        validity.set(U64, at, validity.get(U64, at) & ~(1L << row));
    }
}
