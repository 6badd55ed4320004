package sonde.tools.report;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import sonde.analysis.LogLinear;
import sonde.analysis.syscall.SyscallStats;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.sys.Errno;

/** The tables of system calls. */
final class CallSections {
    private final Findings found;
    private final int limit;

    CallSections(Findings found, int limit) {
        this.found = found;
        this.limit = limit;
    }

    /** Over all threads shown, by call. */
    Table all() {
        Rows rows = calls(new Rows("system calls").column("call", Unit.TEXT));
        for (SyscallStats one : found.calls.totals(found::shown)) {
            if (rows.size() < limit) {
                add(rows, one, null);
            }
        }
        return rows.table();
    }

    /** By thread and call. */
    Table byThread() {
        Rows rows =
                calls(
                        new Rows("system calls by thread")
                                .column("thread", Unit.TEXT)
                                .column("call", Unit.TEXT));
        record Row(int thread, SyscallStats stats) {}
        List<Row> all = new ArrayList<>();
        for (int thread : found.shownThreads()) {
            found.calls.of(thread).forEach(stats -> all.add(new Row(thread, stats)));
        }
        all.sort((one, other) ->
                Long.compare(other.stats.latency().sum(), one.stats.latency().sum()));
        all.stream()
                .limit(limit)
                .forEach(row -> add(rows, row.stats, found.threadName(row.thread)));
        return rows.table();
    }

    private static Rows calls(Rows rows) {
        return rows.column("count", Unit.COUNT)
                .column("total", Unit.NANOS)
                .column("mean", Unit.NANOS)
                .column("p50", Unit.NANOS)
                .column("p99", Unit.NANOS)
                .column("max", Unit.NANOS)
                .column("errors", Unit.TEXT)
                .column("pending", Unit.COUNT);
    }

    private void add(Rows rows, SyscallStats one, @Nullable String thread) {
        StringJoiner errors = new StringJoiner(" ");
        one.errors().forEach((errno, count) -> errors.add(Errno.name(errno) + "×" + count));
        LogLinear latency = one.latency();
        List<@Nullable Object> row = new ArrayList<>();
        if (thread != null) {
            row.add(thread);
        }
        row.add(found.callNames.nameOf(one.number()));
        row.add(latency.count());
        row.add(latency.sum());
        row.add(latency.mean());
        row.add(latency.quantile(0.5));
        row.add(latency.quantile(0.99));
        row.add(latency.max());
        row.add(errors.toString());
        row.add(one.pending() == 0 ? null : one.pending());
        rows.add(row.toArray());
    }
}
