package sonde.symbol.demangle;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of a C++ name. C declarators wrap around what they declare, so a type is written in two
 * halves: {@code int (*} left of the name and {@code )[3]} right of it.
 */
sealed interface Node {
    void left(Out out);

    default void right(Out out) {}

    /** Whether this is a function or array, around which a pointer needs parentheses. */
    default boolean needsParentheses() {
        return false;
    }

    /** The name a constructor of this class has. */
    default Node plainName() {
        return this;
    }

    /** What stands in a pack at the index being expanded. */
    default Node element(Out out) {
        return this;
    }

    /** What a parameter means whose argument is that. */
    static Node parameter(Node argument) {
        return argument instanceof Pack pack ? new PackParameter(pack) : argument;
    }

    record Text(String text) implements Node {
        @Override
        public void left(Out out) {
            out.add(text);
        }
    }

    /** std:: names of one substitution letter: full name and the class's own. */
    record Standard(String full, String own) implements Node {
        @Override
        public void left(Out out) {
            out.add(full);
        }

        @Override
        public Node plainName() {
            return new Text(own);
        }
    }

    record Nested(Node scope, Node name) implements Node {
        @Override
        public void left(Out out) {
            out.add(scope).add("::").add(name);
        }

        @Override
        public Node plainName() {
            return name.plainName();
        }
    }

    record Tagged(Node name, String tag) implements Node {
        @Override
        public void left(Out out) {
            out.add(name).add("[abi:").add(tag).add("]");
        }

        @Override
        public Node plainName() {
            return name.plainName();
        }
    }

    record Templated(Node name, Node arguments) implements Node {
        @Override
        public void left(Out out) {
            out.add(name);
            if (out.last() == '<') {
                out.add(" ");
            }
            out.add(arguments);
        }

        @Override
        public Node plainName() {
            return name.plainName();
        }
    }

    record Arguments(List<Node> list) implements Node {
        @Override
        public void left(Out out) {
            out.add("<");
            commaSeparated(out, list);
            out.close();
        }
    }

    /** An argument pack J…E: all of it, whatever is being expanded around it. */
    record Pack(List<Node> list) implements Node {
        @Override
        public void left(Out out) {
            commaSeparated(out, list);
        }
    }

    /** A parameter that stands for a pack: in an expansion the element whose turn it is. */
    record PackParameter(Pack pack) implements Node {
        @Override
        public void left(Out out) {
            if (out.packIndex < 0) {
                out.left(pack);
                return;
            }
            out.packSize = pack.list.size();
            if (hasTurn(out)) {
                // What an argument has of packs is its own.
                int index = out.packIndex;
                out.packIndex = -1;
                out.left(pack.list.get(index));
                out.packIndex = index;
            }
        }

        @Override
        public void right(Out out) {
            if (hasTurn(out)) {
                int index = out.packIndex;
                out.packIndex = -1;
                out.right(pack.list.get(index));
                out.packIndex = index;
            }
        }

        private boolean hasTurn(Out out) {
            return out.packIndex >= 0 && out.packIndex < pack.list.size();
        }

        @Override
        public Node element(Out out) {
            if (out.packIndex >= 0) {
                out.packSize = pack.list.size();
            }
            return hasTurn(out) ? pack.list.get(out.packIndex) : this;
        }
    }

    /** Dp: the pattern once for each element of the pack in it. */
    record Expansion(Node pattern) implements Node {
        @Override
        public void left(Out out) {
            int outerIndex = out.packIndex;
            int outerSize = out.packSize;
            int start = out.length();
            out.packIndex = 0;
            out.packSize = -1;
            out.add(pattern);
            int size = out.packSize;
            if (size < 0) {
                out.cut(start);
                out.packIndex = -1;
                Expr.sub(out, pattern);
                out.add("...");
            } else if (size == 0) {
                out.cut(start);
            }
            for (int i = 1; i < size; i++) {
                out.packIndex = i;
                out.add(", ").add(pattern);
            }
            out.packIndex = outerIndex;
            out.packSize = outerSize;
        }
    }

    /** A type with const, volatile, restrict or a vendor's word behind it. */
    record Qualified(Node type, String words) implements Node {
        @Override
        public void left(Out out) {
            out.left(type);
            // const of const adds nothing: arguments bring their own
            if (!(type.element(out) instanceof Qualified inner && inner.words.equals(words))) {
                out.add(words);
            }
        }

        @Override
        public void right(Out out) {
            out.right(type);
        }

