package sonde.symbol.demangle;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A part of a C++ name. C declarators wrap around what they declare, so a type is written in two
 * halves: {@code int (*} left of the name and {@code )[3]} right of it.
 */
sealed interface CxxNode {
    void left(DemangledText out);

    default void right(DemangledText out) {}

    /** Whether this is a function or array, around which a pointer needs parentheses. */
    default boolean needsParentheses() {
        return false;
    }

    /** The name a constructor of this class has. */
    default CxxNode plainName() {
        return this;
    }

    /** What stands in a pack at the index being expanded. */
    default CxxNode element(DemangledText out) {
        return this;
    }

    record TextNode(String text) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add(text);
        }
    }

    /** std:: names of one substitution letter: full name and the class's own. */
    record Standard(String full, String own) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add(full);
        }

        @Override
        public CxxNode plainName() {
            return new TextNode(own);
        }
    }

    record Nested(CxxNode scope, CxxNode name) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add(scope).add("::").add(name);
        }

        @Override
        public CxxNode plainName() {
            return name.plainName();
        }
    }

    record TaggedNode(CxxNode name, String tag) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add(name).add("[abi:").add(tag).add("]");
        }

        @Override
        public CxxNode plainName() {
            return name.plainName();
        }
    }

    record Templated(CxxNode name, CxxNode arguments) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add(name);
            if (out.last() == '<') {
                out.add(" ");
            }
            out.add(arguments);
        }

        @Override
        public CxxNode plainName() {
            return name.plainName();
        }
    }

    record ArgumentList(List<CxxNode> list) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add("<");
            commaSeparated(out, list);
            out.close();
        }
    }

    /** An argument pack J…E: all of it, whatever is being expanded around it. */
    record Pack(List<CxxNode> list) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            commaSeparated(out, list);
        }
    }

    /**
     * T_, T0_…: what the arguments of the function say that it is part of. Substitutions take it
     * along, and then it means those of another function; so it is looked up when it is written.
     */
    record ParameterNode(int index) implements CxxNode {
        /** What it stands for there; empty where it has no arguments. */
        private BoundNode argument(DemangledText out) {
            TemplateScope scope = out.scope;
            if (scope == null || index >= scope.arguments.size()) {
                throw UnfitNameException.INSTANCE;
            }
            return new BoundNode(scope.arguments.get(index), scope.outer);
        }

        /** How many a pack has; -1 when it is none. */
        int size(DemangledText out) {
            return out.lambda == null && argument(out).node instanceof Pack pack
                    ? pack.list.size()
                    : -1;
        }

        @Override
        public void left(DemangledText out) {
            if (out.lambda != null) {
                boolean stated = index < out.lambda.size();
                out.add(stated ? out.lambda.get(index) : "auto:" + (index + 1));
                return;
            }
            BoundNode one = one(out);
            if (one != null) {
                out.left(one);
            }
        }

        @Override
        public void right(DemangledText out) {
            BoundNode one = out.lambda != null ? null : one(out);
            if (one != null) {
                out.right(one);
            }
        }

        /** The argument, in an expansion the element whose turn it is; null when it has too few. */
        private @Nullable BoundNode one(DemangledText out) {
            BoundNode argument = argument(out);
            if (out.packIndex < 0 || !(argument.node instanceof Pack pack)) {
                return argument;
            }
            out.packSize = pack.list.size();
            return out.packIndex < pack.list.size()
                    ? argument.of(pack.list.get(out.packIndex))
                    : null;
        }

        @Override
        public CxxNode element(DemangledText out) {
            BoundNode one = out.lambda != null ? null : one(out);
            return one == null ? this : one.element(out);
        }
    }

    /** The arguments that parameters mean, and those of what is around. */
    record TemplateScope(List<CxxNode> arguments, @Nullable TemplateScope outer) {}

    /** A part with the arguments of the place that it came from; its packs are its own. */
    record BoundNode(CxxNode node, @Nullable TemplateScope scope) implements CxxNode {
        BoundNode of(CxxNode other) {
            return new BoundNode(other, scope);
        }

        private <T> T in(DemangledText out, Supplier<T> action) {
            TemplateScope outerScope = out.scope;
            int outerIndex = out.packIndex;
            out.scope = scope;
            out.packIndex = -1;
            T result = action.get();
            out.scope = outerScope;
            out.packIndex = outerIndex;
            return result;
        }

        @Override
        public void left(DemangledText out) {
            in(
                    out,
                    () -> {
                        out.left(node);
                        return this;
                    });
        }

        @Override
        public void right(DemangledText out) {
            in(
                    out,
                    () -> {
                        out.right(node);
                        return this;
                    });
        }

        @Override
        public boolean needsParentheses() {
            return node.needsParentheses();
        }

        @Override
        public CxxNode element(DemangledText out) {
            CxxNode one = in(out, () -> node.element(out));
            return one instanceof BoundNode ? one : of(one);
        }

        @Override
        public CxxNode plainName() {
            return of(node.plainName());
        }
    }

    /** A part without the place that it came from. */
    static CxxNode bare(CxxNode node) {
        return node instanceof BoundNode bound ? bound.node : node;
    }

    /** How many elements a pack has, {@code sizeof...(T)}. */
    record PackSize(CxxNode pack) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            int size = pack instanceof ParameterNode parameter ? parameter.size(out) : -1;
            if (size >= 0) {
                out.add(Integer.toString(size));
            } else {
                out.add("sizeof...(").add(pack).add(")");
            }
        }
    }

    /** Dp: the pattern once for each element of the pack in it. */
    record PackExpansion(CxxNode pattern) implements CxxNode {
        @Override
        public void left(DemangledText out) {
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
    record QualifiedNode(CxxNode type, String words) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.left(type);
            // const of const adds nothing: arguments bring their own
            if (!(bare(type.element(out)) instanceof QualifiedNode inner
                    && inner.words.equals(words))) {
                out.add(words);
            }
        }

        @Override
        public void right(DemangledText out) {
            out.right(type);
        }

        @Override
        public boolean needsParentheses() {
            return type.needsParentheses();
        }

        @Override
        public CxxNode element(DemangledText out) {
            return new QualifiedNode(type.element(out), words);
        }
    }

    /** Pointer and references; references to references collapse. */
    record Pointer(CxxNode target, String sign) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            CxxNode to = inner(out);
            out.left(to);
            if (to.element(out).needsParentheses()) {
                out.add(out.last() == '(' || out.last() == ' ' ? "(" : " (");
            }
            out.add(sign(out));
        }

        @Override
        public void right(DemangledText out) {
            CxxNode to = inner(out);
            if (to.element(out).needsParentheses()) {
                out.add(")");
            }
            out.right(to);
        }

        private CxxNode inner(DemangledText out) {
            CxxNode to = target.element(out);
            while (collapses(to)) {
                to = behind(to, out);
            }
            return to;
        }

        private boolean collapses(CxxNode to) {
            return !sign.equals("*") && bare(to) instanceof Pointer p && !p.sign.equals("*");
        }

        private static CxxNode behind(CxxNode to, DemangledText out) {
            CxxNode target = ((Pointer) bare(to)).target;
            return (to instanceof BoundNode bound ? bound.of(target) : target).element(out);
        }

        private String sign(DemangledText out) {
            String result = sign;
            for (CxxNode to = target.element(out); collapses(to); to = behind(to, out)) {
                String other = ((Pointer) bare(to)).sign;
                result = result.equals("&") || other.equals("&") ? "&" : "&&";
            }
            return result;
        }
    }

    record MemberPointerNode(CxxNode type, CxxNode member) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.left(member);
            if (member.element(out).needsParentheses()) {
                out.add(out.last() == '(' || out.last() == ' ' ? "(" : " (");
            } else {
                out.add(" ");
            }
            out.add(type).add("::*");
        }

        @Override
        public void right(DemangledText out) {
            if (member.element(out).needsParentheses()) {
                out.add(")");
            }
            out.right(member);
        }
    }

    record Array(CxxNode type, @Nullable CxxNode dimension) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.left(type);
        }

        @Override
        public void right(DemangledText out) {
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

    record FunctionType(
            CxxNode result, List<CxxNode> parameters, String qualifiers, List<CxxNode> exceptions)
            implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.left(result);
            out.add(" ");
        }

        @Override
        public void right(DemangledText out) {
            out.add("(");
            commaSeparated(out, parameters);
            out.add(")");
            // as in a declarator: what the result has on its right stands behind the parameters
            out.right(result);
            out.add(qualifiers);
            exceptions.forEach(out::add);
        }

        @Override
        public boolean needsParentheses() {
            return true;
        }
    }

    /**
     * A function with its parameters; the result is stated for templates.
     *
     * @param arguments of the name, which parameters in all parts mean; empty for none
     */
    record Function(
            @Nullable CxxNode result,
            CxxNode name,
            List<CxxNode> parameters,
            String qualifiers,
            List<CxxNode> arguments)
            implements CxxNode {
        @Override
        public void left(DemangledText out) {
            TemplateScope outer = out.scope;
            List<String> outerLambda = out.lambda;
            if (!arguments.isEmpty()) {
                out.scope = new TemplateScope(arguments, outer);
            }
            out.lambda = null;
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
            out.scope = outer;
            out.lambda = outerLambda;
        }

        /** The name alone, without result and parameters. */
        void name(DemangledText out) {
            TemplateScope outer = out.scope;
            if (!arguments.isEmpty()) {
                out.scope = new TemplateScope(arguments, outer);
            }
            out.add(name);
            out.scope = outer;
        }

        Function withoutResult() {
            return new Function(null, name, parameters, qualifiers, arguments);
        }

        @Override
        public CxxNode plainName() {
            return name.plainName();
        }
    }

    /** operator int: the type is written when the arguments it may use are known. */
    record ConversionNode(CxxNode type) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add("operator ").add(type);
        }
    }

    /**
     * A lambda.
     *
     * @param declared its template parameters with what they are: {@code typename $T0}
     */
    record Lambda(List<CxxNode> declared, List<String> names, List<CxxNode> parameters, long number)
            implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add("{lambda");
            List<String> outer = out.lambda;
            out.lambda = names;
            if (!declared.isEmpty()) {
                out.add("<");
                commaSeparated(out, declared);
                out.close();
            }
            out.add("(");
            commaSeparated(out, parameters);
            out.lambda = outer;
            out.add(")#" + number + "}");
        }
    }

    record Prefixed(String prefix, CxxNode node, String suffix) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add(prefix).add(node).add(suffix);
        }
    }

    /** A type around a name: {@code int (&$N0) [3]}. */
    record DeclaredNode(CxxNode type, CxxNode name) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.left(type);
            out.add(" ").add(name);
            out.right(type);
        }
    }

    /** What a designated initializer is given. */
    record Assigned(CxxNode value) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add("=");
            Expr.sub(out, value);
        }
    }

    /** Two parts behind each other. */
    record JoinedNode(CxxNode first, CxxNode second) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add(first).add(second);
        }
    }

    record Destructor(CxxNode of) implements CxxNode {
        @Override
        public void left(DemangledText out) {
            out.add("~").add(of.plainName());
        }
    }

    /** Expressions: operators with their operands. */
    record Expr(Kind kind, String operator, List<CxxNode> operands) implements CxxNode {
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
            INITIALIZED,
            LITERAL,
            FOLD_LEFT,
            FOLD_RIGHT,
            FOLD_BOTH
        }

        @Override
        public void left(DemangledText out) {
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
                    CxxNode callee = operands.get(0);
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
                case INITIALIZED -> {
                    out.add(operands.get(0)).add("(");
                    commaSeparated(out, operands.subList(1, operands.size()));
                    out.add(")");
                }
                case LITERAL -> {
                    out.add("(").add(operands.get(0)).add(")").add(operator);
                }
                case FOLD_LEFT, FOLD_RIGHT, FOLD_BOTH -> fold(out);
            }
        }

        /** {@code (...+x)}, {@code (x+...)}, {@code (x+...+y)}. */
        private void fold(DemangledText out) {
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

        private void binary(DemangledText out) {
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

        private void prefix(DemangledText out) {
            CxxNode operand = operands.get(0);
            if (operator.equals("&")
                    && operand instanceof Function f
                    && f.qualifiers().isEmpty()
                    && f.name() instanceof Nested) {
                operand = f.name();
            }
            out.add(operator);
            sub(out, operand);
        }

        /** An operand: in parentheses unless it is a mere name. */
        static void sub(DemangledText out, CxxNode node) {
            boolean simple =
                    node instanceof TextNode
                            || node instanceof Nested n && !(n.name instanceof Templated)
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
    static void commaSeparated(DemangledText out, List<CxxNode> nodes) {
        boolean first = true;
        for (CxxNode node : nodes) {
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
