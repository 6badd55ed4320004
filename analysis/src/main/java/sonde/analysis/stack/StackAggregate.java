package sonde.analysis.stack;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/**
 * Weights of samples added up by thread and call chain, and every sample by time. Samples of a
 * profile that names no threads are those of thread -1.
 */
public final class StackAggregate implements Operator {
    /** Samples kept singly; beyond, every second one goes, again and again. */
    private static final int KEPT = 400_000;

    // Of a sum: what its samples weigh, their number, the time of the last.
    private static final int WEIGHT = 0;
    private static final int COUNT = 1;
    private static final int LAST = 2;

    private final ThreadTable threads;
    private final StackTable stacks;
    private final TimeWindow window;
    private final SourceBindings<TypeSelection> bindings;
    private final int limit;
    private final Map<Long, long[]> sums = new HashMap<>();

    private long[] times = new long[1024];
    private int[] who = new int[1024];
    private short[] cpus = new short[1024];
    private int[] nodes = new int[1024];
    private long[] weights = new long[1024];
    private int kept;
    private int stride = 1;
    private long seen;
    private long total;

    private StackAggregate(
            ThreadTable threads, StackTable stacks, TimeWindow window, Predicate<EventType> which) {
        this(threads, stacks, window, which, KEPT);
    }

    /**
     * @param limit most samples to be kept singly
     */
    StackAggregate(
            ThreadTable threads,
            StackTable stacks,
            TimeWindow window,
            Predicate<EventType> which,
            int limit) {
        this.limit = limit;
        this.threads = threads;
        this.stacks = stacks;
        this.window = window;
        this.bindings = new SourceBindings<>(source -> new TypeSelection(source).addAll(1, which));
    }

    /** Samples of what runs: cpu-clock, task-clock and cycles in every spelling. */
    public static StackAggregate cpuSamples(
            ThreadTable threads, StackTable stacks, TimeWindow window) {
        return new StackAggregate(threads, stacks, window, SampleTypes::isCpu);
    }

    /** Samples of page faults. */
    public static StackAggregate pageFaults(
            ThreadTable threads, StackTable stacks, TimeWindow window) {
        return new StackAggregate(threads, stacks, window, SampleTypes::isFault);
    }

    /** Samples of one type, by its qualified name. */
    public static StackAggregate ofType(
            String type, ThreadTable threads, StackTable stacks, TimeWindow window) {
        return new StackAggregate(threads, stacks, window, one -> one.qualifiedName().equals(type));
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        for (int row = from; row < to; row++) {
            long time = batch.time(row);
            int thread = threads.find(batch.tid(row));
            boolean nobodys = batch.tid(row) < 0 && threads.countsNobody();
            if (window.contains(time) && (nobodys || threads.counts(thread, time))) {
                int pid = batch.pid(row);
                pid = pid >= 0 || nobodys ? pid : threads.pid(thread);
                int node = stacks.intern(batch, row, pid);
                add(time, thread, batch.cpu(row), node, batch.weight(row));
            }
        }
    }

    private void add(long time, int thread, int cpu, int node, long weight) {
        long key = key(thread, node);
        long[] sum = sums.computeIfAbsent(key, ignored -> new long[LAST + 1]);
        sum[WEIGHT] += weight;
        sum[COUNT]++;
        sum[LAST] = time;
        total += weight;
        if (seen++ % stride != 0) {
            return;
        }
        if (kept == limit) {
            thin();
        }
        if (kept == times.length) {
            times = Arrays.copyOf(times, 2 * kept);
            who = Arrays.copyOf(who, 2 * kept);
            cpus = Arrays.copyOf(cpus, 2 * kept);
            nodes = Arrays.copyOf(nodes, 2 * kept);
            weights = Arrays.copyOf(weights, 2 * kept);
        }
        times[kept] = time;
        who[kept] = thread;
        cpus[kept] = (short) cpu;
        nodes[kept] = node;
        weights[kept++] = weight;
    }

