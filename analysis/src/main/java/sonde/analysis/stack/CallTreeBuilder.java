package sonde.analysis.stack;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.event.result.CallChains;
import sonde.event.result.CallTree;
import sonde.event.result.Frame;
import sonde.event.result.Unit;
import sonde.symbol.line.CodePlaces.FoundCode;

/**
 * Turns nodes of a {@link StackTable} into frames and trees of frames; names each location once.
 */
public final class CallTreeBuilder {
    /** Stands at the outermost place of a user stack that does not reach its beginning. */
    public static final Frame CUT = Frame.label("[stack cut]");

    private final StackTable table;
    private final FrameSymbols symbols;
    private final Map<Long, Frame> frames = new HashMap<>();
    private final Map<Long, Frame> placed = new HashMap<>();
    private Map<Long, FoundCode> places = Map.of();

    /** How much of a user stack is there. */
    public enum Completeness {
        /** It reaches the first function of its process or thread. */
        COMPLETE,
        /** It does not. */
        CUT,
        /** There is none: a kernel thread, or only the kernel part was taken. */
        NO_USER_PART,
    }

    /** Frames of that table. */
    public CallTreeBuilder(StackTable table, FrameSymbols symbols) {
        this.table = table;
        this.symbols = symbols;
    }

    /** Says which lines and inlined calls are at locations: they are in chains from now on. */
    public void places(Map<Long, FoundCode> known) {
        places = Map.copyOf(known);
        placed.clear();
    }

    /** The frame of a node. */
    public Frame frame(int node) {
        return frames.computeIfAbsent(table.location(node), symbols::frame);
    }

    private FoundCode place(int node) {
        return places.getOrDefault(table.location(node), FoundCode.UNKNOWN);
    }

    private Frame placed(int node) {
        FoundCode place = place(node);
        return place.file().isEmpty()
                ? frame(node)
                : placed.computeIfAbsent(
                        table.location(node), key -> frame(node).at(place.file(), place.line()));
    }

    /** The line that a node is at, in the innermost of the calls that were inlined there. */
    public String lineOf(int node) {
        List<Frame> calls = place(node).inlined();
        return (calls.isEmpty() ? placed(node) : calls.getFirst()).place();
    }

    /** The chain of a node, caller first; a cut user stack begins with {@link #CUT}. */
    public List<Frame> chain(int node) {
        List<Frame> chain = new ArrayList<>();
        for (int at = node; at >= 0; at = table.parent(at)) {
            chain.addAll(place(at).inlined());
            chain.add(placed(at));
        }
        if (completeness(node) == Completeness.CUT) {
            chain.add(CUT);
        }
        return chain.reversed();
    }

    /**
     * The chain without the frames by which the kernel switched to another thread and recorded it:
     * every chain of a thread that waits ends in {@code __schedule} and the tracepoint.
     */
    public int withoutSwitching(int node) {
        int at = node;
        while (at >= 0 && isSwitching(frame(at))) {
            at = table.parent(at);
        }
        return at < 0 ? node : at;
    }

    private static boolean isSwitching(Frame frame) {
        return isTracing(frame)
                || frame.kind() == Frame.Kind.KERNEL && frame.name().contains("schedule");
    }

    /** What include/trace/*.h and include/linux/tracepoint.h make for each tracepoint. */
    private static boolean isTracing(Frame frame) {
        String name = frame.name();
        return frame.kind() == Frame.Kind.KERNEL
                && (name.startsWith("__traceiter_")
                        || name.startsWith("perf_trace_")
                        || name.startsWith("__bpf_trace_")
                        || name.startsWith("trace_event_raw_event_")
                        || name.startsWith("bpf_trace_run"));
    }

    /**
     * The system call that a chain's kernel part serves, empty when it is none or has no names: the
     * entries are called {@code __x64_sys_read} (arch/x86/include/asm/syscall_wrapper.h), {@code
     * __arm64_sys_read}.
     */
    public String callOf(int node) {
        for (int at = node; at >= 0 && isKernel(at); at = table.parent(at)) {
            String name = frame(at).name();
            int sys = name.startsWith("__") ? name.indexOf("_sys_") : -1;
            // __traceiter_sys_exit ends any call.
            if (sys > 0 && !isTracing(frame(at)) && name.indexOf('_', 2) == sys) {
                return name.substring(sys + 5);
            }
        }
        return "";
    }

