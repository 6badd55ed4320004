package sonde.analysis.stack;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import sonde.analysis.Bindings;
import sonde.analysis.Operator;
import sonde.analysis.Threads;
import sonde.analysis.Wanted;
import sonde.analysis.Window;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/**
 * Weights of samples added up by thread and call chain, and every sample by time. Samples of a
 * profile that names no threads are those of thread -1.
 */
public final class StackSums implements Operator {
    /** Samples kept singly; beyond, every second one goes, again and again. */
    private static final int KEPT = 400_000;

    private final Threads threads;
    private final StackTable stacks;
    private final Window window;
    private final Bindings<Wanted> bindings;
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

    private StackSums(
            Threads threads, StackTable stacks, Window window, Predicate<EventType> which) {
        this.threads = threads;
        this.stacks = stacks;
        this.window = window;
        this.bindings = new Bindings<>(source -> new Wanted(source).addAll(1, which));
    }

    /** Samples of what runs: cpu-clock, task-clock and cycles in every spelling. */
    public static StackSums cpuSamples(Threads threads, StackTable stacks, Window window) {
        return new StackSums(threads, stacks, window, SampleTypes::isCpu);
    }

    /** Samples of page faults. */
    public static StackSums pageFaults(Threads threads, StackTable stacks, Window window) {
        return new StackSums(threads, stacks, window, SampleTypes::isFault);
    }

    /** Samples of one type, by its qualified name. */
    public static StackSums ofType(String type, Threads threads, StackTable stacks, Window window) {
        return new StackSums(threads, stacks, window, one -> one.qualifiedName().equals(type));
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
        long key = (long) thread << 32 | (node & 0xffff_ffffL);
        long[] sum = sums.computeIfAbsent(key, ignored -> new long[2]);
        sum[0] += weight;
        sum[1]++;
        total += weight;
        if (seen++ % stride != 0) {
            return;
        }
        if (kept == KEPT) {
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
                    long[] sum = sums.getOrDefault(key, new long[2]);
                    sink.sum((int) (key >> 32), key.intValue(), sum[0], sum[1]);
                });
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
