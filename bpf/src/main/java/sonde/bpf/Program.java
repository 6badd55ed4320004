package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.bpf.TestRun.TestOutcome;
import sonde.bpf.call.BpfAttr;
import sonde.bpf.call.KernelObject;
import sonde.bpf.call.PrintkEvent;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.verifier.InstructionLines;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/** A program that passed the verifier. Attachments keep it alive after it is closed here. */
public final class Program implements AutoCloseable {
    private static final int FIRST_LOG = 256 << 10;
    private static final int LARGEST_LOG = 16 << 20;
    private static final int ATTEMPTS = 5;
    private static final int STATISTICS = 4; // BPF_LOG_STATS

    private final String name;
    private final @Nullable AttachType expected;
    private final int fd;
    private final String log;
    private final int slots;
    private boolean prints;
    private boolean closed;

    private Program(ProgramSpec spec, int fd, String log, boolean prints) {
        this.name = spec.name();
        this.expected = spec.expected();
        this.slots = spec.code().words().length;
        this.fd = fd;
        this.log = log;
        this.prints = prints;
    }

    /** One that is there already. */
    private Program(String name, int fd) {
        this.name = name;
        this.expected = null;
        this.slots = -1;
        this.fd = fd;
        this.log = "";
        this.prints = false;
    }

    /** {@link #load(ProgramSpec)} of a program with the licence "GPL" that many helpers ask for. */
    public static Program load(String name, ProgramType type, ProgramCode code) throws IOException {
        return load(new ProgramSpec(name, type, code));
    }

    /**
     * Loads a program: quietly first, and when that fails once more with a log. Where the kernel
     * does not take names (before 4.15) or BTF of programs (before 5.0) and the program does not
     * need it, it is loaded without.
     *
     * @throws VerifierException when the verifier finds fault with it
     * @throws BpfRefusedException when it was not looked at: no rights, policy, no such type
     * @throws SyscallException for anything else (ENOMEM)
     */
    public static Program load(ProgramSpec spec) throws IOException {
        PrintkEvent.clean();
        if (!PrintkEvent.isUsedBy(spec.code().words())) {
            return load(spec, false);
        }
        PrintkEvent.use();
        try {
            return load(spec, true);
        } catch (IOException e) {
            PrintkEvent.release();
            throw e;
        }
    }

