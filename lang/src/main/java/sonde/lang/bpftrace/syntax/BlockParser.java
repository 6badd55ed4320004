package sonde.lang.bpftrace.syntax;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.Block;
import sonde.lang.bpftrace.syntax.Expression.If;
import sonde.lang.bpftrace.syntax.Expression.MapElement;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.Name;
import sonde.lang.bpftrace.syntax.Expression.Variable;
import sonde.lang.bpftrace.syntax.Statement.Jump;
import sonde.lang.bpftrace.syntax.Token.Kind;

/** Blocks and statements. */
final class BlockParser {
    private final Cursor cursor;
    private final ExpressionParser expressions;

    BlockParser(Cursor cursor) {
        this.cursor = cursor;
        this.expressions = new ExpressionParser(cursor, this);
    }

    ExpressionParser expressions() {
        return expressions;
    }

    TypeParser types() {
        return expressions.types();
    }

    /** A block whose value nobody takes. */
    static Block withoutResult(Block block) {
        Expression result = block.result();
        if (result == null) {
            return block;
        }
        List<Statement> statements = new ArrayList<>(block.statements());
        statements.add(new Statement.Evaluate(result.span(), result));
        return new Block(block.span(), statements, null);
    }

    Block block() throws SyntaxException {
        int from = cursor.token().from();
        cursor.expect("{");
        cursor.enter();
        try {
            List<Statement> statements = new ArrayList<>();
            Expression result = null;
            while (!cursor.isSign("}") && !cursor.isEnd() && result == null) {
                result = step(statements);
            }
            if (cursor.isEnd()) {
                throw cursor.fail("a '}' is missing", "its '{' is in line " + line(from));
            }
            cursor.expect("}");
            return new Block(cursor.since(from), statements, result);
        } finally {
            cursor.leave();
        }
    }

    private int line(int offset) {
        return cursor.since(offset).source().line(offset);
    }

    /** Adds a statement; returns the block's value where it comes to that. */
    private @Nullable Expression step(List<Statement> statements) throws SyntaxException {
        int before = cursor.token().from();
        try {
            return statementOrResult(statements);
        } catch (SyntaxException e) {
            if (cursor.isEnd() || cursor.isFull()) {
                throw e;
            }
            if (cursor.token().from() == before && !cursor.isSign("}")) {
                cursor.take();
            }
            cursor.skipStatement();
            return null;
        }
    }

    private @Nullable Expression statementOrResult(List<Statement> statements)
            throws SyntaxException {
        Token token = cursor.token();
        Statement whole = token.kind() == Kind.WORD ? keyword(token) : null;
        if (whole != null) {
            statements.add(whole);
            return null;
        }
        int from = token.from();
        // Behind a closing brace the statement ends: what follows is no operator of it.
        boolean braces = token.isWord("if") || token.isSign("{");
        Expression expression = braces ? expressions.primary() : expressions.expression();
        if (cursor.isSign("=") || BinaryOperator.ofAssignment(cursor.token().text()) != null) {
            statements.add(assignment(from, expression));
            return null;
        }
        if (cursor.isSign("}") || cursor.isEnd()) {
            return expression;
        }
        boolean closed = expression instanceof If || expression instanceof Block;
        if (!cursor.accept(";") && !closed) {
            throw cursor.fail("expected ';' but found " + cursor.token().shown());
        }
        statements.add(new Statement.Evaluate(cursor.since(from), expression));
        return null;
    }

    private @Nullable Statement keyword(Token token) throws SyntaxException {
        return switch (token.text()) {
            case "let" -> declaration();
            case "for" -> loop();
            case "while", "unroll" -> repetition(token.isWord("while"));
            case "break" -> jump(Jump.Kind.BREAK);
            case "continue" -> jump(Jump.Kind.CONTINUE);
            case "return" -> jump(Jump.Kind.RETURN);
            case "import" -> importStatement();
            default -> null;
        };
    }

    private void endStatement() throws SyntaxException {
        if (!cursor.accept(";") && !cursor.isSign("}")) {
            throw cursor.fail("expected ';' but found " + cursor.token().shown());
        }
    }

    private Statement assignment(int from, Expression target) throws SyntaxException {
        BinaryOperator operator = BinaryOperator.ofAssignment(cursor.take().text());
        Expression value = expressions.expression();
        endStatement();
        boolean discard = target instanceof Name name && name.name().equals("_");
        if (discard && operator == null) {
            return new Statement.Discard(cursor.since(from), value);
        }
        boolean assignable =
                target instanceof Variable
                        || target instanceof MapName
                        || target instanceof MapElement;
        if (!assignable) {
            boolean part =
                    target instanceof Expression.Field || target instanceof Expression.TupleElement;
            cursor.error(
                    target.span(),
                    "nothing can be assigned to this",
                    part
                            ? "tuples and records never change: make a new one and assign that"
                            : "variables ($x) and maps (@x, @x[key]) can be assigned to");
        }
        return new Statement.Assign(cursor.since(from), target, operator, value);
    }

    private Statement declaration() throws SyntaxException {
        int from = cursor.take().from();
        Variable variable = variable("'let' declares a variable ($name)");
        TypeSyntax type = cursor.accept(":") ? types().type() : null;
        Expression value = cursor.accept("=") ? expressions.expression() : null;
        endStatement();
        return new Statement.Declare(cursor.since(from), variable, type, value);
    }

    private Variable variable(String otherwise) throws SyntaxException {
        if (cursor.token().kind() != Kind.VARIABLE) {
            throw cursor.fail(otherwise + ", this is " + cursor.token().shown());
        }
        Token token = cursor.take();
        return new Variable(cursor.span(token), token.text());
    }

    private Statement loop() throws SyntaxException {
        int from = cursor.take().from();
        boolean parentheses = cursor.accept("(");
        Variable variable = variable("'for' names a variable ($name)");
        cursor.expect(":");
        Expression first = expressions.rangeEnd();
        Expression last = null;
        if (cursor.accept("..")) {
            last = expressions.rangeEnd();
        } else if (!(first instanceof MapName)) {
            cursor.error(
                    first.span(),
                    "'for' goes over a map or a range",
                    "for example for ($kv : @map) or for ($i : 0..10)");
            throw new SyntaxException();
        }
        if (parentheses) {
            cursor.expect(")");
        }
        Block body = withoutResult(block());
        return last == null
                ? new Statement.ForMap(cursor.since(from), variable, (MapName) first, body)
                : new Statement.ForRange(cursor.since(from), variable, first, last, body);
    }

    private Statement repetition(boolean isWhile) throws SyntaxException {
        int from = cursor.take().from();
        Expression head = expressions.expression();
        Block body = withoutResult(block());
        return isWhile
                ? new Statement.While(cursor.since(from), head, body)
                : new Statement.Unroll(cursor.since(from), head, body);
    }

    private Statement jump(Jump.Kind kind) throws SyntaxException {
        int from = cursor.take().from();
        boolean ends = cursor.isSign(";") || cursor.isSign("}");
        Expression value = kind == Jump.Kind.RETURN && !ends ? expressions.expression() : null;
        endStatement();
        return new Jump(cursor.since(from), kind, value);
    }

    private Statement importStatement() throws SyntaxException {
        int from = cursor.take().from();
        String path = cursor.expect(Kind.STRING, "a path in quotes").text();
        endStatement();
        return new Statement.Import(cursor.since(from), path);
    }
}
