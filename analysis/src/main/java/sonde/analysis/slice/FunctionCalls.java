package sonde.analysis.slice;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/**
 * Calls of kernel functions that ftrace's function_graph and function tracers recorded: a tree of
 * times, sums by function, and the slowest outermost call with all it called.
 */
public final class FunctionCalls implements Operator {
    private static final int ENTRY = 1;
    private static final int EXIT = 2;
    private static final int CALL = 3;

    /** Deeper calls are not told apart: the kernel keeps 50 return addresses a task. */
    private static final int MOST_DEPTH = 512;

    private static final int MOST_NODES = 1 << 20;

    /** Calls kept of the slowest. */
    private static final int MOST_LINES = 4096;

    private final ThreadTable threads;
    private final TimeWindow window;
    private final IntPredicate which;
    private final LongFunction<String> names;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);
    private final Map<Integer, Track> tracks = new HashMap<>();
    private final Map<String, Long> texts = new HashMap<>();
    private final List<String> textList = new ArrayList<>();
    private final Map<CallerPair, long[]> pairs = new LinkedHashMap<>();
    private final CalledFunction root = new CalledFunction(0);
    private int nodes;
    private long unfinished;
    private long measuredNanos;
    private long clockNanos;
    private @Nullable SlowCall slowest;

    /** A function under one chain of callers. */
    public static final class CalledFunction {
        private final long function;
        private final Map<Long, CalledFunction> callees = new LinkedHashMap<>();
        private long calls;
        private long nanos;
        private long longest;

        /** Time of calls that are shown here and were below a callee, and the other way round. */
        private long moved;

        private CalledFunction(long function) {
            this.function = function;
        }

        /** What it called. */
        public List<CalledFunction> callees() {
            return List.copyOf(callees.values());
        }

        /** Calls that returned. */
        public long calls() {
            return calls;
        }

        /** Time in it, with what it called. */
        public long nanos() {
            return nanos;
        }

        /** Time in it alone; what was called is subtracted where its calls were recorded. */
        public long ownNanos() {
            long below = 0;
            for (CalledFunction callee : callees.values()) {
                below += callee.nanos;
            }
            return Math.max(0, nanos - below + moved);
        }
    }

    /**
     * Sums of a function over all its callers.
     *
     * @param nanos a call inside another one of the same function counts once
     * @param ownNanos without what it called
     */
    public record FunctionSum(
            String name, long calls, long nanos, long ownNanos, long longestNanos) {}

    /**
     * A line of the slowest call.
     *
     * @param nanos -1 for a call that had not ended
     */
    public record CallLine(int depth, String name, long nanos, boolean isLeaf) {}

    /**
     * The slowest outermost call.
     *
     * @param left calls that were not kept
     */
    public record SlowCall(
            int thread, long from, long nanos, int cpu, List<CallLine> lines, long left) {}

    /** Calls by caller, of the function tracer. */
    public record CallerCount(String function, String caller, long calls) {}

    private record CallerPair(long function, long caller) {}

    private static final class Fields {
        final TypeSelection wanted;
        final @Nullable IntegerField entered;
        final @Nullable IntegerField retEntered;
        final @Nullable IntegerField depth;
        final @Nullable IntegerField retDepth;
        final @Nullable IntegerField left;
        final @Nullable IntegerField exitDepth;
        final @Nullable IntegerField began;
        final @Nullable IntegerField ended;
        final @Nullable IntegerField ip;
        final @Nullable IntegerField parent;
        final int retaddr;
        final @Nullable StringField enteredText;
        final @Nullable StringField leftText;
        final @Nullable IntegerField leafNanos;
        final @Nullable IntegerField exitNanos;

        Fields(Source source) {
            String entry = "funcgraph_entry";
            String exit = "funcgraph_exit";
            String other = "fgraph_retaddr_entry";
            wanted =
                    new TypeSelection(source)
                            .add(ENTRY, "ftrace", entry, "func", "depth")
                            .add(ENTRY, "ftrace", other, "func", "depth")
                            .add(EXIT, "ftrace", exit, "func", "depth")
                            .add(CALL, "ftrace", "function", "ip", "parent_ip");
            entered = wanted.integer("ftrace", entry, "func");
            retEntered = wanted.integer("ftrace", other, "func");
            depth = wanted.integer("ftrace", entry, "depth");
            retDepth = wanted.integer("ftrace", other, "depth");
            left = wanted.integer("ftrace", exit, "func");
            exitDepth = wanted.integer("ftrace", exit, "depth");
            began = wanted.integer("ftrace", exit, "calltime");
            ended = wanted.integer("ftrace", exit, "rettime");
            ip = wanted.integer("ftrace", "function", "ip");
            parent = wanted.integer("ftrace", "function", "parent_ip");
            enteredText = wanted.text("ftrace", entry, "func");
            leftText = wanted.text("ftrace", exit, "func");
            leafNanos = wanted.integer("ftrace", entry, "duration");
            exitNanos = wanted.integer("ftrace", exit, "duration");
            retaddr = source.type("ftrace", other).map(type -> type.id()).orElse(-1);
        }
    }

    /**
     * What runs now in a thread, or on a CPU for its idle task. An interrupt that hits the tracer
     * itself, between a call and its row, has rows before that of the call, one level too deep, or
     * after its return, at the call's own level (Linux 6.1).
     */
    private static final class Track {
        final CalledFunction[] open = new CalledFunction[MOST_DEPTH + 2];
        final int[] depth = new int[MOST_DEPTH + 2];
        final long[] since = new long[MOST_DEPTH + 2];
        final int[] line = new int[MOST_DEPTH + 2];
        final List<CallLine> lines = new ArrayList<>();
        int size;
        long leftOut;
        int cpu;

        /** Time of calls one level too deep: that of the next call at the right one. */
        long early;

        int top() {
            return size == 0 ? -1 : depth[size - 1];
        }
    }

    /**
     * Calls of a window.
     *
     * @param which whether those of a thread, by its number, are wanted
     * @param names of functions by address
     */
    public FunctionCalls(
            ThreadTable threads,
            TimeWindow window,
            IntPredicate which,
            LongFunction<String> names) {
        this.threads = threads;
        this.window = window;
        this.which = which;
        this.names = names;
    }

    @Override
    public RowOrder need() {
        return RowOrder.TIME_ORDERED;
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            int code = fields.wanted.code(batch, row);
            if (code == 0 || !window.contains(batch.time(row))) {
                continue;
            }
            int thread = threads.find(batch.tid(row));
            if (!which.test(thread)) {
                continue;
            }
            switch (code) {
                case ENTRY -> entry(fields, batch, row, thread);
                case EXIT -> exit(fields, batch, row, thread);
                default -> call(fields, batch, row);
            }
        }
    }

    private void call(Fields fields, Batch batch, int row) {
        if (fields.ip == null || fields.parent == null) {
            return;
        }
        CallerPair pair = new CallerPair(fields.ip.of(batch, row), fields.parent.of(batch, row));
        if (pairs.size() < MOST_NODES || pairs.containsKey(pair)) {
            pairs.computeIfAbsent(pair, _ -> new long[1])[0]++;
        }
    }

    private void entry(Fields fields, Batch batch, int row, int thread) {
        boolean other = batch.type(row) == fields.retaddr;
        IntegerField depths = other ? fields.retDepth : fields.depth;
        IntegerField functions = other ? fields.retEntered : fields.entered;
        int depth = depth(depths, batch, row);
        long function = function(functions, fields.enteredText, batch, row);
        Track track = track(batch, row, thread);
        while (track.top() > depth || track.size > 1 && track.depth[track.size - 2] == depth) {
            cut(track, track.size - 1);
        }
        if (track.size == 0) {
            track.lines.clear();
            track.leftOut = 0;
            track.cpu = batch.cpu(row);
        }
        enter(track, function, depth, batch.time(row));
        if (fields.leafNanos != null) {
            long nanos = fields.leafNanos.of(batch, row);
            if (nanos > 0) {
                leave(track, nanos, thread);
            }
        }
    }

    private void exit(Fields fields, Batch batch, int row, int thread) {
        int depth = depth(fields.exitDepth, batch, row);
        long function = function(fields.left, fields.leftText, batch, row);
        long nanos =
                fields.began != null && fields.ended != null
                        ? fields.ended.of(batch, row) - fields.began.of(batch, row)
                        : fields.exitNanos != null ? fields.exitNanos.of(batch, row) : -1;
        Track track = track(batch, row, thread);
        int level = track.size - 1;
        while (level >= 0
                && (track.depth[level] > depth
                        || track.depth[level] == depth
                                && function != 0
                                && track.open[level].function != function)) {
            level--;
        }
        if (level < 0 || track.depth[level] != depth) {
            // Its entry was lost: how much of its time is its own is not known.
            while (track.top() >= depth) {
                cut(track, track.size - 1);
            }
            unfinished++;
            return;
        }
        cut(track, level + 1);
        if (level == 0 && nanos >= 0) {
            measuredNanos += nanos;
            clockNanos += batch.time(row) - track.since[0];
        }
        leave(track, nanos < 0 ? batch.time(row) - track.since[level] : nanos, thread);
    }

    private Track track(Batch batch, int row, int thread) {
        int tid = batch.tid(row);
        return tracks.computeIfAbsent(
                tid > 0 || thread < 0 && tid != 0 ? tid : -1 - batch.cpu(row), _ -> new Track());
    }

    private static int depth(@Nullable IntegerField field, Batch batch, int row) {
        return field == null ? 0 : Math.clamp(field.of(batch, row), 0, MOST_DEPTH);
    }

    private long function(
            @Nullable IntegerField address, @Nullable StringField text, Batch batch, int row) {
        if (address != null) {
            return address.of(batch, row);
        }
        String name = text == null ? "" : text.of(batch, row);
        if (name.isEmpty()) {
            return 0;
        }
        return texts.computeIfAbsent(
                name,
                added -> {
                    textList.add(added);
                    return (long) textList.size();
                });
    }

    /** Calls deeper than this have no end of their own. */
    private void cut(Track track, int size) {
        if (track.size > size) {
            unfinished += track.size - size;
            track.size = size;
        }
    }

    private void enter(Track track, long function, int depth, long time) {
        if (track.size > MOST_DEPTH) {
            return;
        }
        int above = track.size - (track.top() == depth ? 2 : 1);
        CalledFunction caller = above < 0 ? root : track.open[above];
        CalledFunction callee = caller.callees.get(function);
        if (callee == null) {
            callee = new CalledFunction(function);
            if (nodes < MOST_NODES) {
                nodes++;
                caller.callees.put(function, callee);
            }
        }
        if (above >= 0 && depth == track.depth[above] + 1) {
            caller.moved += track.early;
            callee.moved -= track.early;
            track.early = 0;
        }
        track.open[track.size] = callee;
        track.depth[track.size] = depth;
        track.since[track.size] = time;
        if (track.lines.size() < MOST_LINES) {
            track.line[track.size] = track.lines.size();
            track.lines.add(new CallLine(Math.max(0, depth - track.depth[0]), "", -1, true));
        } else {
            track.line[track.size] = -1;
            track.leftOut++;
        }
        track.size++;
    }

    private void leave(Track track, long nanos, int thread) {
        int level = --track.size;
        CalledFunction left = track.open[level];
        left.calls++;
        left.nanos += Math.max(0, nanos);
        left.longest = Math.max(left.longest, nanos);
        boolean tooDeep = level > 0 && track.depth[level] > track.depth[level - 1] + 1;
        track.early = tooDeep ? track.early + Math.max(0, nanos) : 0;
        int line = track.line[level];
        if (line >= 0 && line < track.lines.size()) {
            boolean leaf = line == track.lines.size() - 1;
            int depth = track.lines.get(line).depth();
            track.lines.set(line, new CallLine(depth, Long.toString(left.function), nanos, leaf));
        }
        if (level == 0) {
            SlowCall known = slowest;
            if (known == null || nanos > known.nanos()) {
                slowest =
                        new SlowCall(
                                thread,
                                track.since[0],
                                nanos,
                                track.cpu,
                                List.copyOf(track.lines),
                                track.leftOut);
            }
            track.lines.clear();
        }
    }

    @Override
    public void finish(long lastTime) {
        for (Track track : tracks.values()) {
            cut(track, 0);
        }
    }

    /** Calls with one end only: begun before, not returned, or the other end was lost. */
    public long unfinished() {
        return unfinished;
    }

    /**
     * How much faster the kernel's clock for durations (trace_clock_local) ran than the clock of
     * the recording; 1 where too little was measured. They differ where the TSC is calibrated
     * badly, as in emulated machines.
     */
    public double clockRatio() {
        return clockNanos < 1_000_000 ? 1 : measuredNanos / (double) clockNanos;
    }

    /** All outermost functions are below it. */
    public CalledFunction root() {
        return root;
    }

    /** The name of a function of the tree. */
    public String name(CalledFunction function) {
        return name(function.function);
    }

    private String name(long function) {
        if (function == 0) {
            return "?";
        }
        return function > 0 && function <= textList.size()
                ? textList.get((int) function - 1)
                : names.apply(function);
    }

    /** Every function of the tree, the one with most time of its own first. */
    public List<FunctionSum> sums() {
        Map<Long, long[]> sums = new LinkedHashMap<>();
        add(root, sums, new HashMap<>());
        return sums.entrySet().stream()
                .map(entry -> {
                    long[] sum = entry.getValue();
                    return new FunctionSum(name(entry.getKey()), sum[0], sum[1], sum[2], sum[3]);
                })
                .sorted(
                        Comparator.comparingLong((FunctionSum sum) -> -sum.ownNanos())
                                .thenComparing(sum -> -sum.calls())
                                .thenComparing(FunctionSum::name))
                .toList();
    }

    private static void add(
            CalledFunction node, Map<Long, long[]> sums, Map<Long, Integer> outside) {
        for (CalledFunction callee : node.callees.values()) {
            long[] sum = sums.computeIfAbsent(callee.function, _ -> new long[4]);
            int within = outside.merge(callee.function, 1, Integer::sum);
            sum[0] += callee.calls;
            sum[1] += within == 1 ? callee.nanos : 0;
            sum[2] += callee.calls == 0 ? 0 : callee.ownNanos();
            sum[3] = Math.max(sum[3], callee.longest);
            add(callee, sums, outside);
            outside.merge(callee.function, -1, Integer::sum);
        }
    }

    /** The slowest outermost call; null without one. */
    public @Nullable SlowCall slowest() {
        SlowCall found = slowest;
        if (found == null) {
            return null;
        }
        List<CallLine> named = new ArrayList<>();
        for (CallLine line : found.lines()) {
            String name = line.name().isEmpty() ? "?" : name(Long.parseLong(line.name()));
            named.add(new CallLine(line.depth(), name, line.nanos(), line.isLeaf()));
        }
        return new SlowCall(
                found.thread(), found.from(), found.nanos(), found.cpu(), named, found.left());
    }

    /** Who called what, most calls first; of the function tracer. */
    public List<CallerCount> callers() {
        return pairs.entrySet().stream()
                .map(entry ->
                        new CallerCount(
                                name(entry.getKey().function()),
                                name(entry.getKey().caller()),
                                entry.getValue()[0]))
                .sorted(Comparator.comparingLong((CallerCount count) -> -count.calls()))
                .toList();
    }

    /** Whether there is any call. */
    public boolean isEmpty() {
        return root.callees.isEmpty() && pairs.isEmpty();
    }
}
