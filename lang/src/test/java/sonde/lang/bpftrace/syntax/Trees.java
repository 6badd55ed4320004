package sonde.lang.bpftrace.syntax;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Script.Item;

/** Trees as text with a parenthesis for every node, so that a test can say what it expects. */
final class Trees {
    private Trees() {}

    static String show(Script script) {
        return script.items().stream().map(Trees::show).collect(Collectors.joining(" "));
    }

    static String show(Item item) {
        return switch (item) {
            case Script.Probe probe ->
                    "(probe "
                            + probe.attachPoints().stream()
                                    .map(Script.AttachPoint::text)
                                    .collect(Collectors.joining(" "))
                            + (probe.predicate() == null ? "" : " when " + show(probe.predicate()))
                            + " "
                            + show(probe.body())
                            + ")";
            case Script.Macro macro ->
                    "(macro "
                            + macro.name()
                            + " "
                            + list(macro.parameters())
                            + show(macro.body())
                            + ")";
            case Script.MapDeclaration map ->
                    "(map " + map.map() + " " + map.type() + " " + map.entries() + ")";
            case Script.Function function ->
                    "(fn "
                            + function.name()
                            + " "
                            + function.parameters().stream()
                                    .map(p -> p.variable().name() + ":" + show(p.type()) + " ")
                                    .collect(Collectors.joining())
                            + show(function.result())
                            + " "
                            + show(function.body())
                            + ")";
        };
    }

    static String show(Statement statement) {
        return switch (statement) {
            case Statement.Evaluate(var span, var expression) -> show(expression);
            case Statement.Assign(var span, var target, var operator, var value) ->
                    "("
                            + (operator == null ? "" : operator.sign())
                            + "= "
                            + show(target)
                            + " "
                            + show(value)
                            + ")";
            case Statement.Declare(var span, var variable, var type, var value) ->
                    "(let "
                            + variable.name()
                            + (type == null ? "" : ":" + show(type))
                            + (value == null ? "" : " " + show(value))
                            + ")";
            case Statement.Discard(var span, var expression) ->
                    "(discard " + show(expression) + ")";
            case Statement.ForRange(var span, var variable, var from, var to, var body) ->
                    "(for "
                            + variable.name()
                            + " "
                            + show(from)
                            + ".."
                            + show(to)
                            + " "
                            + show(body)
                            + ")";
            case Statement.ForMap(var span, var variable, var map, var body) ->
                    "(for " + variable.name() + " " + map.name() + " " + show(body) + ")";
            case Statement.While(var span, var condition, var body) ->
                    "(while " + show(condition) + " " + show(body) + ")";
            case Statement.Unroll(var span, var count, var body) ->
                    "(unroll " + show(count) + " " + show(body) + ")";
            case Statement.Jump(var span, var kind, var value) ->
                    "(" + kind + (value == null ? "" : " " + show(value)) + ")";
            case Statement.Import(var span, var path) -> "(import " + path + ")";
        };
    }

    static String show(TypeSyntax type) {
        return switch (type) {
            case TypeSyntax.Named(var span, var kind, var name) ->
                    kind == TypeSyntax.Kind.PLAIN ? name : kind + " " + name;
            case TypeSyntax.Pointer(var span, var element) -> show(element) + "*";
            case TypeSyntax.Array(var span, var element, var count) ->
                    show(element) + "[" + count + "]";
            case TypeSyntax.Of(var span, var expression) -> "typeof " + show(expression);
        };
    }

    static String show(@Nullable Expression expression) {
        return switch (expression) {
            case null -> "-";
            case Expression.IntegerLiteral(var span, var value) -> Long.toUnsignedString(value);
            case Expression.StringLiteral(var span, var bytes) -> "\"" + bytes + "\"";
            case Expression.BooleanLiteral(var span, var value) -> Boolean.toString(value);
            case Expression.Name(var span, var name) -> name;
            case Expression.Positional(var span, var number) -> "$" + number;
            case Expression.PositionalCount(var span) -> "$#";
            case Expression.Variable(var span, var name) -> name;
            case Expression.MapName(var span, var name) -> name;
            case Expression.MapElement(var span, var map, var key) ->
                    "(" + map.name() + " [] " + show(key) + ")";
            case Expression.Call(var span, var function, var arguments) ->
                    "(call "
                            + function
                            + (arguments.isEmpty() ? "" : " ")
                            + list(arguments).strip()
                            + ")";
            case Expression.TypeArgument(var span, var type) -> "(type " + show(type) + ")";
            case Expression.Unary(var span, var operator, var operand) ->
                    operator.isPostfix()
                            ? "(" + show(operand) + operator.sign() + ")"
                            : "(" + operator.sign() + show(operand) + ")";
            case Expression.Binary(var span, var operator, var left, var right) ->
                    "(" + show(left) + " " + operator.sign() + " " + show(right) + ")";
            case Expression.Ternary(var span, var condition, var then, var otherwise) ->
                    "(" + show(condition) + " ? " + show(then) + " : " + show(otherwise) + ")";
            case Expression.If(var span, var condition, var then, var otherwise) ->
                    "(if "
                            + show(condition)
                            + " "
                            + show(then)
                            + (otherwise == null ? "" : " " + show(otherwise))
                            + ")";
            case Expression.Block block -> block(block);
            case Expression.Field(var span, var of, var name) -> show(of) + "." + name;
            case Expression.TupleElement(var span, var of, var index) -> show(of) + "." + index;
            case Expression.Index(var span, var of, var index) ->
                    show(of) + "[" + show(index) + "]";
            case Expression.Cast(var span, var type, var operand) ->
                    "(cast " + show(type) + " " + show(operand) + ")";
            case Expression.Tuple(var span, var elements) ->
                    "(tuple " + list(elements).strip() + ")";
            case Expression.RecordLiteral(var span, var members) ->
                    members.stream()
                            .map(m -> m.name() + "=" + show(m.value()))
                            .collect(Collectors.joining(" ", "(record ", ")"));
            case Expression.SizeOf(var span, var type) -> "(sizeof " + show(type) + ")";
            case Expression.OffsetOf(var span, var type, var path) ->
                    "(offsetof " + show(type) + " " + String.join(".", path) + ")";
            case Expression.TypeInfo(var span, var type) -> "(typeinfo " + show(type) + ")";
            case Expression.Comptime(var span, var operand) -> "(comptime " + show(operand) + ")";
        };
    }

    private static String block(Expression.Block block) {
        String steps =
                block.statements().stream().map(Trees::show).collect(Collectors.joining("; "));
        Expression result = block.result();
        return "{"
                + steps
                + (result == null ? "" : (steps.isEmpty() ? "" : "; ") + "=> " + show(result))
                + "}";
    }

    private static String list(List<Expression> all) {
        return all.stream().map(one -> show(one) + " ").collect(Collectors.joining());
    }
}
