package sonde.analysis.sched;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TypeSelection;
import sonde.analysis.stack.StackTable;
import sonde.event.Batch;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/**
 * What threads were in when the recording began and ended, as the recorder read it: {@code
 * sonde:thread_now}. The last look at each thread counts.
 */
public final class ThreadsNow implements Operator {
    private static final String SYSTEM = "sonde";
    private static final String NAME = "thread_now";

    private final ThreadTable threads;
    private final StackTable stacks;
    private final Map<Integer, ThreadLook> last = new TreeMap<>();
    private final SourceBindings<LookFields> bindings = new SourceBindings<>(LookFields::new);
    private long lookedNanos;

    /**
     * What a thread is in.
     *
     * @param thread number in the thread table
     * @param sinceNanos when it left the CPU, in the recording's clock; 0 when that is not known
     * @param state the letter of /proc/PID/stat: S sleeping, D blocked, T stopped, R running, Z, …
     * @param syscall number of the system call, -1 for none or one not known
     * @param call the call with its main arguments, {@code "accept(fd 3)"}; empty for none
     * @param object what it waits for, {@code "tcp 0.0.0.0:80 (listening)"}; empty when unknown
     * @param holder tid of the thread that holds the lock, or the process that can end the wait; 0
     *     for none
     * @param wchan the kernel's function that it sleeps in, empty when unknown
     * @param stack node of the kernel and user stack, {@link StackTable#NONE} for none
     * @param atEnd whether that was at the end of the recording
     */
    public record ThreadLook(
            int thread,
            long atNanos,
            long sinceNanos,
            char state,
            int syscall,
            String call,
            String object,
            int holder,
            String wchan,
            int stack,
            boolean atEnd) {
        /** For how long it has been in it; -1 when that is not known. */
        public long nanos() {
            return sinceNanos <= 0 ? -1 : Math.max(0, atNanos - sinceNanos);
        }

        /** Whether it waits for a lock that another thread holds. */
        public boolean isLocked() {
            return holder > 0 && object.startsWith("lock ");
        }
    }

    /** Chains go into {@code stacks}. */
    public ThreadsNow(ThreadTable threads, StackTable stacks) {
        this.threads = threads;
        this.stacks = stacks;
    }

    private static final class LookFields {
        final TypeSelection wanted;
        private final Map<String, IntegerField> integers = new HashMap<>();
        private final Map<String, StringField> texts = new HashMap<>();

        LookFields(Source source) {
            wanted = new TypeSelection(source);
            wanted.add(1, SYSTEM, NAME, "since", "pid", "holder", "syscall", "at_end", "state");
            for (String name : List.of("since", "pid", "holder", "syscall", "at_end")) {
                IntegerField field = wanted.integer(SYSTEM, NAME, name);
                if (field != null) {
                    integers.put(name, field);
                }
            }
            for (String name : List.of("state", "comm", "call", "object", "wchan")) {
                StringField field = wanted.text(SYSTEM, NAME, name);
                if (field != null) {
                    texts.put(name, field);
                }
            }
        }

        long integer(String name, Batch batch, int row) {
            IntegerField field = integers.get(name);
            return field == null ? 0 : field.of(batch, row);
        }

        String text(String name, Batch batch, int row) {
            StringField field = texts.get(name);
            return field == null ? "" : field.of(batch, row);
        }
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        LookFields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            int thread = threads.find(batch.tid(row));
            if (fields.wanted.code(batch, row) == 0 || thread < 0) {
                continue;
            }
            String state = fields.text("state", batch, row);
            long at = batch.time(row);
            lookedNanos = Math.max(lookedNanos, at);
            int pid = (int) fields.integer("pid", batch, row);
            long since = fields.integer("since", batch, row);
            last.put(
                    thread,
                    new ThreadLook(
                            thread,
                            at,
                            since > at ? 0 : since,
                            state.isEmpty() ? '?' : state.charAt(0),
                            (int) fields.integer("syscall", batch, row),
                            fields.text("call", batch, row),
                            fields.text("object", batch, row),
                            (int) fields.integer("holder", batch, row),
                            fields.text("wchan", batch, row),
                            stacks.intern(batch, row, pid),
                            fields.integer("at_end", batch, row) != 0));
        }
    }

    /** The last look at each thread, by its number; those at the end alone where there are any. */
    public List<ThreadLook> looks() {
        boolean ended = last.values().stream().anyMatch(ThreadLook::atEnd);
        return last.values().stream().filter(look -> !ended || look.atEnd()).toList();
    }

    /** The last look at a thread; null when there was none. */
    public @Nullable ThreadLook of(int thread) {
        return last.get(thread);
    }

    /** The thread that holds what this one waits for, in the thread table; -1 for none. */
    public int holder(ThreadLook look) {
        return look.holder > 0 ? threads.find(look.holder) : -1;
    }

    /**
     * Threads that wait for locks of each other in a circle, each circle once: the first waits for
     * the second, the last for the first.
     */
    public List<List<ThreadLook>> deadlocks() {
        List<List<ThreadLook>> circles = new ArrayList<>();
        Set<Integer> done = new HashSet<>();
        for (ThreadLook start : looks()) {
            List<ThreadLook> path = new ArrayList<>();
            ThreadLook at = start;
            while (at != null && at.isLocked() && done.add(at.thread)) {
                path.add(at);
                at = last.get(holder(at));
            }
            int begin = at == null ? -1 : path.indexOf(at);
            if (begin >= 0) {
                circles.add(List.copyOf(path.subList(begin, path.size())));
            }
        }
        return circles;
    }
}
