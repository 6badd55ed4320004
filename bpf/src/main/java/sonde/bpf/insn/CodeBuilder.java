package sonde.bpf.insn;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.Atomic;
import sonde.bpf.insn.Instruction.Branch;
import sonde.bpf.insn.Instruction.ByteOrderChange;
import sonde.bpf.insn.Instruction.ByteSwap;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.CallKernel;
import sonde.bpf.insn.Instruction.CallLocal;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.Instruction.Exit;
import sonde.bpf.insn.Instruction.Goto;
import sonde.bpf.insn.Instruction.GotoLong;
import sonde.bpf.insn.Instruction.Load;
import sonde.bpf.insn.Instruction.LoadWide;
import sonde.bpf.insn.Instruction.MayGoto;
import sonde.bpf.insn.Instruction.Negate;
import sonde.bpf.insn.Instruction.Store;

/** Writes a program by the effects of its instructions; jumps go to labels. */
public final class CodeBuilder {
    private record UnresolvedJump(int index, Label target) {}

    private final List<Instruction> instructions = new ArrayList<>();
    private final List<String> steps = new ArrayList<>();
    private final List<UnresolvedJump> jumps = new ArrayList<>();
    private final Map<Label, Integer> places = new HashMap<>();
    private String step = "";
    private int slots;

    /** An empty program. */
    public CodeBuilder() {}

    /** Adds any instruction; every other method comes here. */
    public CodeBuilder add(Instruction instruction) {
        instructions.add(instruction);
        steps.add(step);
        slots += instruction.slots();
        return this;
    }

    /** Names what the following instructions do, for the verifier's complaints. */
    public CodeBuilder step(String name) {
        step = name;
        return this;
    }

    /** Slots written so far: the place of the next instruction. */
    public int slot() {
        return slots;
    }

    /** Binds a label to this place. */
    public CodeBuilder at(Label label) {
        if (places.put(label, slots) != null) {
            throw new IllegalStateException("label " + label + " bound twice");
        }
        return this;
    }

    /** {@code to = from}. */
    public CodeBuilder move(BpfRegister to, BpfRegister from) {
        return add(new Alu(AluOperation.MOVE, true, to, from));
    }

    /** {@code to = value}, sign-extended. */
    public CodeBuilder move(BpfRegister to, int value) {
        return compute(AluOperation.MOVE, to, value);
    }

    /** {@code to = value}, in one slot when 32 bits suffice. */
    public CodeBuilder move(BpfRegister to, long value) {
        return value == (int) value
                ? move(to, (int) value)
                : add(new LoadWide(ConstantMeaning.NUMBER, to, value));
    }

    /** {@code to} = the map of that descriptor, for helpers. */
    public CodeBuilder map(BpfRegister to, int mapFd) {
        return add(new LoadWide(ConstantMeaning.MAP, to, mapFd));
    }

    /** {@code to} = address in the value of an array map with one entry, no lookup and no null. */
    public CodeBuilder mapValue(BpfRegister to, int mapFd, int offset) {
        return add(new LoadWide(ConstantMeaning.MAP_VALUE, to, (long) offset << 32 | mapFd));
    }

    /** {@code to} = the subprogram at the label, for helpers that call back. */
    public CodeBuilder function(BpfRegister to, Label target) {
        return add(new LoadWide(ConstantMeaning.FUNCTION, to, 0), target);
    }

    /** {@code to operation= value}, 64 bits. */
    public CodeBuilder compute(AluOperation operation, BpfRegister to, int value) {
        return add(new Alu(operation, true, to, new InstructionOperand.Immediate(value)));
    }

    /** {@code to operation= from}, 64 bits. */
    public CodeBuilder compute(AluOperation operation, BpfRegister to, BpfRegister from) {
        return add(new Alu(operation, true, to, from));
    }

    /** {@code to += value}. */
    public CodeBuilder add(BpfRegister to, int value) {
        return compute(AluOperation.ADD, to, value);
    }

    /** {@code to += from}. */
    public CodeBuilder add(BpfRegister to, BpfRegister from) {
        return compute(AluOperation.ADD, to, from);
    }

    /** {@code to &= mask}, the mask sign-extended. */
    public CodeBuilder and(BpfRegister to, int mask) {
        return compute(AluOperation.AND, to, mask);
    }

    /** {@code to <<= bits}. */
    public CodeBuilder shiftLeft(BpfRegister to, int bits) {
        return compute(AluOperation.SHIFT_LEFT, to, bits);
    }

    /** {@code to >>= bits}, zeros enter. */
    public CodeBuilder shiftRight(BpfRegister to, int bits) {
        return compute(AluOperation.SHIFT_RIGHT, to, bits);
    }

    /** {@code to = -to}. */
    public CodeBuilder negate(BpfRegister to) {
        return add(new Negate(true, to));
    }

    /** {@code to} in network order, 16, 32 or 64 bits; what is above becomes zero. */
    public CodeBuilder toNetworkOrder(int bits, BpfRegister to) {
        return add(new ByteSwap(ByteOrderChange.TO_BIG, bits, to));
    }

    /** {@code to operation= value}, 32 bits; the upper half becomes zero. */
    public CodeBuilder compute32(AluOperation operation, BpfRegister to, int value) {
        return add(new Alu(operation, false, to, new InstructionOperand.Immediate(value)));
    }

    /** {@code to operation= from}, 32 bits; the upper half becomes zero. */
    public CodeBuilder compute32(AluOperation operation, BpfRegister to, BpfRegister from) {
        return add(new Alu(operation, false, to, from));
    }

