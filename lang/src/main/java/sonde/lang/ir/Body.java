package sonde.lang.ir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Ending;

/**
 * The copy of a function that passes change: the function itself stays as it was written, so that
 * it can be compiled for several kernels.
 */
final class Body {
    private static final int FIXED = 6;

    private final Function source;
    private final List<Vreg> registers;
    private final List<StackObject> objects;
    private final Map<StackObject, Vreg.Kind> slots = new LinkedHashMap<>();
    private final Vreg[] fixed = new Vreg[FIXED];
    private List<Block> layout = new ArrayList<>();
    private int blocks;

    private Body(Function source) {
        this.source = source;
        registers = new ArrayList<>(source.registers());
        objects = new ArrayList<>(source.objects());
        for (int i = 0; i < FIXED; i++) {
            fixed[i] = Vreg.fixed(registers.size(), i);
            registers.add(fixed[i]);
        }
    }

    /**
     * A copy; a last block without an end returns 0.
     *
     * @throws IllegalStateException when it goes to a block that was never started
     */
    static Body of(Function function) {
        Body body = new Body(function);
        Map<Block, Block> copies = new HashMap<>();
        for (Block block : function.layout()) {
            Block copy = body.block();
            copies.put(block, copy);
            body.layout.add(copy);
        }
        for (Block block : function.layout()) {
            List<Step> steps = copied(copies, block).steps();
            for (Step step : block.steps()) {
                Operation operation = step.operation();
                steps.add(
                        new Step(
                                operation instanceof Ending ending
                                        ? Effects.withTargets(ending, t -> copied(copies, t))
                                        : plain(operation),
                                step.span()));
            }
            if (!block.isClosed()) {
                steps.add(new Step(new Operation.Return(Operand.of(0)), function.place()));
            }
        }
        return body;
    }

    private static Block copied(Map<Block, Block> copies, Block block) {
        Block copy = copies.get(block);
        if (copy == null) {
            throw new IllegalStateException(block + " was never started");
        }
        return copy;
    }

    /** Moves written as arithmetic: only those of 32 bits stay, with both sides the same. */
    private static Operation plain(Operation operation) {
        if (!(operation instanceof Alu alu) || alu.operation() != AluOperation.MOVE) {
            return operation;
        }
        return switch (alu.right()) {
            case Operand.Number(long value) ->
                    new Operation.Constant(alu.to(), alu.wide() ? value : value & 0xffffffffL);
            case Vreg from ->
                    alu.wide()
                            ? new Operation.Copy(alu.to(), from)
                            : new Alu(AluOperation.MOVE, false, alu.to(), from, from);
        };
    }

    Function source() {
        return source;
    }

    List<Vreg> parameters() {
        return source.parameters();
    }

    /** All registers by index, the fixed ones among them. */
    List<Vreg> registers() {
        return registers;
    }

    List<StackObject> objects() {
        return objects;
    }

    /** What registers that found no place are kept in, and what kind. */
    Map<StackObject, Vreg.Kind> slots() {
        return slots;
    }

    List<Block> layout() {
        return layout;
    }

    void layout(List<Block> order) {
        layout = order;
    }

    Block entry() {
        return layout.getFirst();
    }

    int blockCount() {
        return blocks;
    }

    Block block() {
        return new Block(blocks++);
    }

    /** What stands for R0 to R5. */
    Vreg fixed(int register) {
        return fixed[register];
    }

    Vreg register(Vreg.Kind kind, String name) {
        Vreg register = new Vreg(registers.size(), kind, name);
        registers.add(register);
        return register;
    }

    /** Eight bytes for registers of a kind. */
    StackObject slot(Vreg.Kind kind) {
        StackObject slot = new StackObject(objects.size(), 8, 8);
        objects.add(slot);
        slots.put(slot, kind);
        return slot;
    }

    /** How often each register is written, parameters once more. */
    int[] writes() {
        int[] writes = new int[registers.size()];
        for (Vreg parameter : parameters()) {
            writes[parameter.index()]++;
        }
        for (Block block : layout) {
            for (Step step : block.steps()) {
                Vreg to = Effects.written(step.operation());
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
    @Nullable Operation[] definitions() {
        int[] writes = writes();
        @Nullable Operation[] found = new @Nullable Operation[registers.size()];
        for (Block block : layout) {
            for (Step step : block.steps()) {
                Vreg to = Effects.written(step.operation());
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
        for (Block block : layout) {
            for (Block target : Effects.targets(block)) {
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
