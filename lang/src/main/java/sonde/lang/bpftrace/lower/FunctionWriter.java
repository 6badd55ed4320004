package sonde.lang.bpftrace.lower;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Width;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrFunction;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.VirtualRegister;

/** A function that is being written: the program, or the body of a loop that a helper calls. */
final class FunctionWriter {
    private final IrFunction function;
    private final OperationEmitter emit;
    private final @Nullable FunctionWriter outer;
    private @Nullable VirtualRegister context;
    private boolean usesContext;
    private boolean returns;
    @Nullable BasicBlock breakTo;
    @Nullable BasicBlock continueTo;

    FunctionWriter(IrFunction function, @Nullable FunctionWriter outer) {
        this.function = function;
        this.emit = new OperationEmitter(function);
        this.outer = outer;
    }

    IrFunction function() {
        return function;
    }

    OperationEmitter emit() {
        return emit;
    }

    /** Whether a helper calls it. */
    boolean isLoop() {
        return outer != null;
    }

    /** What the program is called with. */
    VirtualRegister context() {
        if (outer == null) {
            return function.parameters().getFirst();
        }
        usesContext = true;
        VirtualRegister known = context;
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
    void finish(VirtualRegister shared) {
        VirtualRegister known = context;
        if (known != null) {
            function.layout()
                    .getFirst()
                    .steps()
                    .addFirst(new BlockStep(new IrLoad(Width.U64, false, known, shared, 0), null));
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