    /** {@code to = *(base + offset)}, zero-extended. */
    public CodeBuilder load(Width width, BpfRegister to, BpfRegister base, int offset) {
        return add(new Load(width, to, base, toShort(offset)));
    }

    /** {@code *(base + offset) = from}. */
    public CodeBuilder store(Width width, BpfRegister base, int offset, BpfRegister from) {
        return add(new Store(width, base, toShort(offset), from));
    }

    /** {@code *(base + offset) = value}. */
    public CodeBuilder store(Width width, BpfRegister base, int offset, int value) {
        return add(
                new Store(width, base, toShort(offset), new InstructionOperand.Immediate(value)));
    }

    /** {@code *(base + offset) += from}, atomically. */
    public CodeBuilder atomicAdd(Width width, BpfRegister base, int offset, BpfRegister from) {
        return atomic(AtomicOperation.ADD, width, base, offset, from);
    }

    /** Reads, changes and writes {@code *(base + offset)} in one; 32 or 64 bits. */
    public CodeBuilder atomic(
            AtomicOperation operation,
            Width width,
            BpfRegister base,
            int offset,
            BpfRegister from) {
        return add(new Atomic(operation, width, base, toShort(offset), from));
    }

    /** Calls a helper: arguments in R1 to R5, all five lost, result in R0. */
    public CodeBuilder call(int helper) {
        return add(new CallHelperFunction(helper));
    }

    /** Calls the subprogram at the label: R1 to R5 are its arguments, R0 its result. */
    public CodeBuilder call(Label target) {
        return add(new CallLocal(0), target);
    }

    /** Calls a function of the kernel proper by its BTF id. */
    public CodeBuilder callKernel(int btfId) {
        return add(new CallKernel(btfId, (short) 0));
    }

    /** Returns R0. */
    public CodeBuilder exit() {
        return add(new Exit());
    }

    /** Returns a number. */
    public CodeBuilder exit(int result) {
        return move(BpfRegister.R0, result).exit();
    }

    /** Adds an instruction whose distance is to be that to the label. */
    public CodeBuilder add(Instruction jump, Label target) {
        withOffset(jump, 0);
        jumps.add(new UnresolvedJump(instructions.size(), target));
        return add(jump);
    }

    /** Goes to the label. */
    public CodeBuilder jump(Label target) {
        return add(new Goto((short) 0), target);
    }

    /** Goes to the label, however far (Linux 6.6). */
    public CodeBuilder jumpFar(Label target) {
        return add(new GotoLong(0), target);
    }

    /** Goes to the label when {@code left condition right} holds for 64 bits. */
    public CodeBuilder branch(
            JumpCondition condition, BpfRegister left, InstructionOperand right, Label target) {
        return add(new Branch(condition, true, left, right, (short) 0), target);
    }

    /** Goes to the label when {@code left condition right} holds for the lower 32 bits. */
    public CodeBuilder branch32(
            JumpCondition condition, BpfRegister left, InstructionOperand right, Label target) {
        return add(new Branch(condition, false, left, right, (short) 0), target);
    }

    /** Goes to the label when {@code left condition value} holds for 64 bits. */
    public CodeBuilder branch(JumpCondition condition, BpfRegister left, int value, Label target) {
        return branch(condition, left, new InstructionOperand.Immediate(value), target);
    }

    /** Goes to the label when the register is 0. */
    public CodeBuilder ifZero(BpfRegister register, Label target) {
        return branch(JumpCondition.EQUAL, register, 0, target);
    }

    /** Goes to the label when the register is not 0. */
    public CodeBuilder ifNotZero(BpfRegister register, Label target) {
        return branch(JumpCondition.NOT_EQUAL, register, 0, target);
    }

    /**
     * The program.
     *
     * @throws IllegalStateException when a label is not bound or too far for 16 bits
     */
    public ProgramCode build() {
        int[] slotAfter = new int[instructions.size()];
        int slot = 0;
        for (int i = 0; i < slotAfter.length; i++) {
            slot += instructions.get(i).slots();
            slotAfter[i] = slot;
        }
        List<Instruction> resolved = new ArrayList<>(instructions);
        for (UnresolvedJump jump : jumps) {
            Integer place = places.get(jump.target());
            if (place == null) {
                throw new IllegalStateException("label " + jump.target() + " not bound");
            }
            int offset = place - slotAfter[jump.index()];
            resolved.set(jump.index(), withOffset(resolved.get(jump.index()), offset));
        }
        return new ProgramCode(resolved, steps);
    }

    private static Instruction withOffset(Instruction jump, int offset) {
        return switch (jump) {
            case Branch b ->
                    new Branch(b.condition(), b.wide(), b.left(), b.right(), toShort(offset));
            case Goto _ -> new Goto(toShort(offset));
            case GotoLong _ -> new GotoLong(offset);
            case MayGoto _ -> new MayGoto(toShort(offset));
            case CallLocal _ -> new CallLocal(offset);
            // The kernel counts from the first of the two slots.
            case LoadWide w when w.meaning() == ConstantMeaning.FUNCTION ->
                    new LoadWide(ConstantMeaning.FUNCTION, w.to(), offset + 1 & 0xffffffffL);
            default -> throw new IllegalArgumentException(jump + " goes nowhere");
        };
    }

    private static short toShort(int offset) {
        if (offset != (short) offset) {
            throw new IllegalStateException("offset " + offset + " does not fit 16 bits");
        }
        return (short) offset;
    }
}
