package sonde.analysis.sched;

import java.util.Arrays;
import sonde.analysis.stack.StackAggregate;

/**
 * Spans made of samples: each sample stands for the time before it, what is between is {@link
 * ThreadState#UNKNOWN}. A span begins no sooner than the sample before it of the same thread or of
 * the same CPU: all threads together never run longer than the CPUs could.
 */
final class SampledSpans {
    /** Assumed distance of samples that are taken by count: perf's 4000 a second. */
    private static final long DEFAULT_SAMPLE_NANOS = 250_000;

    private static final long LONGEST_SAMPLE_NANOS = 10_000_000_000L;
    private static final byte RUNNING = (byte) ThreadState.RUNNING.ordinal();
    private static final byte UNKNOWN = (byte) ThreadState.UNKNOWN.ordinal();

    private final StackAggregate samples;
    private final SampleDuration meaning;

    SampledSpans(StackAggregate samples, SampleDuration meaning) {
        this.samples = samples;
        this.meaning = meaning;
    }

    /** Takes spans. */
    @FunctionalInterface
    interface Sink {
        void span(int thread, int cpu, byte state, long from, long to);
    }

    /** Hands out the spans of threads 0 to {@code threads}, each thread's by time. */
    void handOut(int threads, Sink sink) {
        boolean[] begun = new boolean[threads];
        long[] since = new long[threads];
        long[] lastOfCpu = new long[1];
        Arrays.fill(lastOfCpu, Long.MIN_VALUE);
        long each = meaning.weightIsNanos() ? 0 : distance(threads);
        for (int i = 0; i < samples.kept(); i++) {
            int thread = samples.thread(i);
            if (thread < 0) {
                continue; // a profile that names no threads
            }
            long weight = Math.clamp(samples.weight(i), 0, LONGEST_SAMPLE_NANOS);
            long nanos = meaning.weightIsNanos() ? weight * samples.stride() : each;
            long time = samples.time(i);
            long from = time - Math.clamp(nanos, 1, LONGEST_SAMPLE_NANOS);
            int cpu = samples.cpu(i);
            if (cpu >= 0) {
                if (cpu >= lastOfCpu.length) {
                    int known = lastOfCpu.length;
                    lastOfCpu = Arrays.copyOf(lastOfCpu, Math.max(cpu + 1, 2 * known));
                    Arrays.fill(lastOfCpu, known, lastOfCpu.length, Long.MIN_VALUE);
                }
                from = Math.max(from, lastOfCpu[cpu]);
                lastOfCpu[cpu] = time;
            }
            if (!begun[thread]) {
                since[thread] = from;
            }
            from = Math.min(Math.max(from, since[thread]), time);
            sink.span(thread, cpu, UNKNOWN, since[thread], from);
            sink.span(thread, cpu, RUNNING, from, time);
            begun[thread] = true;
            since[thread] = time;
        }
    }

    /** Nanoseconds that a sample stands for: as the recorder was told, else the median distance. */
    private long distance(int threads) {
        return meaning.nanos() > 0
                ? Math.clamp(meaning.nanos() * samples.stride(), 1, LONGEST_SAMPLE_NANOS)
                : medianDistance(threads);
    }

    private long medianDistance(int threads) {
        long[] last = new long[threads];
        boolean[] sampled = new boolean[threads];
        long[] distances = new long[samples.kept()];
        int count = 0;
        for (int i = 0; i < distances.length; i++) {
            int thread = samples.thread(i);
            if (thread < 0) {
                continue;
            }
            if (sampled[thread]) {
                distances[count++] = samples.time(i) - last[thread];
            }
            sampled[thread] = true;
            last[thread] = samples.time(i);
        }
        Arrays.sort(distances, 0, count);
        return count == 0 ? DEFAULT_SAMPLE_NANOS : distances[count / 2];
    }
}