    private void thin() {
        for (int i = 0; i < kept / 2; i++) {
            times[i] = times[2 * i];
            who[i] = who[2 * i];
            cpus[i] = cpus[2 * i];
            nodes[i] = nodes[2 * i];
            weights[i] = weights[2 * i];
        }
        kept /= 2;
        stride *= 2;
    }

    /** Takes sums. */
    @FunctionalInterface
    public interface Sink {
        /** What one chain of one thread weighs, and how many samples it had. */
        void sum(int thread, int node, long weight, long count);
    }

    /** Hands out every sum, by thread, then node. */
    public void forEach(Sink sink) {
        sums.keySet().stream()
                .sorted()
                .forEach(key -> {
                    long[] sum = sums.getOrDefault(key, new long[LAST + 1]);
                    sink.sum((int) (key >> 32), key.intValue(), sum[WEIGHT], sum[COUNT]);
                });
    }

    /** Takes samples by time. */
    @FunctionalInterface
    public interface SampleSink {
        /** What {@code count} samples of one chain of one thread weigh together. */
        void sample(long time, int thread, int node, long weight, long count);
    }

    /**
     * Hands out the kept samples by time. They stand for all: the weight and number of samples of a
     * thread and chain are divided among those that were kept, or stand at the time of the last.
     */
    public void forEachSample(SampleSink sink) {
        Map<Long, long[]> parts =
                new HashMap<>(); // by key: number of kept samples, those handed out
        if (stride > 1) {
            for (int i = 0; i < kept; i++) {
                parts.computeIfAbsent(key(who[i], nodes[i]), ignored -> new long[2])[0]++;
            }
        }
        List<Map.Entry<Long, long[]>> unkept =
                sums.entrySet().stream()
                        .filter(entry -> stride > 1 && !parts.containsKey(entry.getKey()))
                        .sorted(
                                Comparator.comparingLong(
                                        (Map.Entry<Long, long[]> entry) -> entry.getValue()[LAST]))
                        .toList();
        int next = 0;
        for (int i = 0; i <= kept; i++) {
            long time = i < kept ? times[i] : Long.MAX_VALUE;
            for (; next < unkept.size() && unkept.get(next).getValue()[LAST] <= time; next++) {
                long key = unkept.get(next).getKey();
                long[] sum = unkept.get(next).getValue();
                sink.sample(sum[LAST], (int) (key >> 32), (int) key, sum[WEIGHT], sum[COUNT]);
            }
            if (i < kept && stride == 1) {
                sink.sample(time, who[i], nodes[i], weights[i], 1);
            } else if (i < kept) {
                long key = key(who[i], nodes[i]);
                long[] sum = sums.getOrDefault(key, new long[LAST + 1]);
                long[] part = parts.getOrDefault(key, new long[] {1, 0});
                long weight = part(sum[WEIGHT], part);
                long count = part(sum[COUNT], part);
                part[1]++;
                sink.sample(time, who[i], nodes[i], weight, count);
            }
        }
    }

    /** The next of {@code part[0]} parts of a sum, of which {@code part[1]} were handed out. */
    private static long part(long sum, long[] part) {
        long rest = sum % part[0];
        return sum / part[0] + rest * (part[1] + 1) / part[0] - rest * part[1] / part[0];
    }

    private static long key(int thread, int node) {
        return (long) thread << 32 | (node & 0xffff_ffffL);
    }

    /** Sum of all weights. */
    public long total() {
        return total;
    }

    /** Number of samples that counted. */
    public long count() {
        return seen;
    }

    /** Number of samples kept singly. */
    public int kept() {
        return kept;
    }

    /** Each kept sample stands for this many. */
    public int stride() {
        return stride;
    }

    /** Time of a kept sample; ascending. */
    public long time(int index) {
        return times[index];
    }

    /** Thread of a kept sample. */
    public int thread(int index) {
        return who[index];
    }

    /** CPU of a kept sample, -1 when unknown. */
    public int cpu(int index) {
        return cpus[index];
    }

    /** Chain of a kept sample. */
    public int node(int index) {
        return nodes[index];
    }

    /** Weight of a kept sample alone. */
    public long weight(int index) {
        return weights[index];
    }
}
