package sonde.lang.bpftrace.check;

import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.VoidType;

/** A block of the script as it runs at one kind of site, and what its parts are there. */
public final class ScriptClause {
    private final ProbeBlock probe;
    private final ProbeSite site;
    private final Map<Expression, ValueType> types = new IdentityHashMap<>();
    private final Map<Expression, VariableSymbol> variables = new IdentityHashMap<>();
    private final Map<Expression, Boolean> decisions = new IdentityHashMap<>();
    private final Map<Expression, Object> values = new IdentityHashMap<>();
    private final Map<Expression, Expression> shown = new IdentityHashMap<>();
    private final Map<Expression, ImportedFunction> imported = new IdentityHashMap<>();
    private final Map<Object, VariableSymbol> loops = new IdentityHashMap<>();

    /** A clause that nothing is known of yet. */
    public ScriptClause(ProbeBlock probe, ProbeSite site) {
        this.probe = probe;
        this.site = site;
    }

    /** The block with its predicate. */
    public ProbeBlock probe() {
        return probe;
    }

    /** Where it runs. */
    public ProbeSite site() {
        return site;
    }

    /** What an expression is; void for one that was not looked at. */
    public ValueType type(Expression expression) {
        return types.getOrDefault(expression, new VoidType());
    }

    /** The variable that an expression names. */
    public VariableSymbol variable(ScratchVariable expression) {
        VariableSymbol symbol = variables.get(expression);
        if (symbol == null) {
            throw new IllegalStateException(expression.span() + ": no variable");
        }
        return symbol;
    }

    /** Which branch of a conditional is kept; null when that is decided when it runs. */
    public @Nullable Boolean decision(Expression conditional) {
        return decisions.get(conditional);
    }

    /** A Long, String, Boolean or Type that an expression stands for; null for none. */
    public @Nullable Object value(Expression expression) {
        return values.get(expression);
    }

    /** What print shows of an expression: of arguments with texts elsewhere their members. */
    public Expression shown(Expression expression) {
        return shown.getOrDefault(expression, expression);
    }

    /** The function in C that a call is of; null for one of the language. */
    public @Nullable ImportedFunction imported(FunctionCall call) {
        return imported.get(call);
    }

    void imported(FunctionCall call, ImportedFunction function) {
        imported.put(call, function);
    }

    void show(Expression expression, Expression instead) {
        shown.put(expression, instead);
    }

    /** The variable of a loop. */
    public VariableSymbol variable(ScriptStatement loop) {
        VariableSymbol symbol = loops.get(loop);
        if (symbol == null) {
            throw new IllegalStateException(loop.span() + ": no variable");
        }
        return symbol;
    }

    void value(Expression expression, @Nullable Object value) {
        if (value != null) {
            values.put(expression, value);
        }
    }

    /** Gives {@code target operator value} its type, which no text of the script has. */
    public void derive(
            Expression sum, Expression target, Expression value, BinaryOperator operator) {
        ValueType left = type(target);
        ValueType right = type(value);
        if (left instanceof PointerType || right instanceof PointerType) {
            types.put(sum, left instanceof PointerType ? left : right);
            return;
        }
        types.put(sum, OperatorTypes.number(operator, left, right));
    }

    void type(Expression expression, @Nullable ValueType type) {
        if (type == null) {
            types.remove(expression);
        } else {
            types.put(expression, type);
        }
    }

    void variable(Expression expression, VariableSymbol symbol) {
        variables.put(expression, symbol);
    }

    void decide(Expression conditional, boolean value) {
        decisions.put(conditional, value);
    }

    Map<Object, VariableSymbol> loops() {
        return loops;
    }
}
