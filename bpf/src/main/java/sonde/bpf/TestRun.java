package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Input of a run without attachment.
 *
 * @param data a packet of at least 14 bytes; empty for programs that see none
 * @param context struct __sk_buff, struct xdp_md, the arguments of a raw tracepoint; empty for none
 * @param repeat how often, at least 1; only packets may be repeated
 * @param outputBytes room for the packet as the program leaves it
 */
public record TestRun(byte[] data, byte[] context, int repeat, int outputBytes) {
    private static final int MOST_BYTES = 64 << 20;

    /**
     * What came of it.
     *
     * @param value what the program returned
     * @param nanos of one run, the mean
     * @param data the packet afterwards, as far as there was room
     * @param context afterwards
     */
    public record TestOutcome(int value, int nanos, byte[] data, byte[] context) {}

    /** Without packet or context, once. */
    public static TestRun once() {
        return new TestRun(new byte[0], new byte[0], 1, 0);
    }

    /** On a packet, so many times. */
    public static TestRun packet(byte[] data, int repeat) {
        return new TestRun(data, new byte[0], repeat, data.length);
    }

    /** On a context, once. */
    public static TestRun context(byte[] context) {
        return new TestRun(new byte[0], context, 1, 0);
    }

    TestOutcome of(Program program) throws BpfRefusedException, SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            int room = Math.min(outputBytes, MOST_BYTES);
            MemorySegment out = arena.allocate(Math.max(1, room), 8);
            MemorySegment contextOut = arena.allocate(Math.max(1, context.length), 8);
            attr.set(JAVA_INT, 0, program.fd());
            attr.set(JAVA_INT, 8, data.length);
            attr.set(JAVA_INT, 12, room);
            attr.set(JAVA_LONG, 16, copy(arena, data));
            attr.set(JAVA_LONG, 24, room == 0 ? 0 : out.address());
            // Kernels refuse a repeat, also of 1, for types that run once only.
            attr.set(JAVA_INT, 32, repeat == 1 ? 0 : repeat);
            attr.set(JAVA_INT, 40, context.length);
            attr.set(JAVA_LONG, 48, copy(arena, context));
            boolean packet = data.length > 0;
            attr.set(JAVA_INT, 44, packet ? context.length : 0);
            attr.set(JAVA_LONG, 56, packet && context.length > 0 ? contextOut.address() : 0);
            long result;
            int attempt = 0;
            do {
                result = Bpf.tryCall(BpfAttr.PROG_TEST_RUN, attr);
            } while ((result == -Errno.EINTR || result == -Errno.EAGAIN) && ++attempt < 5);
            // ENOSPC: the packet has grown beyond the room; the part that fits is there.
            if (result < 0 && result != -Errno.ENOSPC) {
                throw failure(program, (int) -result);
            }
            int size = Math.clamp(attr.get(JAVA_INT, 12), 0, room);
            int contextSize = Math.clamp(attr.get(JAVA_INT, 44), 0, packet ? context.length : 0);
            return new TestOutcome(
                    attr.get(JAVA_INT, 4),
                    attr.get(JAVA_INT, 36),
                    out.asSlice(0, size).toArray(JAVA_BYTE),
                    contextOut.asSlice(0, contextSize).toArray(JAVA_BYTE));
        }
    }

    private static long copy(Arena arena, byte[] bytes) {
        if (bytes.length == 0) {
            return 0;
        }
        MemorySegment copy = arena.allocate(bytes.length, 8);
        MemorySegment.copy(bytes, 0, copy, JAVA_BYTE, 0, bytes.length);
        return copy.address();
    }

    private static SyscallException failure(Program program, int errno) throws BpfRefusedException {
        String what = "test run of program " + program.name();
        if (errno == BpfAttr.ENOTSUPP || errno == Errno.EOPNOTSUPP) {
            throw new BpfRefusedException(
                    what,
                    errno,
                    BpfRefusedException.Barrier.UNSUPPORTED,
                    "this kernel does not run programs of its type without an attachment",
                    "");
        }
        BpfRefusedException refused = RefusalCause.of(what, errno);
        if (refused != null) {
            throw refused;
        }
        return new SyscallException("bpf", what, errno);
    }
}
