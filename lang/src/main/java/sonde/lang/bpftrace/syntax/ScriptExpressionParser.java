package sonde.lang.bpftrace.syntax;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.IndexAccess;
import sonde.lang.bpftrace.syntax.Expression.MapElement;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral.RecordMember;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.TupleLiteral;
import sonde.lang.bpftrace.syntax.Expression.TypeCast;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.ScriptToken.Kind;

/** Expressions: precedence climbing over unary, postfix and primary ones. */
final class ScriptExpressionParser {
    /** Later passes walk the tree by recursion. */
    private static final int MAX_HEIGHT = 300;

    private final ParserCursor cursor;
    private final BlockParser blocks;
    private final TypeSyntaxParser types;
    private boolean inPredicate;

    /** Height of the highest part, so far, of the expression that is being read. */
    private int height;

    ScriptExpressionParser(ParserCursor cursor, BlockParser blocks) {
        this.cursor = cursor;
        this.blocks = blocks;
        this.types = new TypeSyntaxParser(cursor, this);
    }

    TypeSyntaxParser types() {
        return types;
    }

    Expression expression() throws SyntaxException {
        boolean outer = inPredicate;
        inPredicate = false;
        try {
            return ternary();
        } finally {
            inPredicate = outer;
        }
    }

    /** Up to the slash that a brace follows. */
    Expression predicate() throws SyntaxException {
        inPredicate = true;
        try {
            return ternary();
        } finally {
            inPredicate = false;
        }
    }

    /** An end of a range, or the map of a loop. */
    Expression rangeEnd() throws SyntaxException {
        return unary();
    }

    private Expression ternary() throws SyntaxException {
        cursor.enter();
        try {
            Expression condition = binary(1);
            if (!cursor.accept("?")) {
                return condition;
            }
            Expression then = cursor.isSign(":") ? null : ternary();
            cursor.expect(":");
            Expression otherwise = ternary();
            int from = condition.span().from();
            return new Expression.Ternary(cursor.since(from), condition, then, otherwise);
        } finally {
            cursor.leave();
        }
    }

    private Expression binary(int least) throws SyntaxException {
        int outer = height;
        height = 0;
        Expression left = unary();
        while (true) {
            BinaryOperator operator = operator();
            if (operator == null || operator.precedence() < least) {
                height = Math.max(outer, height);
                return left;
            }
            cursor.take();
            Expression right = binary(operator.precedence() + 1);
            level();
            left = new BinaryOperation(cursor.since(left.span().from()), operator, left, right);
        }
    }

    /**
     * One more level of the tree. {@code 1 + 1 + …} and {@code a.b.c…} are as deep in it as they
     * are long, without a call of the parser for each.
     */
    private void level() throws SyntaxException {
        if (++height > MAX_HEIGHT) {
            height = 0;
            throw cursor.fail("this is nested too deeply: more than " + MAX_HEIGHT + " levels");
        }
    }

    private @Nullable BinaryOperator operator() {
        ScriptToken token = cursor.token();
        if (token.kind() != Kind.SIGN || (inPredicate && endsPredicate(token))) {
            return null;
        }
        return BinaryOperator.of(token.text());
    }

    private boolean endsPredicate(ScriptToken token) {
        return token.isSign("/") && cursor.peek().isSign("{");
    }

    private @Nullable UnaryOperator prefix() {
        if (cursor.token().kind() != Kind.SIGN) {
            return null;
        }
        return switch (cursor.token().text()) {
            case "-" -> UnaryOperator.NEGATE;
            case "!" -> UnaryOperator.NOT;
            case "~" -> UnaryOperator.COMPLEMENT;
            case "*" -> UnaryOperator.DEREFERENCE;
            case "&" -> UnaryOperator.ADDRESS;
            case "++" -> UnaryOperator.PRE_INCREMENT;
            case "--" -> UnaryOperator.PRE_DECREMENT;
            default -> null;
        };
    }

    private Expression unary() throws SyntaxException {
        int outer = height;
        height = 0;
        UnaryOperator operator = prefix();
        Expression made = operator == null ? postfix(primary()) : prefixed(operator);
        level();
        height = Math.max(outer, height);
        return made;
    }

