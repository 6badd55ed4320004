package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import sonde.store.duckdb.TableFunction.Column;
import sonde.store.duckdb.TableFunction.Scan;
import sonde.store.duckdb.TableFunction.Table;
import sonde.store.duckdb.TableFunction.Worker;

/**
 * What DuckDB calls for a {@link TableFunction}. Its pointers to our state are numbers into a map;
 * nothing may be thrown into C, so every failure becomes the statement's error.
 */
final class Callbacks {
    private static final Map<Long, Object> STATES = new ConcurrentHashMap<>();
    private static final AtomicLong NEXT = new AtomicLong(1);

    private static final MemorySegment CREATE = Api.function("create_table_function");
    private static final MemorySegment DESTROY = Api.function("destroy_table_function");
    private static final MemorySegment SET_NAME = Api.function("table_function_set_name");
    private static final MemorySegment ADD_PARAMETER = Api.function("table_function_add_parameter");
    private static final MemorySegment SET_EXTRA = Api.function("table_function_set_extra_info");
    private static final MemorySegment SET_BIND = Api.function("table_function_set_bind");
    private static final MemorySegment SET_INIT = Api.function("table_function_set_init");
    private static final MemorySegment SET_LOCAL = Api.function("table_function_set_local_init");
    private static final MemorySegment SET_FUNCTION = Api.function("table_function_set_function");
    private static final MemorySegment PUSHDOWN =
            Api.function("table_function_supports_projection_pushdown");
    private static final MemorySegment REGISTER = Api.function("register_table_function");

    private static final MemorySegment BIND_EXTRA = Api.function("bind_get_extra_info");
    private static final MemorySegment BIND_PARAMETER = Api.function("bind_get_parameter");
    private static final MemorySegment BIND_COLUMN = Api.function("bind_add_result_column");
    private static final MemorySegment BIND_ROWS = Api.function("bind_set_cardinality");
    private static final MemorySegment BIND_SET = Api.function("bind_set_bind_data");
    private static final MemorySegment BIND_ERROR = Api.function("bind_set_error");
    private static final MemorySegment GET_VARCHAR = Api.function("get_varchar");
    private static final MemorySegment DESTROY_VALUE = Api.function("destroy_value");
    private static final MemorySegment FREE = Api.function("free");

    private static final MemorySegment INIT_BOUND = Api.function("init_get_bind_data");
    private static final MemorySegment INIT_COUNT = Api.function("init_get_column_count");
    private static final MemorySegment INIT_INDEX = Api.function("init_get_column_index");
    private static final MemorySegment INIT_THREADS = Api.function("init_set_max_threads");
    private static final MemorySegment INIT_SET = Api.function("init_set_init_data");
    private static final MemorySegment INIT_ERROR = Api.function("init_set_error");

    private static final MemorySegment GLOBAL = Api.function("function_get_init_data");
    private static final MemorySegment LOCAL = Api.function("function_get_local_init_data");
    private static final MemorySegment FUNCTION_ERROR = Api.function("function_set_error");
    private static final MemorySegment CHUNK_VECTOR = Api.function("data_chunk_get_vector");
    private static final MemorySegment CHUNK_SIZE = Api.function("data_chunk_set_size");

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final long ON_BIND = sonde(LOOKUP, "onBind", 1);
    private static final long ON_INIT = sonde(LOOKUP, "onInit", 1);
    private static final long ON_LOCAL = sonde(LOOKUP, "onLocalInit", 1);
    private static final long ON_FILL = sonde(LOOKUP, "onFill", 2);
    private static final long ON_DELETE = sonde(LOOKUP, "onDelete", 1);

    private Callbacks() {}

    private static long sonde(MethodHandles.Lookup lookup, String name, int arguments) {
        return sonde.sys.NativeLibrary.callback(lookup, name, arguments).address();
    }

    /** A reading and the widths of its vectors. */
    private record Reading(Scan scan, int[] widths) {
        void close() {
            scan.close();
        }
    }

    /** A thread's part of a reading. */
    private static final class Part {
        private @Nullable Worker worker;
    }

