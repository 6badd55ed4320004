package sonde.analysis.file;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.analysis.ThreadTable;
import sonde.analysis.sched.StateSlices;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.ThreadStates;
import sonde.analysis.sched.ThreadsNow;
import sonde.analysis.sched.ThreadsNow.ThreadLook;
import sonde.analysis.stack.StackTable;

/**
 * Time off the CPU by what was waited for: a file, the peer of a socket also inside poll, select
 * and epoll, a pipe, a child, a lock with its owner and what that one did meanwhile. Of a wait that
 * began before the recording the recorder's look at the thread says it.
 */
public final class ObjectWaits implements StateSlices {
    /** Objects told apart; of more the time is that of none. */
    private static final int MOST_OBJECTS = 1 << 16;

    /** Of a wait for several descriptors those that are named. */
    private static final int MOST_FILES = 3;

    /** A holder that was off the CPU for less of a wait is said to have run. */
    private static final double HELD_OFF = 0.2;

    private static final Pattern LISTED_PIPE = Pattern.compile("pipe:\\[\\d+] of (\\d{1,9}):\\d+");

    private final ThreadTable threads;
    private final FileAccesses files;
    private final ThreadsNow looks;
    private final int wait4;
    private final int waitid;
    private final Map<WaitKey, WaitedTime> sums = new HashMap<>();
    private final Map<Waited, Waited> objects = new HashMap<>();

    // By thread: its last time off the CPU.
    private long[] offFrom = new long[64];
    private long[] offTo = new long[64];
    private int[] offStack = new int[64];
    private int[] offCall = new int[64];

    /** What is waited for; names are looked up at the end. */
    private sealed interface Waited {
        /** Descriptors; {@code more} are not listed. */
        record OpenOnes(List<OpenFile> files, int more, boolean connecting) implements Waited {}

        /** A lock where its owner is known. */
        record Futex(int pid, long address, boolean owned) implements Waited {}

        record ThreadEnd(int thread) implements Waited {}

        record Child(int thread) implements Waited {}

        record Looked(String object, int holder) implements Waited {}
    }

    private record WaitKey(int thread, ThreadState state, int call, Waited object) {}

    /** What a holder did; call -2 when it ran. */
    private record HolderDoing(int thread, int call, int stack) {
        static final int RAN = -2;
    }

    private static final class WaitedTime {
        private long nanos;
        private long count;
        private long max;
        private final Map<HolderDoing, Long> holders = new HashMap<>();
    }

    /**
     * A sum of waits.
     *
     * @param call number of the system call that waited, -1 for none
     * @param object its name: a path, an address, {@code "lock 0x55d7"}, {@code "child cc1 99"}
     * @param holder the thread that had the lock during most of the time, by its number in the
     *     thread table; or that is at the other end; -1 when nothing tells it
     * @param holderCall the system call in which that one was off the CPU meanwhile, -1 for none
     * @param holderStack the chain with which it had left the CPU, {@link StackTable#NONE} where it
     *     ran, or nothing tells it
     */
    public record ObjectWait(
            int thread,
            ThreadState state,
            int call,
            String object,
            int holder,
            int holderCall,
            int holderStack,
            long nanos,
            long count,
            long max) {}

    /**
     * @param files knows what calls are on
     * @param looks what threads were in at the start
     * @param numberOf number of a system call on the recorded machine
     */
    public ObjectWaits(
            ThreadTable threads,
            FileAccesses files,
            ThreadsNow looks,
            ToIntFunction<String> numberOf) {
        this.threads = threads;
        this.files = files;
        this.looks = looks;
        wait4 = numberOf.applyAsInt("wait4");
        waitid = numberOf.applyAsInt("waitid");
    }

