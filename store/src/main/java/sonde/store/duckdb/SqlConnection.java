package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A connection to a database; for one thread at a time, but for {@link #interrupt}. */
public final class SqlConnection implements AutoCloseable {
    private static final class ConnectionCalls {
        static final MemorySegment CONNECT = DuckDbApi.function("connect");
        static final MemorySegment DISCONNECT = DuckDbApi.function("disconnect");
        static final MemorySegment INTERRUPT = DuckDbApi.function("interrupt");
        static final MemorySegment EXTRACT = DuckDbApi.function("extract_statements");
        static final MemorySegment EXTRACT_ERROR = DuckDbApi.function("extract_statements_error");
        static final MemorySegment DESTROY_EXTRACTED = DuckDbApi.function("destroy_extracted");
        static final MemorySegment PREPARE = DuckDbApi.function("prepare_extracted_statement");
        static final MemorySegment PREPARE_ERROR = DuckDbApi.function("prepare_error");
        static final MemorySegment DESTROY_PREPARE = DuckDbApi.function("destroy_prepare");
        static final MemorySegment TABLE_NAMES = DuckDbApi.function("get_table_names");
        static final MemorySegment LIST_SIZE = DuckDbApi.function("get_list_size");
        static final MemorySegment LIST_CHILD = DuckDbApi.function("get_list_child");
        static final MemorySegment GET_VARCHAR = DuckDbApi.function("get_varchar");
        static final MemorySegment DESTROY_VALUE = DuckDbApi.function("destroy_value");
        static final MemorySegment FREE = DuckDbApi.function("free");
    }

    private final long pointer;

    SqlConnection(long database) throws SqlException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = DuckDbApi.cell(arena);
            if (DuckDbApi.failed(
                    DuckDbApi.call(ConnectionCalls.CONNECT, database, made.address()))) {
                throw new SqlException("DuckDB gives no connection");
            }
            pointer = DuckDbApi.value(made);
        }
    }

    long pointer() {
        return pointer;
    }

    /** Makes a table function known under a name, with one text as parameter. */
    public void register(String name, TableFunction function) throws SqlException {
        TableCallbacks.register(pointer, name, function);
    }

    /** The tables that a statement names, as written but without quotes; empty if it is wrong. */
    public List<String> tableNames(String sql) {
        try (Arena arena = Arena.ofConfined()) {
            long list =
                    DuckDbApi.call(
                            ConnectionCalls.TABLE_NAMES, pointer, DuckDbApi.text(arena, sql), 0);
            if (list == 0) {
                return List.of();
            }
            List<String> names = new ArrayList<>();
            int size = (int) DuckDbApi.call(ConnectionCalls.LIST_SIZE, list);
            for (int i = 0; i < size; i++) {
                long child = DuckDbApi.call(ConnectionCalls.LIST_CHILD, list, i);
                long characters = DuckDbApi.call(ConnectionCalls.GET_VARCHAR, child);
                names.add(DuckDbApi.text(characters));
                DuckDbApi.call(ConnectionCalls.FREE, characters);
                DuckDbApi.destroy(ConnectionCalls.DESTROY_VALUE, child);
            }
            DuckDbApi.destroy(ConnectionCalls.DESTROY_VALUE, list);
            return names;
        }
    }

    /** Runs statements for their effect. */
    public void run(String sql) throws SqlException {
        query(sql).close();
    }

    /**
     * Runs statements and gives the rows of the last one, which are made while they are fetched.
     *
     * @throws SqlException when one is wrong or fails; those before it have run
     */
    public QueryRows query(String sql) throws SqlException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment extracted = DuckDbApi.cell(arena);
            long text = DuckDbApi.text(arena, sql);
            int count =
                    (int)
                            DuckDbApi.call(
                                    ConnectionCalls.EXTRACT, pointer, text, extracted.address());
            try {
                if (count == 0) {
                    String message =
                            DuckDbApi.text(
                                    DuckDbApi.call(
                                            ConnectionCalls.EXTRACT_ERROR,
                                            DuckDbApi.value(extracted)));
                    throw new SqlException(message.isEmpty() ? "no statement" : message);
                }
                for (int i = 0; i < count - 1; i++) {
                    prepare(DuckDbApi.value(extracted), i).close();
                }
                return prepare(DuckDbApi.value(extracted), count - 1);
            } finally {
                DuckDbApi.call(ConnectionCalls.DESTROY_EXTRACTED, extracted.address());
            }
        }
    }

    private QueryRows prepare(long extracted, int index) throws SqlException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment prepared = DuckDbApi.cell(arena);
            long state =
                    DuckDbApi.call(
                            ConnectionCalls.PREPARE, pointer, extracted, index, prepared.address());
            try {
                if (DuckDbApi.failed(state)) {
                    throw new SqlException(
                            DuckDbApi.text(
                                    DuckDbApi.call(
                                            ConnectionCalls.PREPARE_ERROR,
                                            DuckDbApi.value(prepared))));
                }
                return new QueryRows(DuckDbApi.value(prepared));
            } finally {
                DuckDbApi.call(ConnectionCalls.DESTROY_PREPARE, prepared.address());
            }
        }
    }

    /** Ends the statement that runs; may be called by any thread. */
    public void interrupt() {
        DuckDbApi.call(ConnectionCalls.INTERRUPT, pointer);
    }

    @Override
    public void close() {
        DuckDbApi.destroy(ConnectionCalls.DISCONNECT, pointer);
    }
}
