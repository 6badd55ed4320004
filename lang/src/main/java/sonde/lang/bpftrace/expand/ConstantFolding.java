package sonde.lang.bpftrace.expand;

import java.math.BigInteger;
import java.util.List;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.BooleanLiteral;
import sonde.lang.bpftrace.syntax.Expression.Comptime;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.IndexAccess;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral;
import sonde.lang.bpftrace.syntax.Expression.RecordLiteral.RecordMember;
import sonde.lang.bpftrace.syntax.Expression.StringLiteral;
import sonde.lang.bpftrace.syntax.Expression.TupleLiteral;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;

/**
 * Works out what is written out: arithmetic of literals in 64 bits, comparisons, {@code str("x")},
 * elements of literal tuples, conditions of {@code if comptime}. A negative number is a literal
 * behind {@link UnaryOperator#NEGATE}. Whatever needs a type stays as it is.
 */
public final class ConstantFolding extends TreeRewriter {
    private static final BigInteger UNDERFLOW = BigInteger.ONE.shiftLeft(63);

    private final CompilerDiagnostics diagnostics;
    private final LiteralArithmetic arithmetic;

    private ConstantFolding(CompilerDiagnostics diagnostics) {
        this.diagnostics = diagnostics;
        this.arithmetic = new LiteralArithmetic(diagnostics);
    }

    /** Folds all of a script. */
    public static Script fold(Script script, CompilerDiagnostics diagnostics) {
        return new ConstantFolding(diagnostics).script(script);
    }

    @Override
    protected Expression expression(Expression expression) {
        if (expression instanceof Expression.If choice) {
            return choice(choice);
        }
        Expression made = super.expression(expression);
        return switch (made) {
            case UnaryOperation unary -> unary(unary);
            case BinaryOperation binary -> arithmetic.fold(binary);
            case Expression.Ternary ternary -> ternary(ternary);
            case BlockExpression block -> unwrapped(block);
            case FunctionCall call when call.function().equals("str") -> str(call);
            case IndexAccess index -> index(index);
            case Expression.TupleElement(var span, TupleLiteral tuple, var index) ->
                    LiteralValues.is(tuple) && index < tuple.elements().size()
                            ? tuple.elements().get(index)
                            : made;
            case MemberAccess(var span, RecordLiteral literal, var name) ->
                    LiteralValues.is(literal) ? member(literal, name, made) : made;
            case Comptime(var span, var operand) ->
                    LiteralValues.is(operand) || operand instanceof Comptime ? operand : made;
            default -> made;
        };
    }

    static Expression member(RecordLiteral literal, String name, Expression otherwise) {
        return literal.members().stream()
                .filter(member -> member.name().equals(name))
                .map(RecordMember::value)
                .findFirst()
                .orElse(otherwise);
    }

    private Expression unary(UnaryOperation unary) {
        SourceSpan span = unary.span();
        Expression operand = unary.operand();
        BigInteger value = LiteralValues.value(operand);
        if (value == null) {
            Boolean truth = operand instanceof BooleanLiteral ? LiteralValues.truth(operand) : null;
            return truth != null && unary.operator() == UnaryOperator.NOT
                    ? new BooleanLiteral(span, !truth)
                    : unary;
        }
        return switch (unary.operator()) {
            case NOT -> new BooleanLiteral(span, value.signum() == 0);
            case COMPLEMENT ->
                    value.signum() < 0
                            ? LiteralValues.integer(span, value.not())
                            : new Expression.IntegerLiteral(span, ~value.longValue());
            case NEGATE -> {
                if (value.compareTo(UNDERFLOW) > 0) {
                    diagnostics.error(span, "negative value will underflow");
                    yield unary;
                }
                yield LiteralValues.integer(span, value.negate());
            }
            case DEREFERENCE,
                    ADDRESS,
                    PRE_INCREMENT,
                    PRE_DECREMENT,
                    POST_INCREMENT,
                    POST_DECREMENT ->
                    unary;
        };
    }

