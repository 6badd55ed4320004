package sonde.tools.report;

import java.util.List;
import java.util.Locale;
import sonde.symbol.line.CodeDetail;

/**
 * How samples are added up and their chains shown.
 *
 * @param order which end of a chain is the root of a tree
 * @param keys what samples of one row of the flat table have in common, in the order of its columns
 * @param withCallees whether the flat table also tells the samples of what a row's functions called
 * @param inlined whether chains show calls that were inlined, where debugging information tells
 * @param lines whether chains show lines, too: a function is then a node for each of its lines
 */
public record StackOptions(
        StackOrder order, List<SortKey> keys, boolean withCallees, boolean inlined, boolean lines) {
    /** Callers at the root; rows by function and module. */
    public static final StackOptions DEFAULT =
            new StackOptions(
                    StackOrder.CALLER,
                    List.of(SortKey.FUNCTION, SortKey.MODULE),
                    false,
                    true,
                    false);

    /** Which end of a chain is the root of a tree. */
    public enum StackOrder {
        /** The first caller: where the time went, from the outside. */
        CALLER,
        /** The function that ran: who called it. */
        CALLEE,
    }

    /** What tells samples apart. */
    public enum SortKey {
        COMM("thread"),
        PID("pid"),
        TID("tid"),
        MODULE("module"),
        FUNCTION("function"),
        LINE("line");

        private final String title;

        SortKey(String title) {
            this.title = title;
        }

        /** The heading of its column. */
        public String title() {
            return title;
        }

        /**
         * The key of a name, perf's ({@code comm, pid, tid, dso, sym, symbol, srcline}) or ours.
         *
         * @throws IllegalArgumentException when there is none
         */
        public static SortKey named(String name) {
            return switch (name.toLowerCase(Locale.ROOT)) {
                case "comm", "thread" -> COMM;
                case "pid" -> PID;
                case "tid" -> TID;
                case "dso", "module" -> MODULE;
                case "sym", "symbol", "function" -> FUNCTION;
                case "srcline", "line" -> LINE;
                default -> throw new IllegalArgumentException(name);
            };
        }
    }

    public StackOptions {
        keys = List.copyOf(keys);
    }

    /** What is looked up besides functions; inlined calls alone only where that is quick. */
    CodeDetail detail() {
        return lines ? new CodeDetail(inlined, true) : CodeDetail.quick(inlined, false);
    }
}
