package sonde.tools.syscalls;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.probe.syscall.CallCounter;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.CallTable;

/** How often each call was made, how long it took, and how often it failed. */
final class CallCounts {
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

    private final Map<Long, Sum> sums = new HashMap<>();
    private final Map<Integer, long[]> begins = new HashMap<>();

    /** Takes the next record; calls are counted when they end. */
    void accept(CallRecord record, BitSet shown) {
        if (record.kind() == CallRecord.ENTER) {
            long[] begin = begins.computeIfAbsent(record.tid(), _ -> new long[2]);
            begin[0] = record.number();
            begin[1] = record.nanos();
        } else if (record.kind() == CallRecord.EXIT) {
            long[] begin = begins.remove(record.tid());
            if (begin != null && shown.get(Math.clamp(begin[0], 0, CallTable.CALLS))) {
                count(begin[0], record.nanos() - begin[1], record.result());
            }
        } else if (record.kind() == CallRecord.END) {
            begins.remove(record.tid()); // strace does not count calls that never return
        }
    }

    private void count(long number, long nanos, long result) {
        Sum sum = sums.computeIfAbsent(number, one -> new Sum(CallTable.name(one)));
        sum.calls++;
        sum.errors += result < 0 && result >= -MOST_ERROR ? 1 : 0;
        sum.nanos += nanos;
        sum.least = Math.min(sum.least, nanos);
        sum.most = Math.max(sum.most, nanos);
    }

    /** Takes what the kernel has counted. */
    void add(CallCounter.CountedCall counted) {
        Sum sum = sums.computeIfAbsent(counted.number(), one -> new Sum(CallTable.name(one)));
        sum.calls += counted.calls();
        sum.errors += counted.errors();
        sum.nanos += counted.nanos();
        sum.least = Math.min(sum.least, counted.least());
        sum.most = Math.max(sum.most, counted.most());
    }

    /** The counts so far, the total last. */
    Table table(String order) {
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
                    case "name", "none" -> Comparator.comparing(one -> one.name);
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
        return new TableBuilder<Sum>("system calls")
                .share("time", one -> total.nanos == 0 ? 0 : (double) one.nanos / total.nanos)
                .nanos("total", one -> one.nanos)
                .column("average", Unit.NANOS, one -> one.nanos / one.calls)
                .nanos("min", one -> one.least)
                .nanos("max", one -> one.most)
                .count("calls", one -> one.calls)
                .count("errors", one -> one.errors == 0 ? null : one.errors)
                .text("call", one -> one.name)
                .table(rows);
    }
}
