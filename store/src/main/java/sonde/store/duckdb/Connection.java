package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A connection to a database; for one thread at a time, but for {@link #interrupt}. */
public final class Connection implements AutoCloseable {
    private static final class Calls {
        static final MemorySegment CONNECT = Api.function("connect");
        static final MemorySegment DISCONNECT = Api.function("disconnect");
        static final MemorySegment INTERRUPT = Api.function("interrupt");
        static final MemorySegment EXTRACT = Api.function("extract_statements");
        static final MemorySegment EXTRACT_ERROR = Api.function("extract_statements_error");
        static final MemorySegment DESTROY_EXTRACTED = Api.function("destroy_extracted");
        static final MemorySegment PREPARE = Api.function("prepare_extracted_statement");
        static final MemorySegment PREPARE_ERROR = Api.function("prepare_error");
        static final MemorySegment DESTROY_PREPARE = Api.function("destroy_prepare");
        static final MemorySegment TABLE_NAMES = Api.function("get_table_names");
        static final MemorySegment LIST_SIZE = Api.function("get_list_size");
        static final MemorySegment LIST_CHILD = Api.function("get_list_child");
        static final MemorySegment GET_VARCHAR = Api.function("get_varchar");
        static final MemorySegment DESTROY_VALUE = Api.function("destroy_value");
        static final MemorySegment FREE = Api.function("free");
    }

    private final long pointer;

    Connection(long database) throws SqlException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = Api.cell(arena);
            if (Api.failed(Api.call(Calls.CONNECT, database, made.address()))) {
                throw new SqlException("DuckDB gives no connection");
            }
            pointer = Api.value(made);
        }
    }

    long pointer() {
        return pointer;
    }

    /** Makes a table function known under a name, with one text as parameter. */
    public void register(String name, TableFunction function) throws SqlException {
        Callbacks.register(pointer, name, function);
    }

    /** The tables that a statement names, as written but without quotes; empty if it is wrong. */
    public List<String> tableNames(String sql) {
        try (Arena arena = Arena.ofConfined()) {
            long list = Api.call(Calls.TABLE_NAMES, pointer, Api.text(arena, sql), 0);
            if (list == 0) {
                return List.of();
            }
            List<String> names = new ArrayList<>();
            int size = (int) Api.call(Calls.LIST_SIZE, list);
            for (int i = 0; i < size; i++) {
                long child = Api.call(Calls.LIST_CHILD, list, i);
                long characters = Api.call(Calls.GET_VARCHAR, child);
                names.add(Api.text(characters));
                Api.call(Calls.FREE, characters);
                Api.destroy(Calls.DESTROY_VALUE, child);
            }
            Api.destroy(Calls.DESTROY_VALUE, list);
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
    public Rows query(String sql) throws SqlException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment extracted = Api.cell(arena);
            long text = Api.text(arena, sql);
            int count = (int) Api.call(Calls.EXTRACT, pointer, text, extracted.address());
            try {
                if (count == 0) {
                    String message = Api.text(Api.call(Calls.EXTRACT_ERROR, Api.value(extracted)));
                    throw new SqlException(message.isEmpty() ? "no statement" : message);
                }
                for (int i = 0; i < count - 1; i++) {
                    prepare(Api.value(extracted), i).close();
                }
                return prepare(Api.value(extracted), count - 1);
            } finally {
                Api.call(Calls.DESTROY_EXTRACTED, extracted.address());
            }
        }
    }

    private Rows prepare(long extracted, int index) throws SqlException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment prepared = Api.cell(arena);
            long state = Api.call(Calls.PREPARE, pointer, extracted, index, prepared.address());
            try {
                if (Api.failed(state)) {
                    throw new SqlException(
                            Api.text(Api.call(Calls.PREPARE_ERROR, Api.value(prepared))));
                }
                return new Rows(Api.value(prepared));
            } finally {
                Api.call(Calls.DESTROY_PREPARE, prepared.address());
            }
        }
    }

    /** Ends the statement that runs; may be called by any thread. */
    public void interrupt() {
        Api.call(Calls.INTERRUPT, pointer);
    }

    @Override
    public void close() {
        Api.destroy(Calls.DISCONNECT, pointer);
    }
}
