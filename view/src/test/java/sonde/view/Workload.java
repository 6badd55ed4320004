package sonde.view;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import sonde.event.result.CallChains;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Histogram;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.TimelineSamples;
import sonde.event.result.Unit;

/**
 * A made-up recording that looks like a real one: a JVM service with workers, a collector, an idle
 * pool and a logger, over a kernel. Equal seeds give equal recordings.
 */
final class Workload {
    static final List<String> STATES =
            List.of(
                    "running user",
                    "running kernel",
                    "runnable",
                    "blocked on disk",
                    "blocked on lock",
                    "sleeping");

    private static final String[] JAVA = {
        "com.example.shop.CheckoutController.submit", "com.example.shop.CartService.price",
        "com.example.shop.TaxTable.lookup", "java.util.HashMap.getNode",
        "java.util.concurrent.ThreadPoolExecutor.runWorker", "java.lang.Thread.run",
        "com.example.json.JsonWriter.writeObject", "com.example.json.JsonWriter.escape",
        "java.lang.StringBuilder.append", "com.example.db.Query.execute",
        "com.example.db.RowMapper.map", "java.util.regex.Pattern.matcher",
        "com.example.search.Index.scan", "com.example.search.Scorer.score"
    };
    private static final String[] NATIVE = {
        "__libc_start_main",
        "JavaMain",
        "G1ConcurrentMark::mark_from_roots",
        "G1ParScanThreadState::copy_to_survivor_space",
        "oopDesc::oop_iterate_backwards",
        "std::vector<int, std::allocator<int> >::push_back",
        "malloc",
        "_int_free",
        "pthread_cond_wait",
        "__GI___libc_write",
        "memcpy_avx_unaligned_erms",
        "inflate_fast"
    };
    private static final String[] KERNEL = {
        "entry_SYSCALL_64_after_hwframe",
        "do_syscall_64",
        "ksys_write",
        "vfs_write",
        "ext4_file_write_iter",
        "futex_wait",
        "schedule",
        "__schedule",
        "io_schedule",
        "copy_user_enhanced_fast_string",
        "tcp_sendmsg",
        "__x64_sys_epoll_wait"
    };

    private final Random random;
    private final int nodesWanted;
    private final List<Frame> frames = new ArrayList<>();
    private final Map<Long, Integer> children = new HashMap<>();
    private final List<int[]> nodes = new ArrayList<>();

    private Workload(long seed, int nodesWanted) {
        this.random = new Random(seed);
        this.nodesWanted = nodesWanted;
        for (String name : JAVA) {
            frames.add(new Frame(name, "[jit]", Frame.Kind.JIT));
        }
        for (String name : NATIVE) {
            String module = name.contains("G1") || name.contains("oop") ? "libjvm.so" : "libc.so.6";
            frames.add(new Frame(name, module, Frame.Kind.USER));
        }
        for (String name : KERNEL) {
            frames.add(new Frame(name, "[kernel]", Frame.Kind.KERNEL));
        }
    }

    /** A timeline of one second per 4,000 spans. */
    static Timeline timeline(int tracks, int spans, int nodes) {
        return new Workload(42, nodes).build(tracks, spans);
    }

    private Timeline build(int trackCount, int spans) {
        long length = 1_000_000_000L * Math.max(1, spans / 1000);
        long start = 86_400_000_000_000L;
        grow();
        List<TimelineRow> tracks = new ArrayList<>();
        List<long[]> on = new ArrayList<>();
        List<long[]> off = new ArrayList<>();
        for (int t = 0; t < trackCount; t++) {
            tracks.add(track(t, spans, start, length, on, off));
        }
        int[] parent = nodes.stream().mapToInt(n -> n[0]).toArray();
        int[] frame = nodes.stream().mapToInt(n -> n[1]).toArray();
        return new Timeline(
                "Threads",
                start,
                start + length,
                STATES,
                tracks,
                new CallChains(frames, parent, frame),
                List.of(samples("on-cpu", on), samples("off-cpu", off)));
    }

    private TimelineRow track(
            int t, int spans, long start, long length, List<long[]> on, List<long[]> off) {
        String[] names = {"http-worker-" + t, "G1 Main Marker", "C2 CompilerThre", "logger"};
        String name = names[t < 6 ? 0 : (t - 5) % 4] + " " + (4210 + t);
        long[] starts = new long[spans];
        long[] ends = new long[spans];
        byte[] states = new byte[spans];
        boolean isPool = t < 6;
        long at = start;
        for (int i = 0; i < spans; i++) {
            double phase = Math.sin((double) (at - start) / length * 9 + (isPool ? t * 0.8 : t));
            double awake = isPool ? 0.55 + 0.4 * phase : phase > 0.6 ? 0.8 : 0.06;
            int state = i % 2 == 0 ? 0 : 3;
            if (state == 0) {
                state = random.nextInt(10) == 0 ? 2 : random.nextInt(4) == 0 ? 1 : 0;
            } else {
                state = random.nextInt(isPool ? 5 : 8) > 1 ? 5 : 3 + random.nextInt(2);
            }
            states[i] = (byte) state;
            double share = state < 3 ? awake : 1 - awake;
            double mean = 2.0 * share * length / spans;
            long wait = (long) (Math.pow(random.nextDouble(), 3) * 4 * mean);
            starts[i] = at;
            at = i == spans - 1 ? start + length : Math.min(start + length, at + 200 + wait);
            ends[i] = at;
            sample(states[i], starts[i], ends[i], t, states[i] < 2 ? on : off);
        }
        return new TimelineRow(name, 4200, 4210 + t, starts, ends, states);
    }

