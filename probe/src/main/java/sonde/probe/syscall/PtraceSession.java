package sonde.probe.syscall;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import sonde.probe.syscall.CallStream.CallChunk;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.CaptureOp.CallPlan;
import sonde.recording.syscall.CaptureOp.NumberPlan;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.Ptrace;
import sonde.sys.SyscallException;

/**
 * Captures system calls by ptrace(2), which needs no privilege for one's own processes: a process
 * is stopped at the begin and the end of each call. It gives the records that {@link CallSession}
 * gives, and can change calls ({@link Injection}).
 *
 * <p>One thread seizes, waits and resumes. When this process is killed, the tracees run on.
 */
public final class PtraceSession implements CallSource.Streamed {
    private static final int SYSCALL_STOP = ProcessCalls.SIGTRAP | 0x80;
    private static final int ARCH_I386 = 0x40000003;
    private static final int INFO_BYTES = 88; // struct ptrace_syscall_info
    private static final int SIGINFO_BYTES = 48;
    private static final int RECORD_BYTES = 1 << 17;
    private static final long FLUSH_NANOS = 2_000_000;
    private static final int ORIGINAL_AX = 120; // struct user_regs_struct
    private static final int AX = 80;
    private static final int EXECVE = CallTable.number("execve");

    /** A thread that is traced. */
    private static final class Tracee {
        final int tid;
        final int pid;
        boolean waitsForExec;
        boolean inCall;
        byte flags;
        long number;
        final long[] arguments = new long[8];
        long[] injected = {};
        @Nullable Injection injection;

        Tracee(int tid, int pid) {
            this.tid = tid;
            this.pid = pid;
        }
    }

