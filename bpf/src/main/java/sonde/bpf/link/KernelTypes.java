package sonde.bpf.link;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.binary.Input;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.BpfRefusedException.Barrier;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.MemoryMappings;
import sonde.sys.SyscallException;

/**
 * BTF of the running kernel ({@code /sys/kernel/btf/vmlinux}), and in it what programs are loaded
 * for: mapped where the kernel allows it (Linux 6.16), else copied.
 */
public final class KernelTypes implements AutoCloseable {
    private static final String VMLINUX = "/sys/kernel/btf/vmlinux";
    private static final int MOST_BYTES = 256 << 20;

    private final Arena arena;
    private final Btf btf;

    private KernelTypes(Arena arena, Btf btf) {
        this.arena = arena;
        this.btf = btf;
    }

    /**
     * Opens.
     *
     * @throws BpfRefusedException when the kernel was built without BTF
     */
    public static KernelTypes open() throws IOException {
        Arena arena = Arena.ofShared();
        try {
            return new KernelTypes(arena, Btf.read(Input.of("vmlinux BTF", map(arena, VMLINUX))));
        } catch (IOException e) {
            arena.close();
            throw e;
        }
    }

    /**
     * The file of a module or vmlinux in /sys/kernel/btf, which maps privately only; unmapped when
     * nobody uses it any more.
     */
    public static Input file(String path) throws IOException {
        return Input.of(path, map(Arena.ofAuto(), path));
    }

    private static MemorySegment map(Arena arena, String path) throws IOException {
        int fd;
        try {
            fd = FileCalls.open(path, FileCalls.O_RDONLY);
        } catch (SyscallException e) {
            throw new BpfRefusedException(
                    "types of the kernel",
                    e.errno(),
                    Barrier.UNSUPPORTED,
                    e.errno() == Errno.ENOENT ? "there is no " + path : Errno.describe(e.errno()),
                    "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
        }
        try {
            long size = FileCalls.fstat(fd).sizeBytes();
            try {
                return MemoryMappings.map(
                        arena, fd, 0, size, MemoryMappings.PROT_READ, MemoryMappings.MAP_PRIVATE);
            } catch (SyscallException e) {
                byte[] bytes = FileCalls.readAll(fd, MOST_BYTES);
                MemorySegment copy = arena.allocate(bytes.length, 8);
                copy.copyFrom(MemorySegment.ofArray(bytes));
                return copy;
            }
        } finally {
            Fd.discard(fd);
        }
    }

    /** The types. */
    public Btf btf() {
        return btf;
    }

    /** The id of a function, for fentry, fexit and fmod_ret. */
    public int function(String name) throws IOException {
        return found("function " + name, btf.find(name, BtfType.Func.class::isInstance));
    }

    /** The id of a typed tracepoint's typedef; {@code "sched_switch"}. */
    public int tracepoint(String name) throws IOException {
        return found(
                "tracepoint " + name,
                btf.find("btf_trace_" + name, BtfType.Typedef.class::isInstance));
    }

    /** The id of an iterator's function; {@code "task"}, {@code "bpf_map"}. */
    public int iterator(String name) throws IOException {
        return found(
                "iterator " + name, btf.find("bpf_iter_" + name, BtfType.Func.class::isInstance));
    }

    /** The id of a security hook's function; {@code "file_open"}. */
    public int securityHook(String name) throws IOException {
        return found(
                "security hook " + name,
                btf.find("bpf_lsm_" + name, BtfType.Func.class::isInstance));
    }

    private static int found(String what, int id) throws BpfRefusedException {
        if (id == 0) {
            throw new BpfRefusedException(what, Errno.ENOENT, "this kernel has none", "");
        }
        return id;
    }

    /** Takes the mapping back. */
    @Override
    public void close() {
        arena.close();
    }
}
