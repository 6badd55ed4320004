package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import sonde.analysis.syscall.SyscallDurations;
import sonde.analysis.syscall.SyscallStats;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.sys.Errno;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** System calls: counts, errors, times. */
final class SyscallsSection implements ReportSection {
    /** The calls of each thread. */
    static final AnalysisKey<SyscallDurations> CALLS =
            new AnalysisKey<>(
                    found -> found.add(new SyscallDurations(found.threads(), found.window())));

    private static final long OFTEN = 1000;

    @Override
    public List<String> options() {
        return List.of("--syscalls");
    }

    @Override
    public String help() {
        return "show system calls: counts, errors, times";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(CALLS);
    }

    @Override
    public List<Result> results(ReportOperators found) {
        Table all = all(found, found.options().rows());
        List<Integer> threads = found.shownThreads();
        return threads.size() > 1 ? List.of(all, byThread(found, threads)) : List.of(all);
    }

    /** Over all threads shown, by call. */
    static Table all(ReportOperators found, int limit) {
        return table(
                found,
                new TableBuilder<>("system calls"),
                found.of(CALLS).totals(found::shown).stream()
                        .map(stats -> Map.entry(-1, stats))
                        .toList(),
                limit);
    }

    /** Those that took this long, or were made or failed very often. */
    static Table top(ReportOperators found, int limit, long nanos) {
        return table(
                found,
                new TableBuilder<>("system calls"),
                found.of(CALLS).totals(found::shown).stream()
                        .filter(stats ->
                                stats.latency().sum() >= nanos
                                        || stats.latency().count() >= OFTEN
                                        || stats.pending() > 0)
                        .map(stats -> Map.entry(-1, stats))
                        .toList(),
                limit);
    }

    private static Table byThread(ReportOperators found, List<Integer> threads) {
        List<Map.Entry<Integer, SyscallStats>> all = new ArrayList<>();
        for (int thread : threads) {
            found.of(CALLS).of(thread).forEach(stats -> all.add(Map.entry(thread, stats)));
        }
        all.sort((one, other) ->
                Long.compare(other.getValue().latency().sum(), one.getValue().latency().sum()));
        TableBuilder<Map.Entry<Integer, SyscallStats>> table =
                new TableBuilder<>("system calls by thread");
        table.text("thread", row -> found.threadName(row.getKey()));
        return table(found, table, all, found.options().rows());
    }

    private static Table table(
            ReportOperators found,
            TableBuilder<Map.Entry<Integer, SyscallStats>> table,
            Collection<Map.Entry<Integer, SyscallStats>> rows,
            int limit) {
        return table.text("call", row -> found.callNames().nameOf(row.getValue().number()))
                .count("count", row -> row.getValue().latency().count())
                .nanos("total", row -> row.getValue().latency().sum())
                .nanos("mean", row -> row.getValue().latency().mean())
                .nanos("p50", row -> row.getValue().latency().quantile(0.5))
                .nanos("p99", row -> row.getValue().latency().quantile(0.99))
                .nanos("max", row -> row.getValue().latency().max())
                .text("errors", row -> errors(row.getValue()))
                .count(
                        "pending",
                        row -> row.getValue().pending() == 0 ? null : row.getValue().pending())
                .table(rows, limit);
    }

    private static String errors(SyscallStats stats) {
        StringJoiner errors = new StringJoiner(" ");
        stats.errors().forEach((errno, count) -> errors.add(Errno.name(errno) + "×" + count));
        return errors.toString();
    }
}