    private void sample(byte state, long from, long to, int track, List<long[]> into) {
        if (state == 2 || to == from) {
            return;
        }
        int hot = Math.abs((int) (random.nextGaussian() * nodes.size() / 4)) % nodes.size();
        if (state >= 3) {
            into.add(new long[] {from, track, hot, to - from});
            return;
        }
        for (long at = from; at < to; at += 1_000_000) {
            into.add(new long[] {at, track, hot, 1_000_000});
        }
    }

    private static TimelineSamples samples(String name, List<long[]> rows) {
        rows.sort((a, b) -> Long.compare(a[0], b[0]));
        long[] time = rows.stream().mapToLong(r -> r[0]).toArray();
        int[] track = rows.stream().mapToInt(r -> (int) r[1]).toArray();
        int[] node = rows.stream().mapToInt(r -> (int) r[2]).toArray();
        long[] weight = rows.stream().mapToLong(r -> r[3]).toArray();
        return name.equals("off-cpu")
                ? TimelineSamples.spans(name, time, track, node, weight)
                : TimelineSamples.moments(name, Unit.NANOS, time, track, node, weight);
    }

    /** Chains: thread start, Java, perhaps native, perhaps kernel. */
    private void grow() {
        while (nodes.size() < nodesWanted) {
            int node = node(node(-1, JAVA.length), JAVA.length + 1);
            boolean collects = random.nextInt(5) == 0;
            int deep = 3 + random.nextInt(14);
            node = collects ? node : node(node(node, 5), 4);
            for (int i = 0; i < deep; i++) {
                int skewed = (int) (Math.pow(random.nextDouble(), 2) * JAVA.length);
                node = node(node, collects ? JAVA.length + 2 + skewed % 4 : skewed);
            }
            if (random.nextInt(3) > 0) {
                node = node(node, JAVA.length + 5 + random.nextInt(7));
            }
            if (random.nextInt(2) > 0) {
                int kernel = JAVA.length + NATIVE.length;
                node = node(node(node, kernel), kernel + 1);
                node(node, kernel + 2 + random.nextInt(10));
            }
        }
    }

    private int node(int parent, int frame) {
        return children.computeIfAbsent(
                ((long) parent << 32) + frame,
                key -> {
                    nodes.add(new int[] {parent, frame});
                    return nodes.size() - 1;
                });
    }

    static Report report() {
        return new Report(
                "java -jar shop.jar --port 8080",
                List.of(
                        "12.0 s passed; 41.3 % of the threads' time was spent waiting for locks.",
                        "CPU: 8.31 s user, 2.04 s kernel on 4 CPUs, 21.6 % of what there was.",
                        "Runnable but not running: 1.92 s; the longest wait was 38.1 ms."),
                List.of(
                        new Table(
                                "System calls",
                                List.of(
                                        Column.text("call"),
                                        Column.count("count"),
                                        Column.count("errors"),
                                        Column.nanos("total"),
                                        Column.nanos("p99"),
                                        new Column("of wall", Unit.SHARE)),
                                List.of(
                                        List.of(
                                                "futex",
                                                48_213L,
                                                312L,
                                                9_120_000_000L,
                                                18_400_000L,
                                                0.76),
                                        List.of(
                                                "epoll_wait",
                                                9_120L,
                                                0L,
                                                4_040_000_000L,
                                                51_000_000L,
                                                0.337),
                                        List.of(
                                                "write",
                                                122_004L,
                                                0L,
                                                812_000_000L,
                                                92_000L,
                                                0.068),
                                        Arrays.asList("exit_group", 1L, 0L, null, null, null))),
                        new Histogram(
                                "Run queue latency",
                                Unit.NANOS,
                                List.of(
                                        new Histogram.Bucket(1 << 10, 1 << 11, 1204),
                                        new Histogram.Bucket(1 << 11, 1 << 12, 5120),
                                        new Histogram.Bucket(1 << 12, 1 << 13, 1800),
                                        new Histogram.Bucket(1 << 13, 1 << 14, 90))),
                        Examples.tree()));
    }
}
