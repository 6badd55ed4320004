package sonde.analysis;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/**
 * Who is who: gives every thread that ever lived a number of its own (a tid that is reused gets
 * another), its name over time, its process, and whether it counts. Other operators look tids up
 * here while rows come; fork, exec, exit and names are taken from ftrace's events and from perf's
 * records alike, whichever come first.
 */
public final class ThreadTable implements Operator {
    /** PID_MAX_LIMIT of include/linux/threads.h on 64 bits; larger tids are corrupt. */
    public static final int MAX_TID = 4 * 1024 * 1024;

    /** Time at which threads that never count begin to count. */
    public static final long NEVER = Long.MAX_VALUE;

    /** The two copies of one fork, by ftrace and by perf, are nearer than this, nanoseconds. */
    private static final long SAME_FORK_NANOS = 100_000_000L;

    /** All kernel threads are children of kthreadd (init/main.c, rest_init). */
    private static final int KTHREADD = 2;

    /** A name that a thread had for so long, and longer than its last, stays its name. */
    private static final long NAMED_NANOS = 5_000_000L;

    private static final int NAMED_LONGER = 4;

    /** kernel/workqueue.c, kernel/smpboot.c, mm/vmscan.c, kernel/rcu, kernel/irq, fs/jbd2. */
    private static final Pattern KERNEL_NAME =
            Pattern.compile(
                    "kworker/.*|(ksoftirqd|migration|watchdog|cpuhp|idle_inject|rcuo[psbc])/\\d+"
                            + "|rcu_(sched|preempt|bh|tasks_.*)|kswapd\\d+|kcompactd\\d+"
                            + "|irq/\\d+-.*|jbd2/.*|sugov:\\d+|khungtaskd|kdevtmpfs|kthreadd");

    private static final int FORK = 1;
    private static final int EXEC = 2;
    private static final int EXIT = 3;
    private static final int RENAME = 4;
    private static final int PERF_FORK = 5;
    private static final int PERF_COMM = 6;
    private static final int PERF_EXIT = 7;
    private static final int PERF_SAMPLE = 8;
    private static final int PROCESS = 9;
    private static final int NEW_TASK = 10;
    private static final int WOKEN_NEW = 11;
    private static final int STATE_DUMP = 12;

    private static final String LTTNG_DUMP = "lttng_statedump_process_state";

