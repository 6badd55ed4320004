package sonde.analysis.sched;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Engine;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.stack.StackAggregate;
import sonde.analysis.stack.StackTable;
import sonde.event.Batch;
import sonde.event.Source;
import sonde.event.StringField;

/**
 * Follows the state of every thread and hands out each span of it, once.
 *
 * <ul>
 *   <li>{@code sched_switch} is taken from the source that delivers it first, and from that alone;
 *       until then perf's switch records are, which tell preemption from the rest, no more: other
 *       time off the CPU counts as sleeping.
 *   <li>Before a thread's first row its state is what that row implies: a switch-out or a system
 *       call that it ran, a wake-up that it slept, a switch-in nothing unless it was born
 *       meanwhile: then it waited for a CPU. It ran at most since the last switch on that CPU: a
 *       CPU runs one thread at a time, so that all running time of a CPU together never exceeds the
 *       time there was.
 *   <li>What the recorder saw it in at the start ({@code sonde:thread_now}) says how a thread slept
 *       that a wake-up comes to first, or nothing at all.
 *   <li>Where events of its CPU were lost it is {@link ThreadState#UNKNOWN}, from the last row
 *       before to the notice; after that again what the next row implies.
 *   <li>Rows that contradict each other (a switch-in of a thread that runs) make the time since the
 *       thread's last row unknown.
 *   <li>Waiting for a CPU until the end is believed of a thread that was seen on a CPU, or was born
 *       meanwhile: of another the switches are not recorded, and what it did is unknown.
 *   <li>Kernel time is the running time inside system calls; interrupts and page faults count where
 *       they interrupted.
 * </ul>
 */
public final class ThreadStates implements Operator {
    private static final byte NONE = -1;
    private static final byte DEAD = -2;
    private static final byte RUNNING = (byte) ThreadState.RUNNING.ordinal();
    private static final byte WAITING = (byte) ThreadState.WAITING.ordinal();
    private static final byte PREEMPTED = (byte) ThreadState.PREEMPTED.ordinal();
    private static final byte SLEEPING = (byte) ThreadState.SLEEPING.ordinal();
    private static final byte BLOCKED = (byte) ThreadState.BLOCKED.ordinal();
    private static final byte STOPPED = (byte) ThreadState.STOPPED.ordinal();
    private static final byte UNKNOWN = (byte) ThreadState.UNKNOWN.ordinal();

    private final ThreadTable threads;
    private final StackTable stacks;
    private final TimeWindow window;
    private final StateSlices[] consumers;
    private final boolean withStacks;
    private final SourceBindings<SchedFields> bindings = new SourceBindings<>(SchedFields::new);

    private @Nullable Source switchOwner;
    private boolean ownsTracepoint;
    private boolean wakeups;
    private long start;

    /** The CPU on which the thread whose span ends is shown to have run. */
    private int runsOn = -1;

    // By thread.
    private byte[] state = new byte[0];
    private long[] since = new long[0];
    private int[] cpu = new int[0];
    private int[] call = new int[0];
    private long[] callSince = new long[0];
    private long[] kernel = new long[0];
    private int[] stack = new int[0];
    private int[] waker = new int[0];
    private int[] migrations = new int[0];
    private int known;
    private final CpuRows cpus = new CpuRows();
    private final Map<Integer, FirstLook> looks = new HashMap<>();

    /** What a thread was in when the recording began. */
    private record FirstLook(byte state, int call, int stack) {}

