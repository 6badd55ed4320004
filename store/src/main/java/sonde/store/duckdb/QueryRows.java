package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.sys.NativeLibrary;

/** What a statement gives, chunk by chunk. */
public final class QueryRows implements AutoCloseable {
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    // sizeof(duckdb_result) and duckdb_string_t
    private static final int RESULT_BYTES = 48;
    private static final int STRING_BYTES = 16;
    private static final int INLINE_BYTES = 12;

    /** enum DUCKDB_TYPE of duckdb.h, as far as values are read; others are cast to text in SQL. */
    private static final int BOOLEAN = 1;

    private static final int TINYINT = 2;
    private static final int SMALLINT = 3;
    private static final int INTEGER = 4;
    private static final int BIGINT = 5;
    private static final int UTINYINT = 6;
    private static final int USMALLINT = 7;
    private static final int UINTEGER = 8;
    private static final int UBIGINT = 9;
    private static final int FLOAT = 10;
    private static final int DOUBLE = 11;
    private static final int HUGEINT = 16;
    private static final int VARCHAR = 17;
    private static final int ENUM = 23;
    private static final int DECIMAL = 19;

    private static final class ResultCalls {
        static final MemorySegment PENDING = DuckDbApi.function("pending_prepared_streaming");
        static final MemorySegment PENDING_ERROR = DuckDbApi.function("pending_error");
        static final MemorySegment DESTROY_PENDING = DuckDbApi.function("destroy_pending");
        static final MemorySegment EXECUTE = DuckDbApi.function("execute_pending");
        static final MemorySegment RESULT_ERROR = DuckDbApi.function("result_error");
        static final MemorySegment DESTROY_RESULT = DuckDbApi.function("destroy_result");
        static final MemorySegment COLUMNS = DuckDbApi.function("column_count");
        static final MemorySegment COLUMN_NAME = DuckDbApi.function("column_name");
        static final MemorySegment COLUMN_TYPE = DuckDbApi.function("column_type");
        static final MemorySegment LOGICAL_TYPE = DuckDbApi.function("column_logical_type");
        static final MemorySegment LABELS = DuckDbApi.function("enum_dictionary_size");
        static final MemorySegment LABEL = DuckDbApi.function("enum_dictionary_value");
        static final MemorySegment LABEL_TYPE = DuckDbApi.function("enum_internal_type");
        static final MemorySegment FETCH = DuckDbApi.function("fetch_chunk");
        static final MemorySegment CHUNK_SIZE = DuckDbApi.function("data_chunk_get_size");
        static final MemorySegment CHUNK_VECTOR = DuckDbApi.function("data_chunk_get_vector");
        static final MemorySegment DESTROY_CHUNK = DuckDbApi.function("destroy_data_chunk");
        static final MemorySegment DATA = DuckDbApi.function("vector_get_data");
        static final MemorySegment VALIDITY = DuckDbApi.function("vector_get_validity");
        static final MemorySegment FREE = DuckDbApi.function("free");
    }

    /**
     * A column of a result.
     *
     * @param isNumber whether values are numbers
     * @param isSimple whether {@link QueryRows#value} can read it
     */
    public record QueryColumn(String name, boolean isNumber, boolean isSimple) {}

    private record ColumnLayout(int type, int widthBytes, List<String> labels) {}

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment result = arena.allocate(RESULT_BYTES, 8);
    private final List<QueryColumn> columns = new ArrayList<>();
    private final List<ColumnLayout> layouts = new ArrayList<>();
    private long chunk;
    private MemorySegment[] data = {};
    private MemorySegment[] validity = {};

