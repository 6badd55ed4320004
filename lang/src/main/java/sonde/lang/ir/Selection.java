package sonde.lang.ir;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.ByteOrderChange;
import sonde.bpf.insn.Instruction.Meaning;
import sonde.bpf.insn.Register;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operand.Number;
import sonde.lang.ir.Operation.Address;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Atomic;
import sonde.lang.ir.Operation.Branch;
import sonde.lang.ir.Operation.Constant;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.Store;

/** Writes the instructions of one function. */
final class Selection {
    /** An instruction, the block that begins with it, and the step it belongs to. */
    record Selected(Item item, List<Block> starts, int step) {}

    private static final ByteOrderChange SWAP =
            ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                    ? ByteOrderChange.TO_BIG
                    : ByteOrderChange.TO_LITTLE;

    private final Compiled function;
    private final List<Selected> selected = new ArrayList<>();
    private final List<Block> starts = new ArrayList<>();
    private int number;

    /** What a slot of the stack and a register both hold since the last store or load. */
    private @Nullable StackObject mirrored;

    private @Nullable Register mirror;

    private Selection(Compiled function) {
        this.function = function;
    }

    static List<Selected> of(Compiled function) {
        Selection selection = new Selection(function);
        List<Block> layout = function.body().layout();
        for (int i = 0; i < layout.size(); i++) {
            Block next = i + 1 < layout.size() ? layout.get(i + 1) : null;
            selection.mirrored = null;
            selection.starts.add(layout.get(i));
            for (Step step : layout.get(i).steps()) {
                selection.step(step.operation(), next);
                selection.number++;
            }
        }
        return selection.selected;
    }

    private void add(Item item) {
        selected.add(new Selected(item, List.copyOf(starts), number));
        starts.clear();
    }

    private void add(Instruction instruction) {
        add(new Item.Plain(instruction));
    }

    private Register at(Vreg register) {
        return function.register(register);
    }

    private void step(Operation operation, @Nullable Block next) {
        switch (operation) {
            case Constant o -> constant(at(o.to()), o.value());
            case Copy o -> move(at(o.to()), at(o.from()));
            case Alu o -> alu(o);
            case Operation.Negate o -> add(new Instruction.Negate(true, at(o.to())));
            case Operation.SignExtend o ->
                    add(new Instruction.SignExtend(o.bits(), true, at(o.to()), at(o.from())));
            case Operation.Swap o -> add(new Instruction.ByteSwap(SWAP, o.bits(), at(o.to())));
            case Load o -> load(o);
            case Store o -> store(o);
            case Atomic o -> atomic(o);
            case Address o -> address(at(o.to()), function.frame().offset(o.object()) + o.offset());
            case Operation.MapAddress o ->
                    add(new Item.MapUse(Meaning.MAP, at(o.to()), o.map(), 0));
            case Operation.MapValue o ->
                    add(new Item.MapUse(Meaning.MAP_VALUE, at(o.to()), o.map(), o.offset()));
            case Operation.FunctionAddress o ->
                    add(new Item.LocalAddress(at(o.to()), o.function()));
            case Operation.KernelVariable o ->
                    add(
                            new Instruction.LoadWide(
                                    Meaning.BTF_ID, at(o.to()), o.btfId() & 0xffffffffL));
            case Operation.Later o -> add(new Item.Later(at(o.to()), o.wanted()));
            case Operation.Call o -> add(new Instruction.Call(o.helper()));
            case Operation.CallKernel o -> add(new Item.KernelCall(o.function()));
            case Operation.CallLocal o -> add(new Item.LocalCall(o.function()));
            case Operation.CallImported o -> add(new Item.ImportedCall(o.function()));
            case Operation.Goto o -> go(o.target(), next);
            case Branch o -> branch(o, next);
            case Operation.Return _ -> add(new Instruction.Exit());
        }
        forget(operation);
    }

    /** What changes a register or a slot ends what is known of it. */
    private void forget(Operation operation) {
        Vreg to = Effects.written(operation);
        boolean changed = to != null && at(to) == mirror && !(operation instanceof Load);
        if (changed || Effects.isCall(operation)) {
            mirrored = null;
        }
    }

    private void constant(Register to, long value) {
        if (value == (int) value) {
            add(new Instruction.Alu(AluOperation.MOVE, true, to, immediate(value)));
        } else if (value >>> 32 == 0) {
            add(new Instruction.Alu(AluOperation.MOVE, false, to, immediate(value)));
        } else {
            add(new Instruction.LoadWide(Meaning.NUMBER, to, value));
        }
    }

    private static sonde.bpf.insn.Operand immediate(long value) {
        return new sonde.bpf.insn.Operand.Immediate((int) value);
    }

    private sonde.bpf.insn.Operand operand(Operand operand) {
        return switch (operand) {
            case Number(long value) -> immediate(value);
            case Vreg register -> at(register);
        };
    }

    private void move(Register to, Register from) {
        if (to != from) {
            add(new Instruction.Alu(AluOperation.MOVE, true, to, from));
        }
    }

    private void alu(Alu o) {
        if (o.operation() != AluOperation.MOVE && o.to() != o.left()) {
            throw new IllegalStateException(o + " is not in place");
        }
        add(new Instruction.Alu(o.operation(), o.wide(), at(o.to()), operand(o.right())));
    }

    private record Place(Register base, short offset) {}

    private Place place(Anchor anchor, int offset) {
        return switch (anchor) {
            case Vreg register -> new Place(at(register), (short) offset);
            case StackObject object ->
                    new Place(Register.R10, (short) (function.frame().offset(object) + offset));
        };
    }

    private boolean isSlot(Anchor anchor) {
        return anchor instanceof StackObject object && function.body().slots().containsKey(object);
    }

    private void load(Load o) {
        Register to = at(o.to());
        if (isSlot(o.base()) && o.base().equals(mirrored) && mirror != null) {
            move(to, mirror);
            return;
        }
        Place place = place(o.base(), o.offset());
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

    private void mirror(Anchor slot, Register register) {
        mirrored = slot instanceof StackObject object ? object : null;
        mirror = register;
    }

    private void store(Store o) {
        Place place = place(o.base(), o.offset());
        sonde.bpf.insn.Operand from =
                o.from() instanceof Number(long value) && o.width() != Width.U64
                        ? immediate(truncated(o.width(), value))
                        : operand(o.from());
        add(new Instruction.Store(o.width(), place.base, place.offset, from));
        if (isSlot(o.base()) && from instanceof Register register) {
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

    private void atomic(Atomic o) {
        Place place = place(o.base(), o.offset());
        add(
                new Instruction.Atomic(
                        o.operation(), o.width(), place.base, place.offset, at(o.from())));
    }

    private void address(Register to, int offset) {
        move(to, Register.R10);
        if (offset != 0) {
            add(new Instruction.Alu(AluOperation.ADD, true, to, immediate(offset)));
        }
    }

    private void go(Block target, @Nullable Block next) {
        if (target != next) {
            add(new Item.Jump(new Instruction.Goto((short) 0), target));
        }
    }

    private void branch(Branch o, @Nullable Block next) {
        if (o.then() == next && Arithmetic.hasOpposite(o.condition())) {
            jump(o, Arithmetic.opposite(o.condition()), o.otherwise());
        } else {
            jump(o, o.condition(), o.then());
            go(o.otherwise(), next);
        }
    }

    private void jump(Branch o, sonde.bpf.insn.Condition condition, Block target) {
        add(
                new Item.Jump(
                        new Instruction.Branch(
                                condition, o.wide(), at(o.left()), operand(o.right()), (short) 0),
                        target));
    }
}
