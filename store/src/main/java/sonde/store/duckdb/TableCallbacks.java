package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import sonde.store.duckdb.TableFunction.FunctionColumn;
import sonde.store.duckdb.TableFunction.ScanWorker;
import sonde.store.duckdb.TableFunction.ScannedTable;
import sonde.store.duckdb.TableFunction.TableScan;

/**
 * What DuckDB calls for a {@link TableFunction}. Its pointers to our state are numbers into a map;
 * nothing may be thrown into C, so every failure becomes the statement's error.
 */
final class TableCallbacks {
    private static final Map<Long, Object> STATES = new ConcurrentHashMap<>();
    private static final AtomicLong NEXT = new AtomicLong(1);

    private static final MemorySegment CREATE = DuckDbApi.function("create_table_function");
    private static final MemorySegment DESTROY = DuckDbApi.function("destroy_table_function");
    private static final MemorySegment SET_NAME = DuckDbApi.function("table_function_set_name");
    private static final MemorySegment ADD_PARAMETER =
            DuckDbApi.function("table_function_add_parameter");
    private static final MemorySegment SET_EXTRA =
            DuckDbApi.function("table_function_set_extra_info");
    private static final MemorySegment SET_BIND = DuckDbApi.function("table_function_set_bind");
    private static final MemorySegment SET_INIT = DuckDbApi.function("table_function_set_init");
    private static final MemorySegment SET_LOCAL =
            DuckDbApi.function("table_function_set_local_init");
    private static final MemorySegment SET_FUNCTION =
            DuckDbApi.function("table_function_set_function");
    private static final MemorySegment PUSHDOWN =
            DuckDbApi.function("table_function_supports_projection_pushdown");
    private static final MemorySegment REGISTER = DuckDbApi.function("register_table_function");

    private static final MemorySegment BIND_EXTRA = DuckDbApi.function("bind_get_extra_info");
    private static final MemorySegment BIND_PARAMETER = DuckDbApi.function("bind_get_parameter");
    private static final MemorySegment BIND_COLUMN = DuckDbApi.function("bind_add_result_column");
    private static final MemorySegment BIND_ROWS = DuckDbApi.function("bind_set_cardinality");
    private static final MemorySegment BIND_SET = DuckDbApi.function("bind_set_bind_data");
    private static final MemorySegment BIND_ERROR = DuckDbApi.function("bind_set_error");
    private static final MemorySegment GET_VARCHAR = DuckDbApi.function("get_varchar");
    private static final MemorySegment DESTROY_VALUE = DuckDbApi.function("destroy_value");
    private static final MemorySegment FREE = DuckDbApi.function("free");

    private static final MemorySegment INIT_BOUND = DuckDbApi.function("init_get_bind_data");
    private static final MemorySegment INIT_COUNT = DuckDbApi.function("init_get_column_count");
    private static final MemorySegment INIT_INDEX = DuckDbApi.function("init_get_column_index");
    private static final MemorySegment INIT_THREADS = DuckDbApi.function("init_set_max_threads");
    private static final MemorySegment INIT_SET = DuckDbApi.function("init_set_init_data");
    private static final MemorySegment INIT_ERROR = DuckDbApi.function("init_set_error");

    private static final MemorySegment GLOBAL = DuckDbApi.function("function_get_init_data");
    private static final MemorySegment LOCAL = DuckDbApi.function("function_get_local_init_data");
    private static final MemorySegment FUNCTION_ERROR = DuckDbApi.function("function_set_error");
    private static final MemorySegment CHUNK_VECTOR = DuckDbApi.function("data_chunk_get_vector");
    private static final MemorySegment CHUNK_SIZE = DuckDbApi.function("data_chunk_set_size");

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final long ON_BIND = sonde(LOOKUP, "onBind", 1);
    private static final long ON_INIT = sonde(LOOKUP, "onInit", 1);
    private static final long ON_LOCAL = sonde(LOOKUP, "onLocalInit", 1);
    private static final long ON_FILL = sonde(LOOKUP, "onFill", 2);
    private static final long ON_DELETE = sonde(LOOKUP, "onDelete", 1);

    private TableCallbacks() {}

    private static long sonde(MethodHandles.Lookup lookup, String name, int arguments) {
        return sonde.sys.NativeLibrary.callback(lookup, name, arguments).address();
    }

    /** A reading and the widths of its vectors. */
    private record ActiveScan(TableScan scan, int[] widths) {
        void close() {
            scan.close();
        }
    }

    /** A thread's part of a reading. */
    private static final class ThreadScan {
        private @Nullable ScanWorker worker;
    }

