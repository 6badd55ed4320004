package sonde.event.result;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Weights added up along call chains, caller first.
 *
 * @param unit of the weights
 * @param root its total is that of all chains; its frame is the label of the whole
 */
public record CallTree(String title, Unit unit, Node root) implements Result {

    /** A frame under one particular chain of callers. */
    public static final class Node {
        private final Frame frame;
        private final Map<Frame, Node> children = new LinkedHashMap<>();
        private final @Nullable Node caller;
        private long self;
        private long total;
        private long count;

        /** A node without callees yet. */
        public Node(Frame frame) {
            this(frame, null);
        }

        private Node(Frame frame, @Nullable Node caller) {
            this.frame = frame;
            this.caller = caller;
        }

        /** The frame. */
        public Frame frame() {
            return frame;
        }

        /** The callee of that frame, made when absent. */
        public Node child(Frame callee) {
            return children.computeIfAbsent(callee, made -> new Node(made, this));
        }

        /** Adds weight that ends here, from {@code samples} events. */
        public void add(long weight, long samples) {
            self += weight;
            count += samples;
            for (Node at = this; at != null; at = at.caller) {
                at.total += weight;
            }
        }

        /** Weight that ended exactly here. */
        public long self() {
            return self;
        }

        /** Events that ended exactly here. */
        public long count() {
            return count;
        }

        /** Weight that ended here or below. */
        public long total() {
            return total;
        }

        /** Callees, heaviest first. */
        public List<Node> children() {
            List<Node> sorted = new ArrayList<>(children.values());
            sorted.sort(Comparator.comparingLong(Node::total).reversed());
            return sorted;
        }
    }
}
