package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Adds rows to a table, a chunk at a time. For one thread; {@link #close} adds the last ones. */
public final class Appender implements AutoCloseable {
    private static final class Calls {
        static final MemorySegment CREATE = Api.function("appender_create");
        static final MemorySegment ERROR = Api.function("appender_error");
        static final MemorySegment DESTROY = Api.function("appender_destroy");
        static final MemorySegment APPEND = Api.function("append_data_chunk");
        static final MemorySegment CREATE_CHUNK = Api.function("create_data_chunk");
        static final MemorySegment RESET_CHUNK = Api.function("data_chunk_reset");
        static final MemorySegment SIZE_CHUNK = Api.function("data_chunk_set_size");
        static final MemorySegment VECTOR = Api.function("data_chunk_get_vector");
        static final MemorySegment DESTROY_CHUNK = Api.function("destroy_data_chunk");
    }

    private final List<ColumnType> types;
    private final Vector[] vectors;
    private final long pointer;
    private final long chunk;
    private int rows;

    /**
     * @param table its name, all of whose columns are given
     * @param types of the columns, none of them an enumeration or a list
     */
    public Appender(Connection connection, String table, List<ColumnType> types)
            throws SqlException {
        this.types = List.copyOf(types);
        vectors = new Vector[types.size()];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = Api.cell(arena);
            long name = Api.text(arena, table);
            long state = Api.call(Calls.CREATE, connection.pointer(), 0, name, made.address());
            pointer = Api.value(made);
            if (Api.failed(state)) {
                String message = Api.text(Api.call(Calls.ERROR, pointer));
                Api.destroy(Calls.DESTROY, pointer);
                throw new SqlException(message);
            }
            MemorySegment logical = arena.allocate(ValueLayout.JAVA_LONG, types.size());
            for (int i = 0; i < vectors.length; i++) {
                logical.setAtIndex(ValueLayout.JAVA_LONG, i, types.get(i).create());
            }
            chunk = Api.call(Calls.CREATE_CHUNK, logical.address(), types.size());
            for (int i = 0; i < vectors.length; i++) {
                ColumnType.destroy(logical.getAtIndex(ValueLayout.JAVA_LONG, i));
            }
        }
        renew();
    }

    private void renew() {
        for (int i = 0; i < vectors.length; i++) {
            long vector = Api.call(Calls.VECTOR, chunk, i);
            vectors[i] = new Vector(vector, types.get(i).widthBytes());
        }
    }

    /** Another row, all of whose columns are to be set before the next one. */
    public int row() throws SqlException {
        if (rows == Vector.CAPACITY) {
            flush();
        }
        return rows++;
    }

    /** A column of the rows. */
    public Vector column(int index) {
        return vectors[index];
    }

    private void flush() throws SqlException {
        Api.call(Calls.SIZE_CHUNK, chunk, rows);
        if (Api.failed(Api.call(Calls.APPEND, pointer, chunk))) {
            throw new SqlException(Api.text(Api.call(Calls.ERROR, pointer)));
        }
        Api.call(Calls.RESET_CHUNK, chunk);
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
            Api.destroy(Calls.DESTROY_CHUNK, chunk);
            Api.destroy(Calls.DESTROY, pointer);
        }
    }
}