    /**
     * @param window spans are cut to it
     * @param consumers take every span
     */
    public ThreadStates(
            ThreadTable threads,
            StackTable stacks,
            TimeWindow window,
            List<StateSlices> consumers) {
        this.threads = threads;
        this.stacks = stacks;
        this.window = window;
        this.consumers = consumers.toArray(StateSlices[]::new);
        withStacks = consumers.stream().anyMatch(StateSlices::needsStacks);
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void begin(long firstTime) {
        start = firstTime;
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        SchedFields fields = bindings.of(batch);
        if (start == 0) {
            // What perf makes up for the time before the recording has time 0.
            start = batch.time(from);
        }
        for (int row = from; row < to; row++) {
            int code = fields.wanted.code(batch, row);
            if (code == SchedFields.SYS_ENTER || code == SchedFields.SYS_EXIT) {
                int thread = threads.find(batch.tid(row));
                if (thread >= 0 && !fields.calls.isCopy(batch, row)) {
                    int number =
                            code == SchedFields.SYS_ENTER ? fields.calls.number(batch, row) : -1;
                    call(thread, batch.time(row), batch.cpu(row), number);
                }
            } else if (code != 0) {
                rare(fields, code, batch, row);
            }
        }
    }

    private void rare(SchedFields fields, int code, Batch batch, int row) {
        switch (code) {
            case SchedFields.SWITCH -> {
                if (owns(batch.source(), true)) {
                    switchRow(fields, batch, row);
                }
            }
            case SchedFields.SWITCH_RECORD -> {
                if (owns(batch.source(), false)) {
                    switchRecord(fields, batch, row);
                }
            }
            case SchedFields.WAKEUP -> wake(fields.woken(batch, row), batch, row, false);
            case SchedFields.WAKEUP_NEW -> wake(fields.woken(batch, row), batch, row, true);
            case SchedFields.LOOK -> looked(fields, batch, row);
            default -> lost(batch, row);
        }
    }

    /** What the recorder saw before the first event. */
    private void looked(SchedFields fields, Batch batch, int row) {
        int thread = threads.find(batch.tid(row));
        StringField letter = fields.lookedState;
        if (thread < 0
                || letter == null
                || SchedFields.value(fields.lookedAtEnd, batch, row) != 0) {
            return;
        }
        byte as =
                switch (letter.of(batch, row)) {
                    case "S" -> SLEEPING;
                    case "D" -> BLOCKED;
                    case "T", "t" -> STOPPED;
                    default -> NONE;
                };
        if (as != NONE) {
            int pid = SchedFields.value(fields.lookedPid, batch, row);
            int chain = withStacks ? stacks.intern(batch, row, pid) : StackTable.NONE;
            int number = SchedFields.value(fields.lookedCall, batch, row);
            looks.put(thread, new FirstLook(as, number, chain));
        }
    }

    /** A thread that sleeps since before its first row is in what the recorder saw it in. */
    private void asLooked(int thread) {
        FirstLook look = looks.get(thread);
        if (look != null) {
            state[thread] = look.state;
            call[thread] = look.call;
            stack[thread] = look.stack;
        }
    }

    @SuppressWarnings("ReferenceEquality") // sources are told apart by identity
    private boolean owns(Source source, boolean tracepoint) {
        if (switchOwner == null || (tracepoint && !ownsTracepoint)) {
            switchOwner = source;
            ownsTracepoint = tracepoint;
        }
        return switchOwner == source && ownsTracepoint == tracepoint;
    }

    private void call(int thread, long time, int onCpu, int number) {
        if (thread >= known) {
            learn(thread);
        }
        ownRow(thread, time, onCpu);
        if (call[thread] >= 0) {
            endKernel(thread, time);
        } else if (number < 0 && callSince[thread] == Long.MIN_VALUE) {
            // Its first row is the end of a call: what ran before it ran in that call.
            kernel[thread] += overlap(thread, since[thread], time);
        }
        call[thread] = number;
        callSince[thread] = time;
    }

    /** A row of the thread itself proves that it runs. */
    private void ownRow(int thread, long time, int onCpu) {
        ranAfterRecorder(thread, onCpu);
        if (state[thread] != RUNNING) {
            shownRunning(thread, time, onCpu);
            cpu[thread] = onCpu;
        }
        cpus.seen(onCpu, time);
        if (switchOwner != null && onCpu >= 0 && cpus.current(onCpu) != thread) {
            takeCpu(thread, time, onCpu);
        }
    }

    private void shownRunning(int thread, long time, int onCpu) {
        if (state[thread] == NONE) {
            ranSinceSwitch(thread, onCpu);
        } else if (state[thread] != DEAD) {
            // A switch-in is missing: without switches at all there is nothing to be missed.
            runsOn = onCpu;
            end(thread, switchOwner == null ? state[thread] : UNKNOWN, time, RUNNING);
            enter(thread, RUNNING, time);
        }
    }

    /** A thread whose first row shows it running: before the CPU's last switch nobody knows. */
    private void ranSinceSwitch(int thread, int onCpu) {
        state[thread] = RUNNING;
        long from = cpus.lastSwitch(onCpu);
        if (from > since[thread]) {
            emit(thread, UNKNOWN, since[thread], from);
            since[thread] = from;
        }
    }

    /**
     * The recorder's own switch-outs are not recorded: who is found running after the recorder came
     * to the CPU has run since then, but for the recorder's few microseconds.
     */
    private void ranAfterRecorder(int thread, int onCpu) {
        int recorder = cpus.current(onCpu);
        if (recorder < 0) {
            return;
        }
        byte was = state[thread];
        boolean off = was != NONE && was != DEAD && was != RUNNING;
        long from = cpus.lastSwitch(onCpu);
        if (off && threads.isRecorder(recorder) && from >= since[thread]) {
            missedSwitchOut(recorder, from, onCpu);
            switchIn(thread, from, onCpu);
            cpus.runs(onCpu, thread);
        }
    }

    /** The thread is on the CPU, so whoever was believed to be there is not. */
    private void takeCpu(int thread, long time, int onCpu) {
        int before = cpus.current(onCpu);
        if (before >= 0) {
            missedSwitchOut(before, time, onCpu);
        }
        cpus.runs(onCpu, thread);
    }

    private void switchRow(SchedFields fields, Batch batch, int row) {
        long time = batch.time(row);
        int onCpu = batch.cpu(row);
        int previous = threads.find(SchedFields.value(fields.prevPid, batch, row));
        int next = living(threads.find(SchedFields.value(fields.nextPid, batch, row)), time);
        if (previous >= 0) {
            name(previous, fields.prevComm, batch, row);
            int reported = SchedFields.value(fields.prevState, batch, row);
            SwitchStates states = fields.states;
            switchOut(
                    previous,
                    time,
                    onCpu,
                    states == null ? PREEMPTED : stateOf(states.of(reported)));
            stack[previous] = StackTable.NONE;
            if (withStacks && batch.stackDepth(row) > 0 && threads.counts(previous, time)) {
                stack[previous] = stacks.intern(batch, row, threads.pid(previous));
            }
        }
        if (next >= 0) {
            name(next, fields.nextComm, batch, row);
            switchIn(next, time, onCpu);
        }
        switched(time, onCpu, previous, next, next);
    }

    /** PERF_RECORD_SWITCH is of the row's own thread: it leaves the CPU, or it has come. */
    private void switchRecord(SchedFields fields, Batch batch, int row) {
        long time = batch.time(row);
        int onCpu = batch.cpu(row);
        int thread = threads.find(batch.tid(row));
        boolean out = fields.isOut(batch, row);
        if (thread >= 0 && out) {
            switchOut(thread, time, onCpu, fields.isPreempted(batch, row) ? PREEMPTED : SLEEPING);
            stack[thread] = StackTable.NONE;
        } else if (thread >= 0) {
            thread = living(thread, time);
            switchIn(thread, time, onCpu);
        }
        switched(time, onCpu, thread, thread, out ? -1 : thread);
    }

    /**
     * A thread that comes to a CPU; when the one with its tid is dead, the tid is another's now.
     */
    private int living(int thread, long time) {
        boolean dead = thread >= 0 && thread < known && state[thread] == DEAD;
        return dead ? threads.reused(thread, time) : thread;
    }

    /** {@code one} and {@code other} are told by the row; whoever else was there has left. */
    private void switched(long time, int onCpu, int one, int other, int now) {
        cpus.seen(onCpu, time);
        if (onCpu < 0) {
            return;
        }
        int before = cpus.current(onCpu);
        if (before >= 0 && before != one && before != other) {
            missedSwitchOut(before, time, onCpu);
        }
        if (cpus.lastSwitch(onCpu) == Long.MIN_VALUE) {
            firstSwitch(other, time, onCpu);
        }
        cpus.switched(onCpu, now, time);
    }

    /** System calls may have been recorded before switches: of those threads one runs at most. */
    private void firstSwitch(int next, long time, int onCpu) {
        for (int thread = 0; thread < known; thread++) {
            if (thread != next) {
                missedSwitchOut(thread, time, onCpu);
            }
        }
    }

    private void name(int thread, @Nullable StringField comm, Batch batch, int row) {
        if (comm != null && threads.wantsName(thread)) {
            threads.name(thread, comm.of(batch, row));
        }
    }

    private static byte stateOf(SwitchStates.Reported reported) {
        return switch (reported) {
            case RUNNABLE -> PREEMPTED;
            case STOPPED -> STOPPED;
            case SLEEPING -> SLEEPING;
            case BLOCKED -> BLOCKED;
            case DEAD -> DEAD;
        };
    }

    private void switchOut(int thread, long time, int onCpu, byte into) {
        learn(thread);
        ranAfterRecorder(thread, onCpu);
        byte was = state[thread];
        if (was == NONE) {
            ranSinceSwitch(thread, onCpu);
            cpu[thread] = onCpu;
        } else if (was == DEAD) {
            return;
        }
        // It cannot leave a CPU that it was not on.
        boolean fits = was != RUNNING || cpu[thread] == onCpu || cpu[thread] < 0;
        fits &= was == NONE || was == RUNNING || was == UNKNOWN;
        runsOn = onCpu;
        end(thread, fits ? state[thread] : UNKNOWN, time, RUNNING);
        cpu[thread] = onCpu;
        enter(thread, into, time);
    }

    private void switchIn(int thread, long time, int onCpu) {
        learn(thread);
        byte was = state[thread];
        if (was == NONE) {
            // One that lived before the recording may have been woken before it, or while the
            // rings of this CPU were not yet armed.
            state[thread] = wakeups && threads.born(thread) > start ? WAITING : UNKNOWN;
        }
        end(thread, was == RUNNING ? UNKNOWN : state[thread], time, wakeups ? WAITING : UNKNOWN);
        if (cpu[thread] >= 0 && cpu[thread] != onCpu) {
            migrations[thread]++;
        }
        cpu[thread] = onCpu;
        enter(thread, RUNNING, time);
    }

    /** Somebody else is on the CPU where this thread was believed to run. */
    private void missedSwitchOut(int thread, long time, int onCpu) {
        if (state[thread] == RUNNING && cpu[thread] == onCpu) {
            end(thread, UNKNOWN, time, UNKNOWN);
            enter(thread, UNKNOWN, time);
        }
    }

    private void wake(int tid, Batch batch, int row, boolean isNew) {
        wakeups = true;
        int thread = threads.find(tid);
        if (thread < 0) {
            return;
        }
        learn(thread);
        long time = batch.time(row);
        int running = threads.find(batch.tid(row));
        if (running >= 0 && running < known && state[running] == WAITING) {
            // Also where an interrupt wakes, it came while this thread ran.
            ownRow(running, time, batch.cpu(row));
        }
        cpus.seen(batch.cpu(row), time);
        byte was = state[thread];
        if (was == NONE) {
            state[thread] = isNew ? WAITING : SLEEPING;
            if (!isNew) {
                asLooked(thread);
            }
            was = state[thread];
        }
        if (was == SLEEPING || was == BLOCKED || was == STOPPED || was == UNKNOWN || isNew) {
            waker[thread] = inInterrupt(batch, row) ? -1 : running;
            end(thread, was, time, SLEEPING);
            enter(thread, WAITING, time);
        }
    }

    /**
     * Whether an interrupt fired the event: the running task has nothing to do with it.
     * common_flags is the byte behind common_type; TRACE_FLAG_HARDIRQ 0x08, TRACE_FLAG_SOFTIRQ 0x10
     * (include/linux/trace_events.h, 6.18).
     */
    private static boolean inInterrupt(Batch batch, int row) {
        return batch.payloadBytes(row) > 2 && (batch.u8(row, 2) & 0x18) != 0;
    }

    @SuppressWarnings("ReferenceEquality") // sources are told apart by identity
    private void lost(Batch batch, int row) {
        int onCpu = batch.cpu(row);
        long time = batch.time(row);
        boolean switches = switchOwner == null || switchOwner == batch.source();
        if (switches) {
            cpus.lost(onCpu, start, time);
        }
        for (int i = 0; i < known; i++) {
            // Its call may have ended, or another begun.
            if ((onCpu < 0 || cpu[i] == onCpu) && call[i] >= 0) {
                endKernel(i, Math.min(time, cpus.rowBefore(cpu[i], time)));
                call[i] = -1;
                callSince[i] = time;
            }
        }
        cpus.seen(onCpu, time);
    }

    private void enter(int thread, byte into, long time) {
        state[thread] = into;
        since[thread] = time;
        kernel[thread] = 0;
        if (into == RUNNING) {
            waker[thread] = -1;
            if (call[thread] >= 0) {
                callSince[thread] = time;
            }
        }
    }

    /**
     * Ends the span of a thread.
     *
     * @param as what the span was
     * @param implied what the thread did since the last gap, if there was one
     */
    private void end(int thread, byte as, long time, byte implied) {
        if (state[thread] == DEAD) {
            return;
        }
        if (state[thread] == RUNNING && call[thread] >= 0) {
            endKernel(thread, time);
        }
        long from = since[thread];
        int onCpu = cpu[thread];
        long gap = cpus.gapAfter(onCpu, from);
        if (gap >= time) {
            emit(thread, as, from, time);
            cpus.ran(as == RUNNING ? onCpu : -1, time);
            return;
        }
        long gapEnd = Math.min(cpus.lastGapEnd(onCpu), time);
        emit(thread, as, from, gap);
        emit(thread, UNKNOWN, gap, gapEnd);
        kernel[thread] = 0;
        if (as != implied) {
            stack[thread] = StackTable.NONE;
        }
        long since = implied == RUNNING ? Math.min(ranSince(thread, gapEnd), time) : gapEnd;
        emit(thread, UNKNOWN, gapEnd, since);
        emit(thread, implied, since, time);
        cpus.ran(implied == RUNNING ? runsOn : -1, time);
    }

    /** Since when a thread may have run, whose switch-in was lost: others were seen there. */
    private long ranSince(int thread, long gapEnd) {
        int there = cpus.current(runsOn);
        long others = Math.max(gapEnd, cpus.ranUntil(runsOn));
        long switched = Math.max(others, cpus.lastSwitch(runsOn));
        long row = there >= 0 ? cpus.rowBefore(runsOn, others) : others;
        return there == thread ? others : Math.max(switched, row);
    }

    private void endKernel(int thread, long time) {
        if (state[thread] == RUNNING) {
            long from = Math.max(callSince[thread], since[thread]);
            kernel[thread] += overlap(thread, from, time);
        }
    }

    private long overlap(int thread, long from, long to) {
        return window.overlap(Math.max(from, threads.countsFrom(thread)), to);
    }

    private void emit(int thread, byte as, long spanFrom, long spanTo) {
        long from = Math.max(Math.max(spanFrom, threads.countsFrom(thread)), window.from());
        if (threads.isRecorder(thread)) {
            from = Math.max(spanFrom, window.from());
        }
        long to = Math.min(spanTo, window.to());
        if (from >= to) {
            return;
        }
        threads.livedUntil(thread, to);
        ThreadState shown = ThreadState.of(as);
        for (StateSlices consumer : consumers) {
            consumer.slice(this, thread, shown, from, to);
        }
    }

    private void learn(int thread) {
        if (thread < known) {
            return;
        }
        int capacity = state.length;
        if (thread >= capacity) {
            capacity = Math.max(64, Math.max(2 * capacity, thread + 1));
            state = Arrays.copyOf(state, capacity);
            since = Arrays.copyOf(since, capacity);
            cpu = Arrays.copyOf(cpu, capacity);
            call = Arrays.copyOf(call, capacity);
            callSince = Arrays.copyOf(callSince, capacity);
            kernel = Arrays.copyOf(kernel, capacity);
            stack = Arrays.copyOf(stack, capacity);
            waker = Arrays.copyOf(waker, capacity);
            migrations = Arrays.copyOf(migrations, capacity);
        }
        for (int i = known; i <= thread; i++) {
            state[i] = NONE;
            since[i] = Math.max(start, threads.born(i));
            cpu[i] = -1;
            call[i] = -1;
            callSince[i] = Long.MIN_VALUE;
            stack[i] = StackTable.NONE;
            waker[i] = -1;
        }
        known = thread + 1;
    }

    @Override
    public void finish(long lastTime) {
        for (int thread = 0; thread < known; thread++) {
            byte last = state[thread];
            if (last != NONE && last != DEAD) {
                long died = threads.died(thread);
                // Nothing follows its exit but a switch-out that may lie outside the recording; of
                // a thread that was off the CPU when it ended a switch-in is missing.
                long time = Math.max(Math.min(died, lastTime), since[thread]);
                boolean neverRan =
                        last == WAITING && cpu[thread] < 0 && threads.born(thread) <= start;
                boolean fits = last == RUNNING || died > lastTime && !neverRan;
                runsOn = cpu[thread];
                end(thread, fits ? last : UNKNOWN, time, last);
            }
        }
    }

    /**
     * Hands out spans made of samples, where no row told a state: each sample stands for the time
     * before it, what is between is {@link ThreadState#UNKNOWN}. For after {@link #finish}.
     *
     * @param samples of what ran
     * @param extent of the recording; where all rows have one time nothing is estimated
     * @return whether there was anything to be estimated
     */
    public boolean estimate(StackAggregate samples, SampleDuration meaning, Engine.Extent extent) {
        if (known > 0 || samples.kept() == 0 || extent.last() <= extent.first()) {
            return false;
        }
        learn(threads.size() - 1);
        Arrays.fill(state, 0, known, NONE);
        SampledSpans spans = new SampledSpans(samples, meaning);
        spans.handOut(
                known,
                (thread, onCpu, as, from, to) -> {
                    state[thread] = DEAD; // silent() has nothing to add
                    cpu[thread] = onCpu;
                    emit(thread, as, Math.max(from, threads.born(thread)), to);
                });
        return true;
    }

    /**
     * Hands out one span for every followed thread of which nothing was seen. For after {@link
     * #finish}.
     *
     * @param from when the recording began
     * @param to when it ended
     * @param as what is known of a thread without rows: that it slept where its switches would have
     *     been recorded, else nothing
     */
    public void silent(long from, long to, ThreadState as) {
        for (int thread = 0; thread < threads.size(); thread++) {
            if (!threads.isFollowed(thread)) {
                continue;
            }
            learn(thread);
            if (state[thread] == NONE) {
                long begin = Math.max(from, threads.born(thread));
                byte shown = (byte) as.ordinal();
                if (as == ThreadState.SLEEPING) {
                    asLooked(thread);
                    shown = state[thread] == NONE ? shown : state[thread];
                }
                emit(thread, shown, begin, Math.min(to, threads.died(thread)));
                state[thread] = NONE;
            }
        }
    }

    /** The system call the thread is in, -1 for none. */
    public int call(int thread) {
        return call[thread];
    }

    /** When the thread left the CPU; -1 when it runs, or nothing was seen of it. */
    public long offSince(int thread) {
        boolean off = thread < known && state[thread] != RUNNING && state[thread] >= 0;
        return off ? since[thread] : -1;
    }

    /** Node of the chain at its last switch-out, {@link StackTable#NONE} for none. */
    public int stack(int thread) {
        return stack[thread];
    }

    /** Number of the thread that woke it last; -1 for the idle task or none. */
    public int waker(int thread) {
        return waker[thread];
    }

    /** Of a running span the nanoseconds spent in system calls. */
    public long kernelNanos(int thread) {
        return kernel[thread];
    }

    /** How often it came back on another CPU than it left; over the whole recording. */
    public int migrations(int thread) {
        return thread < known ? migrations[thread] : 0;
    }

    /** The CPU it ran on last, -1 when it did not. */
    public int cpu(int thread) {
        return cpu[thread];
    }

    /** Whether any switch was seen; without, only running and unknown can be told. */
    public boolean sawSwitches() {
        return switchOwner != null;
    }

    /** Whether any wake-up was seen; without, waiting for a CPU counts as sleeping. */
    public boolean sawWakeups() {
        return wakeups;
    }
}
