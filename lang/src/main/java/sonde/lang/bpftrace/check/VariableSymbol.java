package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.Block;
import sonde.lang.source.Span;
import sonde.lang.type.Type;

/** A variable of a block: {@code $name}. */
public final class VariableSymbol {
    private final String name;
    private final Block scope;
    private final int loop;
    @Nullable Type type;
    @Nullable Span declared;
    boolean fixed;
    boolean addressTaken;
    boolean captured;

    VariableSymbol(String name, Block scope, int loop) {
        this.name = name;
        this.scope = scope;
        this.loop = loop;
    }

    /** With its {@code $}. */
    public String name() {
        return name;
    }

    /** Where it lives. */
    public Block scope() {
        return scope;
    }

    /** How many loops lie around its declaration whose bodies are functions of their own. */
    int loop() {
        return loop;
    }

    /** What it holds. */
    public Type type() {
        Type known = type;
        return known == null ? Type.Int.I8 : known;
    }

    /** Whether it must lie in memory: its address is taken, or the body of a loop uses it. */
    public boolean isInMemory() {
        return addressTaken || captured;
    }
}
