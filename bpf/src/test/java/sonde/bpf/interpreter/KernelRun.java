package sonde.bpf.interpreter;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import sonde.sys.Bpf;
import sonde.sys.Fd;

/** Programs in the kernel by BPF_PROG_TEST_RUN, with bpf(2) written out. */
public final class KernelRun implements AutoCloseable {
    public static final int SOCKET_FILTER = 1;
    public static final int XDP = 6;

    private static final int MAP_CREATE = 0;
    private static final int PROG_LOAD = 5;
    private static final int PROG_TEST_RUN = 10;
    private static final int LOG_BYTES = 1 << 20;

    /** What a run left: R0's lower half, and the packet. */
    public record Result(int value, byte[] packet) {}

    private final int fd;

    private KernelRun(int fd) {
        this.fd = fd;
    }

    /**
     * Loads a program.
     *
     * @throws IllegalStateException with the verifier's log when it is refused
     */
    public static KernelRun load(int type, long[] words) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(128, 8);
            attr.set(JAVA_INT, 0, type);
            attr.set(JAVA_INT, 4, words.length);
            attr.set(JAVA_LONG, 8, arena.allocateFrom(JAVA_LONG, words).address());
            attr.set(JAVA_LONG, 16, arena.allocateFrom("GPL").address());
            long fd = Bpf.tryCall(PROG_LOAD, attr);
            if (fd < 0) {
                MemorySegment log = arena.allocate(LOG_BYTES);
                attr.set(JAVA_INT, 24, 1);
                attr.set(JAVA_INT, 28, LOG_BYTES);
                attr.set(JAVA_LONG, 32, log.address());
                Bpf.tryCall(PROG_LOAD, attr);
                throw new IllegalStateException(
                        fd + ": " + log.getString(0, StandardCharsets.ISO_8859_1));
            }
            return new KernelRun((int) fd);
        }
    }

    /** Makes a map; its descriptor. */
    public static int map(int type, int keyBytes, int valueBytes, int entries, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(128, 8);
            attr.set(JAVA_INT, 0, type);
            attr.set(JAVA_INT, 4, keyBytes);
            attr.set(JAVA_INT, 8, valueBytes);
            attr.set(JAVA_INT, 12, entries);
            attr.set(JAVA_INT, 16, flags);
            long fd = Bpf.tryCall(MAP_CREATE, attr);
            if (fd < 0) {
                throw new IllegalStateException("map of type " + type + ": " + fd);
            }
            return (int) fd;
        }
    }

    /** Closes a map's descriptor. */
    public static void discard(int mapFd) {
        Fd.discard(mapFd);
    }

    /** Runs the program once on a packet. */
    public Result run(byte[] packet) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(128, 8);
            MemorySegment out = arena.allocate(packet.length + 1024L);
            attr.set(JAVA_INT, 0, fd);
            attr.set(JAVA_INT, 8, packet.length);
            attr.set(JAVA_INT, 12, (int) out.byteSize());
            attr.set(JAVA_LONG, 16, arena.allocateFrom(JAVA_BYTE, packet).address());
            attr.set(JAVA_LONG, 24, out.address());
            attr.set(JAVA_INT, 32, 1);
            long result = Bpf.tryCall(PROG_TEST_RUN, attr);
            if (result < 0) {
                throw new IllegalStateException("BPF_PROG_TEST_RUN: " + result);
            }
            int length = Math.min(attr.get(JAVA_INT, 12), (int) out.byteSize());
            byte[] bytes = out.asSlice(0, length).toArray(JAVA_BYTE);
            return new Result(attr.get(JAVA_INT, 4), Arrays.copyOf(bytes, length));
        }
    }

    @Override
    public void close() {
        Fd.discard(fd);
    }
}