    QueryRows(long prepared) throws SqlException {
        MemorySegment pending = DuckDbApi.cell(arena);
        boolean done = false;
        try {
            if (DuckDbApi.failed(
                    DuckDbApi.call(ResultCalls.PENDING, prepared, pending.address()))) {
                throw new SqlException(
                        DuckDbApi.text(
                                DuckDbApi.call(
                                        ResultCalls.PENDING_ERROR, DuckDbApi.value(pending))));
            }
            if (DuckDbApi.failed(
                    DuckDbApi.call(
                            ResultCalls.EXECUTE, DuckDbApi.value(pending), result.address()))) {
                throw failure();
            }
            int count = (int) DuckDbApi.call(ResultCalls.COLUMNS, result.address());
            for (int i = 0; i < count; i++) {
                layouts.add(layout(i));
                columns.add(column(i, layouts.get(i)));
            }
            done = true;
        } finally {
            DuckDbApi.call(ResultCalls.DESTROY_PENDING, pending.address());
            if (!done) {
                close();
            }
        }
    }

    private SqlException failure() {
        return new SqlException(
                DuckDbApi.text(DuckDbApi.call(ResultCalls.RESULT_ERROR, result.address())));
    }

    private QueryColumn column(int index, ColumnLayout layout) {
        String name =
                DuckDbApi.text(DuckDbApi.call(ResultCalls.COLUMN_NAME, result.address(), index));
        int type = layout.type;
        boolean number = type >= TINYINT && type <= DOUBLE || type == HUGEINT || type == DECIMAL;
        return new QueryColumn(name, number, layout.widthBytes > 0);
    }

