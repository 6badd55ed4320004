package sonde.tools.report;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.analysis.EventCounts;
import sonde.analysis.LogLinear;
import sonde.analysis.Losses;
import sonde.analysis.Signals;
import sonde.analysis.block.BlockIo;
import sonde.analysis.sched.OffCpu;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.WakeUps;
import sonde.analysis.stack.StackSums;
import sonde.analysis.stack.Trees;
import sonde.event.result.CallTree;
import sonde.event.result.Frame;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.format.bundle.Meta;
import sonde.sys.SignalNames;
import sonde.tools.report.StackOptions.Order;

/** The tables and trees of a report, each from one or two operators. */
final class Sections {
    /** What leaves notices in the ring as well. */
    private static final Set<Meta.LossKind> RING_LOSSES =
            Set.of(
                    Meta.LossKind.RING_FULL,
                    Meta.LossKind.COMMIT_OVERRUN,
                    Meta.LossKind.OVERWRITTEN);

    private final Findings found;
    private final int limit;
    private final StackOptions stacks;

    Sections(Findings found, int limit, StackOptions stacks) {
        this.found = found;
        this.limit = limit;
        this.stacks = stacks;
    }

    Table threads() {
        Rows rows =
                new Rows("threads")
                        .column("thread", Unit.TEXT)
                        .column("tid", Unit.ID)
                        .column("pid", Unit.ID)
                        .column("wall", Unit.NANOS)
                        .column("user", Unit.NANOS)
                        .column("kernel", Unit.NANOS)
                        .column("waiting", Unit.NANOS)
                        .column("preempted", Unit.NANOS)
                        .column("sleeping", Unit.NANOS)
                        .column("blocked", Unit.NANOS)
                        .column("stopped", Unit.NANOS)
                        .column("unknown", Unit.NANOS)
                        .column("runs", Unit.COUNT)
                        .column("moved", Unit.COUNT)
                        .column("wait p99", Unit.NANOS);
        KernelTime inKernel = KernelTime.of(found);
        for (int thread : found.shownThreads()) {
            if (rows.size() == limit) {
                break;
            }
            long kernel = inKernel.of(thread);
            LogLinear waits = found.wakeUps.latency(thread);
            rows.add(
                    found.threads.name(thread),
                    (long) found.threads.tid(thread),
                    (long) found.threads.pid(thread),
                    found.totals.wallNanos(thread),
                    found.totals.nanos(thread, ThreadState.RUNNING) - kernel,
                    kernel,
                    found.totals.nanos(thread, ThreadState.WAITING),
                    found.totals.nanos(thread, ThreadState.PREEMPTED),
                    found.totals.nanos(thread, ThreadState.SLEEPING),
                    found.totals.nanos(thread, ThreadState.BLOCKED),
                    found.totals.nanos(thread, ThreadState.STOPPED),
                    found.totals.nanos(thread, ThreadState.UNKNOWN),
                    (long) found.totals.runs(thread),
                    (long) found.states.migrations(thread),
                    waits == null ? null : waits.quantile(0.99));
        }
        return rows.table();
    }

    /** Functions by the samples in themselves. */
    Table hottest() {
        // A row of a profile stands for as many samples as it weighs.
        return new HotFunctions(found, stacks, found.samples, found.isProfile())
                .table("on CPU", "samples", limit);
    }

    /** Samples along their chains, by command name. */
    CallTree onCpu(String title, Unit unit, StackSums sums) {
        CallTree tree = Trees.tree(title, unit);
        sums.forEach((thread, node, weight, count) -> {
            if (found.shown(thread)) {
                Trees.add(tree, inOrder(path(thread, node)), weight, count);
            }
        });
        return tree;
    }

    /** Why threads did not run: by {@link Findings#rank}, then time. */
    Table causes() {
        return causes(2);
    }

    /** Without kernel threads: what they wait for is work of others. */
    Table userCauses() {
        return causes(1);
    }

