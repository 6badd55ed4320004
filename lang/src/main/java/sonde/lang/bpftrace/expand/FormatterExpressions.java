package sonde.lang.bpftrace.expand;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.Comptime;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.If;
import sonde.lang.bpftrace.syntax.Expression.IndexAccess;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.TupleLiteral;
import sonde.lang.bpftrace.syntax.Expression.TypeCast;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.TypeofSyntax;
import sonde.lang.bpftrace.syntax.UnaryOperator;

/**
 * Expressions as text that parses to them. Numbers and strings stay as they were written; only
 * blocks and calls that do not fit take more than one line.
 */
final class FormatterExpressions {
    private static final int WIDTH = 80;

    /** How tightly an expression binds: what is looser than its place needs parentheses. */
    private static final int TERNARY = 0;

    private static final int UNARY = 11;
    private static final int POSTFIX = 12;

    private final ScriptFormatter formatter;

    FormatterExpressions(ScriptFormatter formatter) {
        this.formatter = formatter;
    }

    /** From a column on, within a block that is {@code depth} deep. */
    String text(int depth, int column, Expression expression) {
        String line = plain(depth, expression);
        if (column + line.length() <= WIDTH || line.indexOf('\n') >= 0) {
            return line;
        }
        return switch (expression) {
            case FunctionCall(var span, var function, var arguments) ->
                    filled(
                            function + "(",
                            column,
                            arguments.stream().map(one -> plain(depth, one)).toList());
            case BinaryOperation binary when binary.operator().precedence() <= 2 ->
                    broken(depth, column, binary);
            default -> line;
        };
    }

    /** Arguments below one another, as many in a line as fit. */
    private static String filled(String head, int column, List<String> arguments) {
        if (arguments.isEmpty()) {
            return head + ")";
        }
        int indent = column + head.length();
        StringBuilder out = new StringBuilder(head);
        int at = indent;
        for (int i = 0; i < arguments.size(); i++) {
            String part = arguments.get(i) + (i + 1 < arguments.size() ? "," : ");");
            if (i > 0 && at + 1 + part.length() > WIDTH) {
                out.append('\n').append(" ".repeat(indent));
                at = indent;
            } else if (i > 0) {
                out.append(' ');
                at++;
            }
            out.append(part);
            at += part.length();
        }
        // The semicolon was counted, it is not the call's.
        out.setLength(out.length() - 1);
        return out.toString();
    }

    /** A line for each part of a chain of {@code &&} or {@code ||}. */
    private String broken(int depth, int column, BinaryOperation chain) {
        BinaryOperator operator = chain.operator();
        List<String> parts = new ArrayList<>();
        Expression left = chain;
        while (left instanceof BinaryOperation(var span, var own, var first, var second)
                && own == operator) {
            parts.addFirst(in(depth, operator.precedence() + 1, second));
            left = first;
        }
        parts.addFirst(in(depth, operator.precedence(), left));
        return String.join(" " + operator.sign() + "\n" + " ".repeat(column), parts);
    }

    private String plain(int depth, Expression expression) {
        return switch (expression) {
            case Expression.IntegerLiteral(var span, var value) ->
                    formatter.written(span, "[0-9][0-9a-zA-Z_]*", Long.toUnsignedString(value));
            case Expression.StringLiteral(var span, var bytes) ->
                    formatter.written(span, "\"(?:[^\"\\\\]|\\\\.)*\"", TreeText.quoted(bytes));
            case Expression.BooleanLiteral(var span, var value) -> Boolean.toString(value);
            case BareName(var span, var name) -> name;
            case Expression.Positional(var span, var number) -> "$" + number;
            case Expression.PositionalCount(var span) -> "$#";
            case ScratchVariable(var span, var name) -> name;
            case MapName(var span, var name) -> name;
            case Expression.MapElement(var span, var map, var key) ->
                    map.name() + "[" + key(depth, key) + "]";
            case FunctionCall(var span, var function, var arguments) ->
                    function + "(" + list(depth, arguments) + ")";
            case Expression.TypeArgument(var span, var type) -> "typeof(" + inner(type) + ")";
            case UnaryOperation unary -> unary(depth, unary);
            case BinaryOperation(var span, var operator, var left, var right) ->
                    in(depth, operator.precedence(), left)
                            + " "
                            + operator.sign()
                            + " "
                            + in(depth, operator.precedence() + 1, right);
            case Expression.Ternary(var span, var condition, var then, var otherwise) ->
                    in(depth, 1, condition)
                            + (then == null ? " ?: " : " ? " + plain(depth, then) + " : ")
                            + plain(depth, otherwise);
            case If choice -> choice(depth, choice);
            case BlockExpression block -> formatter.block(depth, block, true);
            case MemberAccess(var span, var of, var name) -> base(depth, of) + "." + name;
            case Expression.TupleElement(var span, var of, var index) ->
                    base(depth, of) + "." + index;
            case IndexAccess(var span, var of, var index) ->
                    base(depth, of) + "[" + plain(depth, index) + "]";
            case TypeCast cast -> cast(depth, cast);
            case TupleLiteral(var span, var elements) ->
                    "(" + list(depth, elements) + (elements.size() == 1 ? ",)" : ")");
            case RecordLiteral(var span, var members) ->
                    members.stream()
                            .map(one -> one.name() + "=" + plain(depth, one.value()))
                            .collect(Collectors.joining(", ", "(", ")"));
            case Expression.SizeOf(var span, var type) -> "sizeof(" + inner(type) + ")";
            case Expression.OffsetOf(var span, var type, var path) ->
                    "offsetof(" + inner(type) + ", " + String.join(".", path) + ")";
            case Expression.TypeDescription(var span, var type) -> "typeinfo(" + inner(type) + ")";
            case Comptime(var span, var operand) -> "comptime " + in(depth, UNARY, operand);
        };
    }

