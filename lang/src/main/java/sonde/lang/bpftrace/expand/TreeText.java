package sonde.lang.bpftrace.expand;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
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
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.AttachPointText;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.Script.ScriptFunction;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.Script.ScriptMacro;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.JumpStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.LocalImport;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.ArraySyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.PointerSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.TypeofSyntax;

/**
 * A tree as text: a line for each item and statement, expressions with a parenthesis around every
 * node. Trees that differ only in places have the same text.
 */
public final class TreeText {
    private static final Function<Expression, String> NO_NOTE = expression -> "";

    private final StringBuilder out = new StringBuilder();
    private final Function<Expression, String> note;

    private TreeText(Function<Expression, String> note) {
        this.note = note;
    }

    /** All of a script; ends with a newline unless it is empty. */
    public static String of(Script script) {
        TreeText text = new TreeText(NO_NOTE);
        text.script(script);
        return text.out.toString();
    }

    /**
     * A block with its attach points.
     *
     * @param note what stands behind an expression that is not a literal
     */
    public static String of(ProbeBlock probe, Function<Expression, String> note) {
        TreeText text = new TreeText(note);
        text.item(probe);
        return text.out.toString();
    }

    /** One expression, on several lines where it has blocks with statements. */
    public static String of(Expression expression) {
        return new TreeText(NO_NOTE).show(0, expression);
    }

    private void line(int depth, String text) {
        out.append("  ".repeat(depth)).append(text).append('\n');
    }

    private void script(Script script) {
        script.definitions().forEach(span -> line(0, "define " + quoted(span.text())));
        Script.Config config = script.config();
        if (config != null) {
            config.settings().forEach(one -> line(0, "set " + one.key() + " " + one.value()));
        }
        script.imports().forEach(one -> line(0, "import " + quoted(one.path())));
        script.items().forEach(this::item);
    }

    private void item(ScriptItem item) {
        switch (item) {
            case ProbeBlock probe -> {
                String points =
                        probe.attachPoints().stream()
                                .map(AttachPointText::text)
                                .collect(Collectors.joining(", "));
                line(0, "probe " + points);
                if (probe.predicate() != null) {
                    line(1, "when " + show(1, probe.predicate()));
                }
                body(1, probe.body());
            }
            case ScriptMacro macro -> {
                line(0, "macro " + macro.name() + list(0, macro.parameters()));
                body(1, macro.body());
            }
            case Script.MapDeclaration(var span, var map, var type, var entries) ->
                    line(0, "map " + map + " " + type + " " + entries);
            case ScriptFunction function -> {
                String parameters =
                        function.parameters().stream()
                                .map(one -> " " + one.variable().name() + ": " + type(one.type()))
                                .collect(Collectors.joining());
                line(0, "fn " + function.name() + parameters + " -> " + type(function.result()));
                body(1, function.body());
            }
        }
    }

    private void body(int depth, BlockExpression block) {
        block.statements().forEach(statement -> line(depth, statement(depth, statement)));
        if (block.result() != null) {
            line(depth, "=> " + show(depth, block.result()));
        }
    }

    private String statement(int depth, ScriptStatement statement) {
        return switch (statement) {
            case ScriptStatement.Evaluate(var span, var expression) -> show(depth, expression);
            case ScriptStatement.Assign(var span, var target, var operator, var value) ->
                    (operator == null ? "" : operator.sign())
                            + "= "
                            + show(depth, target)
                            + " "
                            + show(depth, value);
            case ScriptStatement.Declare(var span, var variable, var type, var value) ->
                    "let "
                            + variable.name()
                            + (type == null ? "" : ": " + type(type))
                            + (value == null ? "" : " " + show(depth, value));
            case ScriptStatement.Discard(var span, var expression) ->
                    "discard " + show(depth, expression);
            case ScriptStatement.ForRange(var span, var variable, var from, var to, var body) ->
                    "for "
                            + variable.name()
                            + " "
                            + show(depth, from)
                            + " "
                            + show(depth, to)
                            + " "
                            + show(depth, body);
            case ScriptStatement.ForMap(var span, var variable, var map, var body) ->
                    "for " + variable.name() + " " + map.name() + " " + show(depth, body);
            case ScriptStatement.While(var span, var condition, var body) ->
                    "while " + show(depth, condition) + " " + show(depth, body);
            case ScriptStatement.Unroll(var span, var count, var body) ->
                    "unroll " + show(depth, count) + " " + show(depth, body);
            case JumpStatement(var span, var kind, var value) ->
                    kind.name().toLowerCase(Locale.ROOT)
                            + (value == null ? "" : " " + show(depth, value));
            case LocalImport(var span, var path) -> "import " + quoted(path);
        };
    }

    private String block(int depth, BlockExpression block) {
        if (block.statements().isEmpty()) {
            return block.result() == null ? "{}" : "{" + show(depth, block.result()) + "}";
        }
        TreeText inner = new TreeText(note);
        inner.body(depth + 1, block);
        return "{\n" + inner.out + "  ".repeat(depth) + "}";
    }