    private static Expression ternary(Expression.Ternary ternary) {
        Expression condition = ternary.condition();
        Boolean truth = LiteralValues.truth(condition);
        if (truth == null) {
            return ternary;
        }
        Expression then = ternary.then();
        if ((then == null || LiteralValues.is(then)) && LiteralValues.is(ternary.otherwise())) {
            return truth ? (then == null ? condition : then) : ternary.otherwise();
        }
        if (then == null) {
            return ternary;
        }
        Expression known = new BooleanLiteral(condition.span(), truth);
        return new Expression.Ternary(ternary.span(), known, then, ternary.otherwise());
    }

    /** An {@code if} that is decided before the program runs is the arm that is taken. */
    private Expression choice(Expression.If choice) {
        boolean comptime = choice.condition() instanceof Comptime;
        Expression condition = expression(choice.condition());
        Boolean truth = LiteralValues.truth(condition);
        if (comptime && truth != null) {
            Expression otherwise = choice.otherwise();
            return truth
                    ? unwrapped(block(choice.then()))
                    : otherwise == null
                            ? new BlockExpression(choice.span(), List.of(), null)
                            : expression(otherwise);
        }
        Expression known = truth == null ? condition : new BooleanLiteral(condition.span(), truth);
        Expression otherwise = choice.otherwise();
        Expression arm =
                otherwise == null
                        ? null
                        : otherwise instanceof BlockExpression block
                                ? block(block)
                                : expression(otherwise);
        Expression folded =
                arm == null || arm instanceof BlockExpression || arm instanceof Expression.If
                        ? arm
                        : new BlockExpression(arm.span(), List.of(), arm);
        return new Expression.If(choice.span(), known, block(choice.then()), folded);
    }

    /** A block without statements is its value. */
    private static Expression unwrapped(BlockExpression block) {
        Expression result = block.result();
        return block.statements().isEmpty()
                        && result != null
                        && (LiteralValues.is(result) || result instanceof TupleLiteral)
                ? result
                : block;
    }

    @Override
    protected void statement(ScriptStatement statement, List<ScriptStatement> to) {
        if (!(statement instanceof ScriptStatement.Evaluate(var span, var expression))) {
            super.statement(statement, to);
            return;
        }
        Expression made = expression(expression);
        while (made instanceof BlockExpression block
                && block.statements().size() == 1
                && block.result() == null
                && block.statements().getFirst()
                        instanceof ScriptStatement.Evaluate(var at, var only)) {
            made = only;
        }
        boolean nothing =
                made instanceof BlockExpression block
                        && block.statements().isEmpty()
                        && block.result() == null;
        if (!nothing) {
            to.add(new ScriptStatement.Evaluate(span, made));
        }
    }

    /** {@code str("hello", 2)}; a number becomes its digits. */
    private static Expression str(FunctionCall call) {
        List<Expression> arguments = call.arguments();
        if (arguments.isEmpty() || arguments.size() > 2) {
            return call;
        }
        BigInteger number = LiteralValues.value(arguments.getFirst());
        String text;
        if (arguments.getFirst() instanceof StringLiteral(var span, var bytes)) {
            text = bytes;
        } else if (number != null) {
            text = number.toString();
        } else {
            return call;
        }
        if (arguments.size() == 2) {
            BigInteger length = LiteralValues.value(arguments.get(1));
            if (length == null || length.signum() < 0) {
                return call;
            }
            BigInteger most = BigInteger.valueOf(text.length());
            text = text.substring(0, length.min(most).intValue());
        }
        return new StringLiteral(call.span(), text);
    }

    /** {@code "foo"[0]}; behind the last byte stands a 0. */
    private static Expression index(IndexAccess index) {
        BigInteger at = LiteralValues.value(index.index());
        if (at == null
                || at.signum() < 0
                || !(index.of() instanceof StringLiteral(var span, var bytes))
                || at.compareTo(BigInteger.valueOf(bytes.length())) > 0) {
            return index;
        }
        int offset = at.intValue();
        int value = offset < bytes.length() ? (byte) bytes.charAt(offset) : 0;
        return LiteralValues.integer(index.span(), BigInteger.valueOf(value));
    }
}