    private Table causes(int lastRank) {
        record Key(int rank, String name, String cause) {}
        Map<Key, long[]> sums = new HashMap<>();
        for (OffCpu.Entry entry : found.offCpu.entries()) {
            OffCpu.Cause cause = entry.cause();
            int rank = found.rank(cause);
            if (found.shown(cause.thread()) && rank <= lastRank) {
                Key key = new Key(rank, found.threads.name(cause.thread()), found.cause(cause));
                long[] sum = sums.computeIfAbsent(key, ignored -> new long[3]);
                sum[0] += entry.sum().nanos();
                sum[1] += entry.sum().count();
                sum[2] = Math.max(sum[2], entry.sum().max());
            }
        }
        Rows rows =
                new Rows("off CPU")
                        .column("thread", Unit.TEXT)
                        .column("cause", Unit.TEXT)
                        .column("time", Unit.NANOS)
                        .column("count", Unit.COUNT)
                        .column("longest", Unit.NANOS);
        sums.entrySet().stream()
                .sorted((one, other) -> {
                    int order = Integer.compare(one.getKey().rank, other.getKey().rank);
                    if (order == 0) {
                        order = Long.compare(other.getValue()[0], one.getValue()[0]);
                    }
                    String text = one.getKey().toString();
                    return order != 0 ? order : text.compareTo(other.getKey().toString());
                })
                .limit(limit)
                .forEach(entry -> {
                    long[] sum = entry.getValue();
                    Key key = entry.getKey();
                    rows.add(key.name, key.cause, sum[0], sum[1], sum[2]);
                });
        return rows.table();
    }

    /** Time off the CPU along the chains at the switch-out; the last frame says how it ended. */
    CallTree offCpu() {
        CallTree tree = Trees.tree("off-CPU stacks", Unit.NANOS);
        for (OffCpu.Entry entry : found.offCpu.entries()) {
            OffCpu.Cause cause = entry.cause();
            if (!found.shown(cause.thread())) {
                continue;
            }
            List<Frame> path = path(cause.thread(), found.trees.withoutTracing(cause.stack()));
            path.add(Frame.label("[" + found.cause(cause) + "]"));
            if (cause.waker() >= 0) {
                path.add(Frame.label("[woken by " + found.wakerName(cause.waker()) + "]"));
            }
            Trees.add(tree, inOrder(path), entry.sum().nanos(), entry.sum().count());
        }
        return tree;
    }

    /** A thread's name and a chain, caller first. */
    private List<Frame> path(int thread, int node) {
        List<Frame> path = new ArrayList<>();
        path.add(Frame.label(found.comm(thread)));
        path.addAll(found.trees.chain(node));
        return path;
    }

    private List<Frame> inOrder(List<Frame> path) {
        return stacks.order() == Order.CALLEE ? path.reversed() : path;
    }

    Table io() {
        Rows rows =
                new Rows("block I/O")
                        .column("device", Unit.TEXT)
                        .column("kind", Unit.TEXT)
                        .column("thread", Unit.TEXT)
                        .column("requests", Unit.COUNT)
                        .column("bytes", Unit.BYTES)
                        .column("mean size", Unit.BYTES)
                        .column("total", Unit.NANOS)
                        .column("p50", Unit.NANOS)
                        .column("p99", Unit.NANOS)
                        .column("max", Unit.NANOS)
                        .column("queued p50", Unit.NANOS);
        for (BlockIo.Entry entry : found.io.entries()) {
            if (!found.shown(entry.group().thread()) || rows.size() == limit) {
                continue;
            }
            LogLinear service = entry.service();
            rows.add(
                    entry.group().deviceName(),
                    entry.group().kind().label(),
                    found.threadName(entry.group().thread()),
                    service.count(),
                    entry.sizes().sum(),
                    entry.sizes().mean(),
                    service.sum(),
                    service.quantile(0.5),
                    service.quantile(0.99),
                    service.max(),
                    entry.queue().count() == 0 ? null : entry.queue().quantile(0.5));
        }
        return rows.table();
    }

    List<Result> wakeUps() {
        Rows rows =
                new Rows("who woke whom")
                        .column("waker", Unit.TEXT)
                        .column("woken", Unit.TEXT)
                        .column("count", Unit.COUNT)
                        .column("wait mean", Unit.NANOS)
                        .column("wait p99", Unit.NANOS)
                        .column("wait max", Unit.NANOS);
        LogLinear all = new LogLinear();
        for (WakeUps.Edge edge : found.wakeUps.edges()) {
            if (!found.shown(edge.woken())) {
                continue;
            }
            all.add(edge.latency());
            if (rows.size() < limit) {
                rows.add(
                        found.threadName(edge.waker()),
                        found.threadName(edge.woken()),
                        edge.latency().count(),
                        edge.latency().mean(),
                        edge.latency().quantile(0.99),
                        edge.latency().max());
            }
        }
        return List.of(rows.table(), all.histogram("from wake-up to running", Unit.NANOS));
    }

    Table signals() {
        Rows rows =
                new Rows("signals")
                        .column("sender", Unit.TEXT)
                        .column("receiver", Unit.TEXT)
                        .column("signal", Unit.TEXT)
                        .column("sent", Unit.COUNT)
                        .column("delivered", Unit.COUNT);
        for (Signals.Entry entry : found.signals.entries()) {
            if (found.shown(entry.receiver()) && rows.size() < limit) {
                boolean sent = entry.generated() > 0;
                rows.add(
                        sent ? found.threadName(entry.sender()) : null,
                        found.threadName(entry.receiver()),
                        SignalNames.of(entry.number()),
                        entry.generated(),
                        entry.delivered());
            }
        }
        return rows.table();
    }

