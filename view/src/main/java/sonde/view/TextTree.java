package sonde.view;

import java.util.ArrayList;
import java.util.List;
import sonde.event.result.CallTree;
import sonde.event.result.Frame;
import sonde.event.result.Unit;
import sonde.view.TextRenderer.TreeLimits;

/** A call tree with branches drawn; callers that have one callee stand on one line with it. */
final class TextTree {
    private static final int NO_EDGE_WRAP = 120;
    private static final int MIN_NAME = 24;
    private static final int MAX_CHAIN = 4096;

    private final StringBuilder out;
    private final String indent;
    private final CallTree tree;
    private final TerminalStyle style;
    private final TreeLimits limits;
    private final long all;
    private final int amountWidth;
    private final int countWidth;
    private final int numbersWidth;
    private final int deepest;

    private TextTree(
            StringBuilder out,
            String indent,
            CallTree tree,
            TerminalStyle style,
            TreeLimits limits) {
        this.out = out;
        this.indent = indent;
        this.tree = tree;
        this.style = style;
        this.limits = limits;
        this.all = tree.root().total();
        this.amountWidth = Math.max(8, amount(all).length());
        this.countWidth = Math.max(5, count(samples(tree.root())).length());
        this.numbersWidth = indent.length() + amountWidth + countWidth + 13;
        int room = (style.width() - numbersWidth - MIN_NAME) / 2;
        int fitting = style.width() == 0 ? limits.maxDepth() : Math.max(4, room);
        this.deepest = Math.min(limits.maxDepth(), fitting);
    }

    static void append(
            StringBuilder out,
            String indent,
            CallTree tree,
            TerminalStyle style,
            TreeLimits limits) {
        TextTree text = new TextTree(out, indent, tree, style, limits);
        if (text.all <= 0) {
            out.append(indent).append(style.dim("none")).append('\n');
        } else {
            text.node(tree.root(), text.all, "", "", 0);
        }
    }

    private void node(CallTree.Node head, long total, String branch, String below, int depth) {
        List<Frame> chain = new ArrayList<>();
        CallTree.Node node = head;
        List<CallTree.Node> children = node.children();
        chain.add(node.frame());
        while (depth > 0 && children.size() == 1 && node.self() == 0 && chain.size() < MAX_CHAIN) {
            node = children.getFirst();
            chain.add(node.frame());
            children = node.children();
        }
        line(chain, total, samples(head), branch, below);
        if (depth >= deepest) {
            rest(children, 0, below);
            return;
        }
        long[] totals = children.stream().mapToLong(CallTree.Node::total).toArray();
        int shown = 0;
        while (shown < totals.length && totals[shown] >= limits.minShare() * all) {
            shown++;
        }
        boolean hasRest = shown < totals.length;
        for (int i = 0; i < shown; i++) {
            boolean last = i == shown - 1 && !hasRest;
            node(
                    children.get(i),
                    totals[i],
                    below + (last ? corner() : tee()),
                    below + (last ? "  " : bar()),
                    depth + 1);
        }
        rest(children, shown, below);
    }

    private void rest(List<CallTree.Node> children, int from, String below) {
        long sum = 0;
        long count = 0;
        for (CallTree.Node child : children.subList(from, children.size())) {
            sum += child.total();
            count += samples(child);
        }
        if (sum > 0) {
            int more = children.size() - from;
            String text = (style.unicode() ? "… " : "... ") + more + " more";
            numbers(sum, count);
            out.append(style.dim(below + corner() + text)).append('\n');
        }
    }

    private void line(List<Frame> chain, long total, long count, String branch, String below) {
        numbers(total, count);
        int edge = style.width() == 0 ? NO_EDGE_WRAP : style.width();
        int room = Math.max(MIN_NAME, edge - numbersWidth - branch.length());
        out.append(style.dim(branch));
        int at = 0;
        for (int i = 0; i < chain.size(); i++) {
            String name = name(chain.get(i));
            String joint = i == 0 ? "" : style.unicode() ? " › " : " > ";
            int cells = CellWidths.width(name) + joint.length();
            if (i > 0 && at + cells > room) {
                out.append('\n').append(" ".repeat(numbersWidth)).append(style.dim(below));
                joint = joint.substring(1);
                at = 0;
            }
            if (style.width() > 0) {
                name = CellWidths.cut(name, room - joint.length(), style.unicode());
            }
            at += CellWidths.width(name) + joint.length();
            out.append(style.dim(joint)).append(painted(chain.get(i), name));
        }
        out.append('\n');
    }

    private void numbers(long total, long count) {
        out.append(indent)
                .append(CellWidths.padLeft(NumberText.share((double) total / all), 7))
                .append("  ")
                .append(CellWidths.padLeft(amount(total), amountWidth))
                .append("  ")
                .append(CellWidths.padLeft(count(count), countWidth))
                .append("  ");
    }

    private String amount(long value) {
        return NumberText.text(tree.unit(), value, style.unicode());
    }

    private static String count(long value) {
        return NumberText.text(Unit.COUNT, value, true);
    }

    private static long samples(CallTree.Node node) {
        long sum = node.count();
        for (CallTree.Node child : node.children()) {
            sum += samples(child);
        }
        return sum;
    }

    private static String name(Frame frame) {
        return TextEscape.line(frame.shown());
    }

    private String painted(Frame frame, String name) {
        return switch (frame.kind()) {
            case USER -> name;
            case KERNEL -> style.sgr("33", name);
            case JIT -> style.sgr("32", name);
            case LABEL -> style.bold(name);
        };
    }

    private String tee() {
        return style.unicode() ? "├ " : "|-";
    }

    private String corner() {
        return style.unicode() ? "└ " : "`-";
    }

    private String bar() {
        return style.unicode() ? "│ " : "| ";
    }
}
