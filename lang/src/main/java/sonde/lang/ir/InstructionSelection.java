package sonde.lang.ir;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.ByteOrderChange;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.InstructionOperand;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.CodeItem.BlockJump;
import sonde.lang.ir.CodeItem.LoadTimeItem;
import sonde.lang.ir.CodeItem.PlainItem;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrLoadTime;
import sonde.lang.ir.IrOperation.IrNegate;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrSignExtend;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.ir.IrOperation.IrSwap;

/** Writes the instructions of one function. */
final class InstructionSelection {
    /** An instruction, the block that begins with it, and the step it belongs to. */
    record SelectedInstruction(CodeItem item, List<BasicBlock> starts, int step) {}

    private static final ByteOrderChange SWAP =
            ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                    ? ByteOrderChange.TO_BIG
                    : ByteOrderChange.TO_LITTLE;

    private final CompiledFunction function;
    private final List<SelectedInstruction> selected = new ArrayList<>();
    private final List<BasicBlock> starts = new ArrayList<>();
    private int number;

    /** What a slot of the stack and a register both hold since the last store or load. */
    private @Nullable StackObject mirrored;

    private @Nullable BpfRegister mirror;

    private InstructionSelection(CompiledFunction function) {
        this.function = function;
    }

    static List<SelectedInstruction> of(CompiledFunction function) {
        InstructionSelection selection = new InstructionSelection(function);
        List<BasicBlock> layout = function.body().layout();
        for (int i = 0; i < layout.size(); i++) {
            BasicBlock next = i + 1 < layout.size() ? layout.get(i + 1) : null;
            selection.mirrored = null;
            selection.starts.add(layout.get(i));
            for (BlockStep step : layout.get(i).steps()) {
                selection.step(step.operation(), next);
                selection.number++;
            }
        }
        return selection.selected;
    }

    private void add(CodeItem item) {
        selected.add(new SelectedInstruction(item, List.copyOf(starts), number));
        starts.clear();
    }

    private void add(Instruction instruction) {
        add(new PlainItem(instruction));
    }

    private BpfRegister at(VirtualRegister register) {
        return function.register(register);
    }

    private void step(IrOperation operation, @Nullable BasicBlock next) {
        switch (operation) {
            case IrConstant o -> constant(at(o.to()), o.value());
            case IrCopy o -> move(at(o.to()), at(o.from()));
            case IrAlu o -> alu(o);
            case IrNegate o -> add(new Instruction.Negate(true, at(o.to())));
            case IrSignExtend o ->
                    add(new Instruction.SignExtend(o.bits(), true, at(o.to()), at(o.from())));
            case IrSwap o -> add(new Instruction.ByteSwap(SWAP, o.bits(), at(o.to())));
            case IrLoad o -> load(o);
            case IrStore o -> store(o);
            case IrAtomic o -> atomic(o);
            case IrAddress o ->
                    address(at(o.to()), function.frame().offset(o.object()) + o.offset());
            case IrOperation.MapAddress o ->
                    add(new CodeItem.MapUse(ConstantMeaning.MAP, at(o.to()), o.map(), 0));
            case IrOperation.MapValue o ->
                    add(
                            new CodeItem.MapUse(
                                    ConstantMeaning.MAP_VALUE, at(o.to()), o.map(), o.offset()));
            case IrOperation.FunctionAddress o ->
                    add(new CodeItem.LocalAddress(at(o.to()), o.function()));
            case IrOperation.KernelVariable o ->
                    add(
                            new Instruction.LoadWide(
                                    ConstantMeaning.BTF_ID, at(o.to()), o.btfId() & 0xffffffffL));
            case IrLoadTime o -> add(new LoadTimeItem(at(o.to()), o.wanted()));
            case IrCall o -> add(new CallHelperFunction(o.helper()));
            case IrCallKernel o -> add(new CodeItem.KernelCall(o.function()));
            case IrCallLocal o -> add(new CodeItem.LocalCall(o.function()));
            case IrOperation.CallImported o -> add(new CodeItem.ImportedCall(o.function()));
            case IrGoto o -> go(o.target(), next);
            case IrBranch o -> branch(o, next);
            case IrReturn _ -> add(new Instruction.Exit());
        }
        forget(operation);
    }

    /** What changes a register or a slot ends what is known of it. */
    private void forget(IrOperation operation) {
        VirtualRegister to = OperationEffects.written(operation);
        boolean changed = to != null && at(to) == mirror && !(operation instanceof IrLoad);
        if (changed || OperationEffects.isCall(operation)) {
            mirrored = null;
        }
    }

