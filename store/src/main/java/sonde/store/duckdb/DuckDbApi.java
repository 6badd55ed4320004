package sonde.store.duckdb;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import sonde.sys.NativeLibrary;

/** The functions of DuckDB's C API (duckdb.h) by name, and what their arguments need. */
final class DuckDbApi {
    /** Most bytes of a message or name that is taken over. */
    private static final int MAX_TEXT = 1 << 20;

    private static @Nullable NativeLibrary library;

    private DuckDbApi() {}

    /**
     * Loads the library if that has not happened.
     *
     * @throws IOException when it cannot be loaded
     */
    static synchronized void load() throws IOException {
        if (library == null) {
            Path file = DuckDbLibrary.file();
            try {
                library = NativeLibrary.open(file);
            } catch (IOException e) {
                throw new IOException(
                        e.getMessage() + "; it needs libstdc++.so.6 (Debian: libstdc++6)", e);
            }
        }
    }

    /** A function to be kept in a static field. */
    static MemorySegment function(String name) {
        NativeLibrary loaded = library;
        if (loaded == null) {
            throw new IllegalStateException("DuckDB is used before a database is open");
        }
        return loaded.function("duckdb_" + name);
    }

    static long call(MemorySegment function) {
        return NativeLibrary.call(function, 0, 0, 0, 0, 0, 0);
    }

    static long call(MemorySegment function, long a0) {
        return NativeLibrary.call(function, a0, 0, 0, 0, 0, 0);
    }

    static long call(MemorySegment function, long a0, long a1) {
        return NativeLibrary.call(function, a0, a1, 0, 0, 0, 0);
    }

    static long call(MemorySegment function, long a0, long a1, long a2) {
        return NativeLibrary.call(function, a0, a1, a2, 0, 0, 0);
    }

    static long call(MemorySegment function, long a0, long a1, long a2, long a3) {
        return NativeLibrary.call(function, a0, a1, a2, a3, 0, 0);
    }

    /** Whether a {@code duckdb_state} says that something failed. */
    static boolean failed(long state) {
        return (int) state != 0;
    }

    /** A NUL-terminated copy; text up to its first NUL, as C sees it. */
    static long text(Arena arena, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        MemorySegment copy = arena.allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, copy, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return copy.address();
    }

    /** The text at an address, empty at 0. */
    static String text(long address) {
        return address == 0 ? "" : NativeLibrary.text(address, MAX_TEXT);
    }

    /** A cell for a pointer that a function gives back. */
    static MemorySegment cell(Arena arena) {
        return arena.allocate(ValueLayout.JAVA_LONG);
    }

    static long value(MemorySegment cell) {
        return cell.get(ValueLayout.JAVA_LONG, 0);
    }

    /** Calls one of the functions that take {@code T*} and destroy what it points to. */
    static void destroy(MemorySegment function, long pointer) {
        if (pointer != 0) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment cell = cell(arena);
                cell.set(ValueLayout.JAVA_LONG, 0, pointer);
                call(function, cell.address());
            }
        }
    }
}
