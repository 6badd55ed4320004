package sonde.lang.bpftrace.check;

import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Statement;
import sonde.lang.type.Type;

/** A block of the script as it runs at one kind of site, and what its parts are there. */
public final class Clause {
    private final Script.Probe probe;
    private final Site site;
    private final Map<Expression, Type> types = new IdentityHashMap<>();
    private final Map<Expression, VariableSymbol> variables = new IdentityHashMap<>();
    private final Map<Expression, Boolean> decisions = new IdentityHashMap<>();
    private final Map<Expression, Object> values = new IdentityHashMap<>();
    private final Map<Expression, Expression> shown = new IdentityHashMap<>();
    private final Map<Expression, ImportedFunction> imported = new IdentityHashMap<>();
    private final Map<Object, VariableSymbol> loops = new IdentityHashMap<>();
    private boolean usesProbe;

    /** A clause that nothing is known of yet. */
    public Clause(Script.Probe probe, Site site) {
        this.probe = probe;
        this.site = site;
    }

    /** The block with its predicate. */
    public Script.Probe probe() {
        return probe;
    }

    /** Where it runs. */
    public Site site() {
        return site;
    }

    /** What an expression is; void for one that was not looked at. */
    public Type type(Expression expression) {
        return types.getOrDefault(expression, new Type.Void());
    }

    /** The variable that an expression names. */
    public VariableSymbol variable(Expression.Variable expression) {
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
    public @Nullable ImportedFunction imported(Expression.Call call) {
        return imported.get(call);
    }

    void imported(Expression.Call call, ImportedFunction function) {
        imported.put(call, function);
    }

    void show(Expression expression, Expression instead) {
        shown.put(expression, instead);
    }

    /** The variable of a loop. */
    public VariableSymbol variable(Statement loop) {
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
        Type left = type(target);
        Type right = type(value);
        if (left instanceof Type.Pointer || right instanceof Type.Pointer) {
            types.put(sum, left instanceof Type.Pointer ? left : right);
            return;
        }
        types.put(sum, OperatorTypes.number(operator, left, right));
    }

    void type(Expression expression, @Nullable Type type) {
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

    /** Whether its code says which probe it is at: each probe needs a program of its own. */
    public boolean usesProbe() {
        return usesProbe;
    }

    void markProbe() {
        usesProbe = true;
    }
}