    @Override
    public boolean needsStacks() {
        return true;
    }

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        boolean waits =
                state == ThreadState.SLEEPING
                        || state == ThreadState.BLOCKED
                        || state == ThreadState.STOPPED;
        if (!waits) {
            return;
        }
        keep(states, thread, from, to);
        Waited object = waited(states, thread, from);
        if (object == null || objects.size() >= MOST_OBJECTS && !objects.containsKey(object)) {
            return;
        }
        Waited known = objects.computeIfAbsent(object, one -> one);
        WaitedTime sum =
                sums.computeIfAbsent(
                        new WaitKey(thread, state, states.call(thread), known),
                        _ -> new WaitedTime());
        sum.nanos += to - from;
        sum.count++;
        sum.max = Math.max(sum.max, to - from);
        int owner = object instanceof Waited.Futex word && word.owned ? files.owner(thread) : -1;
        if (owner >= 0) {
            sum.holders.merge(doing(states, owner, from, to), to - from, Long::sum);
        }
    }

    private void keep(ThreadStates states, int thread, long from, long to) {
        if (thread >= offFrom.length) {
            int room = Math.max(thread + 1, 2 * offFrom.length);
            offFrom = Arrays.copyOf(offFrom, room);
            offTo = Arrays.copyOf(offTo, room);
            offStack = Arrays.copyOf(offStack, room);
            offCall = Arrays.copyOf(offCall, room);
        }
        offFrom[thread] = from;
        offTo[thread] = to;
        offStack[thread] = states.stack(thread);
        offCall[thread] = states.call(thread);
    }

    /** What the owner of a lock did while another waited: the longer of its last two waits. */
    private HolderDoing doing(ThreadStates states, int owner, long from, long to) {
        long since = states.offSince(owner);
        long now = since < 0 ? 0 : to - Math.max(since, from);
        boolean kept = owner < offTo.length;
        long before = kept ? Math.min(to, offTo[owner]) - Math.max(from, offFrom[owner]) : 0;
        if (Math.max(now, before) < HELD_OFF * (to - from)) {
            return new HolderDoing(owner, HolderDoing.RAN, StackTable.NONE);
        }
        return now >= before
                ? new HolderDoing(owner, states.call(owner), states.stack(owner))
                : new HolderDoing(owner, offCall[owner], offStack[owner]);
    }

    private @Nullable Waited waited(ThreadStates states, int thread, long from) {
        int call = states.call(thread);
        if (call < 0) {
            return null;
        }
        FileAccesses.WaitedNow now = files.waitsNow(thread, from);
        if (now == null) {
            ThreadLook look = looks.of(thread);
            if (look == null || look.syscall() != call || look.object().isEmpty()) {
                return null;
            }
            // That at the end is of this wait when the thread has not run since its begin.
            boolean same = !look.atEnd() || look.sinceNanos() <= from;
            return same ? new Waited.Looked(look.object(), look.holder()) : null;
        }
        if (call == wait4 || call == waitid) {
            return child(states, thread, now.child());
        }
        if (now.ending() >= 0) {
            return new Waited.ThreadEnd(now.ending());
        }
        if (now.futex() != 0) {
            boolean owned = files.owner(thread) >= 0;
            return new Waited.Futex(threads.pid(thread), now.futex(), owned);
        }
        List<OpenFile> on = now.files();
        if (on.isEmpty()) {
            return null;
        }
        boolean connecting = now.connects() || on.stream().anyMatch(file -> file.connecting);
        List<OpenFile> first = on;
        if (on.size() > MOST_FILES) {
            first =
                    Stream.concat(
                                    on.stream().filter(OpenFile::isPeer),
                                    on.stream().filter(file -> !file.isPeer()))
                            .limit(MOST_FILES)
                            .toList();
        }
        return new Waited.OpenOnes(first, on.size() - first.size(), connecting);
    }

    /** The child that is named, else the process that ended the wait: its parent is this one. */
    private @Nullable Waited child(ThreadStates states, int thread, int asked) {
        int child = asked > 0 ? threads.find(asked) : -1;
        int waker = states.waker(thread);
        if (child < 0 && waker >= 0 && threads.pid(waker) != threads.pid(thread)) {
            child = threads.find(threads.pid(waker));
        }
        return child < 0 ? null : new Waited.Child(child);
    }

    /** Every sum, longest first. */
    public List<ObjectWait> waits() {
        List<ObjectWait> all = new ArrayList<>();
        sums.forEach((key, sum) -> {
            HolderDoing holder =
                    sum.holders.entrySet().stream()
                            .max(Map.Entry.comparingByValue())
                            .map(Map.Entry::getKey)
                            .orElseGet(() -> seen(holder(key.object)));
            all.add(
                    new ObjectWait(
                            key.thread,
                            key.state,
                            key.call,
                            name(key.object),
                            holder.thread,
                            Math.max(-1, holder.call),
                            holder.stack,
                            sum.nanos,
                            sum.count,
                            sum.max));
        });
        all.sort((one, other) -> {
            int order = Long.compare(other.nanos, one.nanos);
            return order != 0 ? order : one.object.compareTo(other.object);
        });
        return all;
    }

    /** What the recorder saw a holder in. */
    private HolderDoing seen(int holder) {
        ThreadLook look = holder < 0 ? null : looks.of(holder);
        return look == null
                ? new HolderDoing(holder, -1, StackTable.NONE)
                : new HolderDoing(holder, look.syscall(), look.stack());
    }

    private int holder(Waited object) {
        return switch (object) {
            case Waited.Looked looked -> looked.holder > 0 ? threads.find(looked.holder) : -1;
            case Waited.Child child -> child.thread;
            case Waited.ThreadEnd end -> end.thread;
            case Waited.OpenOnes _, Waited.Futex _ -> -1;
        };
    }

    private String name(Waited object) {
        return switch (object) {
            case Waited.Looked looked -> looked.object;
            case Waited.Futex word -> {
                String shared = files.sharedMemory(word.pid, word.address);
                yield shared.isEmpty()
                        ? (word.owned ? "lock 0x" : "futex 0x") + Long.toHexString(word.address)
                        : "shared memory " + shared;
            }
            case Waited.ThreadEnd end -> "end of thread " + name(end.thread);
            case Waited.Child child -> "child " + name(child.thread);
            case Waited.OpenOnes on -> {
                List<String> names = new ArrayList<>();
                on.files.stream().map(this::name).distinct().forEach(names::add);
                if (on.more > 0) {
                    names.add(on.more + " more");
                }
                yield String.join(", ", names) + (on.connecting ? " (connecting)" : "");
            }
        };
    }

    private String name(int thread) {
        return threads.name(thread) + " " + threads.tid(thread);
    }

    private String name(OpenFile file) {
        String name = files.name(file);
        Matcher pipe = LISTED_PIPE.matcher(name);
        if (pipe.matches()) {
            int other = threads.find(Integer.parseInt(pipe.group(1)));
            return other < 0 ? "pipe of " + pipe.group(1) : "pipe of " + name(other);
        }
        boolean dns = file.kind == OpenFile.Kind.SOCKET && name.endsWith(":53");
        return dns ? name + " (DNS)" : name;
    }
}