        @Override
        public boolean needsParentheses() {
            return type.needsParentheses();
        }

        @Override
        public Node element(Out out) {
            return out.packIndex < 0 ? this : new Qualified(type.element(out), words);
        }
    }

    /** Pointer and references; references to references collapse. */
    record Pointer(Node target, String sign) implements Node {
        @Override
        public void left(Out out) {
            Node to = inner(out);
            out.left(to);
            if (to.element(out).needsParentheses()) {
                out.add(out.last() == '(' || out.last() == ' ' ? "(" : " (");
            }
            out.add(sign(out));
        }

        @Override
        public void right(Out out) {
            Node to = inner(out);
            if (to.element(out).needsParentheses()) {
                out.add(")");
            }
            out.right(to);
        }

        private Node inner(Out out) {
            Node to = target.element(out);
            if (!sign.equals("*")) {
                while (to instanceof Pointer p && !p.sign.equals("*")) {
                    to = p.target.element(out);
                }
            }
            return to;
        }

        private String sign(Out out) {
            String result = sign;
            Node to = target.element(out);
            while (!result.equals("*") && to instanceof Pointer p && !p.sign.equals("*")) {
                result = result.equals("&") || p.sign.equals("&") ? "&" : "&&";
                to = p.target.element(out);
            }
            return result;
        }
    }

    record MemberPointer(Node type, Node member) implements Node {
        @Override
        public void left(Out out) {
            out.left(member);
            if (member.element(out).needsParentheses()) {
                out.add(out.last() == '(' || out.last() == ' ' ? "(" : " (");
            } else {
                out.add(" ");
            }
            out.add(type).add("::*");
        }

        @Override
        public void right(Out out) {
            if (member.element(out).needsParentheses()) {
                out.add(")");
            }
            out.right(member);
        }
    }

    record Array(Node type, @Nullable Node dimension) implements Node {
        @Override
        public void left(Out out) {
            out.left(type);
        }

        @Override
        public void right(Out out) {
            out.add(out.last() == ']' ? "[" : " [");
            if (dimension != null) {
                out.add(dimension);
            }
            out.add("]");
            out.right(type);
        }

        @Override
        public boolean needsParentheses() {
            return true;
        }
    }

    record FunctionType(Node result, List<Node> parameters, String qualifiers) implements Node {
        @Override
        public void left(Out out) {
            out.left(result);
            out.add(" ");
        }

        @Override
        public void right(Out out) {
            out.add("(");
            commaSeparated(out, parameters);
            out.add(")");
            // as in a declarator: what the result has on its right stands behind the parameters
            out.right(result);
            out.add(qualifiers);
        }

        @Override
        public boolean needsParentheses() {
            return true;
        }
    }

    /** A function with its parameters; the result is stated for templates. */
    record Function(@Nullable Node result, Node name, List<Node> parameters, String qualifiers)
            implements Node {
        @Override
        public void left(Out out) {
            if (result != null) {
                out.left(result);
                out.add(" ");
            }
            out.add(name).add("(");
            commaSeparated(out, parameters);
            out.add(")");
            if (result != null) {
                out.right(result);
            }
            out.add(qualifiers);
        }

        Function withoutResult() {
            return new Function(null, name, parameters, qualifiers);
        }

        @Override
        public Node plainName() {
            return name.plainName();
        }
    }

    /** operator int: the type is written when the arguments it may use are known. */
    record Conversion(Node type) implements Node {
        @Override
        public void left(Out out) {
            out.add("operator ").add(type);
        }
    }

    record Lambda(List<Node> parameters, long number) implements Node {
        @Override
        public void left(Out out) {
            out.add("{lambda(");
            commaSeparated(out, parameters);
            out.add(")#" + number + "}");
        }
    }

    record Prefixed(String prefix, Node node, String suffix) implements Node {
        @Override
        public void left(Out out) {
            out.add(prefix).add(node).add(suffix);
        }
    }

    record Destructor(Node of) implements Node {
        @Override
        public void left(Out out) {
            out.add("~").add(of.plainName());
        }
    }

    /** A parameter used before its argument was read (conversion operators). */
    final class Forward implements Node {
        @Nullable Node target;

        @Override
        public void left(Out out) {
            out.left(resolved());
        }

        @Override
        public void right(Out out) {
            out.right(resolved());
        }

        @Override
        public boolean needsParentheses() {
            return target != null && target != this && target.needsParentheses();
        }

        @Override
        public Node element(Out out) {
            return resolved().element(out);
        }

