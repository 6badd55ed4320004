package sonde.analysis.slice;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.ThreadTable;
import sonde.analysis.slice.NamedSlices.NamedSlice;
import sonde.analysis.slice.NamedSlices.Sink;

/**
 * What is open on each track. Spans of a track nest, whether their ends are told by rows of their
 * own, by their lengths, or by the depth of the call that ends.
 */
final class SliceStacks {
    /** Open spans of a track; deeper ones are left out. */
    private static final int MAX_DEPTH = 512;

    /** Tracks with open spans; a hostile file names any number. */
    private static final int MAX_TRACKS = 1 << 20;

    /** Spans that begin at one time and wait for each other. */
    private static final int MAX_WAITING = 1 << 12;

    private final Sink sink;
    private final Map<SliceTrack, Deque<OpenSlice>> tracks = new HashMap<>();
    private final List<WaitingSlice> waiting = new ArrayList<>();

    /** Spans of different kinds never nest in each other. */
    record SliceTrack(NamedSlices.Kind kind, long number, String name) {}

    /** A span with its end, {@link ThreadTable#NEVER} while nobody has told it. */
    record OpenSlice(
            long id, long from, long to, int thread, int cpu, String category, String name) {}

    private record WaitingSlice(SliceTrack track, OpenSlice open) {}

    SliceStacks(Sink sink) {
        this.sink = sink;
    }

    /** A span begins whose end comes later. */
    void begin(SliceTrack track, OpenSlice open) {
        place();
        Deque<OpenSlice> stack = stack(track);
        if (stack != null) {
            drop(stack, open.from, open.from);
            push(stack, open);
        }
    }

    /** The innermost span without an end ends now. */
    void end(SliceTrack track, long time) {
        place();
        Deque<OpenSlice> stack = tracks.get(track);
        OpenSlice open = stack == null ? null : stack.pollLast();
        while (stack != null && open != null && open.to != ThreadTable.NEVER) {
            open = stack.pollLast();
        }
        if (stack != null && open != null) {
            emit(open, time, stack);
        }
    }

    /**
     * A span of known length. Those that begin at one time wait until all are there: the longer one
     * is around the shorter, and files have either first.
     */
    void complete(SliceTrack track, OpenSlice open) {
        boolean later = !waiting.isEmpty() && waiting.getFirst().open.from != open.from;
        if (later || waiting.size() >= MAX_WAITING) {
            place();
        }
        waiting.add(new WaitingSlice(track, open));
    }

    private void place() {
        if (waiting.size() > 1) {
            waiting.sort(Comparator.comparingLong((WaitingSlice one) -> one.open.to).reversed());
        }
        for (WaitingSlice one : waiting) {
            OpenSlice open = one.open;
            Deque<OpenSlice> stack = stack(one.track);
            if (stack != null) {
                drop(stack, open.from, open.to);
                emit(open, open.to, stack);
                if (open.to > open.from) {
                    push(stack, open);
                }
            }
        }
        waiting.clear();
    }

    /** A function is called at a depth; what was deeper ended unseen. */
    void call(SliceTrack track, OpenSlice open, int depth) {
        Deque<OpenSlice> stack = stack(track);
        if (stack != null) {
            cut(stack, depth);
            push(stack, open);
        }
    }

    /**
     * A function of a depth returns.
     *
     * @param made the span when its call was not seen; null when nobody knows how long it took
     */
    void returns(SliceTrack track, int depth, long time, @Nullable OpenSlice made) {
        Deque<OpenSlice> stack = stack(track);
        if (stack == null) {
            return;
        }
        cut(stack, depth + 1);
        if (stack.size() == depth + 1) {
            emit(stack.removeLast(), time, stack);
        } else if (made != null) {
            emit(made, time, stack);
        }
    }

    private void cut(Deque<OpenSlice> stack, int depth) {
        while (stack.size() > Math.max(0, depth)) {
            emit(stack.removeLast(), ThreadTable.NEVER, stack);
        }
    }

    private @Nullable Deque<OpenSlice> stack(SliceTrack track) {
        Deque<OpenSlice> stack = tracks.get(track);
        if (stack == null && tracks.size() < MAX_TRACKS) {
            stack = new ArrayDeque<>(2);
            tracks.put(track, stack);
        }
        return stack;
    }

    private static void push(Deque<OpenSlice> stack, OpenSlice open) {
        if (stack.size() < MAX_DEPTH) {
            stack.addLast(open);
        }
    }

    /** Takes those off that ended by {@code from}, or that end before {@code to} does. */
    private static void drop(Deque<OpenSlice> stack, long from, long to) {
        OpenSlice last = stack.peekLast();
        while (last != null && last.to != ThreadTable.NEVER && (last.to <= from || last.to < to)) {
            stack.removeLast();
            last = stack.peekLast();
        }
    }

    private void emit(OpenSlice open, long to, Deque<OpenSlice> around) {
        OpenSlice parent = around.peekLast();
        sink.slice(
                new NamedSlice(
                        open.id,
                        open.from,
                        to,
                        open.thread,
                        open.cpu,
                        open.category,
                        open.name,
                        around.size(),
                        parent == null ? -1 : parent.id));
    }

    /** What has no end never got one. */
    void finish() {
        place();
        for (Deque<OpenSlice> stack : tracks.values()) {
            while (!stack.isEmpty()) {
                OpenSlice open = stack.removeLast();
                if (open.to == ThreadTable.NEVER) {
                    emit(open, ThreadTable.NEVER, stack);
                }
            }
        }
    }
}
