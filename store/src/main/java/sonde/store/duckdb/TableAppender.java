package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Adds rows to a table, a chunk at a time. For one thread; {@link #close} adds the last ones. */
public final class TableAppender implements AutoCloseable {
    private static final class AppenderCalls {
        static final MemorySegment CREATE = DuckDbApi.function("appender_create");
        static final MemorySegment ERROR = DuckDbApi.function("appender_error");
        static final MemorySegment DESTROY = DuckDbApi.function("appender_destroy");
        static final MemorySegment APPEND = DuckDbApi.function("append_data_chunk");
        static final MemorySegment CREATE_CHUNK = DuckDbApi.function("create_data_chunk");
        static final MemorySegment RESET_CHUNK = DuckDbApi.function("data_chunk_reset");
        static final MemorySegment SIZE_CHUNK = DuckDbApi.function("data_chunk_set_size");
        static final MemorySegment VECTOR = DuckDbApi.function("data_chunk_get_vector");
        static final MemorySegment DESTROY_CHUNK = DuckDbApi.function("destroy_data_chunk");
    }

    private final List<ColumnType> types;
    private final ColumnVector[] vectors;
    private final long pointer;
    private final long chunk;
    private int rows;

    /**
     * @param table its name, all of whose columns are given
     * @param types of the columns, none of them an enumeration or a list
     */
    public TableAppender(SqlConnection connection, String table, List<ColumnType> types)
            throws SqlException {
        this.types = List.copyOf(types);
        vectors = new ColumnVector[types.size()];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = DuckDbApi.cell(arena);
            long name = DuckDbApi.text(arena, table);
            long state =
                    DuckDbApi.call(
                            AppenderCalls.CREATE, connection.pointer(), 0, name, made.address());
            pointer = DuckDbApi.value(made);
            if (DuckDbApi.failed(state)) {
                String message = DuckDbApi.text(DuckDbApi.call(AppenderCalls.ERROR, pointer));
                DuckDbApi.destroy(AppenderCalls.DESTROY, pointer);
                throw new SqlException(message);
            }
            MemorySegment logical = arena.allocate(ValueLayout.JAVA_LONG, types.size());
            for (int i = 0; i < vectors.length; i++) {
                logical.setAtIndex(ValueLayout.JAVA_LONG, i, types.get(i).create());
            }
            chunk = DuckDbApi.call(AppenderCalls.CREATE_CHUNK, logical.address(), types.size());
            for (int i = 0; i < vectors.length; i++) {
                ColumnType.destroy(logical.getAtIndex(ValueLayout.JAVA_LONG, i));
            }
        }
        renew();
    }

    private void renew() {
        for (int i = 0; i < vectors.length; i++) {
            long vector = DuckDbApi.call(AppenderCalls.VECTOR, chunk, i);
            vectors[i] = new ColumnVector(vector, types.get(i).widthBytes());
        }
    }

    /** Another row, all of whose columns are to be set before the next one. */
    public int row() throws SqlException {
        if (rows == ColumnVector.CAPACITY) {
            flush();
        }
        return rows++;
    }

    /** A column of the rows. */
    public ColumnVector column(int index) {
        return vectors[index];
    }

    private void flush() throws SqlException {
        DuckDbApi.call(AppenderCalls.SIZE_CHUNK, chunk, rows);
        if (DuckDbApi.failed(DuckDbApi.call(AppenderCalls.APPEND, pointer, chunk))) {
            throw new SqlException(DuckDbApi.text(DuckDbApi.call(AppenderCalls.ERROR, pointer)));
        }
        DuckDbApi.call(AppenderCalls.RESET_CHUNK, chunk);
        rows = 0;
        renew();
    }

    @Override
    public void close() throws SqlException {
        try {
            if (rows > 0) {
                flush();
            }
        } finally {
            DuckDbApi.destroy(AppenderCalls.DESTROY_CHUNK, chunk);
            DuckDbApi.destroy(AppenderCalls.DESTROY, pointer);
        }
    }
}
