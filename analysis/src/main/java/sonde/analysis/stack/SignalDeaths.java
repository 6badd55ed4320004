package sonde.analysis.stack;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.SignalDeliveries;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.IntegerField;
import sonde.event.Source;

/**
 * Processes that a signal ended. Of those that dump core the kernel tells the delivery; others it
 * delivers as SIGKILL to each thread (complete_signal in kernel/signal.c), as it does when a thread
 * ends its process itself: then that thread exits without one.
 */
public final class SignalDeaths implements Operator {
    private static final int GENERATE = 1;
    private static final int DELIVER = 2;
    private static final int EXIT = 3;
    private static final int SIGKILL = 9;

    /** TRACE_SIGNAL_DELIVERED, include/trace/events/signal.h. */
    private static final int QUEUED = 0;

    /** SIG_KERNEL_COREDUMP_MASK, include/linux/signal.h, by the numbers of x86 and arm64. */
    private static final Set<Integer> CORE = Set.of(3, 4, 5, 6, 7, 8, 11, 24, 25, 31);

    /** Those whose default is to be ignored, to stop or to go on. */
    private static final Set<Integer> HARMLESS = Set.of(17, 18, 19, 20, 21, 22, 23, 28);

    private final ThreadTable threads;
    private final StackTable stacks;
    private final TimeWindow window;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);
    private final Map<Integer, LastSignals> endings = new LinkedHashMap<>(); // by process()

    /**
     * The end of a process.
     *
     * @param process the first thread that got the signal
     * @param sender the thread that sent the signal; -1 when an interrupt did, or it is not known
     * @param stack of the sender when it sent it, a node; {@link StackTable#NONE} when unknown
     */
    public record SignalDeath(int process, int sender, int number, int stack) {}

    /** Takes the ends of processes in {@code window}. */
    public SignalDeaths(ThreadTable threads, StackTable stacks, TimeWindow window) {
        this.threads = threads;
        this.stacks = stacks;
        this.window = window;
    }

    private static final class LastSignals {
        final Map<Integer, SignalDeath> sent = new HashMap<>(); // by signal
        @Nullable SignalDeath last;
        @Nullable SignalDeath core;
        final Set<Integer> killed = new HashSet<>();
        boolean byItself;
        boolean counts;
    }

    private static final class Fields {
        final TypeSelection wanted;
        final @Nullable IntegerField sent;
        final @Nullable IntegerField target;
        final @Nullable IntegerField result;
        final @Nullable IntegerField delivered;
        final @Nullable IntegerField handler;
        final @Nullable IntegerField code;

        Fields(Source source) {
            wanted = new TypeSelection(source);
            wanted.add(GENERATE, "signal", "signal_generate", "sig", "pid", "result")
                    .add(DELIVER, "signal", "signal_deliver", "sig", "sa_handler")
                    .add(EXIT, "sched", "sched_process_exit");
            sent = wanted.integer("signal", "signal_generate", "sig");
            target = wanted.integer("signal", "signal_generate", "pid");
            result = wanted.integer("signal", "signal_generate", "result");
            delivered = wanted.integer("signal", "signal_deliver", "sig");
            code = wanted.integer("signal", "signal_generate", "code");
            handler = wanted.integer("signal", "signal_deliver", "sa_handler");
        }
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            int code = fields.wanted.code(batch, row);
            int actor = threads.find(batch.tid(row));
            if (code == GENERATE) {
                generated(batch, row, actor, fields);
            } else if (actor >= 0 && code == DELIVER) {
                delivered(actor, fields, batch, row);
            } else if (actor >= 0 && code == EXIT) {
                exited(actor, batch.time(row));
            }
        }
    }

    private void generated(Batch batch, int row, int actor, Fields fields) {
        if (fields.sent == null || fields.target == null || fields.result == null) {
            return;
        }
        int number = (int) fields.sent.of(batch, row);
        int receiver = threads.find((int) fields.target.of(batch, row));
        if (receiver >= 0 && fields.result.of(batch, row) == QUEUED && !HARMLESS.contains(number)) {
            int pid = batch.pid(row) < 0 && actor >= 0 ? threads.pid(actor) : batch.pid(row);
            int node = stacks.intern(batch, row, pid);
            LastSignals ending = endings.computeIfAbsent(process(receiver), _ -> new LastSignals());
            long why = fields.code == null ? 0 : fields.code.of(batch, row);
            boolean told = actor >= 0 && SignalDeliveries.hasSender(number, why);
            boolean own = actor >= 0 && process(actor) == process(receiver);
            SignalDeath death = new SignalDeath(receiver, told || own ? actor : -1, number, node);
            ending.sent.put(number, death);
            ending.last = CORE.contains(number) ? ending.last : death;
        }
    }

    private void delivered(int actor, Fields fields, Batch batch, int row) {
        if (fields.delivered == null || fields.handler == null) {
            return;
        }
        int number = (int) fields.delivered.of(batch, row);
        boolean handled = fields.handler.of(batch, row) != 0;
        LastSignals ending = endings.get(process(actor));
        if (number == SIGKILL && ending != null) {
            ending.killed.add(actor);
        } else if (handled && ending != null) {
            SignalDeath own = ending.sent.remove(number);
            ending.last = own != null && own.equals(ending.last) ? null : ending.last;
        } else if (!handled && CORE.contains(number)) {
            SignalDeath sent = ending == null ? null : ending.sent.get(number);
            LastSignals at = endings.computeIfAbsent(process(actor), _ -> new LastSignals());
            at.core =
                    sent == null
                            ? new SignalDeath(actor, -1, number, StackTable.NONE)
                            : new SignalDeath(actor, sent.sender, number, sent.stack);
        }
    }

    private void exited(int actor, long time) {
        LastSignals ending = endings.get(process(actor));
        if (ending != null) {
            boolean killed = ending.killed.contains(actor);
            ending.byItself |= !killed && ending.core == null && ending.last != null;
            boolean counts = window.contains(time) && threads.counts(actor, time);
            ending.counts |= counts && (killed || ending.core != null);
        }
    }

    /** A process by its first thread, whose number is another one when its pid is used again. */
    private int process(int thread) {
        int first = threads.find(threads.pid(thread));
        return first < 0 ? thread : first;
    }

    /** All, in the order in which the processes got their first signal. */
    public List<SignalDeath> deaths() {
        List<SignalDeath> deaths = new ArrayList<>();
        for (LastSignals ending : endings.values()) {
            SignalDeath death = ending.core != null ? ending.core : ending.last;
            if (ending.counts && !ending.byItself && death != null) {
                deaths.add(death);
            }
        }
        return deaths;
    }
}