    private Expression prefixed(UnaryOperator operator) throws SyntaxException {
        cursor.enter();
        try {
            int from = cursor.take().from();
            Expression operand = unary();
            return checked(new UnaryOperation(cursor.since(from), operator, operand));
        } finally {
            cursor.leave();
        }
    }

    private UnaryOperation checked(UnaryOperation unary) {
        Expression operand = unary.operand();
        boolean place =
                operand instanceof ScratchVariable
                        || operand instanceof MapName
                        || operand instanceof MapElement;
        if (unary.operator().assigns() && !place) {
            cursor.error(
                    unary.span(),
                    "'" + unary.operator().sign() + "' changes a variable or a map, not this",
                    "");
        }
        if (unary.operator() == UnaryOperator.ADDRESS && !place) {
            cursor.error(unary.span(), "'&' takes the address of a variable or a map", "");
        }
        return unary;
    }

    private Expression postfix(Expression first) throws SyntaxException {
        Expression of = first;
        int from = first.span().from();
        while (true) {
            ScriptToken token = cursor.token();
            if (token.isSign(".") || token.isSign("->")) {
                cursor.take();
                of = member(from, of);
                level();
            } else if (token.isSign("[")) {
                cursor.take();
                Expression index = expression();
                cursor.expect("]");
                of = new IndexAccess(cursor.since(from), of, index);
                level();
            } else if (token.isSign("++") || token.isSign("--")) {
                cursor.take();
                UnaryOperator operator =
                        token.isSign("++")
                                ? UnaryOperator.POST_INCREMENT
                                : UnaryOperator.POST_DECREMENT;
                of = checked(new UnaryOperation(cursor.since(from), operator, of));
                level();
            } else {
                return of;
            }
        }
    }

    private Expression member(int from, Expression of) throws SyntaxException {
        ScriptToken token = cursor.token();
        if (token.kind() == Kind.INTEGER && token.text().matches("[0-9]{1,4}")) {
            cursor.take();
            int index = Integer.parseInt(token.text());
            return new Expression.TupleElement(cursor.since(from), of, index);
        }
        String name = cursor.expect(Kind.WORD, "the name of a field").text();
        return new MemberAccess(cursor.since(from), of, name);
    }

    /** A literal, a name, a call, or what stands in brackets of any kind. */
    Expression primary() throws SyntaxException {
        ScriptToken token = cursor.token();
        switch (token.kind()) {
            case INTEGER -> {
                cursor.take();
                return new Expression.IntegerLiteral(cursor.span(token), token.value());
            }
            case STRING -> {
                cursor.take();
                return new Expression.StringLiteral(cursor.span(token), token.text());
            }
            case VARIABLE -> {
                cursor.take();
                return new ScratchVariable(cursor.span(token), token.text());
            }
            case POSITIONAL -> {
                cursor.take();
                return new Expression.Positional(cursor.span(token), (int) token.value());
            }
            case POSITIONAL_COUNT -> {
                cursor.take();
                return new Expression.PositionalCount(cursor.span(token));
            }
            case MAP -> {
                return map();
            }
            case WORD -> {
                return word(token);
            }
            case SIGN, END -> {
                if (token.isSign("(")) {
                    return parenthesised();
                }
                if (token.isSign("{")) {
                    return blocks.block();
                }
                throw cursor.fail("expected an expression but found " + token.shown());
            }
        }
        throw new AssertionError(token);
    }

    private Expression map() throws SyntaxException {
        ScriptToken token = cursor.take();
        MapName map = new MapName(cursor.span(token), token.text());
        if (!cursor.accept("[")) {
            return map;
        }
        int from = cursor.token().from();
        List<Expression> keys = new ArrayList<>();
        do {
            keys.add(expression());
        } while (cursor.accept(","));
        Expression key =
                keys.size() == 1 ? keys.getFirst() : new TupleLiteral(cursor.since(from), keys);
        cursor.expect("]");
        return new MapElement(cursor.since(token.from()), map, key);
    }

