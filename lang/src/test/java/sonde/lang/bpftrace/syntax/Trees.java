package sonde.lang.bpftrace.syntax;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.IndexAccess;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.TupleLiteral;
import sonde.lang.bpftrace.syntax.Expression.TypeCast;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.Script.AttachPointText;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.Script.ScriptFunction;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.Script.ScriptMacro;
import sonde.lang.bpftrace.syntax.ScriptStatement.JumpStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.LocalImport;
import sonde.lang.bpftrace.syntax.TypeSyntax.ArraySyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.PointerSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.TypeofSyntax;

/** Trees as text with a parenthesis for every node, so that a test can say what it expects. */
final class Trees {
    private Trees() {}

    static String show(Script script) {
        return script.items().stream().map(Trees::show).collect(Collectors.joining(" "));
    }

    static String show(ScriptItem item) {
        return switch (item) {
            case ProbeBlock probe ->
                    "(probe "
                            + probe.attachPoints().stream()
                                    .map(AttachPointText::text)
                                    .collect(Collectors.joining(" "))
                            + (probe.predicate() == null ? "" : " when " + show(probe.predicate()))
                            + " "
                            + show(probe.body())
                            + ")";
            case ScriptMacro macro ->
                    "(macro "
                            + macro.name()
                            + " "
                            + list(macro.parameters())
                            + show(macro.body())
                            + ")";
            case Script.MapDeclaration map ->
                    "(map " + map.map() + " " + map.type() + " " + map.entries() + ")";
            case ScriptFunction function ->
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

    static String show(ScriptStatement statement) {
        return switch (statement) {
            case ScriptStatement.Evaluate(var span, var expression) -> show(expression);
            case ScriptStatement.Assign(var span, var target, var operator, var value) ->
                    "("
                            + (operator == null ? "" : operator.sign())
                            + "= "
                            + show(target)
                            + " "
                            + show(value)
                            + ")";
            case ScriptStatement.Declare(var span, var variable, var type, var value) ->
                    "(let "
                            + variable.name()
                            + (type == null ? "" : ":" + show(type))
                            + (value == null ? "" : " " + show(value))
                            + ")";
            case ScriptStatement.Discard(var span, var expression) ->
                    "(discard " + show(expression) + ")";
            case ScriptStatement.ForRange(var span, var variable, var from, var to, var body) ->
                    "(for "
                            + variable.name()
                            + " "
                            + show(from)
                            + ".."
                            + show(to)
                            + " "
                            + show(body)
                            + ")";
            case ScriptStatement.ForMap(var span, var variable, var map, var body) ->
                    "(for " + variable.name() + " " + map.name() + " " + show(body) + ")";
            case ScriptStatement.While(var span, var condition, var body) ->
                    "(while " + show(condition) + " " + show(body) + ")";
            case ScriptStatement.Unroll(var span, var count, var body) ->
                    "(unroll " + show(count) + " " + show(body) + ")";
            case JumpStatement(var span, var kind, var value) ->
                    "(" + kind + (value == null ? "" : " " + show(value)) + ")";
            case LocalImport(var span, var path) -> "(import " + path + ")";
        };
    }

    static String show(TypeSyntax type) {
        return switch (type) {
            case NamedSyntax(var span, var kind, var name) ->
                    kind == TypeSyntax.Kind.PLAIN ? name : kind + " " + name;
            case PointerSyntax(var span, var element) -> show(element) + "*";
            case ArraySyntax(var span, var element, var count) -> show(element) + "[" + count + "]";
            case TypeofSyntax(var span, var expression) -> "typeof " + show(expression);
        };
    }

    static String show(@Nullable Expression expression) {
        return switch (expression) {
            case null -> "-";
            case Expression.IntegerLiteral(var span, var value) -> Long.toUnsignedString(value);
            case Expression.StringLiteral(var span, var bytes) -> "\"" + bytes + "\"";
            case Expression.BooleanLiteral(var span, var value) -> Boolean.toString(value);
            case BareName(var span, var name) -> name;
            case Expression.Positional(var span, var number) -> "$" + number;
            case Expression.PositionalCount(var span) -> "$#";
            case ScratchVariable(var span, var name) -> name;
            case Expression.MapName(var span, var name) -> name;
            case Expression.MapElement(var span, var map, var key) ->
                    "(" + map.name() + " [] " + show(key) + ")";
            case FunctionCall(var span, var function, var arguments) ->
                    "(call "
                            + function
                            + (arguments.isEmpty() ? "" : " ")
                            + list(arguments).strip()
                            + ")";
            case Expression.TypeArgument(var span, var type) -> "(type " + show(type) + ")";
            case UnaryOperation(var span, var operator, var operand) ->
                    operator.isPostfix()
                            ? "(" + show(operand) + operator.sign() + ")"
                            : "(" + operator.sign() + show(operand) + ")";
            case BinaryOperation(var span, var operator, var left, var right) ->
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
            case BlockExpression block -> block(block);
            case MemberAccess(var span, var of, var name) -> show(of) + "." + name;
            case Expression.TupleElement(var span, var of, var index) -> show(of) + "." + index;
            case IndexAccess(var span, var of, var index) -> show(of) + "[" + show(index) + "]";
            case TypeCast(var span, var type, var operand) ->
                    "(cast " + show(type) + " " + show(operand) + ")";
            case TupleLiteral(var span, var elements) -> "(tuple " + list(elements).strip() + ")";
            case Expression.RecordLiteral(var span, var members) ->
                    members.stream()
                            .map(m -> m.name() + "=" + show(m.value()))
                            .collect(Collectors.joining(" ", "(record ", ")"));
            case Expression.SizeOf(var span, var type) -> "(sizeof " + show(type) + ")";
            case Expression.OffsetOf(var span, var type, var path) ->
                    "(offsetof " + show(type) + " " + String.join(".", path) + ")";
            case Expression.TypeDescription(var span, var type) -> "(typeinfo " + show(type) + ")";
            case Expression.Comptime(var span, var operand) -> "(comptime " + show(operand) + ")";
        };
    }

    private static String block(BlockExpression block) {
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