    /** The innermost kernel function but the scheduler's own; empty when there is no such name. */
    public String waitsIn(int node) {
        for (int at = withoutSwitching(node); at >= 0 && isKernel(at); at = table.parent(at)) {
            String name = frame(at).name();
            if (!isSwitching(frame(at)) && !name.startsWith("[")) {
                return name;
            }
        }
        return "";
    }

    private boolean isKernel(int node) {
        return frame(node).kind() == Frame.Kind.KERNEL;
    }

    private int outermost(int node) {
        int at = node;
        while (at >= 0 && table.parent(at) >= 0) {
            at = table.parent(at);
        }
        return at;
    }

    /** How much of the user stack a chain has. */
    public Completeness completeness(int node) {
        int outermost = outermost(node);
        if (outermost < 0 || frame(outermost).kind() == Frame.Kind.KERNEL) {
            return Completeness.NO_USER_PART;
        }
        return isRoot(node, outermost) ? Completeness.COMPLETE : Completeness.CUT;
    }

    /** Whether a chain ends there; {@code _start} of a stripped program has no name. */
    private boolean isRoot(int node, int outermost) {
        int callee = node;
        while (callee != outermost && table.parent(callee) != outermost) {
            callee = table.parent(callee);
        }
        return symbols.isRoot(frame(outermost))
                || frame(outermost).name().startsWith("[")
                        && callee != outermost
                        && symbols.isRoot(frame(callee));
    }

    /** The module in whose code the unwinding of a cut stack ended. */
    public String cutIn(int node) {
        int outermost = outermost(node);
        return outermost < 0 ? "" : frame(outermost).module();
    }

    /** An empty tree to {@link #add} to. */
    public static CallTree tree(String title, Unit unit) {
        return new CallTree(title, unit, new CallTree.Node(Frame.label("all")));
    }

    /** Adds a weight to a path of a tree, whose first frame is next to the root. */
    public static void add(CallTree tree, List<Frame> path, long weight, long count) {
        CallTree.Node at = tree.root();
        for (Frame frame : path) {
            at = at.child(frame);
        }
        at.add(weight, count);
    }

    /**
     * Chains as {@link CallChains} has them; nodes of the table that merge by name are one there.
     */
    public final class ChainColumns {
        private final Map<Frame, Integer> numbers = new HashMap<>();
        private final List<Frame> distinct = new ArrayList<>();
        private final Map<Long, Integer> nodes = new HashMap<>();
        private final Map<String, Map<Integer, Integer>> known = new HashMap<>();
        private final List<int[]> rows = new ArrayList<>();

        /** No chains yet. */
        public ChainColumns() {}

        /**
         * The number of a chain in {@link #stacks}.
         *
         * @param first the name that the chain begins under: a program's stacks are not another's
         * @param tableNode its node in the table, negative for a chain of the name alone
         */
        public int node(String first, int tableNode) {
            Map<Integer, Integer> under = known.computeIfAbsent(first, any -> new HashMap<>());
            Integer found = under.get(tableNode);
            if (found != null) {
                return found;
            }
            int at = child(-1, Frame.label(first));
            for (Frame frame : tableNode < 0 ? List.<Frame>of() : chain(tableNode)) {
                at = child(at, frame);
            }
            under.put(tableNode, at);
            return at;
        }

        /** The number of a chain that goes on from another, -1 for an outermost caller. */
        public int child(int parent, Frame frame) {
            int number =
                    numbers.computeIfAbsent(
                            frame,
                            added -> {
                                distinct.add(added);
                                return distinct.size() - 1;
                            });
            long key = (long) parent << 32 | number;
            return nodes.computeIfAbsent(
                    key,
                    ignored -> {
                        rows.add(new int[] {parent, number});
                        return rows.size() - 1;
                    });
        }

        /** All chains asked for. */
        public CallChains stacks() {
            int[] parent = rows.stream().mapToInt(row -> row[0]).toArray();
            int[] frame = rows.stream().mapToInt(row -> row[1]).toArray();
            return new CallChains(distinct, parent, frame);
        }
    }
}