    static void register(long connection, String name, TableFunction function) throws SqlException {
        long made = DuckDbApi.call(CREATE);
        try (Arena arena = Arena.ofConfined()) {
            DuckDbApi.call(SET_NAME, made, DuckDbApi.text(arena, name));
            long varchar = ColumnType.VARCHAR.create();
            DuckDbApi.call(ADD_PARAMETER, made, varchar);
            ColumnType.destroy(varchar);
            DuckDbApi.call(SET_EXTRA, made, keep(function), ON_DELETE);
            DuckDbApi.call(SET_BIND, made, ON_BIND);
            DuckDbApi.call(SET_INIT, made, ON_INIT);
            DuckDbApi.call(SET_LOCAL, made, ON_LOCAL);
            DuckDbApi.call(SET_FUNCTION, made, ON_FILL);
            DuckDbApi.call(PUSHDOWN, made, 1);
            if (DuckDbApi.failed(DuckDbApi.call(REGISTER, connection, made))) {
                throw new SqlException("the table function " + name + " is refused");
            }
        } finally {
            DuckDbApi.destroy(DESTROY, made);
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
            long value = DuckDbApi.call(BIND_PARAMETER, info, 0);
            long characters = DuckDbApi.call(GET_VARCHAR, value);
            String argument = DuckDbApi.text(characters);
            DuckDbApi.call(FREE, characters);
            DuckDbApi.destroy(DESTROY_VALUE, value);
            TableFunction function = state(TableFunction.class, DuckDbApi.call(BIND_EXTRA, info));
            ScannedTable table = function.bind(argument);
            for (FunctionColumn column : table.columns()) {
                long type = column.type().create();
                DuckDbApi.call(BIND_COLUMN, info, DuckDbApi.text(arena, column.name()), type);
                ColumnType.destroy(type);
            }
            if (table.rows() >= 0) {
                DuckDbApi.call(BIND_ROWS, info, table.rows(), 0);
            }
            DuckDbApi.call(BIND_SET, info, keep(table), ON_DELETE);
        } catch (Throwable failure) {
            fail(BIND_ERROR, info, failure);
        }
    }

    @SuppressWarnings("UnusedMethod")
    private static void onInit(long info) {
        try {
            ScannedTable table = state(ScannedTable.class, DuckDbApi.call(INIT_BOUND, info));
            int[] columns = new int[(int) DuckDbApi.call(INIT_COUNT, info)];
            int[] widths = new int[columns.length];
            for (int i = 0; i < columns.length; i++) {
                long index = DuckDbApi.call(INIT_INDEX, info, i);
                boolean real = index >= 0 && index < table.columns().size();
                columns[i] = real ? (int) index : Integer.MAX_VALUE;
                widths[i] = real ? table.columns().get((int) index).type().widthBytes() : 0;
            }
            TableScan scan = table.scan(columns);
            DuckDbApi.call(INIT_THREADS, info, scan.threads());
            DuckDbApi.call(INIT_SET, info, keep(new ActiveScan(scan, widths)), ON_DELETE);
        } catch (Throwable failure) {
            fail(INIT_ERROR, info, failure);
        }
    }

    @SuppressWarnings("UnusedMethod")
    private static void onLocalInit(long info) {
        try {
            DuckDbApi.call(INIT_SET, info, keep(new ThreadScan()), ON_DELETE);
        } catch (Throwable failure) {
            fail(INIT_ERROR, info, failure);
        }
    }

    @SuppressWarnings("UnusedMethod")
    private static void onFill(long info, long chunk) {
        try {
            ActiveScan reading = state(ActiveScan.class, DuckDbApi.call(GLOBAL, info));
            ThreadScan part = state(ThreadScan.class, DuckDbApi.call(LOCAL, info));
            ScanWorker worker = part.worker;
            if (worker == null) {
                worker = reading.scan.worker();
                part.worker = worker;
            }
            ColumnVector[] vectors = new ColumnVector[reading.widths.length];
            for (int i = 0; i < vectors.length; i++) {
                long pointer = DuckDbApi.call(CHUNK_VECTOR, chunk, i);
                vectors[i] = new ColumnVector(pointer, reading.widths[i]);
            }
            DuckDbApi.call(CHUNK_SIZE, chunk, worker.fill(vectors));
        } catch (Throwable failure) {
            fail(FUNCTION_ERROR, info, failure);
        }
    }

    @SuppressWarnings("UnusedMethod")
    private static void onDelete(long number) {
        try {
            Object state = STATES.remove(number);
            if (state instanceof ActiveScan reading) {
                reading.close();
            } else if (state instanceof ThreadScan part && part.worker != null) {
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
            DuckDbApi.call(setter, info, DuckDbApi.text(arena, text));
        }
    }
}