    private static Program load(ProgramSpec spec, boolean prints) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = attributes(arena, spec);
            int level = spec.log().level();
            if (level != 0) {
                return loadLogged(spec, attr, level, prints);
            }
            long fd = load(attr);
            if (fd == -Errno.E2BIG && attr.get(JAVA_INT, 48) != 0) {
                MemorySegment plain = withoutTypes(arena, attr);
                BpfAttr.noName(plain, 48);
                fd = load(plain);
            } else if (fd == -Errno.EINVAL && spec.debug() != null && !spec.debug().needed()) {
                fd = load(withoutTypes(arena, attr));
            }
            if (fd < 0) {
                throw failure(spec, attr, (int) -fd);
            }
            return new Program(spec, (int) fd, "", prints);
        }
    }

    private static MemorySegment attributes(Arena arena, ProgramSpec spec) {
        long[] words = spec.code().words();
        MemorySegment attr = BpfAttr.allocate(arena);
        attr.set(JAVA_INT, 0, spec.type().code());
        attr.set(JAVA_INT, 4, words.length);
        attr.set(JAVA_LONG, 8, arena.allocateFrom(JAVA_LONG, words).address());
        attr.set(JAVA_LONG, 16, arena.allocateFrom(spec.license()).address());
        attr.set(JAVA_INT, 44, spec.flags());
        BpfAttr.name(attr, 48, spec.name());
        attr.set(JAVA_INT, 68, spec.expected() == null ? 0 : spec.expected().code());
        attr.set(JAVA_INT, 108, spec.btfId());
        attr.set(JAVA_INT, 112, spec.owner());
        if (!spec.modules().isEmpty()) {
            int[] fds = spec.modules().stream().mapToInt(Integer::intValue).toArray();
            attr.set(JAVA_LONG, 120, arena.allocateFrom(JAVA_INT, fds).address());
        }
        ProgramSpec.Debug debug = spec.debug();
        if (debug != null) {
            attr.set(JAVA_INT, 72, debug.btfFd());
            records(arena, attr, 76, debug.functions(), debug.functionRecordBytes());
            records(arena, attr, 92, debug.lines(), debug.lineRecordBytes());
        }
        return attr;
    }

    /** func_info and line_info: record size u32, pointer u64, count u32, aligned. */
    private static void records(
            Arena arena, MemorySegment attr, int at, byte[] records, int recordBytes) {
        if (records.length == 0) {
            return;
        }
        attr.set(JAVA_INT, at, recordBytes);
        long pointer = at + 4L + 7 & ~7;
        MemorySegment copy = arena.allocate(records.length, 8);
        MemorySegment.copy(records, 0, copy, JAVA_BYTE, 0, records.length);
        attr.set(JAVA_LONG, pointer, copy.address());
        attr.set(JAVA_INT, pointer + 8, records.length / recordBytes);
    }

    /** prog_btf_fd to line_info_cnt, offsets 72 to 108, cleared. */
    private static MemorySegment withoutTypes(Arena arena, MemorySegment attr) {
        MemorySegment plain = BpfAttr.allocate(arena);
        plain.copyFrom(attr);
        plain.asSlice(72, 108 - 72).fill((byte) 0);
        return plain;
    }

    /** The verifier gives up with EAGAIN when a signal is pending (Linux 5.2). */
    private static long load(MemorySegment attr) {
        long result;
        int attempt = 0;
        do {
            result = Bpf.tryCall(BpfAttr.PROG_LOAD, attr);
        } while (result == -Errno.EAGAIN && ++attempt < ATTEMPTS);
        return result;
    }

    /** Result of a load with a log, whose room grows until it fits. */
    private record Logged(long result, String log) {}

    private static Logged loadLogged(MemorySegment attr, int level) {
        Logged logged = new Logged(-Errno.ENOSPC, "");
        for (int room = FIRST_LOG; room <= LARGEST_LOG; room *= 8) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment buffer = arena.allocate(room, 8);
                attr.set(JAVA_INT, 24, level);
                attr.set(JAVA_INT, 28, room);
                attr.set(JAVA_LONG, 32, buffer.address());
                long result = load(attr);
                logged = new Logged(result, buffer.getString(0, StandardCharsets.UTF_8));
                if (result != -Errno.ENOSPC) {
                    break;
                }
            }
        }
        // Until Linux 6.4 the end is what does not fit; the statistics alone keep the message.
        boolean ends = logged.log().contains("\nprocessed ");
        return logged.result() == -Errno.ENOSPC && !ends && level != STATISTICS
                ? loadLogged(attr, STATISTICS)
                : logged;
    }

    private static Program loadLogged(
            ProgramSpec spec, MemorySegment attr, int level, boolean prints) throws IOException {
        Logged logged = loadLogged(attr, level);
        if (logged.result() < 0) {
            throw failure(spec, attr, (int) -logged.result());
        }
        return new Program(spec, (int) logged.result(), logged.log(), prints);
    }

    /** Loads once more with a log, to learn why. */
    private static IOException failure(ProgramSpec spec, MemorySegment attr, int errno) {
        Logged logged = loadLogged(attr, 1);
        if (logged.result() >= 0) {
            Fd.discard((int) logged.result());
        }
        // The statistics alone are no complaint: the JIT comes after the verifier.
        boolean complaint =
                logged.log().lines().anyMatch(l -> !l.isBlank() && !l.startsWith("processed "));
        if (complaint && errno != BpfAttr.ENOTSUPP && errno != Errno.ENOMEM) {
            return new VerifierException(
                    spec.name(), spec.code(), errno, logged.log(), sources(spec));
        }
        String what = "program " + spec.name();
        BpfRefusedException refused =
                RefusalCause.ofProgram(what, spec.type(), spec.code().words().length, errno);
        return refused != null ? refused : new SyscallException("bpf", what, errno);
    }

    /** The lines that the program's line_info tells; none where its BTF cannot be read back. */
    private static InstructionLines sources(ProgramSpec spec) {
        ProgramSpec.Debug debug = spec.debug();
        if (debug == null || debug.lines().length == 0) {
            return InstructionLines.NONE;
        }
        try {
            byte[] btf = LoadedBtf.bytes(debug.btfFd());
            int[] words = new int[debug.lines().length / 4];
            ByteBuffer.wrap(debug.lines()).order(ByteOrder.nativeOrder()).asIntBuffer().get(words);
            return InstructionLines.of(
                    Btf.read(Input.of("BTF", MemorySegment.ofArray(btf))),
                    words,
                    debug.lineRecordBytes() / 4);
        } catch (SyscallException | MalformedInputException e) {
            return InstructionLines.NONE;
        }
    }

    /** The numbers of all programs. */
    public static List<Integer> ids() throws SyscallException {
        return KernelObject.ids(BpfAttr.PROG_GET_NEXT_ID);
    }

    /**
     * Opens a program by its number.
     *
     * @throws SyscallException ENOENT when it is gone
     */
    public static Program openId(int id) throws SyscallException {
        return adopt(KernelObject.open(BpfAttr.PROG_GET_FD_BY_ID, id, "program " + id));
    }

    /** Opens a program by its name in a bpffs. */
    public static Program openPinned(String path) throws SyscallException {
        return adopt(KernelObject.openPinned(path, "bpf-prog"));
    }

    /** Takes over a descriptor of a program; closes it when it is none. */
    public static Program adopt(int fd) throws SyscallException {
        try {
            return new Program(ProgramFacts.of(fd).name(), fd);
        } catch (SyscallException e) {
            Fd.discard(fd);
            throw e;
        }
    }

    /** Its name as loaded. */
    public String name() {
        return name;
    }

    /** Where it was loaded for; null when it did not have to say. */
    public @Nullable AttachType expected() {
        return expected;
    }

    /** Slots of its instructions as given to the kernel; -1 for a program that was found. */
    public int slots() {
        return slots;
    }

    /** Its descriptor, for attachments. */
    public int fd() {
        return fd;
    }

    /** What the verifier wrote, as far as {@link ProgramSpec#log} asked. */
    public String log() {
        return log;
    }

    /** What the kernel says of it. */
    public ProgramFacts facts() throws SyscallException {
        return ProgramFacts.of(fd);
    }

    /**
     * Gives it a name in a bpffs, by which it outlives this process. If it prints, the event
     * bpf_trace:bpf_trace_printk stays on for it.
     */
    public void pin(String path) throws SyscallException {
        KernelObject.pin(fd, path);
        if (prints) {
            prints = false;
            PrintkEvent.leave();
        }
    }

    /**
     * Runs it without an attachment (BPF_PROG_TEST_RUN): socket filters, sched_cls and xdp on a
     * packet, raw tracepoints (5.10), syscall programs (5.14) and fentry (its own test functions)
     * on a context.
     *
     * @throws BpfRefusedException when the kernel does not run programs of this type
     * @throws SyscallException EINVAL for input the type does not take
     */
    public TestOutcome run(TestRun input) throws BpfRefusedException, SyscallException {
        return input.of(this);
    }

    /**
     * Closes the descriptor; attachments and pinned names keep the program. The event
     * bpf_trace:bpf_trace_printk is switched off again unless it was on before, or a program that
     * prints was pinned.
     */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
            if (prints) {
                PrintkEvent.release();
            }
        }
    }
}
