package sonde.probe.snapshot;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.unwind.RegisterValues;
import sonde.binary.unwind.UnwindMachine;
import sonde.binary.unwind.UnwindMemory;
import sonde.probe.snapshot.TaskScan.SeenTask;
import sonde.probe.snapshot.WaitObjects.WaitObject;
import sonde.symbol.CodeMapping;
import sonde.symbol.ModuleImages;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.unwind.ModuleFrames;
import sonde.symbol.unwind.StackUnwinder;
import sonde.sys.Arch;
import sonde.sys.Clocks;
import sonde.sys.MappedRange;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Reads what threads are in now, without stopping them. Root gets registers and kernel stacks from
 * a {@link TaskScan}; everybody else what /proc shows of own processes. A thread that ran while it
 * was looked at is looked at again; after some rounds only its state is told.
 */
public final class ThreadSnapshot implements AutoCloseable {
    /** For all threads; what is left afterwards has a state and nothing else. */
    private static final long LIMIT_NANOS = 1_000_000_000;

    /** The same where nobody asked for a certain process. */
    private static final long EVERYBODY_LIMIT_NANOS = 300_000_000;

    private static final int ROUNDS = 3;
    private static final int STACK_BYTES = 1 << 16;
    private static final int MOST_FRAMES = 128;

    /** proc_pid_stat(5), counted from the state. */
    private static final int PROCESSOR_FIELD = 36;

    private final @Nullable TaskScan scan;
    private final boolean everybody;
    private final ModuleFrames modules = new ModuleFrames(new ModuleImages(SymbolOptions.here()));
    private final Set<ThreadPlace> left = new HashSet<>();

    /** Where a thread is found. */
    private record ThreadPlace(int pid, int tid) {}

    private ThreadSnapshot(boolean everybody) {
        this.everybody = everybody;
        TaskScan opened = null;
        try {
            opened = TaskScan.open(everybody);
        } catch (IOException e) {
            opened = null; // not root, or an old kernel: /proc says the rest
        }
        scan = opened;
    }

    /**
     * Gets ready.
     *
     * @param everybody whether it will be asked for all processes of the machine
     */
    public static ThreadSnapshot open(boolean everybody) {
        return new ThreadSnapshot(everybody);
    }

    /** Threads of the last {@link #take} that were not looked at for want of time. */
    public int left() {
        return left.size();
    }

    /** A part of a stack that was read while its thread slept. */
    private record SleepingStack(ByteBuffer bytes, long start) implements UnwindMemory {
        @Override
        public boolean has(long address, int sizeBytes) {
            long offset = address - start;
            return offset >= 0 && offset <= bytes.limit() - sizeBytes;
        }

        @Override
        public long read(long address, int sizeBytes) {
            int at = (int) (address - start);
            return switch (sizeBytes) {
                case 1 -> bytes.get(at) & 0xffL;
                case 2 -> bytes.getShort(at) & 0xffffL;
                case 4 -> bytes.getInt(at) & 0xffff_ffffL;
                default -> bytes.getLong(at);
            };
        }
    }

    /**
     * Takes it. Threads of the kernel are left out, and this process.
     *
     * @param pids the processes
     */
    public List<ThreadNow> take(Collection<Integer> pids) {
        long limit = everybody ? EVERYBODY_LIMIT_NANOS : LIMIT_NANOS;
        long deadline = Clocks.nanos(Clocks.CLOCK_MONOTONIC) + limit;
        left.clear();
        Map<ThreadPlace, ThreadNow> found = new LinkedHashMap<>();
        Set<ThreadPlace> open = new HashSet<>();
        int own = ProcessCalls.getpid();
        for (int pid : pids) {
            boolean kernel = pid == 2 || WaitObjects.link("/proc/" + pid + "/exe").isEmpty();
            if (pid != own && !(everybody && kernel)) {
                for (int tid : threads(pid)) {
                    open.add(new ThreadPlace(pid, tid));
                }
            }
        }
        Map<Integer, SeenTask> before = scan(pids);
        for (int round = 0; round < ROUNDS && !open.isEmpty(); round++) {
            Map<ThreadPlace, ThreadNow> looked = look(open, before, deadline);
            Map<Integer, SeenTask> after = scan == null ? before : scan(pids);
            for (Map.Entry<ThreadPlace, ThreadNow> one : looked.entrySet()) {
                int tid = one.getKey().tid();
                if (isSame(before.get(tid), after.get(tid))) {
                    found.put(one.getKey(), one.getValue());
                    open.remove(one.getKey());
                } else {
                    found.put(one.getKey(), moved(one.getValue()));
                }
            }
            open.retainAll(looked.keySet());
            before = after;
        }
        return List.copyOf(found.values());
    }

    private static boolean isSame(@Nullable SeenTask one, @Nullable SeenTask other) {
        return one == null && other == null
                || one != null && other != null && one.switches() == other.switches();
    }

    /** All that is certain of a thread that ran meanwhile. */
    private static ThreadNow moved(ThreadNow one) {
        return new ThreadNow(
                one.pid(),
                one.tid(),
                one.comm(),
                one.cpu(),
                one.atNanos(),
                0,
                one.state(),
                -1,
                "",
                "",
                0,
                "",
                List.of(),
                List.of());
    }

    private Map<Integer, SeenTask> scan(Collection<Integer> pids) {
        if (scan == null) {
            return Map.of();
        }
        try {
            return scan.scan(pids);
        } catch (IOException e) {
            return Map.of();
        }
    }