    private final boolean follow;
    private final Map<Integer, NumberPlan> plans;
    private final List<Injection> injections;
    private final Map<Integer, Tracee> tracees = new HashMap<>();
    private final Map<Integer, CompletableFuture<Integer>> ends = new HashMap<>();
    private final CallStream stream = new CallStream(Runtime.getRuntime().maxMemory() / 2);
    private final LinkedBlockingQueue<FutureSeizure> wanted = new LinkedBlockingQueue<>();
    private final ByteBuffer record =
            ByteBuffer.allocate(RECORD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final Object chunkLock = new Object();
    private byte[] chunk = new byte[1 << 18];
    private int used;
    private volatile boolean stopping;
    private int woken; // by close; under the lock of tracees
    private volatile boolean alone = true;
    private volatile boolean started;

    /** What is to be seized; {@code pid} 0 only wakes the thread. */
    private record FutureSeizure(int pid, boolean waitsForExec, CompletableFuture<Integer> errno) {}

    private PtraceSession(
            boolean follow, Map<Integer, NumberPlan> plans, List<Injection> injections) {
        this.follow = follow;
        this.plans = plans;
        this.injections = injections;
        Thread.ofPlatform().daemon().name("ptrace").start(this::trace);
        Thread.ofPlatform().daemon().name("flush").start(this::flushSometimes);
    }

    /**
     * Seizes the processes.
     *
     * @param follow whether children and all threads are traced, too
     * @throws SyscallException when one may not be traced
     */
    public static PtraceSession open(
            Set<Integer> pids,
            boolean follow,
            Map<Integer, NumberPlan> plans,
            List<Injection> injections)
            throws SyscallException {
        PtraceSession session = new PtraceSession(follow, plans, injections);
        for (int pid : pids) {
            session.seize(pid, false);
        }
        return session;
    }

    @Override
    public void follow(int pid) throws SyscallException {
        seize(pid, true);
    }

    private void seize(int pid, boolean waitsForExec) throws SyscallException {
        CompletableFuture<Integer> errno = new CompletableFuture<>();
        wanted.add(new FutureSeizure(pid, waitsForExec, errno));
        int failure = errno.join();
        if (failure != 0) {
            throw new SyscallException("ptrace", "pid " + pid, failure);
        }
        started = true;
    }

    /** The status of a process that was seized, as wait4(2) gives it, when it has ended. */
    public int status(int pid) {
        CompletableFuture<Integer> end;
        synchronized (ends) {
            end = ends.computeIfAbsent(pid, _ -> new CompletableFuture<>());
        }
        return end.join();
    }

    @Override
    public CallStream stream() {
        return stream;
    }

    @Override
    public boolean isAlone() {
        return started && alone;
    }

    @Override
    public long lost() {
        return 0;
    }

    @Override
    public void finish() {
        close();
    }

    /**
     * Detaches from what still runs. A tracee has to stop for it: SIGSTOP for one thread wakes the
     * tracing thread, which detaches from that one when it has taken the signal away.
     */
    @Override
    public void close() {
        if (stopping) {
            return;
        }
        synchronized (tracees) {
            stopping = true;
            wanted.add(new FutureSeizure(0, false, new CompletableFuture<>()));
            for (Tracee tracee : tracees.values()) {
                if (Ptrace.signal(tracee.pid, tracee.tid, ProcessCalls.SIGSTOP)) {
                    woken = tracee.tid;
                    return;
                }
            }
        }
    }

    private void trace() {
        IOException failure = null;
        try (Ptrace ptrace = new Ptrace()) {
            StoppedMemory memory = new StoppedMemory(ptrace, record);
            while (!stopping || !tracees.isEmpty()) {
                for (FutureSeizure one = next(); one != null; one = wanted.poll()) {
                    if (one.pid() != 0) {
                        one.errno().complete(seize(ptrace, one));
                    }
                }
                if (tracees.isEmpty()) {
                    continue;
                }
                int tid = ptrace.await();
                if (tid < 0) {
                    synchronized (tracees) {
                        tracees.clear();
                    }
                    alone = true;
                } else {
                    stopped(ptrace, memory, tid, ptrace.status());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            failure = e;
        }
        flush();
        stream.end(failure);
    }

    /** What is to be seized: waits for it when nothing is traced. */
    private @Nullable FutureSeizure next() throws InterruptedException {
        return tracees.isEmpty() && !stopping ? wanted.take() : wanted.poll();
    }

    private int seize(Ptrace ptrace, FutureSeizure one) {
        int pid = one.pid();
        int options = Ptrace.O_TRACESYSGOOD | Ptrace.O_TRACEEXEC;
        if (follow) {
            options |= Ptrace.O_TRACEFORK | Ptrace.O_TRACEVFORK | Ptrace.O_TRACECLONE;
        }
        int failure = -Errno.ESRCH;
        boolean grew = true;
        while (grew) {
            grew = false;
            String[] tids = follow ? new File("/proc/" + pid + "/task").list() : null;
            for (String number : tids == null ? new String[] {"" + pid} : tids) {
                int tid = Integer.parseInt(number);
                if (!tracees.containsKey(tid)) {
                    long result = ptrace.request(Ptrace.SEIZE, tid, 0, options);
                    if (result == 0) {
                        add(tid).waitsForExec = one.waitsForExec();
                        ptrace.request(Ptrace.INTERRUPT, tid, 0, 0);
                        grew = follow;
                        failure = 0;
                    } else if (failure != 0) {
                        failure = (int) result;
                    }
                }
            }
        }
        return -failure;
    }

    private Tracee add(int tid) {
        int pid = tid;
        try {
            byte[] status = FileCalls.readAll("/proc/" + tid + "/status", 1 << 16);
            String text = new String(status, StandardCharsets.ISO_8859_1);
            int at = text.indexOf("\nTgid:\t");
            pid = Integer.parseInt(text.substring(at + 7, text.indexOf('\n', at + 1)));
        } catch (SyscallException e) {
            pid = tid; // gone
        }
        Tracee tracee = new Tracee(tid, pid);
        tracee.injected = new long[injections.size()];
        synchronized (tracees) {
            tracees.put(tid, tracee);
        }
        alone = false;
        return tracee;
    }

    private void stopped(Ptrace ptrace, StoppedMemory memory, int tid, int status)
            throws IOException {
        Tracee known = tracees.get(tid);
        if ((status & 0xff) != 0x7f) {
            ended(known, tid, status);
            return;
        }
        Tracee tracee = known == null ? add(tid) : known;
        int signal = status >> 8 & 0xff;
        int event = status >>> 16;
        if (stopping) {
            detach(ptrace, tid, event, signal);
            return;
        }
        int sent = 0;
        if (signal == SYSCALL_STOP) {
            sent = call(ptrace, memory, tracee);
        } else if (event == Ptrace.EVENT_EXEC) {
            executed(ptrace, tracee);
        } else if (event == Ptrace.EVENT_STOP && isStop(signal)) {
            ptrace.request(Ptrace.LISTEN, tid, 0, 0);
            return;
        } else if (event == 0) {
            delivered(ptrace, tracee, signal);
            sent = signal;
        }
        ptrace.request(Ptrace.SYSCALL, tid, 0, sent);
    }

    private void detach(Ptrace ptrace, int tid, int event, int signal) {
        boolean isSignal = event == 0 && signal != SYSCALL_STOP;
        boolean ours = isSignal && signal == ProcessCalls.SIGSTOP;
        synchronized (tracees) {
            if (tid == woken && !ours) {
                ptrace.request(Ptrace.SYSCALL, tid, 0, isSignal ? signal : 0);
            } else {
                ptrace.request(Ptrace.DETACH, tid, 0, isSignal && !ours ? signal : 0);
                tracees.remove(tid);
            }
            for (Tracee other : tracees.values()) {
                if (other.tid != woken) {
                    ptrace.request(Ptrace.INTERRUPT, other.tid, 0, 0);
                }
            }
        }
    }

    private static boolean isStop(int signal) {
        return signal >= ProcessCalls.SIGSTOP && signal <= 22; // SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU
    }

    private void ended(@Nullable Tracee known, int tid, int status) {
        Tracee tracee = known == null ? new Tracee(tid, tid) : known;
        begin(tracee, CallRecord.END, status);
        send();
        synchronized (tracees) {
            tracees.remove(tid);
        }
        if (tracees.isEmpty()) {
            flush();
            alone = true;
        }
        synchronized (ends) {
            ends.computeIfAbsent(tid, _ -> new CompletableFuture<>()).complete(status);
        }
    }

    private void executed(Ptrace ptrace, Tracee tracee) {
        if (ptrace.ask(Ptrace.GETEVENTMSG, tracee.tid, 0) < 0) {
            return;
        }
        int old = (int) ptrace.scratch().get(JAVA_LONG, 0);
        Tracee before = tracees.get(old);
        if (old != tracee.tid && before != null) {
            begin(tracee, CallRecord.EXEC, 0);
            record.putLong(CallRecord.RESULT, old);
            send();
            synchronized (tracees) {
                tracees.remove(old);
            }
            tracee.inCall = before.inCall;
            tracee.number = before.number;
            tracee.flags = before.flags;
            System.arraycopy(before.arguments, 0, tracee.arguments, 0, 8);
        }
    }

    private void delivered(Ptrace ptrace, Tracee tracee, int signal) {
        begin(tracee, CallRecord.SIGNAL, signal);
        if (ptrace.ask(Ptrace.GETSIGINFO, tracee.tid, 0) >= 0) {
            int at = CallRecord.PIECES;
            record.putInt(at, 0).putInt(at + 4, SIGINFO_BYTES);
            MemorySegment.copy(
                    ptrace.scratch(), JAVA_BYTE, 0, record.array(), at + 8, SIGINFO_BYTES);
            record.putInt(CallRecord.LENGTH, at + 8 + SIGINFO_BYTES);
        }
        send();
    }

    /** A call begins or ends; the signal that is sent to the thread. */
    private int call(Ptrace ptrace, StoppedMemory memory, Tracee tracee) {
        if (ptrace.ask(Ptrace.GET_SYSCALL_INFO, tracee.tid, INFO_BYTES) < 0) {
            return 0;
        }
        MemorySegment info = ptrace.scratch();
        int kind = info.get(JAVA_BYTE, 0);
        if (kind == 1) {
            tracee.inCall = true;
            tracee.number = info.get(JAVA_LONG, 24);
            tracee.flags = (byte) (info.get(JAVA_INT, 4) == ARCH_I386 ? CallRecord.COMPAT : 0);
            for (int i = 0; i < 6; i++) {
                tracee.arguments[i] = info.get(JAVA_LONG, 32 + 8L * i);
            }
            tracee.arguments[6] = info.get(JAVA_LONG, 16);
            tracee.arguments[7] = info.get(JAVA_LONG, 8);
            if (tracee.waitsForExec && tracee.number != EXECVE) {
                tracee.inCall = false;
                return 0;
            }
            tracee.waitsForExec = false;
            return entered(ptrace, memory, tracee);
        } else if (kind == 2 && tracee.inCall) {
            left(ptrace, memory, tracee, info.get(JAVA_LONG, 24));
        }
        return 0;
    }

    private int entered(Ptrace ptrace, StoppedMemory memory, Tracee tracee) {
        Injection injection = tracee.flags == 0 ? chosen(tracee) : null;
        tracee.injection = injection;
        if (injection != null) {
            pause(injection.delays().enter());
            poke(ptrace, tracee, injection, false);
        }
        CallPlan plan = plan(tracee);
        if (plan != null) {
            begin(tracee, CallRecord.ENTER, tracee.number);
            memory.follow(plan.entry(), tracee.tid);
            send();
        }
        if (injection == null) {
            return 0;
        }
        if (injection.result().isPresent()) {
            ptrace.request(Ptrace.POKEUSER, tracee.tid, ORIGINAL_AX, -1);
        } else if (injection.call() >= 0) {
            ptrace.request(Ptrace.POKEUSER, tracee.tid, ORIGINAL_AX, injection.call());
        }
        return injection.signal();
    }

    private void left(Ptrace ptrace, StoppedMemory memory, Tracee tracee, long real) {
        Injection injection = tracee.injection;
        tracee.inCall = false;
        tracee.injection = null;
        long result = real;
        if (injection != null) {
            if (injection.result().isPresent()) {
                result = injection.result().getAsLong();
                ptrace.request(Ptrace.POKEUSER, tracee.tid, AX, result);
            }
            boolean changed = injection.result().isPresent() || injection.call() >= 0;
            boolean poked = !injection.pokes().isEmpty();
            boolean delayed = injection.delays().enter() + injection.delays().exit() > 0;
            tracee.flags |=
                    (byte)
                            ((changed ? CallRecord.INJECTED : 0)
                                    | (poked ? CallRecord.POKED : 0)
                                    | (delayed ? CallRecord.DELAYED : 0));
            poke(ptrace, tracee, injection, true);
        }
        CallPlan plan = plan(tracee);
        if (plan != null) {
            begin(tracee, CallRecord.EXIT, tracee.number);
            record.putLong(CallRecord.RESULT, result);
            memory.follow(plan.exit(), tracee.tid);
            send();
        }
        if (injection != null) {
            pause(injection.delays().exit());
        }
    }

    private @Nullable Injection chosen(Tracee tracee) {
        Injection found = null;
        for (int i = 0; i < injections.size(); i++) {
            Injection one = injections.get(i);
            if (one.calls().get(Math.clamp(tracee.number, 0, CallTable.CALLS))
                    && one.times().has(++tracee.injected[i])) {
                found = one;
            }
        }
        return found;
    }

    private static void poke(Ptrace ptrace, Tracee tracee, Injection injection, boolean atExit) {
        for (Injection.Poke poke : injection.pokes()) {
            if (poke.atExit() == atExit && poke.argument() < 6) {
                int length = poke.bytes().length;
                MemorySegment.copy(poke.bytes(), 0, ptrace.scratch(), JAVA_BYTE, 0, length);
                ptrace.write(tracee.tid, tracee.arguments[poke.argument()], length, 0);
            }
        }
    }

    /** All tracees wait meanwhile, as with strace before 6.0. */
    private static void pause(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private @Nullable CallPlan plan(Tracee tracee) {
        boolean compat = (tracee.flags & CallRecord.COMPAT) != 0;
        long number = compat || tracee.number < 0 ? CallTable.CALLS : tracee.number;
        NumberPlan plan = plans.get((int) Math.min(number, CallTable.CALLS));
        if (plan == null || plan.chooser() < 0) {
            return plan == null ? null : plan.plan();
        }
        long value = tracee.arguments[plan.chooser()] & 0xffffffffL;
        return plan.choices().getOrDefault(value, plan.plan());
    }

    /** Begins a record of the thread. */
    private void begin(Tracee tracee, int kind, long number) {
        record.putInt(CallRecord.LENGTH, CallRecord.PIECES)
                .put(CallRecord.KIND, (byte) kind)
                .put(CallRecord.FLAGS, kind <= CallRecord.EXIT ? tracee.flags : 0)
                .putLong(CallRecord.TIME, Clocks.nanos(Clocks.CLOCK_MONOTONIC))
                .putInt(CallRecord.PID, tracee.pid)
                .putInt(CallRecord.TID, tracee.tid)
                .putLong(CallRecord.NUMBER, number)
                .putLong(CallRecord.RESULT, 0)
                .putLong(CallRecord.LOST, 0);
        for (int i = 0; i < 8; i++) {
            record.putLong(CallRecord.ARGUMENTS + 8 * i, tracee.arguments[i]);
        }
    }

    private void send() {
        int length = record.getInt(CallRecord.LENGTH);
        synchronized (chunkLock) {
            if (used + length > chunk.length) {
                put();
            }
            System.arraycopy(record.array(), 0, chunk, used, length);
            used += length;
        }
    }

    private void flush() {
        synchronized (chunkLock) {
            put();
        }
    }

    private void put() {
        if (used == 0) {
            return;
        }
        try {
            long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            boolean full = used > chunk.length / 2;
            byte[] bytes = full ? chunk : Arrays.copyOf(chunk, used);
            // The records are in order: none is held back.
            stream.put(new CallChunk(bytes, used, now + CallStream.HELD_NANOS));
            chunk = full ? new byte[chunk.length] : chunk;
            used = 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void flushSometimes() {
        while (!stopping) {
            LockSupport.parkNanos(FLUSH_NANOS);
            flush();
        }
    }
}
