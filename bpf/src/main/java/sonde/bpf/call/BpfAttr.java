package sonde.bpf.call;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * {@code union bpf_attr} (include/uapi/linux/bpf.h) and the commands of bpf(2). Kernels accept a
 * longer one than they know when the rest is zero, so one size serves all commands.
 */
public final class BpfAttr {
    /** Bytes of every command's attributes up to Linux 6.18. */
    public static final int SIZE = 168;

    // Commands: enum bpf_cmd.
    public static final int MAP_CREATE = 0;
    public static final int MAP_LOOKUP_ELEM = 1;
    public static final int MAP_UPDATE_ELEM = 2;
    public static final int MAP_DELETE_ELEM = 3;
    public static final int MAP_GET_NEXT_KEY = 4;
    public static final int PROG_LOAD = 5;
    public static final int OBJ_PIN = 6;
    public static final int OBJ_GET = 7;
    public static final int PROG_TEST_RUN = 10;
    public static final int PROG_GET_NEXT_ID = 11;
    public static final int MAP_GET_NEXT_ID = 12;
    public static final int PROG_GET_FD_BY_ID = 13;
    public static final int MAP_GET_FD_BY_ID = 14;
    public static final int OBJ_GET_INFO_BY_FD = 15;
    public static final int PROG_QUERY = 16;
    public static final int RAW_TRACEPOINT_OPEN = 17;
    public static final int BTF_LOAD = 18;
    public static final int BTF_GET_FD_BY_ID = 19;
    public static final int TASK_FD_QUERY = 20;
    public static final int MAP_LOOKUP_AND_DELETE_ELEM = 21;
    public static final int MAP_FREEZE = 22;
    public static final int BTF_GET_NEXT_ID = 23;
    public static final int MAP_LOOKUP_BATCH = 24;
    public static final int MAP_LOOKUP_AND_DELETE_BATCH = 25;
    public static final int MAP_UPDATE_BATCH = 26;
    public static final int MAP_DELETE_BATCH = 27;
    public static final int LINK_CREATE = 28;
    public static final int LINK_UPDATE = 29;
    public static final int LINK_GET_FD_BY_ID = 30;
    public static final int LINK_GET_NEXT_ID = 31;
    public static final int ENABLE_STATS = 32;
    public static final int ITER_CREATE = 33;
    public static final int LINK_DETACH = 34;

    /** ENOTSUPP (include/linux/errno.h): no errno of user space, yet bpf(2) returns it. */
    public static final int ENOTSUPP = 524;

    /** BPF_OBJ_NAME_LEN, with the NUL. */
    private static final int NAME_BYTES = 16;

    private BpfAttr() {}

    /** A zeroed one. */
    public static MemorySegment allocate(Arena arena) {
        return arena.allocate(SIZE, 8);
    }

    /**
     * Writes a name: cut to 15 bytes, what the kernel does not take (all but letters, digits,
     * {@code _} and {@code .}) as {@code _}.
     */
    public static void name(MemorySegment attr, int offset, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        int length = Math.min(bytes.length, NAME_BYTES - 1);
        for (int i = 0; i < length; i++) {
            byte b = bytes[i];
            boolean allowed =
                    b >= 'a' && b <= 'z'
                            || b >= 'A' && b <= 'Z'
                            || b >= '0' && b <= '9'
                            || b == '.';
            attr.set(JAVA_BYTE, (long) offset + i, allowed ? b : (byte) '_');
        }
    }

    /** Clears a name again, for kernels without names (before 4.15). */
    public static void noName(MemorySegment attr, int offset) {
        attr.asSlice(offset, NAME_BYTES).fill((byte) 0);
    }
}
