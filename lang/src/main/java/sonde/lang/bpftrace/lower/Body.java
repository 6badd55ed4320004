package sonde.lang.bpftrace.lower;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Block;
import sonde.lang.ir.Function;
import sonde.lang.ir.Operation;
import sonde.lang.ir.Vreg;

/** A function that is being written: the program, or the body of a loop that a helper calls. */
final class Body {
    private final Function function;
    private final Emitter emit;
    private final @Nullable Body outer;
    private @Nullable Vreg context;
    private boolean usesContext;
    private boolean returns;
    @Nullable Block breakTo;
    @Nullable Block continueTo;

    Body(Function function, @Nullable Body outer) {
        this.function = function;
        this.emit = new Emitter(function);
        this.outer = outer;
    }

    Function function() {
        return function;
    }

    Emitter emit() {
        return emit;
    }

    /** Whether a helper calls it. */
    boolean isLoop() {
        return outer != null;
    }

    /** What the program is called with. */
    Vreg context() {
        if (outer == null) {
            return function.parameters().getFirst();
        }
        usesContext = true;
        Vreg known = context;
        if (known == null) {
            known = function.pointer();
            context = known;
        }
        return known;
    }

    /** Whether its caller must hand on what the program is called with. */
    boolean usesContext() {
        return usesContext;
    }

    /** Reads the program's context at the start, when it is used. */
    void finish(Vreg shared) {
        Vreg known = context;
        if (known != null) {
            function.layout()
                    .getFirst()
                    .steps()
                    .addFirst(
                            new Block.Step(
                                    new Operation.Load(Width.U64, false, known, shared, 0), null));
        }
    }

    void markReturn() {
        returns = true;
    }

    /** Whether it leaves the program. */
    boolean returns() {
        return returns;
    }
}
