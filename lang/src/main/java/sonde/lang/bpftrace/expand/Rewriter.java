package sonde.lang.bpftrace.expand;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.Block;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral;
import sonde.lang.bpftrace.syntax.Expression.Variable;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Statement;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.source.Span;

/**
 * Makes a tree from a tree. As it stands it copies: every node of the result is new, so that passes
 * may tell nodes apart by identity. Those who extend it change what they want to be different.
 */
public class Rewriter {
    /** Copies. */
    protected Rewriter() {}

    /** A script with its items rewritten. */
    public Script script(Script script) {
        List<Script.Item> items = new ArrayList<>();
        for (Script.Item item : script.items()) {
            items.add(item(item));
        }
        return withItems(script, items);
    }

    /** The place of the node made of the one at {@code span}. */
    protected Span span(Span span) {
        return span;
    }

    static Script withItems(Script script, List<Script.Item> items) {
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
    protected Script.Item item(Script.Item item) {
        return switch (item) {
            case Script.Probe(var span, var points, var predicate, var body) ->
                    new Script.Probe(span(span), points, optional(predicate), block(body));
            case Script.Macro(var span, var name, var parameters, var body) ->
                    new Script.Macro(span(span), name, parameters, block(body));
            case Script.MapDeclaration declaration -> declaration;
            case Script.Function(var span, var name, var parameters, var result, var body) ->
                    new Script.Function(
                            span(span),
                            name,
                            parameters.stream()
                                    .map(one ->
                                            new Script.Function.Parameter(
                                                    variable(one.variable()), type(one.type())))
                                    .toList(),
                            type(result),
                            block(body));
        };
    }

    /** A statement; one may become several or none. */
    protected void statement(Statement statement, List<Statement> to) {
        to.add(
                switch (statement) {
                    case Statement.Evaluate(var span, var expression) ->
                            new Statement.Evaluate(span(span), expression(expression));
                    case Statement.Assign(var span, var target, var operator, var value) -> {
                        Expression read = expression(value);
                        yield new Statement.Assign(span(span), expression(target), operator, read);
                    }
                    case Statement.Declare(var span, var variable, var type, var value) -> {
                        Expression read = optional(value);
                        TypeSyntax made = type == null ? null : type(type);
                        yield new Statement.Declare(span(span), variable(variable), made, read);
                    }
                    case Statement.Discard(var span, var expression) ->
                            new Statement.Discard(span(span), expression(expression));
                    case Statement.ForRange(var span, var variable, var from, var end, var body) ->
                            new Statement.ForRange(
                                    span(span),
                                    variable(variable),
                                    expression(from),
                                    expression(end),
                                    block(body));
                    case Statement.ForMap(var span, var variable, var map, var body) ->
                            new Statement.ForMap(
                                    span(span), variable(variable), map(map), block(body));
                    case Statement.While(var span, var condition, var body) ->
                            new Statement.While(span(span), expression(condition), block(body));
                    case Statement.Unroll(var span, var count, var body) ->
                            new Statement.Unroll(span(span), expression(count), block(body));
                    case Statement.Jump(var span, var kind, var value) ->
                            new Statement.Jump(span(span), kind, optional(value));
                    case Statement.Import(var span, var path) ->
                            new Statement.Import(span(span), path);
                });
    }

    private @Nullable Expression optional(@Nullable Expression expression) {
        return expression == null ? null : expression(expression);
    }

    /** A block that must stay one. */
    protected Block block(Block block) {
        List<Statement> statements = new ArrayList<>();
        for (Statement statement : block.statements()) {
            statement(statement, statements);
        }
        return new Block(span(block.span()), statements, optional(block.result()));
    }

    /** A variable, wherever one is named. */
    protected Variable variable(Variable variable) {
        return new Variable(span(variable.span()), variable.name());
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
            case Expression.Name(var span, var name) -> new Expression.Name(span(span), name);
            case Expression.Positional(var span, var number) ->
                    new Expression.Positional(span(span), number);
            case Expression.PositionalCount(var span) -> new Expression.PositionalCount(span(span));
            case Variable variable -> variable(variable);
            case MapName map -> map(map);
            case Expression.MapElement(var span, var map, var key) ->
                    new Expression.MapElement(span(span), map(map), expression(key));
            case Expression.Call(var span, var function, var arguments) ->
                    new Expression.Call(span(span), function, all(arguments));
            case Expression.TypeArgument(var span, var type) ->
                    new Expression.TypeArgument(span(span), type(type));
            case Expression.Unary(var span, var operator, var operand) ->
                    new Expression.Unary(span(span), operator, expression(operand));
            case Expression.Binary(var span, var operator, var left, var right) ->
                    new Expression.Binary(
                            span(span), operator, expression(left), expression(right));
            case Expression.Ternary(var span, var condition, var then, var otherwise) ->
                    new Expression.Ternary(
                            span(span),
                            expression(condition),
                            optional(then),
                            expression(otherwise));
            case Expression.If(var span, var condition, var then, var otherwise) ->
                    new Expression.If(
                            span(span), expression(condition), block(then), arm(otherwise));
            case Block block -> block(block);
            case Expression.Field(var span, var of, var name) ->
                    new Expression.Field(span(span), expression(of), name);
            case Expression.TupleElement(var span, var of, var index) ->
                    new Expression.TupleElement(span(span), expression(of), index);
            case Expression.Index(var span, var of, var index) ->
                    new Expression.Index(span(span), expression(of), expression(index));
            case Expression.Cast(var span, var type, var operand) ->
                    new Expression.Cast(span(span), type(type), expression(operand));
            case Expression.Tuple(var span, var elements) ->
                    new Expression.Tuple(span(span), all(elements));
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
        if (made == null || made instanceof Block || made instanceof Expression.If) {
            return made;
        }
        return new Block(made.span(), List.of(), made);
    }

    private RecordLiteral.Member member(RecordLiteral.Member member) {
        return new RecordLiteral.Member(
                span(member.span()), member.name(), expression(member.value()));
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
            case TypeSyntax.Named(var span, var kind, var name) ->
                    new TypeSyntax.Named(span(span), kind, name);
            case TypeSyntax.Pointer(var span, var element) ->
                    new TypeSyntax.Pointer(span(span), type(element));
            case TypeSyntax.Array(var span, var element, var count) ->
                    new TypeSyntax.Array(span(span), type(element), count);
            case TypeSyntax.Of(var span, var expression) ->
                    new TypeSyntax.Of(span(span), expression(expression));
        };
    }
}
