package sonde.analysis.slice;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Threads;
import sonde.analysis.slice.NamedSlices.Sink;
import sonde.analysis.slice.NamedSlices.Span;

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
    private final Map<Track, Deque<Open>> tracks = new HashMap<>();
    private final List<Waiting> waiting = new ArrayList<>();

    /** Spans of different kinds never nest in each other. */
    record Track(NamedSlices.Kind kind, long number, String name) {}

    /** A span with its end, {@link Threads#NEVER} while nobody has told it. */
    record Open(long id, long from, long to, int thread, int cpu, String category, String name) {}

    private record Waiting(Track track, Open open) {}

    SliceStacks(Sink sink) {
        this.sink = sink;
    }

    /** A span begins whose end comes later. */
    void begin(Track track, Open open) {
        place();
        Deque<Open> stack = stack(track);
        if (stack != null) {
            drop(stack, open.from, open.from);
            push(stack, open);
        }
    }

    /** The innermost span without an end ends now. */
    void end(Track track, long time) {
        place();
        Deque<Open> stack = tracks.get(track);
        Open open = stack == null ? null : stack.pollLast();
        while (stack != null && open != null && open.to != Threads.NEVER) {
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
    void complete(Track track, Open open) {
        boolean later = !waiting.isEmpty() && waiting.getFirst().open.from != open.from;
        if (later || waiting.size() >= MAX_WAITING) {
            place();
        }
        waiting.add(new Waiting(track, open));
    }

    private void place() {
        if (waiting.size() > 1) {
            waiting.sort(Comparator.comparingLong((Waiting one) -> one.open.to).reversed());
        }
        for (Waiting one : waiting) {
            Open open = one.open;
            Deque<Open> stack = stack(one.track);
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
    void call(Track track, Open open, int depth) {
        Deque<Open> stack = stack(track);
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
    void returns(Track track, int depth, long time, @Nullable Open made) {
        Deque<Open> stack = stack(track);
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

    private void cut(Deque<Open> stack, int depth) {
        while (stack.size() > Math.max(0, depth)) {
            emit(stack.removeLast(), Threads.NEVER, stack);
        }
    }

    private @Nullable Deque<Open> stack(Track track) {
        Deque<Open> stack = tracks.get(track);
        if (stack == null && tracks.size() < MAX_TRACKS) {
            stack = new ArrayDeque<>(2);
            tracks.put(track, stack);
        }
        return stack;
    }

    private static void push(Deque<Open> stack, Open open) {
        if (stack.size() < MAX_DEPTH) {
            stack.addLast(open);
        }
    }

    /** Takes those off that ended by {@code from}, or that end before {@code to} does. */
    private static void drop(Deque<Open> stack, long from, long to) {
        Open last = stack.peekLast();
        while (last != null && last.to != Threads.NEVER && (last.to <= from || last.to < to)) {
            stack.removeLast();
            last = stack.peekLast();
        }
    }

    private void emit(Open open, long to, Deque<Open> around) {
        Open parent = around.peekLast();
        sink.slice(
                new Span(
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
        for (Deque<Open> stack : tracks.values()) {
            while (!stack.isEmpty()) {
                Open open = stack.removeLast();
                if (open.to == Threads.NEVER) {
                    emit(open, Threads.NEVER, stack);
                }
            }
        }
    }
}
