package sonde.tools.syscalls;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.probe.syscall.CallCounter;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.CallTable;

/** How often each call was made, how long it took, and how often it failed. */
public final class CallCounts {
    private static final int MOST_ERROR = 4095;

    private static final class Sum {
        final String name;
        long calls;
        long errors;
        long nanos;
        long least = Long.MAX_VALUE;
        long most;

        Sum(String name) {
            this.name = name;
        }
    }

    private final Map<String, Sum> sums = new HashMap<>();
    private final String title;

    /** Of calls that the title names. */
    public CallCounts(String title) {
        this.title = title;
    }

    /** Takes a call that has ended; one that began before the trace has no time. */
    void accept(@Nullable CallRecord entry, CallRecord exit) {
        if (entry != null) {
            boolean failed = exit.result() < 0 && exit.result() >= -MOST_ERROR;
            count(CallTable.name(entry.number()), exit.nanos() - entry.nanos(), failed);
        }
    }

    /** Takes one call. */
    public void count(String name, long nanos, boolean failed) {
        Sum sum = sums.computeIfAbsent(name, Sum::new);
        sum.calls++;
        sum.errors += failed ? 1 : 0;
        sum.nanos += nanos;
        sum.least = Math.min(sum.least, nanos);
        sum.most = Math.max(sum.most, nanos);
    }

    /** Takes what the kernel has counted. */
    public void add(String name, CallCounter.CountedCall counted) {
        Sum sum = sums.computeIfAbsent(name, Sum::new);
        sum.calls += counted.calls();
        sum.errors += counted.errors();
        sum.nanos += counted.nanos();
        sum.least = Math.min(sum.least, counted.least());
        sum.most = Math.max(sum.most, counted.most());
    }

    /**
     * The counts so far, the total last.
     *
     * @param columns that are shown; all when empty
     */
    public Table table(String order, List<String> columns) {
        Sum total = new Sum("total");
        for (Sum one : sums.values()) {
            total.calls += one.calls;
            total.errors += one.errors;
            total.nanos += one.nanos;
            total.least = Math.min(total.least, one.least);
            total.most = Math.max(total.most, one.most);
        }
        Comparator<Sum> comparator =
                switch (order) {
                    case "calls" -> Comparator.comparingLong((Sum one) -> one.calls).reversed();
                    case "errors" -> Comparator.comparingLong((Sum one) -> one.errors).reversed();
                    case "min-time" -> Comparator.comparingLong((Sum one) -> one.least).reversed();
                    case "max-time" -> Comparator.comparingLong((Sum one) -> one.most).reversed();
                    case "avg-time" ->
                            Comparator.comparingLong((Sum one) -> one.nanos / one.calls).reversed();
                    case "name", "none", "nothing" -> Comparator.comparing(one -> one.name);
                    default -> Comparator.comparingLong((Sum one) -> one.nanos).reversed();
                };
        List<Sum> rows =
                new ArrayList<>(
                        sums.values().stream()
                                .sorted(comparator.thenComparing(one -> one.name))
                                .toList());
        if (!rows.isEmpty()) {
            rows.add(total);
        }
        TableBuilder<Sum> table = new TableBuilder<>(title);
        for (String column : columns.isEmpty() ? SyscallsRequest.COLUMNS : columns) {
            switch (column) {
                case "time-percent" ->
                        table.share(
                                "time",
                                one -> total.nanos == 0 ? 0 : (double) one.nanos / total.nanos);
                case "total-time" -> table.nanos("total", one -> one.nanos);
                case "avg-time" ->
                        table.column("average", Unit.NANOS, one -> one.nanos / one.calls);
                case "min-time" -> table.nanos("min", one -> one.least);
                case "max-time" -> table.nanos("max", one -> one.most);
                case "calls" -> table.count("calls", one -> one.calls);
                case "errors" -> table.count("errors", one -> one.errors == 0 ? null : one.errors);
                default -> table.text("call", one -> one.name);
            }
        }
        return table.table(rows);
    }
}