    private Expression word(ScriptToken token) throws SyntaxException {
        int from = token.from();
        switch (token.text()) {
            case "true", "false" -> {
                cursor.take();
                return new Expression.BooleanLiteral(cursor.span(token), token.isWord("true"));
            }
            case "if" -> {
                return conditional();
            }
            case "comptime" -> {
                cursor.take();
                Expression operand = unary();
                return new Expression.Comptime(cursor.since(from), operand);
            }
            case "sizeof" -> {
                TypeSyntax type = typeArgument();
                cursor.expect(")");
                return new Expression.SizeOf(cursor.since(from), type);
            }
            case "typeinfo" -> {
                TypeSyntax type = typeArgument();
                cursor.expect(")");
                return new Expression.TypeDescription(cursor.since(from), type);
            }
            case "offsetof" -> {
                TypeSyntax type = typeArgument();
                cursor.expect(",");
                List<String> path = new ArrayList<>();
                do {
                    path.add(cursor.expect(Kind.WORD, "the name of a field").text());
                } while (cursor.accept("."));
                cursor.expect(")");
                return new Expression.OffsetOf(cursor.since(from), type, path);
            }
            default -> {
                cursor.take();
                // Macros may be called with a '!'.
                if (cursor.isSign("!") && cursor.peek().isSign("(")) {
                    cursor.take();
                }
                if (cursor.isSign("(")) {
                    return call(token);
                }
                return new BareName(cursor.span(token), token.text());
            }
        }
    }

    private TypeSyntax typeArgument() throws SyntaxException {
        cursor.take();
        cursor.expect("(");
        return types.typeOrExpression();
    }

    private Expression call(ScriptToken function) throws SyntaxException {
        cursor.expect("(");
        List<Expression> arguments = new ArrayList<>();
        while (!cursor.isSign(")")) {
            if (cursor.isWord("typeof")) {
                int from = cursor.token().from();
                TypeSyntax type = types.typeOf();
                arguments.add(new Expression.TypeArgument(cursor.since(from), type));
            } else {
                arguments.add(expression());
            }
            if (!cursor.accept(",")) {
                break;
            }
        }
        cursor.expect(")");
        return new FunctionCall(cursor.since(function.from()), function.text(), arguments);
    }

    private Expression conditional() throws SyntaxException {
        cursor.enter();
        try {
            int from = cursor.take().from();
            Expression condition = expression();
            BlockExpression then = blocks.block();
            Expression otherwise = null;
            if (cursor.isWord("else")) {
                cursor.take();
                if (cursor.isWord("if")) {
                    otherwise = conditional();
                } else {
                    otherwise = blocks.block();
                }
            }
            return new Expression.If(cursor.since(from), condition, then, otherwise);
        } finally {
            cursor.leave();
        }
    }

    /** A group, a cast, a tuple or a record. */
    private Expression parenthesised() throws SyntaxException {
        int from = cursor.take().from();
        if (cursor.accept(")")) {
            return new TupleLiteral(cursor.since(from), List.of());
        }
        if (cursor.token().kind() == Kind.WORD && cursor.peek().isSign("=")) {
            return record(from);
        }
        TypeSyntax type = types.cast();
        if (type != null) {
            Expression operand = unary();
            return new TypeCast(cursor.since(from), type, operand);
        }
        Expression first = expression();
        if (cursor.accept(")")) {
            return first;
        }
        List<Expression> elements = new ArrayList<>(List.of(first));
        while (cursor.accept(",") && !cursor.isSign(")")) {
            elements.add(expression());
        }
        cursor.expect(")");
        return new TupleLiteral(cursor.since(from), elements);
    }

    private Expression record(int from) throws SyntaxException {
        List<RecordMember> members = new ArrayList<>();
        Set<String> names = new HashSet<>();
        do {
            if (cursor.isSign(")")) {
                break;
            }
            ScriptToken name = cursor.expect(Kind.WORD, "the name of a member");
            cursor.expect("=");
            Expression value = expression();
            if (!names.add(name.text())) {
                cursor.error(
                        cursor.span(name), "this record has a '" + name.text() + "' already", "");
            }
            members.add(new RecordMember(cursor.since(name.from()), name.text(), value));
        } while (cursor.accept(","));
        cursor.expect(")");
        return new RecordLiteral(cursor.since(from), members);
    }
}
