package sonde.store.duckdb;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import sonde.sys.NativeLibrary;

/** An embedded DuckDB that lives in memory. */
public final class Database implements AutoCloseable {
    private static final class Calls {
        static final MemorySegment CREATE_CONFIG = Api.function("create_config");
        static final MemorySegment SET_CONFIG = Api.function("set_config");
        static final MemorySegment DESTROY_CONFIG = Api.function("destroy_config");
        static final MemorySegment OPEN = Api.function("open_ext");
        static final MemorySegment FREE = Api.function("free");
        static final MemorySegment CLOSE = Api.function("close");
        static final MemorySegment ADD_REPLACEMENT = Api.function("add_replacement_scan");
    }

    private final long pointer;

    private Database(long pointer) {
        this.pointer = pointer;
    }

    /**
     * Opens an empty database.
     *
     * @param settings names and values as SQL's SET takes them
     * @throws IOException when the library or a setting is refused
     */
    public static Database open(Map<String, String> settings) throws IOException {
        Api.load();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment config = Api.cell(arena);
            Api.call(Calls.CREATE_CONFIG, config.address());
            for (Map.Entry<String, String> one : settings.entrySet()) {
                long name = Api.text(arena, one.getKey());
                long value = Api.text(arena, one.getValue());
                if (Api.failed(Api.call(Calls.SET_CONFIG, Api.value(config), name, value))) {
                    throw new SqlException("DuckDB does not take the setting " + one);
                }
            }
            MemorySegment made = Api.cell(arena);
            MemorySegment error = Api.cell(arena);
            long state =
                    Api.call(Calls.OPEN, 0, made.address(), Api.value(config), error.address());
            Api.call(Calls.DESTROY_CONFIG, config.address());
            if (Api.failed(state)) {
                String message = Api.text(Api.value(error));
                Api.call(Calls.FREE, Api.value(error));
                throw new SqlException(message);
            }
            return new Database(Api.value(made));
        }
    }

    /** Another connection; connections may be used at the same time. */
    public Connection connect() throws SqlException {
        return new Connection(pointer);
    }

    /**
     * A table function and its argument that stand for a name no table has.
     *
     * @param function one that takes a text
     */
    public record Replacement(String function, String argument) {}

    /** Has names that no table has looked up; to be called once, before the first statement. */
    public void replaceNames(Function<String, Optional<Replacement>> names) {
        Replacements.set(names);
        Api.call(Calls.ADD_REPLACEMENT, pointer, Replacements.ON_NAME, 0, 0);
    }

    private static final class Replacements {
        static final MemorySegment SET_NAME = Api.function("replacement_scan_set_function_name");
        static final MemorySegment ADD = Api.function("replacement_scan_add_parameter");
        static final MemorySegment VARCHAR = Api.function("create_varchar");
        static final MemorySegment DESTROY_VALUE = Api.function("destroy_value");
        static final long ON_NAME =
                NativeLibrary.callback(java.lang.invoke.MethodHandles.lookup(), "onName", 2)
                        .address();

        private static volatile Function<String, Optional<Replacement>> names =
                name -> Optional.empty();

        static void set(Function<String, Optional<Replacement>> function) {
            names = function;
        }

        @SuppressWarnings("UnusedMethod") // C calls it
        private static void onName(long info, long name) {
            try (Arena arena = Arena.ofConfined()) {
                Replacement found = names.apply(Api.text(name)).orElse(null);
                if (found != null) {
                    Api.call(SET_NAME, info, Api.text(arena, found.function()));
                    long value = Api.call(VARCHAR, Api.text(arena, found.argument()));
                    Api.call(ADD, info, value);
                    Api.destroy(DESTROY_VALUE, value);
                }
            } catch (RuntimeException | Error failure) {
                // DuckDB then says that there is no such table.
                assert failure != null;
            }
        }
    }

    @Override
    public void close() {
        Api.destroy(Calls.CLOSE, pointer);
    }
}
