package sonde.tools.report.section;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.analysis.file.ObjectWaits;
import sonde.analysis.file.ObjectWaits.ObjectWait;
import sonde.analysis.sched.OffCpu;
import sonde.analysis.sched.OffCpu.OffCpuCause;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.stack.CallTreeBuilder;
import sonde.event.result.CallTree;
import sonde.event.result.Frame;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.OffCpuCauses;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** Why threads did not run, and the call chains with which they left the CPU. */
final class OffCpuSection implements ReportSection {
    /** Time off the CPU. */
    static final AnalysisKey<OffCpu> OFF_CPU =
            new AnalysisKey<>(found -> found.addStates(new OffCpu()));

    /** Time off the CPU by what was waited for. */
    static final AnalysisKey<ObjectWaits> WAITS =
            new AnalysisKey<>(found ->
                    found.addStates(
                            new ObjectWaits(
                                    found.threads(),
                                    found.of(FilesSection.FILES),
                                    found.of(ThreadsNowSection.LOOKS),
                                    found.callNames()::numberOf)));

    /** What {@link #WAITS} is made of comes before it. */
    static final List<AnalysisKey<?>> NEEDS =
            List.of(OFF_CPU, FilesSection.FILES, ThreadsNowSection.LOOKS, WAITS);

    /** Calls in which programs wait for something to do. */
    private static final Set<String> IDLE_CALLS =
            Set.of(
                    """
                    epoll_wait epoll_pwait epoll_pwait2 poll ppoll select pselect6 \
                    futex futex_waitv nanosleep clock_nanosleep pause rt_sigsuspend \
                    rt_sigtimedwait restart_syscall io_getevents io_uring_enter \
                    wait4 waitid accept accept4\
                    """
                            .split(" "));

    @Override
    public List<String> options() {
        return List.of("--offcpu");
    }

    @Override
    public String help() {
        return "show the time off the CPU by cause, and as a call tree";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return NEEDS;
    }

    @Override
    public boolean showsChains() {
        return true;
    }

    @Override
    public boolean explainsSymbols() {
        return true;
    }

    @Override
    public List<Result> results(ReportOperators found) {
        int limit = found.options().rows();
        return List.of(causes(found, 2, limit), waits(found, limit), tree(found));
    }

    /** Without kernel threads: what they wait for is work of others. */
    static Table userCauses(ReportOperators found, int limit) {
        return causes(found, 1, limit);
    }

    /** Why threads did not run: by {@link #rank}, then time. */
    private static Table causes(ReportOperators found, int lastRank, int limit) {
        record Key(int rank, String name, String cause) {}
        Map<Key, long[]> sums = new HashMap<>();
        for (OffCpu.Entry entry : found.of(OFF_CPU).entries()) {
            OffCpuCause cause = entry.cause();
            int rank = rank(found, cause);
            if (found.shown(cause.thread()) && rank <= lastRank) {
                String name = found.threads().name(cause.thread());
                Key key = new Key(rank, name, OffCpuCauses.text(found, cause));
                long[] sum = sums.computeIfAbsent(key, ignored -> new long[3]);
                sum[0] += entry.sum().nanos();
                sum[1] += entry.sum().count();
                sum[2] = Math.max(sum[2], entry.sum().max());
            }
        }
        return new TableBuilder<Map.Entry<Key, long[]>>("off CPU")
                .text("thread", entry -> entry.getKey().name)
                .text("cause", entry -> entry.getKey().cause)
                .nanos("time", entry -> entry.getValue()[0])
                .count("count", entry -> entry.getValue()[1])
                .nanos("longest", entry -> entry.getValue()[2])
                .table(
                        sums.entrySet().stream()
                                .sorted((one, other) -> {
                                    int order =
                                            Integer.compare(one.getKey().rank, other.getKey().rank);
                                    if (order == 0) {
                                        order =
                                                Long.compare(
                                                        other.getValue()[0], one.getValue()[0]);
                                    }
                                    String text = one.getKey().toString();
                                    return order != 0
                                            ? order
                                            : text.compareTo(other.getKey().toString());
                                }),
                        limit);
    }

    /** What threads waited for, and what its holder did meanwhile. */
    static Table waits(ReportOperators found, int limit) {
        record Key(String name, int call, String object) {}
        Map<Key, long[]> sums = new HashMap<>();
        for (ObjectWait wait : found.of(WAITS).waits()) {
            if (found.shown(wait.thread())) {
                String name = found.threads().name(wait.thread());
                Key key = new Key(name, wait.call(), WaitText.of(found, wait));
                long[] sum = sums.computeIfAbsent(key, _ -> new long[3]);
                sum[0] += wait.nanos();
                sum[1] += wait.count();
                sum[2] = Math.max(sum[2], wait.max());
            }
        }
        return new TableBuilder<Map.Entry<Key, long[]>>("waits by object")
                .text("thread", entry -> entry.getKey().name)
                .text("in", entry -> callName(found, entry.getKey().call))
                .text("for", entry -> entry.getKey().object)
                .nanos("time", entry -> entry.getValue()[0])
                .count("count", entry -> entry.getValue()[1])
                .nanos("longest", entry -> entry.getValue()[2])
                .table(
                        sums.entrySet().stream()
                                .sorted(
                                        Comparator.comparingLong((Map.Entry<Key, long[]> one) ->
                                                        -one.getValue()[0])
                                                .thenComparing(one -> one.getKey().object)),
                        limit);
    }

    private static String callName(ReportOperators found, int call) {
        return call < 0 ? "" : found.callNames().nameOf(call);
    }

    /** Time off the CPU along the chains at the switch-out; the last frame says how it ended. */
    private static CallTree tree(ReportOperators found) {
        CallTree tree = CallTreeBuilder.tree("off-CPU stacks", Unit.NANOS);
        for (OffCpu.Entry entry : found.of(OFF_CPU).entries()) {
            OffCpuCause cause = entry.cause();
            if (!found.shown(cause.thread())) {
                continue;
            }
            int node = found.trees().withoutSwitching(cause.stack());
            List<Frame> path = OnCpuSection.path(found, cause.thread(), node);
            path.addAll(OffCpuCauses.frames(found, cause));
            long nanos = entry.sum().nanos();
            CallTreeBuilder.add(
                    tree, OnCpuSection.inOrder(found, path), nanos, entry.sum().count());
        }
        return tree;
    }

    /**
     * How a cause ranks among those of a whole machine: 0 for what kept a program from going on, 1
     * for what looks like waiting for work, 2 for kernel threads.
     */
    private static int rank(ReportOperators found, OffCpuCause cause) {
        if (found.threads().isKernel(cause.thread())) {
            return 2;
        }
        String call = OffCpuCauses.callName(found, cause);
        boolean idle =
                cause.state() == ThreadState.SLEEPING
                        && (call.isEmpty() || IDLE_CALLS.contains(call));
        return found.isOfEverything() && idle ? 1 : 0;
    }
}