    private String list(int depth, List<Expression> all) {
        return all.stream().map(one -> plain(depth, one)).collect(Collectors.joining(", "));
    }

    /** A key of several parts stands without parentheses of its own. */
    private String key(int depth, Expression key) {
        return key instanceof TupleLiteral(var span, var elements) && elements.size() > 1
                ? list(depth, elements)
                : plain(depth, key);
    }

    private static int tightness(Expression expression) {
        return switch (expression) {
            case Expression.Ternary ternary -> TERNARY;
            case If choice -> TERNARY;
            case BlockExpression block -> TERNARY;
            case BinaryOperation binary -> binary.operator().precedence();
            case UnaryOperation unary -> unary.operator().isPostfix() ? POSTFIX : UNARY;
            case TypeCast cast -> UNARY;
            case Comptime comptime -> UNARY;
            default -> POSTFIX;
        };
    }

    /** With parentheses where it is looser than it must be. */
    String in(int depth, int least, Expression expression) {
        String text = plain(depth, expression);
        return tightness(expression) < least ? "(" + text + ")" : text;
    }

    /** What stands before a dot or a bracket; a map's name and a bracket would be an element. */
    private String base(int depth, Expression of) {
        return of instanceof MapName ? "(" + plain(depth, of) + ")" : in(depth, POSTFIX, of);
    }

    private String unary(int depth, UnaryOperation unary) {
        String sign = unary.operator().sign();
        if (unary.operator().isPostfix()) {
            return in(depth, POSTFIX, unary.operand()) + sign;
        }
        String operand = in(depth, UNARY, unary.operand());
        boolean merges =
                operand.charAt(0) == sign.charAt(0)
                        && (unary.operator() == UnaryOperator.NEGATE
                                || unary.operator() == UnaryOperator.ADDRESS);
        return sign + (merges ? "(" + operand + ")" : operand);
    }

    /** Behind a name that need not be a type's a sign would be taken as an operator. */
    private String cast(int depth, TypeCast cast) {
        String operand = in(depth, UNARY, cast.operand());
        boolean sure =
                !(cast.type() instanceof NamedSyntax named)
                        || named.kind() != TypeSyntax.Kind.PLAIN
                        || named.name().matches("u?int[0-9]+|.*_t|bool|string|void");
        boolean sign = "-*&+".indexOf(operand.charAt(0)) >= 0;
        return "(" + type(cast.type()) + ")" + (sign && !sure ? "(" + operand + ")" : operand);
    }

    /** {@code if (…) { … } else { … }}. */
    String choice(int depth, If choice) {
        String head = condition(depth, choice.condition());
        String then = formatter.block(depth, choice.then(), choice.otherwise() != null);
        String otherwise =
                switch (choice.otherwise()) {
                    case null -> "";
                    case BlockExpression block -> " else " + formatter.block(depth, block, true);
                    case If other -> " else " + choice(depth, other);
                    default -> throw new AssertionError(choice);
                };
        return head + " " + then + otherwise;
    }

    private String condition(int depth, Expression condition) {
        if (condition instanceof Comptime(var span, var operand)) {
            String text = plain(depth, operand);
            return "if comptime " + (tightness(operand) < POSTFIX ? "(" + text + ")" : text);
        }
        int column = 2 * depth + "if (".length();
        return "if (" + text(depth, column, condition) + ")";
    }

    /** A type where only a type can stand. */
    String type(TypeSyntax type) {
        return TreeText.type(type, expression -> plain(0, expression));
    }

    /** A type or an expression that stands for its own. */
    private String inner(TypeSyntax type) {
        return type instanceof TypeofSyntax(var span, var expression)
                ? plain(0, expression)
                : type(type);
    }
}
