package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.analysis.stack.StackAggregate;
import sonde.event.result.Frame;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.exchange.export.SampleUnits;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.StackOptions.SortKey;

/**
 * Samples by what ran: functions, modules, threads, as the keys say; shares are of the weight, as
 * in the trees. Places of a module without symbols are one row, named by the first and last of
 * them: each address by itself says nothing.
 */
final class HotFunctions {
    private static final String OFFSET = "+0x";
    private static final Frame ANY = Frame.label("");

    private final ReportOperators found;
    private final List<SortKey> keys;
    private final boolean withCallees;
    private final StackAggregate sums;
    private final Map<FunctionGroup, HotFunction> rows = new HashMap<>();
    private boolean hasCalls;
    private long total;

    /** What the samples of a row have in common; what no key names is the same for all. */
    private record FunctionGroup(String comm, int pid, int tid, String line, Frame frame) {}

    /** A row: mostly a function, or the nameless code of a module. */
    private static final class HotFunction {
        final FunctionGroup place;
        final Frame frame;
        long samples;
        long weight;
        long withCallees;
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;

        HotFunction(FunctionGroup place, Frame frame) {
            this.place = place;
            this.frame = frame;
        }

        void at(long offset) {
            first = Math.min(first, offset);
            last = Math.max(last, offset);
        }

        String name() {
            String name = frame.name();
            if (first >= last) {
                return name;
            }
            String module = name.substring(0, name.lastIndexOf(OFFSET));
            return module + OFFSET + Long.toHexString(first) + "…0x" + Long.toHexString(last) + "]";
        }
    }

    HotFunctions(ReportOperators found, StackAggregate sums) {
        this.found = found;
        this.sums = sums;
        this.keys = found.options().stacks().keys();
        this.withCallees = found.options().stacks().withCallees();
        boolean weighed = sums.total() > 0;
        sums.forEach((thread, node, weight, count) -> {
            if (found.shown(thread)) {
                long all = weighed ? weight : count;
                total += all; // the trees have samples without a chain, too
                if (node >= 0 || !keys.contains(SortKey.FUNCTION)) {
                    add(thread, node, all, count);
                }
            }
        });
    }

    /**
     * Adds what calls cost, of a recording that has callers and callees but no longer chains.
     *
     * @param calls by chains of a callee and its caller
     */
    HotFunctions with(StackAggregate calls) {
        if (keys.contains(SortKey.FUNCTION)) {
            calls.forEach((thread, node, weight, count) -> {
                int caller = node < 0 ? node : found.stacks().parent(node);
                if (found.shown(thread) && caller >= 0) {
                    hasCalls = true;
                    HotFunction hot = row(thread, caller);
                    hot.withCallees += hot == row(thread, node) ? 0 : weight;
                }
            });
        }
        return this;
    }

    private void add(int thread, int node, long weight, long count) {
        HotFunction own = row(thread, node);
        own.weight += weight;
        own.samples += count;
        if (withCallees) {
            Set<HotFunction> chain = new HashSet<>();
            for (int at = node; at >= 0; at = found.stacks().parent(at)) {
                chain.add(row(thread, at));
            }
            if (chain.isEmpty()) {
                chain.add(row(thread, node));
            }
            chain.forEach(hot -> hot.withCallees += weight);
        }
    }

    private HotFunction row(int thread, int node) {
        Frame frame = node >= 0 ? found.trees().frame(node) : ANY;
        if (!keys.contains(SortKey.FUNCTION)) {
            boolean modules = keys.contains(SortKey.MODULE);
            Frame common = modules ? new Frame("", frame.module(), Frame.Kind.USER) : ANY;
            return rows.computeIfAbsent(
                    place(thread, node, common), key -> new HotFunction(key, common));
        }
        String name = frame.name();
        int plus = name.startsWith("[") && name.endsWith("]") ? name.lastIndexOf(OFFSET) : -1;
        if (plus < 0) {
            boolean modules = keys.contains(SortKey.MODULE);
            Frame like = modules ? frame : new Frame(name, "", frame.kind());
            return rows.computeIfAbsent(
                    place(thread, node, like), key -> new HotFunction(key, frame));
        }
        Frame nameless = new Frame("", frame.module(), frame.kind());
        HotFunction hot =
                rows.computeIfAbsent(
                        place(thread, node, nameless), key -> new HotFunction(key, frame));
        String digits = name.substring(plus + OFFSET.length(), name.length() - 1);
        try {
            hot.at(Long.parseUnsignedLong(digits, 16));
        } catch (NumberFormatException e) {
            return hot; // a function of that name, not a place
        }
        return hot;
    }

    private FunctionGroup place(int thread, int node, Frame frame) {
        return new FunctionGroup(
                keys.contains(SortKey.COMM) ? found.comm(thread) : "",
                keys.contains(SortKey.PID) && thread >= 0 ? found.threads().pid(thread) : 0,
                keys.contains(SortKey.TID) && thread >= 0 ? found.threads().tid(thread) : 0,
                keys.contains(SortKey.LINE) && node >= 0 ? found.trees().lineOf(node) : "",
                frame);
    }

    private long rank(HotFunction hot) {
        return withCallees ? inclusive(hot) : hot.weight;
    }

    /** Calls of a recursive function have its cost several times. */
    private long inclusive(HotFunction hot) {
        return Math.min(hot.withCallees + (withCallees ? 0 : hot.weight), total);
    }

    /**
     * The table.
     *
     * @param event whose counts the weights are, empty where the number of samples tells more
     */
    Table table(String title, String event, int limit) {
        List<HotFunction> sorted = new ArrayList<>(rows.values());
        sorted.sort((one, other) -> {
            int order = Long.compare(rank(other), rank(one));
            if (order == 0) {
                order = one.frame.name().compareTo(other.frame.name());
            }
            return order != 0 ? order : one.place.toString().compareTo(other.place.toString());
        });
        TableBuilder<HotFunction> result = new TableBuilder<>(title);
        for (SortKey key : keys) {
            boolean number = key == SortKey.PID || key == SortKey.TID;
            result.column(key.title(), number ? Unit.ID : Unit.TEXT, hot -> cell(key, hot));
        }
        if (withCallees || hasCalls) {
            result.share("with callees", hot -> (double) inclusive(hot) / total);
        }
        result.share("share", hot -> (double) hot.weight / total);
        if (event.isEmpty() || sums.total() == sums.count()) {
            result.count("samples", hot -> hot.samples);
        } else {
            switch (SampleUnits.unit(event)) {
                case SampleUnits.NANOSECONDS -> result.nanos("time", hot -> hot.weight);
                case SampleUnits.BYTES -> result.bytes("bytes", hot -> hot.weight);
                default -> result.count(event, hot -> hot.weight);
            }
        }
        return result.table(sorted, limit);
    }

    private static Object cell(SortKey key, HotFunction hot) {
        return switch (key) {
            case COMM -> hot.place.comm;
            case PID -> (long) hot.place.pid;
            case TID -> (long) hot.place.tid;
            case MODULE -> hot.frame.module();
            case FUNCTION -> hot.name();
            case LINE -> hot.place.line;
        };
    }
}
