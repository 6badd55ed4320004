package sonde.probe.syscall;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.TaskTree;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.link.KernelTypes;
import sonde.sys.Arch;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Maps and programs of a session, and the threads that it follows. All programs are on raw
 * tracepoints: the kernel detaches those without waiting for a grace period.
 */
final class FollowedCalls implements AutoCloseable {
    /**
     * Offsets in the kernel's structs.
     *
     * @param pid struct task_struct, as the next two
     * @param status of thread_info.status; -1 where the kernel runs no 32-bit programs
     */
    record TaskFields(int pid, int tgid, int exitCode, int status) {}

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final TaskTree tree;
    private final boolean descendants;
    private final FutureTask<TaskFields> fields;

    /**
     * Makes the tree; the types of the kernel are read meanwhile.
     *
     * @param memberBytes of the value that a thread has in the tree
     */
    FollowedCalls(boolean descendants, int memberBytes) throws IOException {
        if (Arch.current() != Arch.X86_64) {
            throw new BpfRefusedException(
                    "system calls",
                    Errno.ENOSYS,
                    "the programs that capture them know the registers of x86-64 alone",
                    "use 'sonde record'");
        }
        this.descendants = descendants;
        fields = inBackground("types", FollowedCalls::readFields);
        tree = keep(TaskTree.bare(memberBytes));
    }

    static <T> FutureTask<T> inBackground(String name, Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().name(name).start(task);
        return task;
    }

    TaskTree tree() {
        return tree;
    }

    boolean followsDescendants() {
        return descendants;
    }

    TaskFields fields() throws IOException {
        return Awaited.of(fields);
    }

    private static TaskFields readFields() throws IOException {
        try (KernelTypes types = KernelTypes.open()) {
            Btf btf = types.btf();
            int id = btf.search("task_struct", BtfType.Struct.class::isInstance);
            if (!(btf.type(id) instanceof BtfType.Struct task)) {
                throw missing("struct task_struct");
            }
            int status = -1;
            Optional<BtfType.Member> inner = btf.member(task, "thread_info");
            if (inner.isPresent()
                    && btf.type(inner.get().type()) instanceof BtfType.Struct info
                    && btf.member(info, "status").isPresent()) {
                status = inner.get().bitOffset() / 8 + offset(btf, info, "status");
            }
            return new TaskFields(
                    offset(btf, task, "pid"),
                    offset(btf, task, "tgid"),
                    offset(btf, task, "exit_code"),
                    status);
        }
    }

    private static int offset(Btf btf, BtfType.Struct struct, String name) throws IOException {
        return btf.member(struct, name)
                        .orElseThrow(() -> missing(struct.name() + "." + name))
                        .bitOffset()
                / 8;
    }

    private static BpfRefusedException missing(String what) {
        return new BpfRefusedException(what, Errno.ENOENT, "this kernel has none", "");
    }

    <T extends AutoCloseable> T keep(T part) {
        parts.push(part);
        return part;
    }

    BpfMap map(String name, MapType type, int key, int value, int entries) throws IOException {
        return keep(BpfMap.create(new MapSpec(name, type, key, value, entries)));
    }

    void attach(String tracepoint, ProgramCode code) throws IOException {
        try (Program program = Program.load(spec(tracepoint, code))) {
            attach(tracepoint, program);
        }
    }

    void attach(String tracepoint, Program program) throws IOException {
        keep(Link.rawTracepoint(program, tracepoint));
    }

    static ProgramSpec spec(String tracepoint, ProgramCode code) {
        String name = "sonde_" + tracepoint.replace("sched_process", "task");
        String cut = name.substring(0, Math.min(15, name.length()));
        return new ProgramSpec(cut, ProgramType.RAW_TRACEPOINT, code);
    }

    /** Follows a process, too; without descendants its first thread. */
    void follow(int pid, int bits) throws SyscallException {
        if (descendants && bits == TaskTree.NEW_MEMBER) {
            tree.addProcess(pid);
        } else {
            tree.addThread(pid, bits);
        }
    }

    void follow(Set<Integer> pids) throws SyscallException {
        for (int pid : pids) {
            follow(pid, TaskTree.NEW_MEMBER);
        }
    }

    /** Whether no followed thread is left. */
    boolean isAlone() throws SyscallException {
        return tree.isEmpty();
    }

    /** Detaches; nothing stays in the kernel. */
    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