    private void constant(BpfRegister to, long value) {
        if (value == (int) value) {
            add(new Instruction.Alu(AluOperation.MOVE, true, to, immediate(value)));
        } else if (value >>> 32 == 0) {
            add(new Instruction.Alu(AluOperation.MOVE, false, to, immediate(value)));
        } else {
            add(new Instruction.LoadWide(ConstantMeaning.NUMBER, to, value));
        }
    }

    private static InstructionOperand immediate(long value) {
        return new InstructionOperand.Immediate((int) value);
    }

    private InstructionOperand operand(IrOperand operand) {
        return switch (operand) {
            case IrNumber(long value) -> immediate(value);
            case VirtualRegister register -> at(register);
        };
    }

    private void move(BpfRegister to, BpfRegister from) {
        if (to != from) {
            add(new Instruction.Alu(AluOperation.MOVE, true, to, from));
        }
    }

    private void alu(IrAlu o) {
        if (o.operation() != AluOperation.MOVE && o.to() != o.left()) {
            throw new IllegalStateException(o + " is not in place");
        }
        add(new Instruction.Alu(o.operation(), o.wide(), at(o.to()), operand(o.right())));
    }

    private record RegisterOffset(BpfRegister base, short offset) {}

    private RegisterOffset place(AccessAnchor anchor, int offset) {
        return switch (anchor) {
            case VirtualRegister register -> new RegisterOffset(at(register), (short) offset);
            case StackObject object ->
                    new RegisterOffset(
                            BpfRegister.R10, (short) (function.frame().offset(object) + offset));
        };
    }

    private boolean isSlot(AccessAnchor anchor) {
        return anchor instanceof StackObject object && function.body().slots().containsKey(object);
    }

    private void load(IrLoad o) {
        BpfRegister to = at(o.to());
        if (isSlot(o.base()) && o.base().equals(mirrored) && mirror != null) {
            move(to, mirror);
            return;
        }
        RegisterOffset place = place(o.base(), o.offset());
        add(
                o.signed()
                        ? new Instruction.LoadSigned(o.width(), to, place.base, place.offset)
                        : new Instruction.Load(o.width(), to, place.base, place.offset));
        if (isSlot(o.base())) {
            mirror(o.base(), to);
        } else if (to == mirror) {
            mirrored = null;
        }
    }

    private void mirror(AccessAnchor slot, BpfRegister register) {
        mirrored = slot instanceof StackObject object ? object : null;
        mirror = register;
    }

    private void store(IrStore o) {
        RegisterOffset place = place(o.base(), o.offset());
        InstructionOperand from =
                o.from() instanceof IrNumber(long value) && o.width() != Width.U64
                        ? immediate(truncated(o.width(), value))
                        : operand(o.from());
        add(new Instruction.Store(o.width(), place.base, place.offset, from));
        if (isSlot(o.base()) && from instanceof BpfRegister register) {
            mirror(o.base(), register);
        }
    }

    private static int truncated(Width width, long value) {
        return switch (width) {
            case U8 -> (byte) value;
            case U16 -> (short) value;
            case U32, U64 -> (int) value;
        };
    }

    private void atomic(IrAtomic o) {
        RegisterOffset place = place(o.base(), o.offset());
        add(
                new Instruction.Atomic(
                        o.operation(), o.width(), place.base, place.offset, at(o.from())));
    }

    private void address(BpfRegister to, int offset) {
        move(to, BpfRegister.R10);
        if (offset != 0) {
            add(new Instruction.Alu(AluOperation.ADD, true, to, immediate(offset)));
        }
    }

    private void go(BasicBlock target, @Nullable BasicBlock next) {
        if (target != next) {
            add(new BlockJump(new Instruction.Goto((short) 0), target));
        }
    }

    private void branch(IrBranch o, @Nullable BasicBlock next) {
        if (o.then() == next && ConstantArithmetic.hasOpposite(o.condition())) {
            jump(o, ConstantArithmetic.opposite(o.condition()), o.otherwise());
        } else {
            jump(o, o.condition(), o.then());
            go(o.otherwise(), next);
        }
    }

    private void jump(IrBranch o, JumpCondition condition, BasicBlock target) {
        add(
                new BlockJump(
                        new Instruction.Branch(
                                condition, o.wide(), at(o.left()), operand(o.right()), (short) 0),
                        target));
    }
}