    static void register(long connection, String name, TableFunction function) throws SqlException {
        long made = Api.call(CREATE);
        try (Arena arena = Arena.ofConfined()) {
            Api.call(SET_NAME, made, Api.text(arena, name));
            long varchar = ColumnType.VARCHAR.create();
            Api.call(ADD_PARAMETER, made, varchar);
            ColumnType.destroy(varchar);
            Api.call(SET_EXTRA, made, keep(function), ON_DELETE);
            Api.call(SET_BIND, made, ON_BIND);
            Api.call(SET_INIT, made, ON_INIT);
            Api.call(SET_LOCAL, made, ON_LOCAL);
            Api.call(SET_FUNCTION, made, ON_FILL);
            Api.call(PUSHDOWN, made, 1);
            if (Api.failed(Api.call(REGISTER, connection, made))) {
                throw new SqlException("the table function " + name + " is refused");
            }
        } finally {
            Api.destroy(DESTROY, made);
        }
    }

    private static long keep(Object state) {
        long number = NEXT.getAndIncrement();
        STATES.put(number, state);
        return number;
    }

    private static <T> T state(Class<T> type, long number) {
        return type.cast(Objects.requireNonNull(STATES.get(number)));
    }

    // The rest is called by C.

    @SuppressWarnings("UnusedMethod")
    private static void onBind(long info) {
        try (Arena arena = Arena.ofConfined()) {
            long value = Api.call(BIND_PARAMETER, info, 0);
            long characters = Api.call(GET_VARCHAR, value);
            String argument = Api.text(characters);
            Api.call(FREE, characters);
            Api.destroy(DESTROY_VALUE, value);
            TableFunction function = state(TableFunction.class, Api.call(BIND_EXTRA, info));
            Table table = function.bind(argument);
            for (Column column : table.columns()) {
                long type = column.type().create();
                Api.call(BIND_COLUMN, info, Api.text(arena, column.name()), type);
                ColumnType.destroy(type);
            }
            if (table.rows() >= 0) {
                Api.call(BIND_ROWS, info, table.rows(), 0);
            }
            Api.call(BIND_SET, info, keep(table), ON_DELETE);
        } catch (Throwable failure) {
            fail(BIND_ERROR, info, failure);
        }
    }

    @SuppressWarnings("UnusedMethod")
    private static void onInit(long info) {
        try {
            Table table = state(Table.class, Api.call(INIT_BOUND, info));
            int[] columns = new int[(int) Api.call(INIT_COUNT, info)];
            int[] widths = new int[columns.length];
            for (int i = 0; i < columns.length; i++) {
                long index = Api.call(INIT_INDEX, info, i);
                boolean real = index >= 0 && index < table.columns().size();
                columns[i] = real ? (int) index : Integer.MAX_VALUE;
                widths[i] = real ? table.columns().get((int) index).type().widthBytes() : 0;
            }
            Scan scan = table.scan(columns);
            Api.call(INIT_THREADS, info, scan.threads());
            Api.call(INIT_SET, info, keep(new Reading(scan, widths)), ON_DELETE);
        } catch (Throwable failure) {
            fail(INIT_ERROR, info, failure);
        }
    }

    @SuppressWarnings("UnusedMethod")
    private static void onLocalInit(long info) {
        try {
            Api.call(INIT_SET, info, keep(new Part()), ON_DELETE);
        } catch (Throwable failure) {
            fail(INIT_ERROR, info, failure);
        }
    }

    @SuppressWarnings("UnusedMethod")
    private static void onFill(long info, long chunk) {
        try {
            Reading reading = state(Reading.class, Api.call(GLOBAL, info));
            Part part = state(Part.class, Api.call(LOCAL, info));
            Worker worker = part.worker;
            if (worker == null) {
                worker = reading.scan.worker();
                part.worker = worker;
            }
            Vector[] vectors = new Vector[reading.widths.length];
            for (int i = 0; i < vectors.length; i++) {
                long pointer = Api.call(CHUNK_VECTOR, chunk, i);
                vectors[i] = new Vector(pointer, reading.widths[i]);
            }
            Api.call(CHUNK_SIZE, chunk, worker.fill(vectors));
        } catch (Throwable failure) {
            fail(FUNCTION_ERROR, info, failure);
        }
    }

    @SuppressWarnings("UnusedMethod")
    private static void onDelete(long number) {
        try {
            Object state = STATES.remove(number);
            if (state instanceof Reading reading) {
                reading.close();
            } else if (state instanceof Part part && part.worker != null) {
                part.worker.close();
            }
        } catch (RuntimeException | Error ignored) {
            // What could not be given back is not the statement's fault.
            STATES.remove(number);
        }
    }

    private static void fail(MemorySegment setter, long info, Throwable failure) {
        try (Arena arena = Arena.ofConfined()) {
            String message = failure.getMessage();
            String text = message == null ? failure.toString() : message;
            Api.call(setter, info, Api.text(arena, text));
        }
    }
}