    private Map<ThreadPlace, ThreadNow> look(
            Set<ThreadPlace> places, Map<Integer, SeenTask> seen, long deadline) {
        Map<ThreadPlace, ThreadNow> looked = new LinkedHashMap<>();
        ProcessMaps maps = new ProcessMaps();
        StackUnwinder unwinder =
                machine().map(of -> new StackUnwinder(of, maps, modules)).orElse(null);
        WaitObjects objects = new WaitObjects(deadline);
        Map<Integer, List<ThreadPlace>> byProcess = new HashMap<>();
        places.forEach(
                one -> byProcess.computeIfAbsent(one.pid(), _ -> new ArrayList<>()).add(one));
        byProcess.forEach((pid, threads) -> {
            boolean late = Clocks.nanos(Clocks.CLOCK_MONOTONIC) > deadline;
            try (ProcessMemory memory = new ProcessMemory(late ? 0 : pid)) {
                if (!late) {
                    mapped(pid, maps);
                }
                for (ThreadPlace one : threads) {
                    boolean isLate = late || Clocks.nanos(Clocks.CLOCK_MONOTONIC) > deadline;
                    if (isLate) {
                        left.add(one);
                    }
                    ThreadNow now =
                            thread(
                                    one,
                                    seen.get(one.tid()),
                                    isLate ? null : memory,
                                    objects,
                                    unwinder);
                    if (now != null) {
                        looked.put(one, now);
                    }
                }
            }
        });
        return looked;
    }

    private static Optional<UnwindMachine> machine() {
        return UnwindMachine.of(Arch.current().machine(), false);
    }

    private static void mapped(int pid, ProcessMaps maps) {
        try {
            for (MappedRange range : MappedRange.of(pid)) {
                if (range.isExecutable()) {
                    maps.mapped(
                            0,
                            pid,
                            new CodeMapping(
                                    range.start(),
                                    range.end() - range.start(),
                                    range.offset(),
                                    range.path(),
                                    new byte[0],
                                    (long) range.major() << 32 | range.minor(),
                                    range.inode()));
                }
            }
        } catch (SyscallException e) {
            // It has ended, or is another user's: no stacks of it.
        }
    }

    /**
     * Looks at a thread.
     *
     * @param memory null when there is no time for more than its state
     * @return null when it has ended
     */
    private static @Nullable ThreadNow thread(
            ThreadPlace place,
            @Nullable SeenTask seen,
            @Nullable ProcessMemory memory,
            WaitObjects objects,
            @Nullable StackUnwinder unwinder) {
        String folder = "/proc/" + place.pid() + "/task/" + place.tid();
        String stat = WaitObjects.text(folder + "/stat");
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        int end = stat.lastIndexOf(") ");
        if (end < 0) {
            return null;
        }
        String comm = stat.substring(stat.indexOf('(') + 1, end);
        String[] fields = stat.substring(end + 2).strip().split(" ");
        char state = fields[0].charAt(0);
        int cpu = fields.length > PROCESSOR_FIELD ? Integer.parseInt(fields[PROCESSOR_FIELD]) : 0;
        boolean sleeps = state != 'R' && state != 'Z' && state != 'X';
        boolean whole = memory != null && (seen == null ? sleeps : !seen.onCpu());
        CallNow call = whole ? CallNow.parse(WaitObjects.text(folder + "/syscall")) : null;
        WaitObject object = WaitObject.NONE;
        String text = "";
        if (call != null && memory != null && call.number() >= 0) {
            object = objects.of(place.pid(), place.tid(), call, memory);
            text = call.text(memory);
        }
        String wchan = sleeps && whole ? WaitObjects.text(folder + "/wchan").strip() : "";
        return new ThreadNow(
                place.pid(),
                place.tid(),
                comm,
                cpu,
                now,
                seen == null || !whole ? 0 : seen.offSince(),
                state,
                call == null ? -1 : call.number(),
                text,
                object.name(),
                object.holder(),
                wchan.equals("0") ? "" : wchan,
                seen == null || !whole ? List.of() : list(seen.kernelStack()),
                memory == null || unwinder == null || !whole
                        ? List.of()
                        : list(unwind(place.pid(), seen, call, memory, unwinder)));
    }

    /** Without registers only the program counter and the stack pointer are known. */
    private static long[] unwind(
            int pid,
            @Nullable SeenTask seen,
            @Nullable CallNow call,
            ProcessMemory memory,
            StackUnwinder unwinder) {
        RegisterValues first = unwinder.first();
        UnwindMachine machine = first.machine();
        if (seen != null && seen.isNarrow()) {
            return new long[0];
        } else if (seen != null) {
            seen.fill(first);
        } else if (call != null) {
            first.clear();
            first.set(machine.stackPointer(), call.stackPointer());
            first.set(machine.programCounter(), call.programCounter());
        } else {
            return new long[0];
        }
        long start = first.get(machine.stackPointer());
        SleepingStack copy = new SleepingStack(memory.read(start, STACK_BYTES), start);
        long[] chain = new long[MOST_FRAMES];
        return Arrays.copyOf(chain, unwinder.unwind(pid, copy, chain));
    }

    private static List<Long> list(long[] addresses) {
        return Arrays.stream(addresses).boxed().toList();
    }

    private static List<Integer> threads(int pid) {
        String[] names = new File("/proc/" + pid + "/task").list();
        return Arrays.stream(names == null ? new String[0] : names)
                .filter(name -> name.matches("\\d{1,9}"))
                .map(Integer::valueOf)
                .sorted()
                .toList();
    }

    @Override
    public void close() {
        if (scan != null) {
            scan.close();
        }
    }
}