    Table losses(@Nullable Meta meta) {
        Rows rows =
                new Rows("losses")
                        .column("source", Unit.TEXT)
                        .column("what", Unit.TEXT)
                        .column("cpu", Unit.ID)
                        .column("events", Unit.COUNT)
                        .column("notices", Unit.COUNT);
        for (Map.Entry<Losses.Place, Losses.Sum> entry : found.losses.sums().entrySet()) {
            Losses.Place place = entry.getKey();
            Losses.Sum sum = entry.getValue();
            if (isCounted(meta, place, sum)) {
                continue;
            }
            rows.add(
                    place.source(),
                    place.kind() + (sum.unknown() > 0 ? ", partly of unknown number" : ""),
                    place.cpu() < 0 ? null : (long) place.cpu(),
                    sum.events(),
                    sum.notices());
        }
        if (meta != null) {
            for (Meta.Loss loss : meta.losses()) {
                String kind = loss.kind().name().toLowerCase(java.util.Locale.ROOT);
                rows.add(
                        loss.source(),
                        (loss.subject().isEmpty() ? "" : loss.subject() + ": ")
                                + kind.replace('_', ' '),
                        loss.cpu() < 0 ? null : (long) loss.cpu(),
                        loss.count() < 0 ? null : loss.count(),
                        null);
            }
        }
        return rows.table();
    }

    /** Whether the recorder's own account has all that the notices tell. */
    private static boolean isCounted(@Nullable Meta meta, Losses.Place place, Losses.Sum sum) {
        return meta != null
                && place.kind().equals("lost")
                && sum.events()
                        <= meta.losses().stream()
                                .filter(loss -> loss.source().equals(place.source()))
                                .filter(loss -> loss.cpu() == place.cpu())
                                .filter(loss -> RING_LOSSES.contains(loss.kind()))
                                .mapToLong(Meta.Loss::count)
                                .sum();
    }

    Table events(List<String> patterns) {
        Rows rows =
                new Rows("events")
                        .column("source", Unit.TEXT)
                        .column("event", Unit.TEXT)
                        .column("rows", Unit.COUNT);
        for (EventCounts.Count count : found.counts.counts()) {
            if (ReportOptions.fits(patterns, count.type().qualifiedName())) {
                rows.add(count.source().name(), count.type().qualifiedName(), count.rows());
            }
        }
        return rows.table();
    }

    /** Where user stacks of samples and switches were cut. */
    Table cutStacks() {
        TreeMap<String, long[]> modules = new TreeMap<>();
        long[] user = {0};
        found.samples.forEach((thread, node, weight, count) -> {
            if (node >= 0 && found.shown(thread)) {
                cut(modules, user, node, count);
            }
        });
        for (OffCpu.Entry entry : found.offCpu.entries()) {
            if (entry.cause().stack() >= 0 && found.shown(entry.cause().thread())) {
                cut(modules, user, entry.cause().stack(), entry.sum().count());
            }
        }
        Rows rows =
                new Rows("cut user stacks")
                        .column("unwinding ended in", Unit.TEXT)
                        .column("share of user stacks", Unit.SHARE)
                        .column("stacks", Unit.COUNT)
                        .column("remedy", Unit.TEXT);
        modules.entrySet().stream()
                .sorted((one, other) -> Long.compare(other.getValue()[0], one.getValue()[0]))
                .limit(limit)
                .forEach(entry ->
                        rows.add(
                                entry.getKey(),
                                (double) entry.getValue()[0] / user[0],
                                entry.getValue()[0],
                                remedy(entry.getKey())));
        return rows.table();
    }

    /** How the code of a module comes to keep frame pointers, or stacks do without. */
    private static String remedy(String module) {
        boolean java = module.equals("[jit]") || module.equals("[anon]");
        return java || module.startsWith("libjvm.so")
                ? "java -XX:+PreserveFramePointer"
                : "cc -fno-omit-frame-pointer";
    }

    private void cut(Map<String, long[]> modules, long[] user, int node, long count) {
        switch (found.trees.completeness(node)) {
            case COMPLETE -> user[0] += count;
            case CUT -> {
                user[0] += count;
                modules.computeIfAbsent(found.trees.cutIn(node), m -> new long[1])[0] += count;
            }
            case NO_USER_PART -> {}
        }
    }
}
