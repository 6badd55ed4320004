package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import sonde.bpf.insn.Code;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/** A program that passed the verifier. Attachments keep it alive after it is closed here. */
public final class Program implements AutoCloseable {
    private static final int FIRST_LOG = 256 << 10;
    private static final int LARGEST_LOG = 16 << 20;
    private static final int ATTEMPTS = 5;

    private final String name;
    private final int fd;
    private boolean closed;

    private Program(String name, int fd) {
        this.name = name;
        this.fd = fd;
    }

    /**
     * Loads a program, with the licence "GPL" that many helpers ask for.
     *
     * @param name at most 15 bytes of letters, digits, {@code _} and {@code .}
     * @throws VerifierException when the verifier finds fault with it
     * @throws BpfRefusedException when it was not looked at: no rights, policy, no such type
     * @throws SyscallException for anything else (ENOMEM)
     */
    public static Program load(String name, ProgramType type, Code code) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            long[] words = code.words();
            MemorySegment attr = Attr.allocate(arena);
            attr.set(JAVA_INT, 0, type.code());
            attr.set(JAVA_INT, 4, words.length);
            attr.set(JAVA_LONG, 8, arena.allocateFrom(JAVA_LONG, words).address());
            attr.set(JAVA_LONG, 16, arena.allocateFrom("GPL").address());
            Attr.name(attr, 48, name);
            long fd = load(attr);
            if (fd < 0) {
                throw failure(name, code, attr, (int) -fd);
            }
            return new Program(name, (int) fd);
        }
    }

    /** The verifier gives up with EAGAIN when a signal is pending (Linux 5.2). */
    private static long load(MemorySegment attr) {
        long result;
        int attempt = 0;
        do {
            result = Bpf.tryCall(Attr.PROG_LOAD, attr);
        } while (result == -Errno.EAGAIN && ++attempt < ATTEMPTS);
        return result;
    }

    /** Loads once more with a log, to learn why. */
    private static IOException failure(String name, Code code, MemorySegment attr, int errno) {
        String log = "";
        for (int room = FIRST_LOG; room <= LARGEST_LOG; room *= 8) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment buffer = arena.allocate(room, 8);
                attr.set(JAVA_INT, 24, 1);
                attr.set(JAVA_INT, 28, room);
                attr.set(JAVA_LONG, 32, buffer.address());
                long result = load(attr);
                if (result >= 0) {
                    Fd.discard((int) result);
                }
                log = buffer.getString(0, StandardCharsets.ISO_8859_1);
                if (result != -Errno.ENOSPC) {
                    break;
                }
            }
        }
        if (!log.isBlank()) {
            return new VerifierException(name, code, errno, log);
        }
        String what = "program " + name;
        BpfRefusedException refused = Refusal.of(what, errno);
        if (refused != null) {
            return refused;
        }
        return errno == Errno.EINVAL
                ? new BpfRefusedException(
                        what, errno, "this kernel does not know such programs", "use a newer one")
                : new SyscallException("bpf", what, errno);
    }

    /** Its name as loaded. */
    public String name() {
        return name;
    }

    /** Its descriptor, for attachments. */
    public int fd() {
        return fd;
    }

    /** Closes the descriptor. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
        }
    }
}
