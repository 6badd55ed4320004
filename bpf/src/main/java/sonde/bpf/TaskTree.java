package sonde.bpf;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R6;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.sys.SyscallException;

/**
 * The threads of some processes and of all their descendants, kept by the kernel itself: a map of
 * kernel pids that programs on sched_process_fork, _exec and _exit keep true.
 *
 * <p>Numbers are those of the initial pid namespace.
 */
public final class TaskTree implements AutoCloseable {
    private static final int MAX_TASKS = 1 << 15;

    /** The value of a new member: bits of whoever filters, the tree itself does not read them. */
    public static final int NEW_MEMBER = 0xff;

    /** Stack place of the key that {@link #filter} uses: a u32. */
    public static final int KEY = -4;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final BpfMap members;
    private final BpfMap overflow;

    private TaskTree(BpfMap members, BpfMap overflow) {
        this.members = members;
        this.overflow = overflow;
        parts.push(members);
        parts.push(overflow);
    }

    /**
     * Starts to follow. Threads that the roots make while this runs are not missed.
     *
     * @param rootPids processes; one that is gone is left out
     */
    public static TaskTree open(Set<Integer> rootPids) throws IOException {
        TaskTree tree = make(4);
        try {
            tree.follow("fork", tree::forked);
            tree.follow("exec", tree::executed);
            tree.follow("exit", tree::exited);
            for (int pid : rootPids) {
                tree.addProcess(pid);
            }
            return tree;
        } catch (IOException e) {
            tree.close();
            throw e;
        }
    }

    /**
     * A tree without programs of its own: whoever uses it writes {@link #add}, {@link #rename} and
     * {@link #forget} into programs on sched_process_fork, _exec and _exit.
     *
     * @param valueBytes of a member: a u32 that is {@link #NEW_MEMBER} at first, and zeros
     */
    public static TaskTree bare(int valueBytes) throws IOException {
        return make(valueBytes);
    }

    private static TaskTree make(int valueBytes) throws IOException {
        BpfMap members =
                BpfMap.create(new MapSpec("sonde_tree", MapType.HASH, 4, valueBytes, MAX_TASKS));
        BpfMap overflow;
        try {
            overflow = BpfMap.create(new MapSpec("sonde_overflow", MapType.ARRAY, 4, 8, 1));
        } catch (IOException e) {
            members.close();
            throw e;
        }
        return new TaskTree(members, overflow);
    }

    private interface Reaction {
        ProgramCode code(TracepointFormat tracepoint) throws IOException;
    }

    private void follow(String what, Reaction reaction) throws IOException {
        TracepointFormat tracepoint = TracepointFormat.of("sched", "sched_process_" + what);
        ProgramCode code = reaction.code(tracepoint);
        try (Program program = Program.load("sonde_tree_" + what, ProgramType.TRACEPOINT, code)) {
            parts.push(Link.tracepoint(program, tracepoint));
        }
    }

    /** A child of a member, thread or process, is a member. */
    private ProgramCode forked(TracepointFormat fork) throws IOException {
        Label out = new Label("out");
        CodeBuilder code = new CodeBuilder().step("is the parent a member").move(R6, R1);
        filter(code, out);
        code.step("add the child")
                .load(Width.U32, R1, R6, fork.offset("child_pid"))
                .store(Width.U32, R10, KEY, R1);
        add(code, out);
        // 0 would take the event away from all perf events (trace_call_bpf).
        return code.at(out).exit(1).build();
    }

    /** The thread that calls exec takes over the number of its process's leader. */
    private ProgramCode executed(TracepointFormat exec) throws IOException {
        Label out = new Label("out");
        CodeBuilder code =
                new CodeBuilder()
                        .move(R6, R1)
                        .load(Width.U32, R1, R6, exec.offset("old_pid"))
                        .store(Width.U32, R10, KEY, R1)
                        .load(Width.U32, R6, R6, exec.offset("pid"));
        rename(code, out, out);
        return code.at(out).exit(1).build();
    }

