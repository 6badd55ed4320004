package sonde.lang.ir;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;

/** One effect on virtual registers, memory or the kernel. */
public sealed interface Operation {
    /** What every block ends with, and only there. */
    sealed interface Ending extends Operation {}

    /** {@code to = value}. */
    record Constant(Vreg to, long value) implements Operation {}

    /** {@code to = from}. */
    record Copy(Vreg to, Vreg from) implements Operation {}

    /**
     * {@code to = left operation right}.
     *
     * @param wide 64 bits; else 32, the upper half of the result is zero
     */
    record Alu(AluOperation operation, boolean wide, Vreg to, Vreg left, Operand right)
            implements Operation {}

    /** {@code to = -from}, 64 bits. */
    record Negate(Vreg to, Vreg from) implements Operation {}

    /**
     * {@code to} = the low bits of {@code from} with their sign.
     *
     * @param bits 8, 16 or 32
     */
    record SignExtend(int bits, Vreg to, Vreg from) implements Operation {}

    /**
     * {@code to} = the low bits of {@code from} with their bytes in the other order; zero above.
     *
     * @param bits 16, 32 or 64
     */
    record Swap(int bits, Vreg to, Vreg from) implements Operation {}

    /** {@code to = *(base + offset)}. */
    record Load(Width width, boolean signed, Vreg to, Anchor base, int offset)
            implements Operation {}

    /** {@code *(base + offset) = from}. */
    record Store(Width width, Anchor base, int offset, Operand from) implements Operation {}

    /**
     * Reads, changes and writes {@code *(base + offset)} in one.
     *
     * @param result takes what was there; null for operations that do not fetch. Of a compare and
     *     exchange it holds before what to compare with
     */
    record Atomic(
            AtomicOperation operation,
            Width width,
            Anchor base,
            int offset,
            Vreg from,
            @Nullable Vreg result)
            implements Operation {}

    /** {@code to} = the address of an object on the stack, plus offset. */
    record Address(Vreg to, StackObject object, int offset) implements Operation {}

    /** {@code to} = a map, for helpers. */
    record MapAddress(Vreg to, String map) implements Operation {}

    /** {@code to} = an address in the only value of an array map. */
    record MapValue(Vreg to, String map, int offset) implements Operation {}

    /** {@code to} = a function, for helpers that call back. */
    record FunctionAddress(Vreg to, Function function) implements Operation {}

    /** {@code to} = the address of a per-CPU or other variable of the kernel, by its BTF id. */
    record KernelVariable(Vreg to, int btfId) implements Operation {}

    /** {@code to} = a number that is put in when the program is loaded. */
    record Later(Vreg to, Wanted wanted) implements Operation {}

    /**
     * Calls a helper.
     *
     * @param to null when the result is not wanted
     * @param arguments at most five
     */
    record Call(@Nullable Vreg to, int helper, List<Operand> arguments) implements Operation {
        public Call {
            arguments = List.copyOf(arguments);
        }
    }

    /** Calls a function of the kernel (kfunc) by name; it is found when the code is encoded. */
    record CallKernel(@Nullable Vreg to, String function, List<Operand> arguments)
            implements Operation {
        public CallKernel {
            arguments = List.copyOf(arguments);
        }
    }

    /** Calls a function of the program. */
    record CallLocal(@Nullable Vreg to, Function function, List<Operand> arguments)
            implements Operation {
        public CallLocal {
            arguments = List.copyOf(arguments);
        }
    }

    /** Calls a function that was compiled elsewhere; it is put behind the program's own. */
    record CallImported(@Nullable Vreg to, String function, List<Operand> arguments)
            implements Operation {
        public CallImported {
            arguments = List.copyOf(arguments);
        }
    }

    /** Goes on elsewhere. */
    record Goto(Block target) implements Ending {}

    /** Goes on at {@code then} when the condition holds, else at {@code otherwise}. */
    record Branch(
            Condition condition,
            boolean wide,
            Vreg left,
            Operand right,
            Block then,
            Block otherwise)
            implements Ending {}

    /** Leaves the function with a result. */
    record Return(Operand value) implements Ending {}
}
