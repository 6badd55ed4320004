package sonde.lang.bpftrace.expand;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.IndexAccess;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral.RecordMember;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.TupleLiteral;
import sonde.lang.bpftrace.syntax.Expression.TypeCast;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.Script.ScriptFunction;
import sonde.lang.bpftrace.syntax.Script.ScriptFunction.ParameterDeclaration;
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
import sonde.lang.source.SourceSpan;

/**
 * Makes a tree from a tree. As it stands it copies: every node of the result is new, so that passes
 * may tell nodes apart by identity. Those who extend it change what they want to be different.
 */
public class TreeRewriter {
    /** Copies. */
    protected TreeRewriter() {}

    /** A script with its items rewritten. */
    public Script script(Script script) {
        List<ScriptItem> items = new ArrayList<>();
        for (ScriptItem item : script.items()) {
            items.add(item(item));
        }
        return withItems(script, items);
    }

    /** The place of the node made of the one at {@code span}. */
    protected SourceSpan span(SourceSpan span) {
        return span;
    }

    static Script withItems(Script script, List<ScriptItem> items) {
        return new Script(
                script.source(),
                script.header(),
                script.definitions(),
                script.config(),
                script.imports(),
                items,
                script.comments());
    }

    /** An item. */
    protected ScriptItem item(ScriptItem item) {
        return switch (item) {
            case ProbeBlock(var span, var points, var predicate, var body) ->
                    new ProbeBlock(span(span), points, optional(predicate), block(body));
            case ScriptMacro(var span, var name, var parameters, var body) ->
                    new ScriptMacro(span(span), name, parameters, block(body));
            case Script.MapDeclaration declaration -> declaration;
            case ScriptFunction(var span, var name, var parameters, var result, var body) ->
                    new ScriptFunction(
                            span(span),
                            name,
                            parameters.stream()
                                    .map(one ->
                                            new ParameterDeclaration(
                                                    variable(one.variable()), type(one.type())))
                                    .toList(),
                            type(result),
                            block(body));
        };
    }

    /** A statement; one may become several or none. */
    protected void statement(ScriptStatement statement, List<ScriptStatement> to) {
        to.add(
                switch (statement) {
                    case ScriptStatement.Evaluate(var span, var expression) ->
                            new ScriptStatement.Evaluate(span(span), expression(expression));
                    case ScriptStatement.Assign(var span, var target, var operator, var value) -> {
                        Expression read = expression(value);
                        yield new ScriptStatement.Assign(
                                span(span), expression(target), operator, read);
                    }
                    case ScriptStatement.Declare(var span, var variable, var type, var value) -> {
                        Expression read = optional(value);
                        TypeSyntax made = type == null ? null : type(type);
                        yield new ScriptStatement.Declare(
                                span(span), variable(variable), made, read);
                    }
                    case ScriptStatement.Discard(var span, var expression) ->
                            new ScriptStatement.Discard(span(span), expression(expression));
                    case ScriptStatement.ForRange(
                                    var span,
                                    var variable,
                                    var from,
                                    var end,
                                    var body) ->
                            new ScriptStatement.ForRange(
                                    span(span),
                                    variable(variable),
                                    expression(from),
                                    expression(end),
                                    block(body));
                    case ScriptStatement.ForMap(var span, var variable, var map, var body) ->
                            new ScriptStatement.ForMap(
                                    span(span), variable(variable), map(map), block(body));
                    case ScriptStatement.While(var span, var condition, var body) ->
                            new ScriptStatement.While(
                                    span(span), expression(condition), block(body));
                    case ScriptStatement.Unroll(var span, var count, var body) ->
                            new ScriptStatement.Unroll(span(span), expression(count), block(body));
                    case JumpStatement(var span, var kind, var value) ->
                            new JumpStatement(span(span), kind, optional(value));
                    case LocalImport(var span, var path) -> new LocalImport(span(span), path);
                });
    }

    private @Nullable Expression optional(@Nullable Expression expression) {
        return expression == null ? null : expression(expression);
    }

    /** A block that must stay one. */
    protected BlockExpression block(BlockExpression block) {
        List<ScriptStatement> statements = new ArrayList<>();
        for (ScriptStatement statement : block.statements()) {
            statement(statement, statements);
        }
        return new BlockExpression(span(block.span()), statements, optional(block.result()));
    }

    /** A variable, wherever one is named. */
    protected ScratchVariable variable(ScratchVariable variable) {
        return new ScratchVariable(span(variable.span()), variable.name());
    }