    /**
     * Writes instructions that give the member whose number is at {@link #KEY} the number in R6 and
     * go to {@code renamed}, or to {@code none} when it is none.
     */
    public void rename(CodeBuilder code, Label none, Label renamed) {
        code.step("remove the old number");
        filterKey(code, none);
        int words = members.valueBytes() / 4;
        for (int i = 0; i < words; i++) {
            code.load(Width.U32, R1, R0, 4 * i).store(Width.U32, R10, value() + 4 * i, R1);
        }
        forget(code);
        code.step("add the new number").store(Width.U32, R10, KEY, R6);
        put(code, renamed);
    }

    private ProgramCode exited(TracepointFormat exit) {
        CodeBuilder code =
                new CodeBuilder()
                        .step("remove the thread that ends")
                        .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                        .store(Width.U32, R10, KEY, R0);
        forget(code);
        return code.exit(1).build();
    }

    /** Writes instructions that remove the thread whose number is at {@link #KEY}. */
    public void forget(CodeBuilder code) {
        code.map(R1, members.fd())
                .move(R2, R10)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_DELETE_ELEM);
    }

    /** Where the value of a member is made on the stack. */
    private int value() {
        return -8 - (members.valueBytes() + 7 & ~7);
    }

    /**
     * Writes instructions that add the thread whose number is at {@link #KEY}, and go to the label
     * then; when the map is full, they count it and go on.
     */
    public void add(CodeBuilder code, Label added) {
        code.store(Width.U32, R10, value(), NEW_MEMBER);
        for (int at = 4; at < members.valueBytes(); at += 4) {
            code.store(Width.U32, R10, value() + at, 0);
        }
        put(code, added);
    }

    private void put(CodeBuilder code, Label added) {
        code.map(R1, members.fd())
                .move(R2, R10)
                .add(R2, KEY)
                .move(R3, R10)
                .add(R3, value())
                .move(R4, 0)
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .ifZero(R0, added)
                .mapValue(R1, overflow.fd(), 0)
                .move(R2, 1)
                .atomicAdd(Width.U64, R1, 0, R2);
    }

    /**
     * Writes instructions that go to the label unless the current thread is a member. R0 to R5 are
     * lost; {@link #KEY} holds its number afterwards, and R0 the address of its value, a u32 that
     * is {@link #NEW_MEMBER} at first.
     */
    public void filter(CodeBuilder code, Label outside) {
        code.call(HelperFunctionId.GET_CURRENT_PID_TGID).store(Width.U32, R10, KEY, R0);
        filterKey(code, outside);
    }

    /** As {@link #filter}, for the thread whose number is at {@link #KEY}. */
    public void filterKey(CodeBuilder code, Label outside) {
        code.map(R1, members.fd())
                .move(R2, R10)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, outside);
    }

    /**
     * Adds a process and what it starts from now on; its threads are read until no new one shows,
     * as one may be made by another that was not a member yet.
     */
    public void addProcess(int pid) throws SyscallException {
        boolean grew = true;
        while (grew) {
            grew = false;
            String[] tids = new File("/proc/" + pid + "/task").list();
            for (String tid : tids == null ? new String[0] : tids) {
                int number = Integer.parseInt(tid);
                if (!members.contains(number)) {
                    addThread(number);
                    grew = true;
                }
            }
        }
    }

    /** Adds one thread. */
    public void addThread(int tid) throws SyscallException {
        addThread(tid, NEW_MEMBER);
    }

    /** Adds one thread with other bits. */
    public void addThread(int tid, int bits) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(members.valueBytes(), 8);
            value.set(ValueLayout.JAVA_INT, 0, bits);
            members.put(arena.allocateFrom(ValueLayout.JAVA_INT, tid), value);
        }
    }

    /** Whether a thread is a member now. */
    public boolean contains(int tid) throws SyscallException {
        return members.contains(tid);
    }

    /** Whether no member is left. */
    public boolean isEmpty() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            return !members.nextKey(MemorySegment.NULL, arena.allocate(4, 8));
        }
    }

    /** Tasks not followed because there were more than 32768 at once. */
    public long missed() throws SyscallException {
        return overflow.sum(0);
    }

    /** Detaches and frees. */
    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
