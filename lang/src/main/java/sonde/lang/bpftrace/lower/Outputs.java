package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.Promotion;
import sonde.lang.bpftrace.lower.Losses.Reason;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Field;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** Events: 8 bytes number of their action, then its arguments. */
final class Outputs {
    private static final int BYTES_USED = 0;
    private static final int PRODUCER_POSITION = 3;
    private static final int FORCE_WAKEUP = 2;
    private static final int HEADER = 8;

    private final Lowerer lowerer;

    Outputs(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** Types of arguments, as they are sent. */
    Tuple types(List<Expression> arguments) {
        List<Type> types = new ArrayList<>();
        for (Expression argument : arguments) {
            Type type = lowerer.type(argument);
            types.add(
                    type instanceof Type.Aggregate
                            ? new Type.Int(8, Promotion.isSigned(type))
                            : type);
        }
        return Tuple.of(types);
    }

    /** An event with values for arguments. */
    void send(int action, Tuple type, List<Expression> arguments) {
        List<Object> ready = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            ready.add(prepare(arguments.get(i), type.fields().get(i).type()));
        }
        record(
                action,
                type.sizeBytes(),
                at -> {
                    for (int i = 0; i < ready.size(); i++) {
                        Field field = type.fields().get(i);
                        write(ready.get(i), arguments.get(i), field, at);
                    }
                });
    }

    /** Numbers are computed before the record is there, texts are read into it. */
    private Object prepare(Expression e, Type type) {
        if (Memory.isNumber(type)) {
            return lowerer.number(e, type);
        }
        if (isDirect(e)) {
            return e;
        }
        return lowerer.value(e) instanceof Place place ? place : e;
    }

    /** What can be written where it is wanted, without leaving the program on the way. */
    private static boolean isDirect(Expression e) {
        return switch (e) {
            case Expression.Name _, Expression.StringLiteral _ -> true;
            case Expression.Call c ->
                    (c.function().equals("str")
                                    || c.function().equals("kstack")
                                    || c.function().equals("ustack")
                                    || c.function().equals("dw_ustack"))
                            && c.arguments().stream().allMatch(Outputs::isPlain);
            default -> false;
        };
    }

    private static boolean isPlain(Expression e) {
        return switch (e) {
            case Expression.Name _,
                    Expression.IntegerLiteral _,
                    Expression.StringLiteral _,
                    Expression.Variable _ ->
                    true;
            case Expression.Field f -> isPlain(f.of());
            case Expression.Cast c -> isPlain(c.operand());
            case Expression.Binary b -> isPlain(b.left()) && isPlain(b.right());
            default -> false;
        };
    }

    private void write(Object ready, Expression e, Field field, Place at) {
        Place to = at.plus(field.offsetBytes());
        switch (ready) {
            case Operand number -> lowerer.memory().store(to, field.type(), number);
            case Place place -> lowerer.convert(place, lowerer.type(e), field.type(), to);
            default -> lowerer.into(e, field.type(), to);
        }
    }

    /** An event with one number. */
    void number(int action, Operand number, int sizeBytes) {
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
    void record(int action, int sizeBytes, Consumer<Place> arguments) {
        Action what = lowerer.unit().actions().get(action);
        if (what.isControl()) {
            control(action, what, sizeBytes, arguments);
            return;
        }
        Vreg record =
                emit().find(
                                KernelFunction.RINGBUF_RESERVE,
                                emit().map(Unit.RING),
                                Operand.of(HEADER + sizeBytes),
                                Operand.of(0));
        Block full = emit().block();
        Block done = emit().block();
        emit().when(Condition.EQUAL, record, 0, full);
        emit().store(Width.U64, record, 0, Operand.of(action));
        arguments.accept(new Place(record, HEADER, Where.OWN));
        emit().run(KernelFunction.RINGBUF_SUBMIT, record, Operand.of(0));
        emit().go(done);
        emit().start(full);
        lowerer.maps().lost(Reason.RING_FULL);
        emit().start(done);
    }

    /** What must not be lost, with the place among the events that it belongs to. */
    private void control(int action, Action what, int sizeBytes, Consumer<Place> arguments) {
        Block full = emit().block();
        Block done = emit().block();
        if (!(what instanceof Action.Exit)) {
            Vreg used =
                    emit().call(
                                    KernelFunction.RINGBUF_QUERY,
                                    emit().map(Unit.CONTROL),
                                    Operand.of(BYTES_USED));
            emit().when(Condition.GREATER, used, Unit.CONTROL_BYTES - Unit.EXIT_BYTES, full);
        }
        Vreg position =
                emit().call(
                                KernelFunction.RINGBUF_QUERY,
                                emit().map(Unit.RING),
                                Operand.of(PRODUCER_POSITION));
        Vreg record =
                emit().find(
                                KernelFunction.RINGBUF_RESERVE,
                                emit().map(Unit.CONTROL),
                                Operand.of(2 * HEADER + sizeBytes),
                                Operand.of(0));
        emit().when(Condition.EQUAL, record, 0, full);
        emit().store(Width.U64, record, 0, Operand.of(action));
        emit().store(Width.U64, record, HEADER, position);
        arguments.accept(new Place(record, 2 * HEADER, Where.OWN));
        emit().run(KernelFunction.RINGBUF_SUBMIT, record, Operand.of(FORCE_WAKEUP));
        emit().go(done);
        emit().start(full);
        lowerer.maps().lost(Reason.CONTROL_FULL);
        emit().start(done);
    }
}