    private String show(int depth, @Nullable Expression expression) {
        return switch (expression) {
            case null -> "-";
            case BlockExpression _,
                    Expression.IntegerLiteral _,
                    Expression.StringLiteral _,
                    Expression.BooleanLiteral _ ->
                    plain(depth, expression);
            default -> plain(depth, expression) + note.apply(expression);
        };
    }

    private String plain(int depth, Expression expression) {
        return switch (expression) {
            case Expression.IntegerLiteral(var span, var value) -> Long.toUnsignedString(value);
            case Expression.StringLiteral(var span, var bytes) -> quoted(bytes);
            case Expression.BooleanLiteral(var span, var value) -> Boolean.toString(value);
            case BareName(var span, var name) -> name;
            case Expression.Positional(var span, var number) -> "$" + number;
            case Expression.PositionalCount(var span) -> "$#";
            case ScratchVariable(var span, var name) -> name;
            case Expression.MapName(var span, var name) -> name;
            case Expression.MapElement(var span, var map, var key) ->
                    "(" + map.name() + " [] " + show(depth, key) + ")";
            case FunctionCall(var span, var function, var arguments) ->
                    "(" + function + "()" + list(depth, arguments) + ")";
            case Expression.TypeArgument(var span, var type) -> "(type " + type(type) + ")";
            case UnaryOperation(var span, var operator, var operand) ->
                    operator.isPostfix()
                            ? "(" + show(depth, operand) + " " + operator.sign() + ")"
                            : "(" + operator.sign() + " " + show(depth, operand) + ")";
            case BinaryOperation(var span, var operator, var left, var right) ->
                    "(" + operator.sign() + list(depth, List.of(left, right)) + ")";
            case Expression.Ternary(var span, var condition, var then, var otherwise) ->
                    "(? "
                            + show(depth, condition)
                            + " "
                            + show(depth, then)
                            + " "
                            + show(depth, otherwise)
                            + ")";
            case Expression.If(var span, var condition, var then, var otherwise) ->
                    "(if "
                            + show(depth, condition)
                            + " "
                            + show(depth, then)
                            + (otherwise == null ? "" : " else " + show(depth, otherwise))
                            + ")";
            case BlockExpression block -> block(depth, block);
            case MemberAccess(var span, var of, var name) ->
                    "(. " + show(depth, of) + " " + name + ")";
            case Expression.TupleElement(var span, var of, var index) ->
                    "(. " + show(depth, of) + " " + index + ")";
            case IndexAccess(var span, var of, var index) ->
                    "([]" + list(depth, List.of(of, index)) + ")";
            case TypeCast(var span, var type, var operand) ->
                    "(cast " + type(type) + " " + show(depth, operand) + ")";
            case TupleLiteral(var span, var elements) -> "(tuple" + list(depth, elements) + ")";
            case Expression.RecordLiteral(var span, var members) ->
                    members.stream()
                            .map(one -> " " + one.name() + "=" + show(depth, one.value()))
                            .collect(Collectors.joining("", "(record", ")"));
            case Expression.SizeOf(var span, var type) -> "(sizeof " + type(type) + ")";
            case Expression.OffsetOf(var span, var type, var path) ->
                    "(offsetof " + type(type) + " " + String.join(".", path) + ")";
            case Expression.TypeDescription(var span, var type) -> "(typeinfo " + type(type) + ")";
            case Expression.Comptime(var span, var operand) ->
                    "(comptime " + show(depth, operand) + ")";
        };
    }

    private String list(int depth, List<Expression> all) {
        return all.stream().map(one -> " " + show(depth, one)).collect(Collectors.joining());
    }

    private String type(TypeSyntax type) {
        return type(type, expression -> show(0, expression));
    }

    /**
     * A type where only a type can stand.
     *
     * @param show writes an expression
     */
    static String type(TypeSyntax type, Function<Expression, String> show) {
        return switch (type) {
            case NamedSyntax(var span, var kind, var name) ->
                    kind == TypeSyntax.Kind.PLAIN
                            ? name
                            : kind.name().toLowerCase(Locale.ROOT) + " " + name;
            case PointerSyntax(var span, var element) -> type(element, show) + "*";
            case ArraySyntax(var span, var element, var count) ->
                    type(element, show) + "[" + (count == 0 ? "" : count) + "]";
            case TypeofSyntax(var span, var expression) -> "typeof(" + show.apply(expression) + ")";
        };
    }

    /** A string's bytes as the language writes them. */
    public static String quoted(String bytes) {
        StringBuilder text = new StringBuilder(bytes.length() + 2).append('"');
        for (int i = 0; i < bytes.length(); i++) {
            char c = bytes.charAt(i);
            switch (c) {
                case '\n' -> text.append("\\n");
                case '\t' -> text.append("\\t");
                case '\r' -> text.append("\\r");
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                default -> {
                    if (c >= ' ' && c <= '~') {
                        text.append(c);
                    } else {
                        text.append("\\x%02x".formatted(c & 0xff));
                    }
                }
            }
        }
        return text.append('"').toString();
    }
}
