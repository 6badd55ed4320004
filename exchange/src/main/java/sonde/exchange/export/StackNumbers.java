package sonde.exchange.export;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Frames and chains by number, in the order in which they turn up.
 *
 * @param <F> what a format counts as a frame
 */
final class StackNumbers<F> {
    final List<F> frames = new ArrayList<>();
    private final Map<F, Integer> numbers = new HashMap<>();

    /** A chain as a node of a tree: its innermost frame and the chain of its callers. */
    record Node(int frame, int prefix) {}

    final List<Node> nodes = new ArrayList<>();
    private final Map<Node, Integer> nodeNumbers = new HashMap<>();

    int frame(F frame) {
        return numbers.computeIfAbsent(
                frame,
                added -> {
                    frames.add(added);
                    return frames.size() - 1;
                });
    }

    /** The node of a chain, callee first; -1 for none. */
    int node(List<F> chain) {
        int at = -1;
        for (int i = chain.size() - 1; i >= 0; i--) {
            at =
                    nodeNumbers.computeIfAbsent(
                            new Node(frame(chain.get(i)), at),
                            added -> {
                                nodes.add(added);
                                return nodes.size() - 1;
                            });
        }
        return at;
    }
}
