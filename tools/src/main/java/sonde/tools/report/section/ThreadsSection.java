package sonde.tools.report.section;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import sonde.analysis.LogLinear;
import sonde.analysis.ThreadTable;
import sonde.analysis.sched.StateTotals;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.WakeUps;
import sonde.event.result.Result;
import sonde.event.result.TableBuilder;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.KernelTime;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** The time of each thread by state. */
final class ThreadsSection implements ReportSection {
    /** A smaller share of the state 'unknown' is not explained. */
    private static final double WORTH_SAYING = 0.0005;

    @Override
    public List<String> options() {
        return List.of("--threads");
    }

    @Override
    public String help() {
        return "show each thread's time by state";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(WakeUpsSection.WAKE_UPS);
    }

    @Override
    public List<Result> results(ReportOperators found) {
        ThreadTable threads = found.threads();
        StateTotals totals = found.totals();
        KernelTime kernel = KernelTime.of(found);
        WakeUps wakeUps = found.of(WakeUpsSection.WAKE_UPS);
        TableBuilder<Integer> table =
                new TableBuilder<Integer>("threads")
                        .text("thread", threads::name)
                        .id("tid", threads::tid)
                        .nanos("wall", totals::wallNanos)
                        .nanos("user", one -> running(totals, one) - kernel.of(one))
                        .nanos("kernel", kernel::of);
        for (ThreadState state : ThreadState.values()) {
            if (state != ThreadState.RUNNING) {
                table.nanos(state.name().toLowerCase(Locale.ROOT), one -> totals.nanos(one, state));
            }
        }
        table.count("runs", one -> (long) totals.runs(one))
                .count("moved", one -> (long) found.states().migrations(one))
                .nanos(
                        "wait p99",
                        one -> {
                            LogLinear waits = wakeUps.latency(one);
                            return waits == null ? null : waits.quantile(0.99);
                        })
                .id("pid", threads::pid);
        return List.of(table.table(found.shownThreads(), found.options().rows()));
    }

    @Override
    public List<String> notes(ReportOperators found) {
        return stateNotes(found);
    }

    /** What the state 'unknown' means, where a table shows more than a trace of it. */
    static List<String> stateNotes(ReportOperators found) {
        long unknown = found.total(ThreadState.UNKNOWN);
        long all = Stream.of(ThreadState.values()).mapToLong(found::total).sum();
        boolean isSaid = !found.knowsStates() || found.isEstimated();
        if (isSaid || unknown <= all * WORTH_SAYING) {
            return List.of();
        }
        return List.of(
                "State 'unknown': no event tells what the thread did, for example before its first"
                        + " one or where events were lost.");
    }

    private static long running(StateTotals totals, int thread) {
        return totals.nanos(thread, ThreadState.RUNNING);
    }
}
