package sonde.event.result;

import java.util.List;

/**
 * Call chains as a tree of nodes: a chain is named by the node of its callee.
 *
 * @param frames each distinct frame once
 * @param parent of node i, -1 at the outermost caller; always smaller than i
 * @param frame index into {@code frames} of node i
 */
public record CallChains(List<Frame> frames, int[] parent, int[] frame) {
    public CallChains {
        frames = List.copyOf(frames);
    }
}