        private Node resolved() {
            if (target == null || target == this) {
                throw Unfit.INSTANCE;
            }
            return target;
        }
    }

    /** Expressions: operators with their operands. */
    record Expr(Kind kind, String operator, List<Node> operands) implements Node {
        enum Kind {
            BINARY,
            PREFIX,
            POSTFIX,
            CONDITIONAL,
            CALL,
            CAST,
            NAMED_CAST,
            OF,
            INDEX,
            MEMBER,
            BRACES,
            LITERAL,
            FOLD_LEFT,
            FOLD_RIGHT,
            FOLD_BOTH
        }

        @Override
        public void left(Out out) {
            switch (kind) {
                case BINARY -> binary(out);
                case PREFIX -> prefix(out);
                case POSTFIX -> {
                    sub(out, operands.get(0));
                    out.add(operator);
                }
                case CONDITIONAL -> {
                    sub(out, operands.get(0));
                    out.add("?");
                    sub(out, operands.get(1));
                    out.add(" : ");
                    sub(out, operands.get(2));
                }
                case CALL -> {
                    Node callee = operands.get(0);
                    sub(out, callee instanceof Function f ? f.name() : callee);
                    out.add("(");
                    commaSeparated(out, operands.subList(1, operands.size()));
                    out.add(")");
                }
                case CAST -> {
                    out.add("(").add(operands.get(0)).add(")");
                    if (operands.size() == 2) {
                        sub(out, operands.get(1));
                    } else {
                        out.add("(");
                        commaSeparated(out, operands.subList(1, operands.size()));
                        out.add(")");
                    }
                }
                case NAMED_CAST ->
                        out.add(operator)
                                .add("<")
                                .add(operands.get(0))
                                .close()
                                .add("(")
                                .add(operands.get(1))
                                .add(")");
                case OF -> out.add(operator).add("(").add(operands.get(0)).add(")");
                case INDEX -> {
                    sub(out, operands.get(0));
                    out.add("[").add(operands.get(1)).add("]");
                }
                case MEMBER -> {
                    sub(out, operands.get(0));
                    out.add(operator).add(operands.get(1));
                }
                case BRACES -> {
                    out.add(operands.get(0)).add("{");
                    commaSeparated(out, operands.subList(1, operands.size()));
                    out.add("}");
                }
                case LITERAL -> {
                    out.add("(").add(operands.get(0)).add(")").add(operator);
                }
                case FOLD_LEFT, FOLD_RIGHT, FOLD_BOTH -> fold(out);
            }
        }

        /** {@code (...+x)}, {@code (x+...)}, {@code (x+...+y)}. */
        private void fold(Out out) {
            out.add("(");
            if (kind == Kind.FOLD_LEFT) {
                out.add("...").add(operator);
            }
            sub(out, operands.get(0));
            if (kind != Kind.FOLD_LEFT) {
                out.add(operator).add("...");
            }
            if (kind == Kind.FOLD_BOTH) {
                out.add(operator);
                sub(out, operands.get(1));
            }
            out.add(")");
        }

        private void binary(Out out) {
            // a bare > would end the template arguments
            boolean wrapped = operator.equals(">");
            if (wrapped) {
                out.add("(");
            }
            sub(out, operands.get(0));
            out.add(operator);
            sub(out, operands.get(1));
            if (wrapped) {
                out.add(")");
            }
        }

        private void prefix(Out out) {
            Node operand = operands.get(0);
            if (operator.equals("&")
                    && operand instanceof Function f
                    && f.name() instanceof Nested) {
                operand = f.name();
            }
            out.add(operator);
            sub(out, operand);
        }

        /** An operand: in parentheses unless it is a mere name. */
        static void sub(Out out, Node node) {
            boolean simple =
                    node instanceof Text
                            || node instanceof Nested
                            || node instanceof Standard
                            || node instanceof Expr e && e.kind == Kind.BRACES;
            if (simple) {
                out.add(node);
            } else {
                out.add("(").add(node).add(")");
            }
        }
    }

    /** Writes a list; an element that writes nothing (an empty pack) takes no comma. */
    static void commaSeparated(Out out, List<Node> nodes) {
        boolean first = true;
        for (Node node : nodes) {
            int before = out.length();
            if (!first) {
                out.add(", ");
            }
            int after = out.length();
            out.add(node);
            if (out.length() == after) {
                out.cut(before);
            } else {
                first = false;
            }
        }
    }
}
