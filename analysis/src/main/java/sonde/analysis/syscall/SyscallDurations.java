package sonde.analysis.syscall;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/**
 * System calls per thread and number. A call counts when it began while its thread counted and
 * inside the window; it lasts from sys_enter to sys_exit, blocking included. After lost events on a
 * CPU the open calls of the threads last seen there are given up.
 */
public final class SyscallDurations implements Operator {
    /** Larger numbers are corrupt; no architecture has more than about 600, x32 adds 2^30. */
    private static final int MAX_NUMBER = 1 << 12;

    private static final int X32_BIT = 1 << 30;
    private static final int ENTER = 1;
    private static final int EXIT = 2;
    private static final int LOST = 3;

    private final ThreadTable threads;
    private final TimeWindow window;
    private final Sink sink;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);

    // By thread: what it is in.
    private long[] entered = new long[64];
    private int[] number = new int[64];
    private short[] cpu = new short[64];
    // By thread, then number: what it did.
    private @Nullable SyscallStats[] @Nullable [] stats = new SyscallStats[64][];
    private int known;
    private long unmatched;

    /** Takes single calls, in the order in which they end. */
    @FunctionalInterface
    public interface Sink {
        /**
         * A thread made a call.
         *
         * @param thread number of the thread
         * @param cpu where it entered, -1 when unknown
         * @param number of the call
         * @param to when it returned, {@link ThreadTable#NEVER} when it had not at the end
         * @param returned what it returned, 0 when it had not
         */
        void call(int thread, int cpu, int number, long from, long to, long returned);
    }

    /** An operator that looks tids up in {@code threads}. */
    public SyscallDurations(ThreadTable threads, TimeWindow window) {
        this(threads, window, (thread, cpu, number, from, to, returned) -> {});
    }

    /** The same, with every call shown to {@code sink}. */
    public SyscallDurations(ThreadTable threads, TimeWindow window, Sink sink) {
        this.threads = threads;
        this.window = window;
        this.sink = sink;
    }

    private static final class Fields {
        final TypeSelection wanted;
        final SyscallEvents calls;

        Fields(Source source) {
            wanted = new TypeSelection(source);
            wanted.add(LOST, EventType.NOTICE, "lost").add(LOST, EventType.NOTICE, "corrupt");
            calls = new SyscallEvents(source, wanted, ENTER, EXIT);
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
            if (code == LOST) {
                giveUp(batch.cpu(row));
            } else if (code != 0) {
                int thread = threads.find(batch.tid(row));
                if (thread < 0 || fields.calls.isCopy(batch, row)) {
                    continue;
                }
                if (thread >= known) {
                    learn(thread);
                }
                if (code == ENTER) {
                    enter(fields, batch, row, thread);
                } else {
                    exit(fields, batch, row, thread);
                }
            }
        }
    }

    private void enter(Fields fields, Batch batch, int row, int thread) {
        long time = batch.time(row);
        int value = fields.calls.number(batch, row);
        value = value < 0 ? -1 : value & ~X32_BIT;
        boolean counts = window.contains(time) && threads.counts(thread, time);
        number[thread] = counts && value >= 0 && value < MAX_NUMBER ? value : -1;
        entered[thread] = time;
        cpu[thread] = (short) batch.cpu(row);
    }

    private void exit(Fields fields, Batch batch, int row, int thread) {
        int value = number[thread];
        if (value < 0) {
            unmatched++;
            return;
        }
        number[thread] = -1;
        long returned = fields.calls.result(batch, row);
        long time = batch.time(row);
        stats(thread, value).add(time - entered[thread], returned);
        sink.call(thread, cpu[thread], value, entered[thread], time, returned);
    }

    private SyscallStats stats(int thread, int value) {
        @Nullable SyscallStats[] byNumber = stats[thread];
        if (byNumber == null || value >= byNumber.length) {
            int length = Math.max(value + 1, 64);
            byNumber =
                    byNumber == null ? new SyscallStats[length] : Arrays.copyOf(byNumber, length);
            stats[thread] = byNumber;
        }
        SyscallStats found = byNumber[value];
        if (found == null) {
            found = new SyscallStats(value);
            byNumber[value] = found;
        }
        return found;
    }

    private void giveUp(int onCpu) {
        for (int thread = 0; thread < known; thread++) {
            if (onCpu < 0 || cpu[thread] == onCpu) {
                number[thread] = -1;
            }
        }
    }

    private void learn(int thread) {
        if (thread >= entered.length) {
            int capacity = Math.max(thread + 1, 2 * entered.length);
            entered = Arrays.copyOf(entered, capacity);
            number = Arrays.copyOf(number, capacity);
            cpu = Arrays.copyOf(cpu, capacity);
            stats = Arrays.copyOf(stats, capacity);
        }
        Arrays.fill(number, known, thread + 1, -1);
        known = thread + 1;
    }

    @Override
    public void finish(long lastTime) {
        for (int thread = 0; thread < known; thread++) {
            // exit and exit_group never return; their thread is gone.
            if (number[thread] >= 0 && threads.died(thread) == ThreadTable.NEVER) {
                stats(thread, number[thread]).addPending();
                sink.call(
                        thread, cpu[thread], number[thread], entered[thread], ThreadTable.NEVER, 0);
            }
        }
    }

    /** The calls of a thread, by number; empty when it made none. */
    public List<SyscallStats> of(int thread) {
        List<SyscallStats> result = new ArrayList<>();
        @Nullable SyscallStats[] byNumber = thread < known ? stats[thread] : null;
        if (byNumber != null) {
            for (SyscallStats one : byNumber) {
                if (one != null) {
                    result.add(one);
                }
            }
        }
        return result;
    }

    /** The calls of all threads that pass, by number, most time first. */
    public List<SyscallStats> totals(IntPredicate which) {
        Map<Integer, SyscallStats> sums = new HashMap<>();
        for (int thread = 0; thread < known; thread++) {
            if (which.test(thread)) {
                for (SyscallStats one : of(thread)) {
                    sums.computeIfAbsent(one.number(), SyscallStats::new).add(one);
                }
            }
        }
        List<SyscallStats> result = new ArrayList<>(sums.values());
        result.sort(
                Comparator.comparingLong((SyscallStats one) -> -one.latency().sum())
                        .thenComparingInt(SyscallStats::number));
        return result;
    }

    /** Returns without a call: it began before the recording, the window or a loss, or was ours. */
    public long unmatched() {
        return unmatched;
    }
}
