package sonde.store.duckdb;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import sonde.sys.NativeLibrary;

/** An embedded DuckDB that lives in memory. */
public final class SqlDatabase implements AutoCloseable {
    private static final class DatabaseCalls {
        static final MemorySegment CREATE_CONFIG = DuckDbApi.function("create_config");
        static final MemorySegment SET_CONFIG = DuckDbApi.function("set_config");
        static final MemorySegment DESTROY_CONFIG = DuckDbApi.function("destroy_config");
        static final MemorySegment OPEN = DuckDbApi.function("open_ext");
        static final MemorySegment FREE = DuckDbApi.function("free");
        static final MemorySegment CLOSE = DuckDbApi.function("close");
        static final MemorySegment ADD_REPLACEMENT = DuckDbApi.function("add_replacement_scan");
    }

    private final long pointer;

    private SqlDatabase(long pointer) {
        this.pointer = pointer;
    }

    /**
     * Opens an empty database.
     *
     * @param settings names and values as SQL's SET takes them
     * @throws IOException when the library or a setting is refused
     */
    public static SqlDatabase open(Map<String, String> settings) throws IOException {
        DuckDbApi.load();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment config = DuckDbApi.cell(arena);
            DuckDbApi.call(DatabaseCalls.CREATE_CONFIG, config.address());
            for (Map.Entry<String, String> one : settings.entrySet()) {
                long name = DuckDbApi.text(arena, one.getKey());
                long value = DuckDbApi.text(arena, one.getValue());
                if (DuckDbApi.failed(
                        DuckDbApi.call(
                                DatabaseCalls.SET_CONFIG, DuckDbApi.value(config), name, value))) {
                    throw new SqlException("DuckDB does not take the setting " + one);
                }
            }
            MemorySegment made = DuckDbApi.cell(arena);
            MemorySegment error = DuckDbApi.cell(arena);
            long state =
                    DuckDbApi.call(
                            DatabaseCalls.OPEN,
                            0,
                            made.address(),
                            DuckDbApi.value(config),
                            error.address());
            DuckDbApi.call(DatabaseCalls.DESTROY_CONFIG, config.address());
            if (DuckDbApi.failed(state)) {
                String message = DuckDbApi.text(DuckDbApi.value(error));
                DuckDbApi.call(DatabaseCalls.FREE, DuckDbApi.value(error));
                throw new SqlException(message);
            }
            return new SqlDatabase(DuckDbApi.value(made));
        }
    }

    /** Another connection; connections may be used at the same time. */
    public SqlConnection connect() throws SqlException {
        return new SqlConnection(pointer);
    }

    /**
     * A table function and its argument that stand for a name no table has.
     *
     * @param function one that takes a text
     */
    public record Replacement(String function, String argument) {}

    /** Has names that no table has looked up; to be called once, before the first statement. */
    public void replaceNames(Function<String, Optional<Replacement>> names) {
        Replacements.NAMES.put(pointer, names);
        DuckDbApi.call(DatabaseCalls.ADD_REPLACEMENT, pointer, Replacements.ON_NAME, pointer, 0);
    }

    private static final class Replacements {
        static final MemorySegment SET_NAME =
                DuckDbApi.function("replacement_scan_set_function_name");
        static final MemorySegment ADD = DuckDbApi.function("replacement_scan_add_parameter");
        static final MemorySegment VARCHAR = DuckDbApi.function("create_varchar");
        static final MemorySegment DESTROY_VALUE = DuckDbApi.function("destroy_value");
        static final long ON_NAME =
                NativeLibrary.callback(java.lang.invoke.MethodHandles.lookup(), "onName", 3)
                        .address();

        /** By the database, which DuckDB hands back: several may be open. */
        static final Map<Long, Function<String, Optional<Replacement>>> NAMES =
                new ConcurrentHashMap<>();

        @SuppressWarnings("UnusedMethod") // C calls it
        private static void onName(long info, long name, long database) {
            try (Arena arena = Arena.ofConfined()) {
                Function<String, Optional<Replacement>> names =
                        NAMES.getOrDefault(database, other -> Optional.empty());
                Replacement found = names.apply(DuckDbApi.text(name)).orElse(null);
                if (found != null) {
                    DuckDbApi.call(SET_NAME, info, DuckDbApi.text(arena, found.function()));
                    long value = DuckDbApi.call(VARCHAR, DuckDbApi.text(arena, found.argument()));
                    DuckDbApi.call(ADD, info, value);
                    DuckDbApi.destroy(DESTROY_VALUE, value);
                }
            } catch (RuntimeException | Error failure) {
                // DuckDB then says that there is no such table.
                assert failure != null;
            }
        }
    }

    @Override
    public void close() {
        Replacements.NAMES.remove(pointer);
        DuckDbApi.destroy(DatabaseCalls.CLOSE, pointer);
    }
}
