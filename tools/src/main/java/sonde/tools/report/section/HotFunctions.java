package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.analysis.stack.StackSums;
import sonde.event.result.Frame;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.tools.report.Findings;
import sonde.tools.report.StackOptions.SortKey;

/**
 * Samples by what ran: functions, modules, threads, as the keys say. Places of a module without
 * symbols are one row, named by the first and last of them: each address by itself says nothing.
 */
final class HotFunctions {
    private static final String OFFSET = "+0x";
    private static final Frame ANY = Frame.label("");

    private final Findings found;
    private final List<SortKey> keys;
    private final boolean withCallees;
    private final Map<Place, Hot> rows = new HashMap<>();
    private long total;

    /** What the samples of a row have in common; what no key names is the same for all. */
    private record Place(String comm, int pid, int tid, String line, Frame frame) {}

    /** A row: mostly a function, or the nameless code of a module. */
    private static final class Hot {
        final Place place;
        final Frame frame;
        long samples;
        long withCallees;
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;

        Hot(Place place, Frame frame) {
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

    /**
     * @param weighed whether a row counts as many samples as its weight
     */
    HotFunctions(Findings found, StackSums sums, boolean weighed) {
        this.found = found;
        this.keys = found.options().stacks().keys();
        this.withCallees = found.options().stacks().withCallees();
        sums.forEach((thread, node, weight, count) -> {
            if (found.shown(thread) && (node >= 0 || !keys.contains(SortKey.FUNCTION))) {
                add(thread, node, weighed ? weight : count);
            }
        });
    }

    private void add(int thread, int node, long count) {
        total += count;
        row(thread, node).samples += count;
        if (withCallees) {
            Set<Hot> chain = new HashSet<>();
            for (int at = node; at >= 0; at = found.stacks().parent(at)) {
                chain.add(row(thread, at));
            }
            if (chain.isEmpty()) {
                chain.add(row(thread, node));
            }
            chain.forEach(hot -> hot.withCallees += count);
        }
    }

    private Hot row(int thread, int node) {
        Frame frame = node >= 0 ? found.trees().frame(node) : ANY;
        if (!keys.contains(SortKey.FUNCTION)) {
            boolean modules = keys.contains(SortKey.MODULE);
            Frame common = modules ? new Frame("", frame.module(), Frame.Kind.USER) : ANY;
            return rows.computeIfAbsent(place(thread, node, common), key -> new Hot(key, common));
        }
        String name = frame.name();
        int plus = name.startsWith("[") && name.endsWith("]") ? name.lastIndexOf(OFFSET) : -1;
        if (plus < 0) {
            boolean modules = keys.contains(SortKey.MODULE);
            Frame like = modules ? frame : new Frame(name, "", frame.kind());
            return rows.computeIfAbsent(place(thread, node, like), key -> new Hot(key, frame));
        }
        Frame nameless = new Frame("", frame.module(), frame.kind());
        Hot hot = rows.computeIfAbsent(place(thread, node, nameless), key -> new Hot(key, frame));
        String digits = name.substring(plus + OFFSET.length(), name.length() - 1);
        try {
            hot.at(Long.parseUnsignedLong(digits, 16));
        } catch (NumberFormatException e) {
            return hot; // a function of that name, not a place
        }
        return hot;
    }

    private Place place(int thread, int node, Frame frame) {
        return new Place(
                keys.contains(SortKey.COMM) ? found.comm(thread) : "",
                keys.contains(SortKey.PID) && thread >= 0 ? found.threads().pid(thread) : 0,
                keys.contains(SortKey.TID) && thread >= 0 ? found.threads().tid(thread) : 0,
                keys.contains(SortKey.LINE) && node >= 0 ? found.trees().lineOf(node) : "",
                frame);
    }

    private long rank(Hot hot) {
        return withCallees ? hot.withCallees : hot.samples;
    }

    Table table(String title, String counted, int limit) {
        List<Hot> sorted = new ArrayList<>(rows.values());
        sorted.sort((one, other) -> {
            int order = Long.compare(rank(other), rank(one));
            if (order == 0) {
                order = one.frame.name().compareTo(other.frame.name());
            }
            return order != 0 ? order : one.place.toString().compareTo(other.place.toString());
        });
        TableBuilder<Hot> result = new TableBuilder<>(title);
        for (SortKey key : keys) {
            boolean number = key == SortKey.PID || key == SortKey.TID;
            result.column(key.title(), number ? Unit.ID : Unit.TEXT, hot -> cell(key, hot));
        }
        if (withCallees) {
            result.share("with callees", hot -> (double) hot.withCallees / total);
        }
        return result.share("share", hot -> (double) hot.samples / total)
                .count(counted, hot -> hot.samples)
                .table(sorted, limit);
    }

    private static Object cell(SortKey key, Hot hot) {
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
