package sonde.lang.ir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.Ending;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrReturn;

/**
 * The copy of a function that passes change: the function itself stays as it was written, so that
 * it can be compiled for several kernels.
 */
final class WorkingFunction {
    private static final int FIXED = 6;

    private final IrFunction source;
    private final List<VirtualRegister> registers;
    private final List<StackObject> objects;
    private final Map<StackObject, VirtualRegister.Kind> slots = new LinkedHashMap<>();
    private final VirtualRegister[] fixed = new VirtualRegister[FIXED];
    private List<BasicBlock> layout = new ArrayList<>();
    private int blocks;

    private WorkingFunction(IrFunction source) {
        this.source = source;
        registers = new ArrayList<>(source.registers());
        objects = new ArrayList<>(source.objects());
        for (int i = 0; i < FIXED; i++) {
            fixed[i] = VirtualRegister.fixed(registers.size(), i);
            registers.add(fixed[i]);
        }
    }

    /**
     * A copy; a last block without an end returns 0.
     *
     * @throws IllegalStateException when it goes to a block that was never started
     */
    static WorkingFunction of(IrFunction function) {
        WorkingFunction body = new WorkingFunction(function);
        Map<BasicBlock, BasicBlock> copies = new HashMap<>();
        for (BasicBlock block : function.layout()) {
            BasicBlock copy = body.block();
            copies.put(block, copy);
            body.layout.add(copy);
        }
        for (BasicBlock block : function.layout()) {
            List<BlockStep> steps = copied(copies, block).steps();
            for (BlockStep step : block.steps()) {
                IrOperation operation = step.operation();
                steps.add(
                        new BlockStep(
                                operation instanceof Ending ending
                                        ? OperationEffects.withTargets(
                                                ending, t -> copied(copies, t))
                                        : plain(operation),
                                step.span()));
            }
            if (!block.isClosed()) {
                steps.add(new BlockStep(new IrReturn(IrOperand.of(0)), function.place()));
            }
        }
        return body;
    }

    private static BasicBlock copied(Map<BasicBlock, BasicBlock> copies, BasicBlock block) {
        BasicBlock copy = copies.get(block);
        if (copy == null) {
            throw new IllegalStateException(block + " was never started");
        }
        return copy;
    }

    /** Moves written as arithmetic: only those of 32 bits stay, with both sides the same. */
    private static IrOperation plain(IrOperation operation) {
        if (!(operation instanceof IrAlu alu) || alu.operation() != AluOperation.MOVE) {
            return operation;
        }
        return switch (alu.right()) {
            case IrNumber(long value) ->
                    new IrConstant(alu.to(), alu.wide() ? value : value & 0xffffffffL);
            case VirtualRegister from ->
                    alu.wide()
                            ? new IrCopy(alu.to(), from)
                            : new IrAlu(AluOperation.MOVE, false, alu.to(), from, from);
        };
    }

    IrFunction source() {
        return source;
    }

    List<VirtualRegister> parameters() {
        return source.parameters();
    }

    /** All registers by index, the fixed ones among them. */
    List<VirtualRegister> registers() {
        return registers;
    }

    List<StackObject> objects() {
        return objects;
    }

    /** What registers that found no place are kept in, and what kind. */
    Map<StackObject, VirtualRegister.Kind> slots() {
        return slots;
    }

    List<BasicBlock> layout() {
        return layout;
    }

    void layout(List<BasicBlock> order) {
        layout = order;
    }

    BasicBlock entry() {
        return layout.getFirst();
    }

    int blockCount() {
        return blocks;
    }

    BasicBlock block() {
        return new BasicBlock(blocks++);
    }

    /** What stands for R0 to R5. */
    VirtualRegister fixed(int register) {
        return fixed[register];
    }

    VirtualRegister register(VirtualRegister.Kind kind, String name) {
        VirtualRegister register = new VirtualRegister(registers.size(), kind, name);
        registers.add(register);
        return register;
    }

    /** Eight bytes for registers of a kind. */
    StackObject slot(VirtualRegister.Kind kind) {
        StackObject slot = new StackObject(objects.size(), 8, 8);
        objects.add(slot);
        slots.put(slot, kind);
        return slot;
    }

    /** How often each register is written, parameters once more. */
    int[] writes() {
        int[] writes = new int[registers.size()];
        for (VirtualRegister parameter : parameters()) {
            writes[parameter.index()]++;
        }
        for (BasicBlock block : layout) {
            for (BlockStep step : block.steps()) {
                VirtualRegister to = OperationEffects.written(step.operation());
                if (to != null) {
                    writes[to.index()]++;
                }
            }
        }
        return writes;
    }

    /**
     * The operation that alone writes a register, by index; null for those that are written by
     * several, parameters among them.
     */
    @Nullable IrOperation[] definitions() {
        int[] writes = writes();
        @Nullable IrOperation[] found = new @Nullable IrOperation[registers.size()];
        for (BasicBlock block : layout) {
            for (BlockStep step : block.steps()) {
                VirtualRegister to = OperationEffects.written(step.operation());
                if (to != null && writes[to.index()] == 1) {
                    found[to.index()] = step.operation();
                }
            }
        }
        return found;
    }

    /** How many edges lead to each block, the entry one more. */
    int[] predecessors() {
        int[] count = new int[blocks];
        count[entry().index()]++;
        for (BasicBlock block : layout) {
            for (BasicBlock target : OperationEffects.targets(block)) {
                count[target.index()]++;
            }
        }
        return count;
    }

    /** As text. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder(1024);
        out.append(source.name()).append(":\n");
        IrText.blocks(layout, o -> o, out);
        return out.toString();
    }
}
