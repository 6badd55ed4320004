package sonde.lang.ir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operand.Number;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Branch;
import sonde.lang.ir.Operation.Constant;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Goto;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.Negate;
import sonde.lang.ir.Operation.SignExtend;
import sonde.lang.ir.Operation.Store;
import sonde.lang.source.Span;

/**
 * Says what no instruction says by several that do: numbers of more than 32 bits, and, before ISA
 * version 4, signs and signed division.
 */
final class Legalisation {
    private final Body body;
    private final boolean isa4;
    private final List<Block> order = new ArrayList<>();
    private List<Step> steps = new ArrayList<>();
    private @Nullable Span span;

    private Legalisation(Body body, boolean isa4) {
        this.body = body;
        this.isa4 = isa4;
    }

    static void apply(Body body, boolean isa4) {
        new Legalisation(body, isa4).run();
    }

    private void run() {
        for (Block block : body.layout()) {
            List<Step> before = List.copyOf(block.steps());
            block.steps().clear();
            start(block);
            for (Step step : before) {
                span = step.span();
                step(step.operation());
            }
        }
        body.layout(order);
    }

    private void start(Block block) {
        order.add(block);
        steps = block.steps();
    }

    private void add(Operation operation) {
        steps.add(new Step(operation, span));
    }

    private void step(Operation operation) {
        switch (operation) {
            case Alu o when isSignedDivision(o) && !isa4 -> divide(o);
            case Alu o ->
                    add(
                            new Alu(
                                    o.operation(),
                                    o.wide(),
                                    o.to(),
                                    o.left(),
                                    operand(o.right(), o.wide())));
            case Branch o ->
                    add(
                            new Branch(
                                    o.condition(),
                                    o.wide(),
                                    o.left(),
                                    operand(o.right(), o.wide()),
                                    o.then(),
                                    o.otherwise()));
            case Store o ->
                    add(
                            new Store(
                                    o.width(),
                                    o.base(),
                                    o.offset(),
                                    operand(o.from(), o.width() == Width.U64)));
            case SignExtend o when !isa4 -> signExtend(o.bits(), o.to(), o.from());
            case Load o when o.signed() && (o.width() == Width.U64 || !isa4) -> {
                add(new Load(o.width(), false, o.to(), o.base(), o.offset()));
                if (o.width() != Width.U64) {
                    signExtend(o.width().bytes() * 8, o.to(), o.to());
                }
            }
            default -> add(operation);
        }
    }

    private static boolean isSignedDivision(Alu alu) {
        return alu.operation() == AluOperation.SIGNED_DIVIDE
                || alu.operation() == AluOperation.SIGNED_REMAINDER;
    }

    private Operand operand(Operand operand, boolean wide) {
        if (!(operand instanceof Number(long value)) || value == (int) value) {
            return operand;
        }
        if (!wide) {
            return Operand.of((int) value);
        }
        Vreg register = body.register(Vreg.Kind.SCALAR, "");
        add(new Constant(register, value));
        return register;
    }

    private void signExtend(int bits, Vreg to, Vreg from) {
        Operand shift = Operand.of(64 - bits);
        add(new Alu(AluOperation.SHIFT_LEFT, true, to, from, shift));
        add(new Alu(AluOperation.SHIFT_RIGHT_SIGNED, true, to, to, shift));
    }

    private Vreg scalar() {
        return body.register(Vreg.Kind.SCALAR, "");
    }

    /**
     * By the unsigned one of both sides without their signs. By zero this gives 0 and the left
     * side, and the smallest number by -1 itself, as the instruction does.
     */
    private void divide(Alu o) {
        boolean quotient = o.operation() == AluOperation.SIGNED_DIVIDE;
        Vreg left = extended(o.left(), o.wide());
        Vreg dividend = scalar();
        add(new Copy(dividend, left));
        negateIfNegative(left, dividend);
        Vreg result = scalar();
        AluOperation unsigned = quotient ? AluOperation.DIVIDE : AluOperation.REMAINDER;
        Vreg sign = left;
        switch (o.right()) {
            case Number(long number) -> {
                long value = o.wide() ? number : (int) number;
                // The magnitude of the smallest number is right when taken as unsigned.
                Operand magnitude = operand(Operand.of(Math.abs(value)), true);
                add(new Alu(unsigned, true, result, dividend, magnitude));
                if (quotient && value < 0) {
                    sign = scalar();
                    add(new Alu(AluOperation.XOR, true, sign, left, Operand.of(-1)));
                }
            }
            case Vreg register -> {
                Vreg right = extended(register, o.wide());
                Vreg divisor = scalar();
                add(new Copy(divisor, right));
                negateIfNegative(right, divisor);
                add(new Alu(unsigned, true, result, dividend, divisor));
                if (quotient) {
                    sign = scalar();
                    add(new Alu(AluOperation.XOR, true, sign, left, right));
                }
            }
        }
        negateIfNegative(sign, result);
        if (o.wide()) {
            add(new Copy(o.to(), result));
        } else {
            add(new Alu(AluOperation.MOVE, false, o.to(), result, result));
        }
    }

    private Vreg extended(Vreg register, boolean wide) {
        if (wide) {
            return register;
        }
        Vreg extended = scalar();
        signExtend(32, extended, register);
        return extended;
    }

    private void negateIfNegative(Vreg sign, Vreg value) {
        Block negative = body.block();
        Block after = body.block();
        add(new Branch(Condition.SIGNED_LESS, true, sign, Operand.of(0), negative, after));
        start(negative);
        add(new Negate(value, value));
        add(new Goto(after));
        start(after);
    }
}
