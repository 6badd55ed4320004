package sonde.tools.heap;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.CallTree;
import sonde.event.result.Frame;
import sonde.symbol.StackEnds;

/** Stacks with the same allocating function and line, the largest of a measure first. */
final class HeapRanking {
    private static final Frame UNKNOWN = Frame.label("[no stack]");
    private static final Set<String> ALLOCATORS =
            Set.of(
                    ("malloc calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc"
                                    + " pvalloc")
                            .split(" "));

    private final HeapMeasure measure;
    private final List<HeapPlace> places;

    /**
     * A function and line that allocated.
     *
     * @param stacks the largest first
     */
    record HeapPlace(Frame frame, List<HeapStack> stacks, HeapSums sums) {}

    /**
     * A ranking.
     *
     * @param merged whether stacks of one place are put together
     */
    HeapRanking(List<HeapStack> stacks, HeapMeasure measure, boolean merged) {
        this.measure = measure;
        Map<Object, List<HeapStack>> groups = new LinkedHashMap<>();
        for (HeapStack stack : stacks) {
            if (measure.of(stack.sums()) > 0) {
                Object key = merged ? frames(stack).getFirst() : frames(stack);
                groups.computeIfAbsent(key, made -> new ArrayList<>()).add(stack);
            }
        }
        Comparator<HeapStack> order =
                Comparator.comparingLong((HeapStack stack) -> measure.of(stack.sums())).reversed();
        places = new ArrayList<>();
        for (List<HeapStack> group : groups.values()) {
            group.sort(order);
            HeapSums sum = group.stream().map(HeapStack::sums).reduce(HeapSums::plus).orElseThrow();
            places.add(new HeapPlace(frames(group.getFirst()).getFirst(), group, sum));
        }
        places.sort(
                Comparator.comparingLong((HeapPlace place) -> measure.of(place.sums()))
                        .reversed()
                        .thenComparing(place -> place.frame().shown()));
    }

    /** The frames of a stack without the allocation functions, the innermost first. */
    static List<Frame> frames(HeapStack stack) {
        List<Frame> frames = stack.frames();
        int first = 0;
        while (first < frames.size() && isAllocator(frames.get(first).name())) {
            first++;
        }
        return first < frames.size()
                ? frames.subList(first, frames.size())
                : List.of(frames.isEmpty() ? UNKNOWN : frames.getLast());
    }

    private static boolean isAllocator(String name) {
        return ALLOCATORS.contains(name)
                || name.startsWith("operator new(")
                || name.startsWith("operator new[](");
    }

    List<HeapPlace> places() {
        return places;
    }

    /** The callers in the stack that has most of a place, without those that start a thread. */
    List<Frame> callers(HeapPlace place, int most) {
        return frames(place.stacks().getFirst()).stream()
                .skip(1)
                .takeWhile(frame -> !StackEnds.isRoot(frame))
                .limit(most)
                .toList();
    }

    /** All stacks as a tree that begins with the outermost callers. */
    static CallTree tree(String title, HeapProfile profile, HeapMeasure measure) {
        return tree(title, measure, profile.stacks().stream(), true);
    }

    /** The first places, each with its callers below it. */
    CallTree places(String title, int mostPlaces, int mostStacks) {
        return tree(
                title,
                measure,
                places.stream()
                        .limit(mostPlaces)
                        .flatMap(place -> place.stacks().stream().limit(mostStacks)),
                false);
    }

    private static CallTree tree(
            String title, HeapMeasure measure, Stream<HeapStack> stacks, boolean outermostFirst) {
        CallTree.Node root = new CallTree.Node(Frame.label("all"));
        stacks.filter(stack -> measure.of(stack.sums()) > 0)
                .forEach(stack -> {
                    List<Frame> frames = frames(stack);
                    CallTree.Node at = root;
                    for (Frame frame : outermostFirst ? frames.reversed() : frames) {
                        at = at.child(frame);
                    }
                    at.add(measure.of(stack.sums()), Math.max(0, measure.count(stack.sums())));
                });
        return new CallTree(title, measure.unit, root);
    }
}