    /** A map, wherever one is named. */
    protected MapName map(MapName map) {
        return new MapName(span(map.span()), map.name());
    }

    /** Any expression. */
    protected Expression expression(Expression expression) {
        return switch (expression) {
            case Expression.IntegerLiteral(var span, var value) ->
                    new Expression.IntegerLiteral(span(span), value);
            case Expression.StringLiteral(var span, var bytes) ->
                    new Expression.StringLiteral(span(span), bytes);
            case Expression.BooleanLiteral(var span, var value) ->
                    new Expression.BooleanLiteral(span(span), value);
            case BareName(var span, var name) -> new BareName(span(span), name);
            case Expression.Positional(var span, var number) ->
                    new Expression.Positional(span(span), number);
            case Expression.PositionalCount(var span) -> new Expression.PositionalCount(span(span));
            case ScratchVariable variable -> variable(variable);
            case MapName map -> map(map);
            case Expression.MapElement(var span, var map, var key) ->
                    new Expression.MapElement(span(span), map(map), expression(key));
            case FunctionCall(var span, var function, var arguments) ->
                    new FunctionCall(span(span), function, all(arguments));
            case Expression.TypeArgument(var span, var type) ->
                    new Expression.TypeArgument(span(span), type(type));
            case UnaryOperation(var span, var operator, var operand) ->
                    new UnaryOperation(span(span), operator, expression(operand));
            case BinaryOperation(var span, var operator, var left, var right) ->
                    new BinaryOperation(span(span), operator, expression(left), expression(right));
            case Expression.Ternary(var span, var condition, var then, var otherwise) ->
                    new Expression.Ternary(
                            span(span),
                            expression(condition),
                            optional(then),
                            expression(otherwise));
            case Expression.If(var span, var condition, var then, var otherwise) ->
                    new Expression.If(
                            span(span), expression(condition), block(then), arm(otherwise));
            case BlockExpression block -> block(block);
            case MemberAccess(var span, var of, var name) ->
                    new MemberAccess(span(span), expression(of), name);
            case Expression.TupleElement(var span, var of, var index) ->
                    new Expression.TupleElement(span(span), expression(of), index);
            case IndexAccess(var span, var of, var index) ->
                    new IndexAccess(span(span), expression(of), expression(index));
            case TypeCast(var span, var type, var operand) ->
                    new TypeCast(span(span), type(type), expression(operand));
            case TupleLiteral(var span, var elements) ->
                    new TupleLiteral(span(span), all(elements));
            case RecordLiteral(var span, var members) ->
                    new RecordLiteral(span(span), members.stream().map(this::member).toList());
            case Expression.SizeOf(var span, var type) ->
                    new Expression.SizeOf(span(span), type(type));
            case Expression.OffsetOf(var span, var type, var path) ->
                    new Expression.OffsetOf(span(span), type(type), path);
            case Expression.TypeDescription(var span, var type) ->
                    new Expression.TypeDescription(span(span), type(type));
            case Expression.Comptime(var span, var operand) ->
                    new Expression.Comptime(span(span), expression(operand));
        };
    }

    /** What stands behind {@code else}: a block or another {@code if}. */
    private @Nullable Expression arm(@Nullable Expression otherwise) {
        Expression made = optional(otherwise);
        if (made == null || made instanceof BlockExpression || made instanceof Expression.If) {
            return made;
        }
        return new BlockExpression(made.span(), List.of(), made);
    }

    private RecordMember member(RecordMember member) {
        return new RecordMember(span(member.span()), member.name(), expression(member.value()));
    }

    /** Several, in order. */
    protected final List<Expression> all(List<Expression> expressions) {
        List<Expression> made = new ArrayList<>(expressions.size());
        for (Expression one : expressions) {
            made.add(expression(one));
        }
        return made;
    }

    /** A type as written. */
    protected TypeSyntax type(TypeSyntax type) {
        return switch (type) {
            case NamedSyntax(var span, var kind, var name) ->
                    new NamedSyntax(span(span), kind, name);
            case PointerSyntax(var span, var element) ->
                    new PointerSyntax(span(span), type(element));
            case ArraySyntax(var span, var element, var count) ->
                    new ArraySyntax(span(span), type(element), count);
            case TypeofSyntax(var span, var expression) ->
                    new TypeofSyntax(span(span), expression(expression));
        };
    }
}
