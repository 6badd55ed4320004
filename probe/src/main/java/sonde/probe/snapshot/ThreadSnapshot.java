package sonde.probe.snapshot;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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
    /** To look at all threads, and again to follow their stacks; then the rest is left out. */
    private static final long LIMIT_NANOS = 700_000_000;

    /** The same where nobody asked for a certain process. */
    private static final long EVERYBODY_LIMIT_NANOS = 200_000_000;

    private static final int ROUNDS = 3;
    private static final int STACK_BYTES = 1 << 16;
    private static final int EVERYBODYS_STACK_BYTES = 1 << 14;
    private static final int MOST_FRAMES = 128;

    /** proc_pid_stat(5), counted from the state. */
    private static final int PROCESSOR_FIELD = 36;

    private final @Nullable TaskScan scan;
    private final boolean everybody;
    private final ModuleFrames modules = new ModuleFrames(new ModuleImages(SymbolOptions.here()));
    private final Set<ThreadPlace> left = new HashSet<>();

    /** Where a thread is found. */
    private record ThreadPlace(int pid, int tid) {}

    /** A thread, and what its user stack is to be followed from; null where it is not. */
    private record SeenThread(
            ThreadNow now,
            @Nullable SeenTask task,
            @Nullable CallNow call,
            @Nullable SleepingStack stack) {}

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
        Map<ThreadPlace, SeenThread> found = new LinkedHashMap<>();
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
            Map<ThreadPlace, SeenThread> looked = look(open, before, deadline);
            Map<Integer, SeenTask> after = scan == null ? before : scan(pids);
            for (Map.Entry<ThreadPlace, SeenThread> one : looked.entrySet()) {
                int tid = one.getKey().tid();
                boolean same = isSame(before.get(tid), after.get(tid));
                found.put(one.getKey(), same ? one.getValue() : moved(one.getValue().now));
                if (same) {
                    open.remove(one.getKey());
                }
            }
            open.retainAll(looked.keySet());
            before = after;
        }
        return followed(found, limit);
    }

    /** With user stacks, which are followed when nobody's state depends on it any more. */
    private List<ThreadNow> followed(Map<ThreadPlace, SeenThread> found, long limit) {
        long deadline = Clocks.nanos(Clocks.CLOCK_MONOTONIC) + limit;
        ProcessMaps maps = new ProcessMaps();
        StackUnwinder unwinder =
                UnwindMachine.of(Arch.current().machine(), false)
                        .map(of -> new StackUnwinder(of, maps, modules))
                        .orElse(null);
        Set<Integer> mapped = new HashSet<>();
        List<ThreadNow> all = new ArrayList<>();
        found.forEach((place, seen) -> {
            boolean late = Clocks.nanos(Clocks.CLOCK_MONOTONIC) > deadline;
            if (seen.stack == null || unwinder == null) {
                all.add(seen.now);
            } else if (late) {
                left.add(place);
                all.add(seen.now);
            } else {
                if (mapped.add(place.pid)) {
                    mapped(place.pid, maps);
                }
                all.add(seen.now.with(list(unwind(seen, unwinder))));
            }
        });
        return all;
    }

    private static boolean isSame(@Nullable SeenTask one, @Nullable SeenTask other) {
        return one == null && other == null
                || one != null && other != null && one.switches() == other.switches();
    }

    /** All that is certain of a thread that ran meanwhile. */
    private static SeenThread moved(ThreadNow one) {
        ThreadNow state =
                new ThreadNow(
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
        return new SeenThread(state, null, null, null);
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

    private Map<ThreadPlace, SeenThread> look(
            Set<ThreadPlace> places, Map<Integer, SeenTask> seen, long deadline) {
        Map<ThreadPlace, SeenThread> looked = new LinkedHashMap<>();
        WaitObjects objects = new WaitObjects(deadline);
        Map<Integer, List<ThreadPlace>> byProcess = new TreeMap<>();
        places.forEach(
                one -> byProcess.computeIfAbsent(one.pid(), _ -> new ArrayList<>()).add(one));
        byProcess.forEach((pid, threads) -> {
            try (ProcessMemory memory = new ProcessMemory(pid)) {
                for (ThreadPlace one : threads) {
                    boolean late = Clocks.nanos(Clocks.CLOCK_MONOTONIC) > deadline;
                    if (late) {
                        left.add(one);
                    }
                    SeenThread now =
                            thread(one, seen.get(one.tid()), late ? null : memory, objects);
                    if (now != null) {
                        looked.put(one, now);
                    }
                }
            }
        });
        return looked;
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
    private @Nullable SeenThread thread(
            ThreadPlace place,
            @Nullable SeenTask seen,
            @Nullable ProcessMemory memory,
            WaitObjects objects) {
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
        ThreadNow found =
                new ThreadNow(
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
                        List.of());
        boolean known = seen != null ? !seen.isNarrow() : call != null;
        if (!whole || memory == null || !known) {
            return new SeenThread(found, null, null, null);
        }
        long pointer = seen != null ? seen.stackPointer() : call.stackPointer();
        int bytes = everybody ? EVERYBODYS_STACK_BYTES : STACK_BYTES;
        SleepingStack stack = new SleepingStack(memory.read(pointer, bytes), pointer);
        return new SeenThread(found, seen, call, stack);
    }

    /** Without registers only the program counter and the stack pointer are known. */
    private static long[] unwind(SeenThread seen, StackUnwinder unwinder) {
        RegisterValues first = unwinder.first();
        UnwindMachine machine = first.machine();
        if (seen.task != null) {
            seen.task.fill(first);
        } else if (seen.call != null) {
            first.clear();
            first.set(machine.stackPointer(), seen.call.stackPointer());
            first.set(machine.programCounter(), seen.call.programCounter());
        }
        long[] chain = new long[MOST_FRAMES];
        UnwindMemory stack = seen.stack;
        int frames = stack == null ? 0 : unwinder.unwind(seen.now.pid(), stack, chain);
        return Arrays.copyOf(chain, frames);
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
