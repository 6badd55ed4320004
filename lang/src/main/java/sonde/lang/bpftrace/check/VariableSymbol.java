package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.IntType;

/** A variable of a block: {@code $name}. */
public final class VariableSymbol {
    private final String name;
    private final BlockExpression scope;
    private final int loop;
    @Nullable ValueType type;
    @Nullable SourceSpan declared;
    boolean fixed;
    boolean addressTaken;
    boolean captured;

    VariableSymbol(String name, BlockExpression scope, int loop) {
        this.name = name;
        this.scope = scope;
        this.loop = loop;
    }

    /** With its {@code $}. */
    public String name() {
        return name;
    }

    /** Where it lives. */
    public BlockExpression scope() {
        return scope;
    }

    /** How many loops lie around its declaration whose bodies are functions of their own. */
    int loop() {
        return loop;
    }

    /** What it holds. */
    public ValueType type() {
        ValueType known = type;
        return known == null ? IntType.I8 : known;
    }

    /** Whether it must lie in memory: its address is taken, or the body of a loop uses it. */
    public boolean isInMemory() {
        return addressTaken || captured;
    }
}
