package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Bpf;
import sonde.sys.Fd;
import sonde.sys.FileCalls;

/**
 * A program that is run for each object of a kind (task, map, socket, …) while what it writes with
 * bpf_seq_write is read as a file. Since Linux 5.8; the program is loaded with {@link
 * sonde.bpf.ProgramSpec#targeting} {@link AttachType#TRACE_ITER}.
 */
public final class KernelIterator implements AutoCloseable {
    private final Link link;

    private KernelIterator(Link link) {
        this.link = link;
    }

    /** For all objects of its kind. */
    public static KernelIterator of(Program program) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            return make(program, attr, "iterator " + program.name());
        }
    }

    /** For the entries of a map: {@code bpf_map_elem}, {@code bpf_sk_storage_map}. */
    public static KernelIterator ofMap(Program program, BpfMap map) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            // union bpf_iter_link_info: map_fd.
            MemorySegment scope = arena.allocate(16, 8);
            scope.set(JAVA_INT, 0, map.fd());
            attr.set(JAVA_LONG, 16, scope.address());
            attr.set(JAVA_INT, 24, (int) scope.byteSize());
            return make(program, attr, "iterator " + program.name() + " of " + map.spec().name());
        }
    }

    /** For the tasks of a process, their files or mappings (Linux 6.1). */
    public static KernelIterator ofProcess(Program program, int pid) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            // union bpf_iter_link_info: task.tid, task.pid, task.pid_fd.
            MemorySegment scope = arena.allocate(16, 8);
            scope.set(JAVA_INT, 4, pid);
            attr.set(JAVA_LONG, 16, scope.address());
            attr.set(JAVA_INT, 24, (int) scope.byteSize());
            return make(program, attr, "iterator " + program.name() + " of process " + pid);
        }
    }

    private static KernelIterator make(Program program, MemorySegment attr, String target)
            throws IOException {
        attr.set(JAVA_INT, 8, AttachType.TRACE_ITER.code());
        return new KernelIterator(Link.create(program, attr, target));
    }

    /** Its attachment; pinned it is a file that anybody can read. */
    public Link link() {
        return link;
    }

    /**
     * Runs the program over all objects and returns what it wrote.
     *
     * @param mostBytes longer output is cut there
     */
    public byte[] read(int mostBytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, link.fd());
            int fd = (int) Bpf.call(BpfAttr.ITER_CREATE, attr, link.target());
            try {
                return FileCalls.readAll(fd, mostBytes);
            } finally {
                Fd.discard(fd);
            }
        }
    }

    /** Detaches. */
    @Override
    public void close() {
        link.close();
    }
}
