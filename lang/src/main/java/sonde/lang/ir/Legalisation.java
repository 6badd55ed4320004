package sonde.lang.ir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrNegate;
import sonde.lang.ir.IrOperation.IrSignExtend;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.source.SourceSpan;

/**
 * Says what no instruction says by several that do: numbers of more than 32 bits, and, before ISA
 * version 4, signs and signed division.
 */
final class Legalisation {
    private final WorkingFunction body;
    private final boolean isa4;
    private final List<BasicBlock> order = new ArrayList<>();
    private List<BlockStep> steps = new ArrayList<>();
    private @Nullable SourceSpan span;

    private Legalisation(WorkingFunction body, boolean isa4) {
        this.body = body;
        this.isa4 = isa4;
    }

    static void apply(WorkingFunction body, boolean isa4) {
        new Legalisation(body, isa4).run();
    }

    private void run() {
        for (BasicBlock block : body.layout()) {
            List<BlockStep> before = List.copyOf(block.steps());
            block.steps().clear();
            start(block);
            for (BlockStep step : before) {
                span = step.span();
                step(step.operation());
            }
        }
        body.layout(order);
    }

    private void start(BasicBlock block) {
        order.add(block);
        steps = block.steps();
    }

    private void add(IrOperation operation) {
        steps.add(new BlockStep(operation, span));
    }

    private void step(IrOperation operation) {
        switch (operation) {
            case IrAlu o when isSignedDivision(o) && !isa4 -> divide(o);
            case IrAlu o ->
                    add(
                            new IrAlu(
                                    o.operation(),
                                    o.wide(),
                                    o.to(),
                                    o.left(),
                                    operand(o.right(), o.wide())));
            case IrBranch o ->
                    add(
                            new IrBranch(
                                    o.condition(),
                                    o.wide(),
                                    o.left(),
                                    operand(o.right(), o.wide()),
                                    o.then(),
                                    o.otherwise()));
            case IrStore o ->
                    add(
                            new IrStore(
                                    o.width(),
                                    o.base(),
                                    o.offset(),
                                    operand(o.from(), o.width() == Width.U64)));
            case IrSignExtend o when !isa4 -> signExtend(o.bits(), o.to(), o.from());
            case IrLoad o when o.signed() && (o.width() == Width.U64 || !isa4) -> {
                add(new IrLoad(o.width(), false, o.to(), o.base(), o.offset()));
                if (o.width() != Width.U64) {
                    signExtend(o.width().bytes() * 8, o.to(), o.to());
                }
            }
            default -> add(operation);
        }
    }

    private static boolean isSignedDivision(IrAlu alu) {
        return alu.operation() == AluOperation.SIGNED_DIVIDE
                || alu.operation() == AluOperation.SIGNED_REMAINDER;
    }

    private IrOperand operand(IrOperand operand, boolean wide) {
        if (!(operand instanceof IrNumber(long value)) || value == (int) value) {
            return operand;
        }
        if (!wide) {
            return IrOperand.of((int) value);
        }
        VirtualRegister register = body.register(VirtualRegister.Kind.SCALAR, "");
        add(new IrConstant(register, value));
        return register;
    }

    private void signExtend(int bits, VirtualRegister to, VirtualRegister from) {
        IrOperand shift = IrOperand.of(64 - bits);
        add(new IrAlu(AluOperation.SHIFT_LEFT, true, to, from, shift));
        add(new IrAlu(AluOperation.SHIFT_RIGHT_SIGNED, true, to, to, shift));
    }

    private VirtualRegister scalar() {
        return body.register(VirtualRegister.Kind.SCALAR, "");
    }

    /**
     * By the unsigned one of both sides without their signs. By zero this gives 0 and the left
     * side, and the smallest number by -1 itself, as the instruction does.
     */
    private void divide(IrAlu o) {
        boolean quotient = o.operation() == AluOperation.SIGNED_DIVIDE;
        VirtualRegister left = extended(o.left(), o.wide());
        VirtualRegister dividend = scalar();
        add(new IrCopy(dividend, left));
        negateIfNegative(left, dividend);
        VirtualRegister result = scalar();
        AluOperation unsigned = quotient ? AluOperation.DIVIDE : AluOperation.REMAINDER;
        VirtualRegister sign = left;
        switch (o.right()) {
            case IrNumber(long number) -> {
                long value = o.wide() ? number : (int) number;
                // The magnitude of the smallest number is right when taken as unsigned.
                IrOperand magnitude = operand(IrOperand.of(Math.abs(value)), true);
                add(new IrAlu(unsigned, true, result, dividend, magnitude));
                if (quotient && value < 0) {
                    sign = scalar();
                    add(new IrAlu(AluOperation.XOR, true, sign, left, IrOperand.of(-1)));
                }
            }
            case VirtualRegister register -> {
                VirtualRegister right = extended(register, o.wide());
                VirtualRegister divisor = scalar();
                add(new IrCopy(divisor, right));
                negateIfNegative(right, divisor);
                add(new IrAlu(unsigned, true, result, dividend, divisor));
                if (quotient) {
                    sign = scalar();
                    add(new IrAlu(AluOperation.XOR, true, sign, left, right));
                }
            }
        }
        negateIfNegative(sign, result);
        if (o.wide()) {
            add(new IrCopy(o.to(), result));
        } else {
            add(new IrAlu(AluOperation.MOVE, false, o.to(), result, result));
        }
    }

    private VirtualRegister extended(VirtualRegister register, boolean wide) {
        if (wide) {
            return register;
        }
        VirtualRegister extended = scalar();
        signExtend(32, extended, register);
        return extended;
    }

    private void negateIfNegative(VirtualRegister sign, VirtualRegister value) {
        BasicBlock negative = body.block();
        BasicBlock after = body.block();
        add(new IrBranch(JumpCondition.SIGNED_LESS, true, sign, IrOperand.of(0), negative, after));
        start(negative);
        add(new IrNegate(value, value));
        add(new IrGoto(after));
        start(after);
    }
}