    private ColumnLayout layout(int index) {
        int type = (int) DuckDbApi.call(ResultCalls.COLUMN_TYPE, result.address(), index);
        if (type != ENUM) {
            int width =
                    switch (type) {
                        case BOOLEAN, TINYINT, UTINYINT -> 1;
                        case SMALLINT, USMALLINT -> 2;
                        case INTEGER, UINTEGER, FLOAT -> 4;
                        case BIGINT, UBIGINT, DOUBLE -> 8;
                        case HUGEINT, VARCHAR -> 16;
                        default -> 0;
                    };
            return new ColumnLayout(type, width, List.of());
        }
        long logical = DuckDbApi.call(ResultCalls.LOGICAL_TYPE, result.address(), index);
        int count = (int) DuckDbApi.call(ResultCalls.LABELS, logical);
        List<String> labels = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long text = DuckDbApi.call(ResultCalls.LABEL, logical, i);
            labels.add(DuckDbApi.text(text));
            DuckDbApi.call(ResultCalls.FREE, text);
        }
        int internal = (int) DuckDbApi.call(ResultCalls.LABEL_TYPE, logical);
        ColumnType.destroy(logical);
        return new ColumnLayout(
                ENUM, internal == UTINYINT ? 1 : internal == USMALLINT ? 2 : 4, labels);
    }

    /** The columns. */
    public List<QueryColumn> columns() {
        return List.copyOf(columns);
    }

    /**
     * Goes to the next chunk.
     *
     * @return its rows, 0 at the end
     */
    public int next() throws SqlException {
        int size;
        do {
            release();
            chunk = NativeLibrary.callByValue(ResultCalls.FETCH, result);
            if (chunk == 0) {
                long error = DuckDbApi.call(ResultCalls.RESULT_ERROR, result.address());
                if (error != 0 && !DuckDbApi.text(error).isEmpty()) {
                    throw failure();
                }
                return 0;
            }
            size = (int) DuckDbApi.call(ResultCalls.CHUNK_SIZE, chunk);
        } while (size == 0);
        data = new MemorySegment[columns.size()];
        validity = new MemorySegment[columns.size()];
        for (int i = 0; i < data.length; i++) {
            long vector = DuckDbApi.call(ResultCalls.CHUNK_VECTOR, chunk, i);
            long bytes = (long) size * layouts.get(i).widthBytes;
            data[i] = NativeLibrary.memory(DuckDbApi.call(ResultCalls.DATA, vector), bytes);
            long mask = DuckDbApi.call(ResultCalls.VALIDITY, vector);
            validity[i] =
                    mask == 0
                            ? MemorySegment.NULL
                            : NativeLibrary.memory(mask, (size + 63) / 64 * 8L);
        }
        return size;
    }

    /**
     * Copies a column of the chunk into one of the same physical type: a number of equal width
     * (those of an enumeration are its numbers), or a text.
     *
     * @param size rows of the chunk
     */
    public void copy(int column, int size, ColumnVector out) {
        MemorySegment mask = validity[column];
        boolean text = layouts.get(column).type == VARCHAR;
        if (!text) {
            out.copyFrom(data[column]);
        }
        boolean whole = mask.address() == 0;
        if (whole && !text) {
            return;
        }
        for (int row = 0; row < size; row++) {
            boolean none = !whole && (mask.get(U64, (row >>> 6) * 8L) >>> row & 1) == 0;
            if (none) {
                out.setNull(row);
            } else if (text) {
                copyText(data[column], row, out);
            }
        }
    }

    private static void copyText(MemorySegment all, int row, ColumnVector out) {
        long at = (long) STRING_BYTES * row;
        int length = all.get(ValueLayout.JAVA_INT_UNALIGNED, at);
        if (length <= INLINE_BYTES) {
            out.copyInline(row, all.get(U64, at), all.get(U64, at + 8));
        } else {
            byte[] bytes =
                    NativeLibrary.memory(all.get(U64, at + 8), length)
                            .toArray(ValueLayout.JAVA_BYTE);
            out.setUtf8(row, bytes, length);
        }
    }

    /** A value: Boolean, Long, BigInteger, Double or String; null for none. */
    public @Nullable Object value(int column, int row) {
        MemorySegment mask = validity[column];
        if (mask.address() != 0) {
            long word = mask.get(U64, (long) (row >>> 6) * 8);
            if ((word >>> row & 1) == 0) {
                return null;
            }
        }
        ColumnLayout layout = layouts.get(column);
        MemorySegment at = data[column];
        long word = layout.widthBytes <= 8 ? word(at, row, layout.widthBytes) : 0;
        return switch (layout.type) {
            case BOOLEAN -> word != 0;
            case TINYINT -> (long) (byte) word;
            case SMALLINT -> (long) (short) word;
            case INTEGER -> (long) (int) word;
            case UTINYINT, USMALLINT, UINTEGER, BIGINT -> word;
            case UBIGINT -> word >= 0 ? (Object) word : new BigInteger(Long.toUnsignedString(word));
            case FLOAT -> (double) Float.intBitsToFloat((int) word);
            case DOUBLE -> Double.longBitsToDouble(word);
            case ENUM -> layout.labels.get((int) word);
            case HUGEINT -> huge(at, row);
            case VARCHAR -> text(at, row);
            default -> throw new IllegalStateException("column " + column + " is not simple");
        };
    }

    private static long word(MemorySegment at, int row, int widthBytes) {
        return switch (widthBytes) {
            case 1 -> at.get(ValueLayout.JAVA_BYTE, row) & 0xffL;
            case 2 -> at.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * row) & 0xffffL;
            case 4 -> at.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * row) & 0xffff_ffffL;
            default -> at.get(U64, 8L * row);
        };
    }

    private static Object huge(MemorySegment at, int row) {
        long low = at.get(U64, 16L * row);
        long high = at.get(U64, 16L * row + 8);
        if (high == low >> 63) {
            return low;
        }
        return BigInteger.valueOf(high)
                .shiftLeft(64)
                .add(new BigInteger(Long.toUnsignedString(low)));
    }

    private static String text(MemorySegment all, int row) {
        long at = (long) STRING_BYTES * row;
        int length = all.get(ValueLayout.JAVA_INT_UNALIGNED, at);
        byte[] bytes = new byte[length];
        MemorySegment from =
                length <= INLINE_BYTES
                        ? all.asSlice(at + 4, length)
                        : NativeLibrary.memory(all.get(U64, at + 8), length);
        MemorySegment.copy(from, ValueLayout.JAVA_BYTE, 0, bytes, 0, length);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private void release() {
        DuckDbApi.destroy(ResultCalls.DESTROY_CHUNK, chunk);
        chunk = 0;
    }

    @Override
    public void close() {
        release();
        DuckDbApi.call(ResultCalls.DESTROY_RESULT, result.address());
        arena.close();
    }
}
