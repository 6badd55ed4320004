package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * {@code union bpf_attr} (include/uapi/linux/bpf.h). Kernels accept a longer one than they know
 * when the rest is zero, so one size serves all commands.
 */
final class Attr {
    static final int SIZE = 168;

    // Commands: enum bpf_cmd.
    static final int MAP_CREATE = 0;
    static final int MAP_LOOKUP_ELEM = 1;
    static final int MAP_UPDATE_ELEM = 2;
    static final int MAP_DELETE_ELEM = 3;
    static final int MAP_GET_NEXT_KEY = 4;
    static final int PROG_LOAD = 5;
    static final int RAW_TRACEPOINT_OPEN = 17;
    static final int MAP_LOOKUP_BATCH = 24;

    /** BPF_OBJ_NAME_LEN, with the NUL. */
    private static final int NAME_BYTES = 16;

    private Attr() {}

    static MemorySegment allocate(Arena arena) {
        return arena.allocate(SIZE, 8);
    }

    /** Writes a name, cut to 15 bytes. */
    static void name(MemorySegment attr, int offset, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        int length = Math.min(bytes.length, NAME_BYTES - 1);
        MemorySegment.copy(bytes, 0, attr, JAVA_BYTE, offset, length);
    }
}
