package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.sys.ResourceTable;

/**
 * Where a version of CPython keeps what its frames are, from {@code python-layouts.txt}.
 *
 * @param version {@code "3.11"}
 * @param values by {@link LayoutField}
 */
record PythonLayout(String version, List<Long> values) {
    /** Each Python function has a native frame. */
    static final int EACH = 0;

    /** The outermost frame of a run is marked. */
    static final int MARKED = 1;

    /** A run ends at a frame on the native stack. */
    static final int SHIM = 2;

    private static final List<String> TABLE =
            ResourceTable.lines(PythonLayout.class.getResourceAsStream("python-layouts.txt"));

    /** "xdebugpy", the begin of struct _Py_DebugOffsets. */
    private static final long COOKIE = 0x7970677562656478L;

    private static final int FREE_THREADED = 2;
    private static final int MOST_OFFSET = 1 << 20;

    /** What is known of a version. */
    enum LayoutField {
        /** Address of _PyRuntime minus the offset in the file of the interpreter's code. */
        RUNTIME,
        INTERPRETERS,
        NEXT_INTERPRETER,
        THREADS,
        NEXT_THREAD,
        THREAD_ID,
        /** In the thread's state: the frame, or a struct _PyCFrame. */
        TOP,
        /** Of the frame in struct _PyCFrame; -1 without one. */
        CFRAME,
        FRAME_BYTES,
        CODE,
        PREVIOUS,
        POSITION,
        OWNER,
        ENTRY,
        /** Of the instructions in the code object; 0 where POSITION is an index. */
        CODE_START,
        UNIT_SHIFT,
        NAME,
        FILE,
        LINES,
        FIRST_LINE,
        ASCII_BYTES,
        LINE_FORMAT
    }

    /** Fields that programs in the kernel need: those before {@link LayoutField#FIRST_LINE}. */
    static final int FIELDS = LayoutField.FIRST_LINE.ordinal();

    /**
     * The layout of a version.
     *
     * @param runtime difference between _PyRuntime and offsets in the file
     * @param state the first bytes of _PyRuntime as the file has them; may be short
     * @return null for a version that is not known
     */
    static @Nullable PythonLayout of(String version, long runtime, MemorySegment state) {
        for (String line : TABLE) {
            String[] words = line.split(" +");
            if (words[0].equals(version)) {
                Long[] values = new Long[LayoutField.values().length];
                values[0] = runtime;
                for (int i = 1; i < values.length; i++) {
                    values[i] = value(words[i], state);
                }
                List<Long> all = Arrays.asList(values);
                boolean good = all.stream().skip(1).allMatch(v -> v >= -1 && v < MOST_OFFSET);
                return good ? new PythonLayout(version, List.copyOf(all)) : null;
            }
        }
        return null;
    }

    /** A number, or the word of the program that has it. */
    private static long value(String word, MemorySegment state) {
        if (word.charAt(0) != '=') {
            return Long.parseLong(word);
        }
        long at = 8L * Integer.parseInt(word, 1, word.length(), 10);
        boolean stated =
                state.byteSize() >= at + 8
                        && state.get(JAVA_LONG_UNALIGNED, 0) == COOKIE
                        && state.get(JAVA_LONG_UNALIGNED, 8 * FREE_THREADED) == 0;
        return stated ? state.get(JAVA_LONG_UNALIGNED, at) : -2;
    }

    int get(LayoutField field) {
        return (int) (long) values.get(field.ordinal());
    }

    /** The fields as programs in the kernel read them. */
    long[] programFields() {
        return values.stream().limit(FIELDS).mapToLong(Long::longValue).toArray();
    }
}