    private final CountedThreads tree;
    private final Map<Integer, String> initialNames;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);

    // By tid: number of the living thread plus 1.
    private int[] byTid = new int[1 << 12];
    // By number of the thread.
    private int[] tids = new int[64];
    private int[] pids = new int[64];
    private long[] born = new long[64];
    private long[] died = new long[64];
    private long[] counts = new long[64];
    private @Nullable String[] names = new String[64];
    private long[] renamed = new long[64];
    private @Nullable String[] longestNames = new String[64];
    private long[] longest = new long[64];
    private int[] parents = new int[64];
    private boolean[] nameStale = new boolean[64];
    private boolean[] recorder = new boolean[64];
    private boolean[] kernel = new boolean[64];
    private boolean[] wokenNew = new boolean[64];
    private final Map<Integer, String> processNames = new HashMap<>();
    private int size;
    private long firstTime = Long.MAX_VALUE;

    /** Threads named only by events. */
    public ThreadTable(CountedThreads tree) {
        this(tree, Map.of());
    }

    /**
     * @param initialNames name by tid for threads no event names (trace.dat's CMDLINES)
     */
    public ThreadTable(CountedThreads tree, Map<Integer, String> initialNames) {
        this.tree = tree;
        this.initialNames = Map.copyOf(initialNames);
    }

    private static final class Fields {
        final TypeSelection wanted;
        final @Nullable IntegerField forkParent;
        final @Nullable IntegerField forkChild;
        final @Nullable IntegerField forkProcess;
        final @Nullable StringField forkName;
        final @Nullable IntegerField execPid;
        final @Nullable IntegerField execOld;
        final @Nullable StringField execFile;
        final @Nullable IntegerField renamePid;
        final @Nullable StringField renameTo;
        final @Nullable IntegerField perfForkPid;
        final @Nullable IntegerField perfForkTid;
        final @Nullable IntegerField perfForkParent;
        final @Nullable IntegerField perfForkTime;
        final @Nullable IntegerField commPid;
        final @Nullable IntegerField commTid;
        final @Nullable StringField comm;
        final @Nullable IntegerField exitTid;
        final @Nullable IntegerField processPid;
        final @Nullable StringField processName;
        final @Nullable IntegerField newTask;
        final @Nullable StringField newTaskName;
        final @Nullable IntegerField wokenNew;
        final @Nullable StringField wokenNewName;
        final @Nullable IntegerField dumpTid;
        final @Nullable IntegerField dumpPid;
        final @Nullable StringField dumpName;

        Fields(Source source) {
            String perf = EventType.PERF_RECORD;
            wanted = new TypeSelection(source);
            wanted.add(FORK, "sched", "sched_process_fork", "parent_pid", "child_pid")
                    .add(EXEC, "sched", "sched_process_exec", "pid", "old_pid")
                    .add(EXIT, "sched", "sched_process_exit")
                    .add(RENAME, "task", "task_rename", "pid", "newcomm")
                    .add(PERF_FORK, perf, "fork", "pid", "tid", "ptid", "time")
                    .add(PERF_COMM, perf, "comm", "pid", "tid", "comm")
                    .add(PERF_EXIT, perf, "exit", "tid")
                    .add(PROCESS, "trace", "process", "pid", "name")
                    .add(NEW_TASK, "task", "task_newtask", "pid")
                    .add(WOKEN_NEW, "sched", "sched_wakeup_new", "pid")
                    .add(STATE_DUMP, "kernel", LTTNG_DUMP, "tid", "pid", "name")
                    .addAll(PERF_SAMPLE, ThreadTable::knowsProcess);
            forkParent = wanted.integer("sched", "sched_process_fork", "parent_pid");
            forkChild = wanted.integer("sched", "sched_process_fork", "child_pid");
            forkProcess = wanted.integer("sched", "sched_process_fork", "child_tgid");
            forkName = wanted.text("sched", "sched_process_fork", "child_comm");
            execPid = wanted.integer("sched", "sched_process_exec", "pid");
            execOld = wanted.integer("sched", "sched_process_exec", "old_pid");
            execFile = wanted.text("sched", "sched_process_exec", "filename");
            renamePid = wanted.integer("task", "task_rename", "pid");
            renameTo = wanted.text("task", "task_rename", "newcomm");
            perfForkPid = wanted.integer(perf, "fork", "pid");
            perfForkTid = wanted.integer(perf, "fork", "tid");
            perfForkParent = wanted.integer(perf, "fork", "ptid");
            perfForkTime = wanted.integer(perf, "fork", "time");
            commPid = wanted.integer(perf, "comm", "pid");
            commTid = wanted.integer(perf, "comm", "tid");
            comm = wanted.text(perf, "comm", "comm");
            exitTid = wanted.integer(perf, "exit", "tid");
            processPid = wanted.integer("trace", "process", "pid");
            processName = wanted.text("trace", "process", "name");
            newTask = wanted.integer("task", "task_newtask", "pid");
            newTaskName = wanted.text("task", "task_newtask", "comm");
            wokenNew = wanted.integer("sched", "sched_wakeup_new", "pid");
            wokenNewName = wanted.text("sched", "sched_wakeup_new", "comm");
            dumpTid = wanted.integer("kernel", LTTNG_DUMP, "tid");
            dumpPid = wanted.integer("kernel", LTTNG_DUMP, "pid");
            dumpName = wanted.text("kernel", LTTNG_DUMP, "name");
        }

        /**
         * Whether the recorder made a fork record up for a thread it found: its own time, not that
         * of the row, is 0. Such records may lie behind rows of the thread.
         */
        boolean isMadeUp(Batch batch, int row) {
            IntegerField time = perfForkTime;
            return time != null && time.of(batch, row) == 0;
        }
    }

    @Override
    public boolean leads() {
        return true;
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        if (from < to && batch.time(from) > 0) {
            firstTime = Math.min(firstTime, batch.time(from));
        }
        for (int row = from; row < to; row++) {
            long time = batch.time(row);
            switch (fields.wanted.code(batch, row)) {
                case FORK ->
                        fork(
                                time,
                                tid(fields.forkParent, batch, row),
                                tid(fields.forkChild, batch, row),
                                tid(fields.forkProcess, batch, row),
                                text(fields.forkName, batch, row));
                case PERF_FORK ->
                        fork(
                                fields.isMadeUp(batch, row) ? Long.MIN_VALUE : time,
                                tid(fields.perfForkParent, batch, row),
                                tid(fields.perfForkTid, batch, row),
                                tid(fields.perfForkPid, batch, row),
                                null);
                case EXEC -> exec(fields, batch, row);
                case EXIT -> exit(time, batch.tid(row));
                case PERF_EXIT -> exit(time, tid(fields.exitTid, batch, row));
                case RENAME ->
                        rename(
                                tid(fields.renamePid, batch, row),
                                text(fields.renameTo, batch, row),
                                time);
                case PERF_COMM -> perfComm(fields, batch, row);
                case PERF_SAMPLE -> process(batch.tid(row), batch.pid(row));
                case PROCESS ->
                        named(
                                tid(fields.processPid, batch, row),
                                text(fields.processName, batch, row));
                case NEW_TASK ->
                        fork(
                                time,
                                batch.tid(row),
                                tid(fields.newTask, batch, row),
                                -1,
                                text(fields.newTaskName, batch, row));
                case WOKEN_NEW -> wokenNew(fields, batch, row);
                case STATE_DUMP -> {
                    int tid = tid(fields.dumpTid, batch, row);
                    process(tid, tid(fields.dumpPid, batch, row));
                    rename(tid, text(fields.dumpName, batch, row), time);
                }
                default -> {}
            }
        }
    }

    /**
     * A thread is woken for the first time: where no other event tells of births, this one does. A
     * thread that was woken so before, or lived before the recording, had the tid earlier.
     */
    private void wokenNew(Fields fields, Batch batch, int row) {
        int tid = tid(fields.wokenNew, batch, row);
        int known = living(tid);
        boolean told = known >= 0 && died[known] == NEVER && born[known] > 0 && !wokenNew[known];
        if (!told) {
            if (known >= 0) {
                exit(batch.time(row), tid);
            }
            String name = text(fields.wokenNewName, batch, row);
            fork(batch.time(row), batch.tid(row), tid, -1, name);
        }
        int thread = living(tid);
        if (thread >= 0) {
            wokenNew[thread] = true;
        }
    }

    /** Samples, and slices of programs: their rows say which process a thread is of. */
    private static boolean knowsProcess(EventType type) {
        return type.system().equals("perf") || type.system().equals("slice");
    }

    private void named(int pid, @Nullable String name) {
        if (pid >= 0 && name != null && !name.isEmpty() && processNames.size() < MAX_TID) {
            processNames.put(pid, name);
        }
    }

    private static int tid(@Nullable IntegerField field, Batch batch, int row) {
        return field == null ? -1 : (int) field.of(batch, row);
    }

    private static @Nullable String text(@Nullable StringField field, Batch batch, int row) {
        return field == null ? null : field.of(batch, row);
    }

    /** Takes a birth; at {@link Long#MIN_VALUE} of a thread that lived before the recording. */
    private void fork(long time, int parentTid, int tid, int pid, @Nullable String name) {
        int parent = find(parentTid);
        int known = living(tid);
        // A second report of the same birth, or a thread that showed itself before its fork row.
        // What lived before the recording is told at its start, perhaps after its first row: as
        // long as no exit of it was seen, it is the same.
        boolean before = known >= 0 && born[known] <= 0;
        boolean alive = known >= 0 && died[known] == NEVER && (before || near(born[known], time));
        boolean same = alive || (known >= 0 && time == Long.MIN_VALUE);
        int child = same ? known : make(tid, time);
        if (child < 0) {
            return;
        }
        if (pid >= 0) {
            pids[child] = pid;
        }
        if (name != null && !name.isEmpty() && names[child] == null) {
            names[child] = name;
            nameStale[child] = false;
        }
        if (parent < 0) {
            return;
        }
        parents[child] = parent + 1;
        if (names[child] == null) {
            names[child] = names[parent];
            nameStale[child] = true;
        }
        if (counts[parent] != NEVER) {
            counts[child] = Math.min(counts[child], Math.max(time, counts[parent]));
        }
        kernel[child] |= parentTid == KTHREADD;
        recorder[child] |= recorder[parent] && !tree.roots().contains(tid);
        if (recorder[child]) {
            counts[child] = NEVER;
        }
    }

    private static boolean near(long born, long time) {
        return born != Long.MIN_VALUE && Math.abs(time - born) < SAME_FORK_NANOS;
    }

    private void exec(Fields fields, Batch batch, int row) {
        int tid = tid(fields.execPid, batch, row);
        int old = tid(fields.execOld, batch, row);
        if (old != tid && old > 0) {
            // de_thread(): the caller takes over the leader's tid, its own is no more.
            exit(batch.time(row), old);
        }
        String file = text(fields.execFile, batch, row);
        int thread = find(tid);
        if (thread >= 0) {
            // call_usermodehelper: a kernel thread becomes a program.
            kernel[thread] = false;
        }
        if (thread >= 0 && pids[thread] < 0) {
            pids[thread] = tid; // it leads its process now
        }
        if (thread >= 0 && file != null && !file.isEmpty()) {
            // __set_task_comm(kbasename(filename)), cut to TASK_COMM_LEN - 1 bytes.
            String base = file.substring(file.lastIndexOf('/') + 1);
            renamed(thread, base.length() > 15 ? base.substring(0, 15) : base, batch.time(row));
            nameStale[thread] = true;
        }
        admit(thread, tid, batch.time(row));
    }

    private void perfComm(Fields fields, Batch batch, int row) {
        int tid = tid(fields.commTid, batch, row);
        process(tid, tid(fields.commPid, batch, row));
        rename(tid, text(fields.comm, batch, row), batch.time(row));
    }

    /** A root that was let go begins to count. */
    private void admit(int thread, int tid, long time) {
        if (thread >= 0 && tree.fromExec() && counts[thread] == NEVER && !tree.all()) {
            if (tree.roots().contains(tid)) {
                counts[thread] = time;
            }
        }
    }

    private void exit(long time, int tid) {
        int thread = living(tid);
        if (thread >= 0 && died[thread] == NEVER) {
            died[thread] = time;
        }
    }

    private void rename(int tid, @Nullable String name, long time) {
        int thread = find(tid);
        if (thread >= 0 && name != null && !name.isEmpty()) {
            renamed(thread, name, time);
            nameStale[thread] = false;
        }
    }

    /** Keeps the name that it had for the longest time while it counted. */
    private void renamed(int thread, String name, long time) {
        String before = names[thread];
        if (before != null && !before.equals(name)) {
            long nanos = named(thread, time);
            if (nanos > longest[thread]) {
                longest[thread] = nanos;
                longestNames[thread] = before;
            }
            renamed[thread] = time;
        }
        names[thread] = name;
    }

    /** How long it has had its name, of the time for which it counts. */
    private long named(int thread, long time) {
        long counted = counts[thread] == NEVER ? Long.MIN_VALUE : counts[thread];
        long since = Math.max(Math.max(renamed[thread], born[thread]), counted);
        return time - Math.max(since, Math.min(firstTime, time));
    }

    @Override
    public void finish(long lastTime) {
        for (int thread = 0; thread < size; thread++) {
            long last = named(thread, Math.min(died[thread], lastTime));
            boolean longer = longest[thread] / NAMED_LONGER > last;
            names[thread] =
                    longer && longest[thread] >= NAMED_NANOS ? longestNames[thread] : names[thread];
        }
    }

    private void process(int tid, int pid) {
        int thread = find(tid);
        if (thread >= 0 && pid >= 0 && pids[thread] != pid) {
            pids[thread] = pid;
            // The other threads of a process that was followed from the start.
            if (!tree.fromExec() && !recorder[thread] && tree.roots().contains(pid)) {
                counts[thread] = Long.MIN_VALUE;
            }
        }
    }

    /**
     * The thread that has a tid now, made when it was not known; it stays the thread's after its
     * exit until the tid is reused.
     *
     * @return its number, or -1 for the idle task (0) and what cannot be a tid
     */
    public int find(int tid) {
        if (tid > 0 && tid < byTid.length) {
            int thread = byTid[tid];
            if (thread != 0) {
                return thread - 1;
            }
        }
        return make(tid, Long.MIN_VALUE);
    }

    private int living(int tid) {
        return tid > 0 && tid < byTid.length ? byTid[tid] - 1 : -1;
    }

    private int make(int tid, long time) {
        if (tid <= 0 || tid >= MAX_TID) {
            return -1;
        }
        if (tid >= byTid.length) {
            byTid = Arrays.copyOf(byTid, Integer.highestOneBit(tid) << 1);
        }
        if (size == tids.length) {
            grow(2 * size);
        }
        if (time != Long.MIN_VALUE) {
            exit(time, tid); // whoever had the tid is gone, though no row told
        }
        int thread = size++;
        byTid[tid] = thread + 1;
        tids[thread] = tid;
        pids[thread] = tree.roots().contains(tid) ? tid : -1;
        born[thread] = time;
        died[thread] = NEVER;
        renamed[thread] = Long.MIN_VALUE;
        recorder[thread] = tree.recorder().contains(tid);
        counts[thread] = firstCount(tid, recorder[thread]);
        if (time == Long.MIN_VALUE) {
            names[thread] = initialNames.get(tid);
            nameStale[thread] = true;
        }
        return thread;
    }

    private long firstCount(int tid, boolean own) {
        if (own) {
            return NEVER;
        }
        if (tree.all()) {
            return Long.MIN_VALUE;
        }
        if (!tree.roots().contains(tid)) {
            return NEVER;
        }
        if (!tree.fromExec()) {
            return Long.MIN_VALUE;
        }
        return tree.execTime() >= 0 ? tree.execTime() : NEVER;
    }

    private void grow(int capacity) {
        tids = Arrays.copyOf(tids, capacity);
        pids = Arrays.copyOf(pids, capacity);
        born = Arrays.copyOf(born, capacity);
        died = Arrays.copyOf(died, capacity);
        counts = Arrays.copyOf(counts, capacity);
        names = Arrays.copyOf(names, capacity);
        renamed = Arrays.copyOf(renamed, capacity);
        longest = Arrays.copyOf(longest, capacity);
        longestNames = Arrays.copyOf(longestNames, capacity);
        parents = Arrays.copyOf(parents, capacity);
        nameStale = Arrays.copyOf(nameStale, capacity);
        recorder = Arrays.copyOf(recorder, capacity);
        kernel = Arrays.copyOf(kernel, capacity);
        wokenNew = Arrays.copyOf(wokenNew, capacity);
    }

    /** How many threads there are; their numbers are 0 to this minus 1. */
    public int size() {
        return size;
    }

    /** Whether a better name would be welcome: a switch row carries one. */
    public boolean wantsName(int thread) {
        return nameStale[thread];
    }

    /** Takes a name that a row of the scheduler carried. */
    public void name(int thread, String name) {
        if (!name.isEmpty()) {
            names[thread] = name;
        }
        nameStale[thread] = false;
    }

    /** The tid. */
    public int tid(int thread) {
        return tids[thread];
    }

    /** Whether any row told of which process it is. */
    public boolean isProcessTold(int thread) {
        return pids[thread] >= 0;
    }

    /** The process; the tid itself when no row told. */
    public int pid(int thread) {
        return pids[thread] >= 0 ? pids[thread] : tids[thread];
    }

    /**
     * The latest name, and at the end that of the longest time: a shell whose last command replaces
     * it stays the shell. {@code "?"} when no row told.
     */
    public String name(int thread) {
        String name = names[thread];
        return name == null ? "?" : name;
    }

    /** What the recording calls a process, not only its main thread; null when nothing. */
    public @Nullable String processName(int pid) {
        return processNames.get(pid);
    }

    /** The thread that made it; -1 when no row told. */
    public int parent(int thread) {
        return parents[thread] - 1;
    }

    /** Time of birth; {@link Long#MIN_VALUE} when it lived before the recording. */
    public long born(int thread) {
        return born[thread];
    }

    /** Time of its exit; {@link #NEVER} when not seen. */
    public long died(int thread) {
        return died[thread];
    }

    /**
     * Takes that a thread still did something: behind sched_process_exit it runs on for a while.
     */
    public void livedUntil(int thread, long time) {
        if (died[thread] < time) {
            died[thread] = time;
        }
    }

    /** Makes another thread with the tid of one that is dead, whose birth no row told. */
    public int reused(int dead, long time) {
        int thread = make(tids[dead], time);
        nameStale[thread] = true;
        return thread;
    }

    /** Time from which it counts: {@link Long#MIN_VALUE} for always, {@link #NEVER}. */
    public long countsFrom(int thread) {
        return counts[thread];
    }

    /** Whether what the thread did at that time counts. */
    public boolean counts(int thread, long time) {
        return thread >= 0 && time >= counts[thread];
    }

    /** Whether a row that names no thread counts: nothing says that it is somebody else's. */
    public boolean countsNobody() {
        return tree.all();
    }

    /** Whether it belongs to the processes that the recording follows; none does of a machine. */
    public boolean isFollowed(int thread) {
        return !tree.all() && !recorder[thread] && counts[thread] != NEVER;
    }

    /** Whether it is one of the recorder's; the thread that nobody knows (-1) is none. */
    public boolean isRecorder(int thread) {
        return thread >= 0 && recorder[thread];
    }

    /**
     * Whether it is a kernel thread: known where births are told, also of those before; elsewhere
     * threads that are older than the recording are told by the names that kernels give.
     */
    public boolean isKernel(int thread) {
        String name = names[thread];
        boolean older = born[thread] == Long.MIN_VALUE && parents[thread] == 0;
        if (older && name != null && KERNEL_NAME.matcher(name).matches()) {
            return true;
        }
        int parent = living(KTHREADD);
        return (kernel[thread] || tids[thread] == KTHREADD)
                && parent >= 0
                && "kthreadd".equals(names[parent]);
    }
}
