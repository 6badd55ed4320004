package sonde.symbol.demangle;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Text under construction, bounded in length and depth: substitutions can double at each step. */
final class DemangledText {
    /** Longer results are given up and the mangled name is shown. */
    static final int LENGTH_LIMIT = 1 << 16;

    private static final int DEPTH_LIMIT = 400;

    private final StringBuilder text = new StringBuilder(128);
    private char last;
    private int depth;
    private int steps;

    /** Element of the pack that is being expanded, -1 outside of an expansion. */
    int packIndex = -1;

    /** What parameters mean here; null where they mean nothing. */
    CxxNode.@Nullable TemplateScope scope;

    /** Inside of a lambda's parameters the names that it gives to its own; else null. */
    @Nullable List<String> lambda;

    /** Set when an expansion met a pack: how many elements it has, else -1. */
    int packSize = -1;

    DemangledText add(String s) {
        if (text.length() + s.length() > LENGTH_LIMIT) {
            throw UnfitNameException.INSTANCE;
        }
        if (!s.isEmpty()) {
            text.append(s);
            last = s.charAt(s.length() - 1);
        }
        return this;
    }

    DemangledText add(CxxNode node) {
        left(node);
        right(node);
        return this;
    }

    void left(CxxNode node) {
        enter();
        node.left(this);
        depth--;
    }

    void right(CxxNode node) {
        enter();
        node.right(this);
        depth--;
    }

    private void enter() {
        if (++depth > DEPTH_LIMIT || ++steps > 1 << 18) {
            throw UnfitNameException.INSTANCE;
        }
    }

    /** The character written last, even if it was cut off again: c++filt spaces by it. */
    char last() {
        return last;
    }

    int length() {
        return text.length();
    }

    void cut(int length) {
        text.setLength(length);
    }

    /** Closing of template arguments: never two angle brackets that touch. */
    DemangledText close() {
        return add(last() == '>' ? " >" : ">");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
