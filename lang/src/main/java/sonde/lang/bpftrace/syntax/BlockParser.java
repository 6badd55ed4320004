package sonde.lang.bpftrace.syntax;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.If;
import sonde.lang.bpftrace.syntax.Expression.MapElement;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.ScriptStatement.JumpStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.LocalImport;
import sonde.lang.bpftrace.syntax.ScriptToken.Kind;

/** Blocks and statements. */
final class BlockParser {
    private final ParserCursor cursor;
    private final ScriptExpressionParser expressions;

    BlockParser(ParserCursor cursor) {
        this.cursor = cursor;
        this.expressions = new ScriptExpressionParser(cursor, this);
    }

    ScriptExpressionParser expressions() {
        return expressions;
    }

    TypeSyntaxParser types() {
        return expressions.types();
    }

    /** A block whose value nobody takes. */
    static BlockExpression withoutResult(BlockExpression block) {
        Expression result = block.result();
        if (result == null) {
            return block;
        }
        List<ScriptStatement> statements = new ArrayList<>(block.statements());
        statements.add(new ScriptStatement.Evaluate(result.span(), result));
        return new BlockExpression(block.span(), statements, null);
    }

    BlockExpression block() throws SyntaxException {
        int from = cursor.token().from();
        cursor.expect("{");
        cursor.enter();
        try {
            List<ScriptStatement> statements = new ArrayList<>();
            Expression result = null;
            while (!cursor.isSign("}") && !cursor.isEnd() && result == null) {
                result = step(statements);
            }
            if (cursor.isEnd()) {
                throw cursor.fail("a '}' is missing", "its '{' is in line " + line(from));
            }
            cursor.expect("}");
            return new BlockExpression(cursor.since(from), statements, result);
        } finally {
            cursor.leave();
        }
    }

    private int line(int offset) {
        return cursor.since(offset).source().line(offset);
    }

    /** Adds a statement; returns the block's value where it comes to that. */
    private @Nullable Expression step(List<ScriptStatement> statements) throws SyntaxException {
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

    private @Nullable Expression statementOrResult(List<ScriptStatement> statements)
            throws SyntaxException {
        ScriptToken token = cursor.token();
        ScriptStatement whole = token.kind() == Kind.WORD ? keyword(token) : null;
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
        boolean closed = expression instanceof If || expression instanceof BlockExpression;
        if (!cursor.accept(";") && !closed) {
            throw cursor.fail("expected ';' but found " + cursor.token().shown());
        }
        statements.add(new ScriptStatement.Evaluate(cursor.since(from), expression));
        return null;
    }

    private @Nullable ScriptStatement keyword(ScriptToken token) throws SyntaxException {
        return switch (token.text()) {
            case "let" -> declaration();
            case "for" -> loop();
            case "while", "unroll" -> repetition(token.isWord("while"));
            case "break" -> jump(JumpStatement.Kind.BREAK);
            case "continue" -> jump(JumpStatement.Kind.CONTINUE);
            case "return" -> jump(JumpStatement.Kind.RETURN);
            case "import" -> importStatement();
            default -> null;
        };
    }

    private void endStatement() throws SyntaxException {
        if (!cursor.accept(";") && !cursor.isSign("}")) {
            throw cursor.fail("expected ';' but found " + cursor.token().shown());
        }
    }

    private ScriptStatement assignment(int from, Expression target) throws SyntaxException {
        BinaryOperator operator = BinaryOperator.ofAssignment(cursor.take().text());
        Expression value = expressions.expression();
        endStatement();
        boolean discard = target instanceof BareName name && name.name().equals("_");
        if (discard && operator == null) {
            return new ScriptStatement.Discard(cursor.since(from), value);
        }
        boolean assignable =
                target instanceof ScratchVariable
                        || target instanceof MapName
                        || target instanceof MapElement;
        if (!assignable) {
            boolean part =
                    target instanceof MemberAccess || target instanceof Expression.TupleElement;
            cursor.error(
                    target.span(),
                    "nothing can be assigned to this",
                    part
                            ? "tuples and records never change: make a new one and assign that"
                            : "variables ($x) and maps (@x, @x[key]) can be assigned to");
        }
        return new ScriptStatement.Assign(cursor.since(from), target, operator, value);
    }

    private ScriptStatement declaration() throws SyntaxException {
        int from = cursor.take().from();
        ScratchVariable variable = variable("'let' declares a variable ($name)");
        TypeSyntax type = cursor.accept(":") ? types().type() : null;
        Expression value = cursor.accept("=") ? expressions.expression() : null;
        endStatement();
        return new ScriptStatement.Declare(cursor.since(from), variable, type, value);
    }

    private ScratchVariable variable(String otherwise) throws SyntaxException {
        if (cursor.token().kind() != Kind.VARIABLE) {
            throw cursor.fail(otherwise + ", this is " + cursor.token().shown());
        }
        ScriptToken token = cursor.take();
        return new ScratchVariable(cursor.span(token), token.text());
    }

    private ScriptStatement loop() throws SyntaxException {
        int from = cursor.take().from();
        boolean parentheses = cursor.accept("(");
        ScratchVariable variable = variable("'for' names a variable ($name)");
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
        BlockExpression body = withoutResult(block());
        return last == null
                ? new ScriptStatement.ForMap(cursor.since(from), variable, (MapName) first, body)
                : new ScriptStatement.ForRange(cursor.since(from), variable, first, last, body);
    }

    private ScriptStatement repetition(boolean isWhile) throws SyntaxException {
        int from = cursor.take().from();
        Expression head = expressions.expression();
        BlockExpression body = withoutResult(block());
        return isWhile
                ? new ScriptStatement.While(cursor.since(from), head, body)
                : new ScriptStatement.Unroll(cursor.since(from), head, body);
    }

    private ScriptStatement jump(JumpStatement.Kind kind) throws SyntaxException {
        int from = cursor.take().from();
        boolean ends = cursor.isSign(";") || cursor.isSign("}");
        Expression value =
                kind == JumpStatement.Kind.RETURN && !ends ? expressions.expression() : null;
        endStatement();
        return new JumpStatement(cursor.since(from), kind, value);
    }

    private ScriptStatement importStatement() throws SyntaxException {
        int from = cursor.take().from();
        String path = cursor.expect(Kind.STRING, "a path in quotes").text();
        endStatement();
        return new LocalImport(cursor.since(from), path);
    }
}
