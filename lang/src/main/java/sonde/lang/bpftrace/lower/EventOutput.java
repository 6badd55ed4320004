package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.TypePromotion;
import sonde.lang.bpftrace.lower.EventAction.ExitAction;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.ScriptLosses.LossReason;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.TypeCast;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.IntType;

/** Events: 8 bytes number of their action, then its arguments. */
final class EventOutput {
    private static final int BYTES_USED = 0;
    private static final int PRODUCER_POSITION = 3;
    private static final int FORCE_WAKEUP = 2;
    private static final int HEADER = 8;

    private final ProgramLowering lowerer;

    EventOutput(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** Types of arguments, as they are sent. */
    TupleType types(List<Expression> arguments) {
        List<ValueType> types = new ArrayList<>();
        for (Expression argument : arguments) {
            ValueType type = lowerer.type(argument);
            types.add(
                    type instanceof AggregateType
                            ? new IntType(8, TypePromotion.isSigned(type))
                            : type);
        }
        return TupleType.of(types);
    }

    /** An event with values for arguments. */
    void send(int action, TupleType type, List<Expression> arguments) {
        List<Object> ready = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            ready.add(prepare(arguments.get(i), type.fields().get(i).type()));
        }
        record(
                action,
                type.sizeBytes(),
                at -> {
                    for (int i = 0; i < ready.size(); i++) {
                        TypeField field = type.fields().get(i);
                        write(ready.get(i), arguments.get(i), field, at);
                    }
                });
    }

    /** Numbers are computed before the record is there, texts are read into it. */
    private Object prepare(Expression e, ValueType type) {
        if (MemoryLowering.isNumber(type)) {
            return lowerer.number(e, type);
        }
        if (isDirect(e)) {
            return e;
        }
        return lowerer.value(e) instanceof PlaceValue place ? place : e;
    }

    /** What can be written where it is wanted, without leaving the program on the way. */
    private static boolean isDirect(Expression e) {
        return switch (e) {
            case BareName _, Expression.StringLiteral _ -> true;
            case FunctionCall c ->
                    (c.function().equals("str")
                                    || c.function().equals("kstack")
                                    || c.function().equals("ustack")
                                    || c.function().equals("dw_ustack"))
                            && c.arguments().stream().allMatch(EventOutput::isPlain);
            default -> false;
        };
    }

    private static boolean isPlain(Expression e) {
        return switch (e) {
            case BareName _,
                    Expression.IntegerLiteral _,
                    Expression.StringLiteral _,
                    ScratchVariable _ ->
                    true;
            case MemberAccess f -> isPlain(f.of());
            case TypeCast c -> isPlain(c.operand());
            case BinaryOperation b -> isPlain(b.left()) && isPlain(b.right());
            default -> false;
        };
    }

    private void write(Object ready, Expression e, TypeField field, PlaceValue at) {
        PlaceValue to = at.plus(field.offsetBytes());
        switch (ready) {
            case IrOperand number -> lowerer.memory().store(to, field.type(), number);
            case PlaceValue place -> lowerer.convert(place, lowerer.type(e), field.type(), to);
            default -> lowerer.into(e, field.type(), to);
        }
    }

    /** An event with one number. */
    void number(int action, IrOperand number, int sizeBytes) {
        record(
                action,
                sizeBytes,
                at -> emit().store(Width.of(sizeBytes), at.base(), at.offset(), number));
    }

    /** An event without arguments. */
    void signal(int action) {
        record(action, 0, at -> {});
    }

    /** An event whose arguments are written by the caller. */
    void record(int action, int sizeBytes, Consumer<PlaceValue> arguments) {
        EventAction what = lowerer.unit().actions().get(action);
        if (what.isControl()) {
            control(action, what, sizeBytes, arguments);
            return;
        }
        VirtualRegister record =
                emit().find(
                                HelperFunctionId.RINGBUF_RESERVE,
                                emit().map(ScriptUnit.RING),
                                IrOperand.of(HEADER + sizeBytes),
                                IrOperand.of(0));
        BasicBlock full = emit().block();
        BasicBlock done = emit().block();
        emit().when(JumpCondition.EQUAL, record, 0, full);
        emit().store(Width.U64, record, 0, IrOperand.of(action));
        arguments.accept(new PlaceValue(record, HEADER, MemoryOwner.OWN));
        emit().run(HelperFunctionId.RINGBUF_SUBMIT, record, IrOperand.of(0));
        emit().go(done);
        emit().start(full);
        lowerer.maps().lost(LossReason.RING_FULL);
        emit().start(done);
    }

    /** What must not be lost, with the place among the events that it belongs to. */
    private void control(
            int action, EventAction what, int sizeBytes, Consumer<PlaceValue> arguments) {
        BasicBlock full = emit().block();
        BasicBlock done = emit().block();
        if (!(what instanceof ExitAction)) {
            VirtualRegister used =
                    emit().call(
                                    HelperFunctionId.RINGBUF_QUERY,
                                    emit().map(ScriptUnit.CONTROL),
                                    IrOperand.of(BYTES_USED));
            emit().when(
                            JumpCondition.GREATER,
                            used,
                            ScriptUnit.CONTROL_BYTES - ScriptUnit.EXIT_BYTES,
                            full);
        }
        VirtualRegister position =
                emit().call(
                                HelperFunctionId.RINGBUF_QUERY,
                                emit().map(ScriptUnit.RING),
                                IrOperand.of(PRODUCER_POSITION));
        VirtualRegister record =
                emit().find(
                                HelperFunctionId.RINGBUF_RESERVE,
                                emit().map(ScriptUnit.CONTROL),
                                IrOperand.of(2 * HEADER + sizeBytes),
                                IrOperand.of(0));
        emit().when(JumpCondition.EQUAL, record, 0, full);
        emit().store(Width.U64, record, 0, IrOperand.of(action));
        emit().store(Width.U64, record, HEADER, position);
        arguments.accept(new PlaceValue(record, 2 * HEADER, MemoryOwner.OWN));
        emit().run(HelperFunctionId.RINGBUF_SUBMIT, record, IrOperand.of(FORCE_WAKEUP));
        emit().go(done);
        emit().start(full);
        lowerer.maps().lost(LossReason.CONTROL_FULL);
        emit().start(done);
    }
}
