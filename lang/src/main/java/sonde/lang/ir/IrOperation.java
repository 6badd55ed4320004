package sonde.lang.ir;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;

/** One effect on virtual registers, memory or the kernel. */
public sealed interface IrOperation {
    /** What every block ends with, and only there. */
    sealed interface Ending extends IrOperation {}

    /** {@code to = value}. */
    record IrConstant(VirtualRegister to, long value) implements IrOperation {}

    /** {@code to = from}. */
    record IrCopy(VirtualRegister to, VirtualRegister from) implements IrOperation {}

    /**
     * {@code to = left operation right}.
     *
     * @param wide 64 bits; else 32, the upper half of the result is zero
     */
    record IrAlu(
            AluOperation operation,
            boolean wide,
            VirtualRegister to,
            VirtualRegister left,
            IrOperand right)
            implements IrOperation {}

    /** {@code to = -from}, 64 bits. */
    record IrNegate(VirtualRegister to, VirtualRegister from) implements IrOperation {}

    /**
     * {@code to} = the low bits of {@code from} with their sign.
     *
     * @param bits 8, 16 or 32
     */
    record IrSignExtend(int bits, VirtualRegister to, VirtualRegister from)
            implements IrOperation {}

    /**
     * {@code to} = the low bits of {@code from} with their bytes in the other order; zero above.
     *
     * @param bits 16, 32 or 64
     */
    record IrSwap(int bits, VirtualRegister to, VirtualRegister from) implements IrOperation {}

    /** {@code to = *(base + offset)}. */
    record IrLoad(Width width, boolean signed, VirtualRegister to, AccessAnchor base, int offset)
            implements IrOperation {}

    /** {@code *(base + offset) = from}. */
    record IrStore(Width width, AccessAnchor base, int offset, IrOperand from)
            implements IrOperation {}

    /**
     * Reads, changes and writes {@code *(base + offset)} in one.
     *
     * @param result takes what was there; null for operations that do not fetch. Of a compare and
     *     exchange it holds before what to compare with
     */
    record IrAtomic(
            AtomicOperation operation,
            Width width,
            AccessAnchor base,
            int offset,
            VirtualRegister from,
            @Nullable VirtualRegister result)
            implements IrOperation {}

    /** {@code to} = the address of an object on the stack, plus offset. */
    record IrAddress(VirtualRegister to, StackObject object, int offset) implements IrOperation {}

    /** {@code to} = a map, for helpers. */
    record MapAddress(VirtualRegister to, String map) implements IrOperation {}

    /** {@code to} = an address in the only value of an array map. */
    record MapValue(VirtualRegister to, String map, int offset) implements IrOperation {}

    /** {@code to} = a function, for helpers that call back. */
    record FunctionAddress(VirtualRegister to, IrFunction function) implements IrOperation {}

    /** {@code to} = the address of a per-CPU or other variable of the kernel, by its BTF id. */
    record KernelVariable(VirtualRegister to, int btfId) implements IrOperation {}

    /** {@code to} = a number that is put in when the program is loaded. */
    record IrLoadTime(VirtualRegister to, LoadTimeConstant wanted) implements IrOperation {}

    /**
     * Calls a helper.
     *
     * @param to null when the result is not wanted
     * @param arguments at most five
     */
    record IrCall(@Nullable VirtualRegister to, int helper, List<IrOperand> arguments)
            implements IrOperation {
        public IrCall {
            arguments = List.copyOf(arguments);
        }
    }

    /** Calls a function of the kernel (kfunc) by name; it is found when the code is encoded. */
    record IrCallKernel(@Nullable VirtualRegister to, String function, List<IrOperand> arguments)
            implements IrOperation {
        public IrCallKernel {
            arguments = List.copyOf(arguments);
        }
    }

    /** Calls a function of the program. */
    record IrCallLocal(@Nullable VirtualRegister to, IrFunction function, List<IrOperand> arguments)
            implements IrOperation {
        public IrCallLocal {
            arguments = List.copyOf(arguments);
        }
    }

    /** Calls a function that was compiled elsewhere; it is put behind the program's own. */
    record CallImported(@Nullable VirtualRegister to, String function, List<IrOperand> arguments)
            implements IrOperation {
        public CallImported {
            arguments = List.copyOf(arguments);
        }
    }

    /** Goes on elsewhere. */
    record IrGoto(BasicBlock target) implements Ending {}

    /** Goes on at {@code then} when the condition holds, else at {@code otherwise}. */
    record IrBranch(
            JumpCondition condition,
            boolean wide,
            VirtualRegister left,
            IrOperand right,
            BasicBlock then,
            BasicBlock otherwise)
            implements Ending {}

    /** Leaves the function with a result. */
    record IrReturn(IrOperand value) implements Ending {}
}
