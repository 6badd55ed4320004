package sonde.lang.bpftrace.lower;

import java.util.List;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.sys.SignalNames;

/** Functions of texts. */
final class TextFunctions {
    private static final int NAME_BYTES = 32;

    private final Lowerer lowerer;

    TextFunctions(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    Value value(Expression.Call c) {
        List<Expression> arguments = c.arguments();
        return switch (c.function()) {
            case "strncmp" -> compared(c);
            case "memcmp" -> memory(c);
            case "strlen" -> length(arguments.getFirst());
            case "strcap" -> Value.of(lowerer.type(arguments.getFirst()).sizeBytes());
            case "strstr" -> lowerer.loops().search(arguments.get(0), arguments.get(1));
            case "strcontains" -> {
                Operand at =
                        ((Value.Number) lowerer.loops().search(arguments.get(0), arguments.get(1)))
                                .operand();
                Block done = emit().block();
                Vreg result = emit().copy(Operand.of(1));
                emit().when(Condition.SIGNED_GREATER_OR_EQUAL, emit().register(at), 0, done);
                emit().set(result, Operand.of(0));
                emit().start(done);
                yield Value.of(result);
            }
            default -> throw new IllegalStateException(c.span() + ": " + c.function());
        };
    }

    /** Writes what is a text; false for what is none. */
    boolean into(Expression.Call c, Type type, Place to) {
        switch (c.function()) {
            case "str" -> text(c, type, to);
            case "str_concat" -> concatenate(c, type, to);
            case "signal_name" -> name(c, SignalNames.MEANINGS, "N/A", type, to);
            case "syscall_name" -> name(c, lowerer.site().addresses().systemCalls(), "", type, to);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void text(Expression.Call c, Type type, Place to) {
        Expression e = c.arguments().getFirst();
        Type of = lowerer.type(e);
        int size = type.sizeBytes();
        if (lowerer.type(c) instanceof Type.Text t) {
            size = Math.min(size, t.sizeBytes());
        }
        Operand length = Operand.of(size);
        if (c.arguments().size() > 1
                && c.arguments().get(1) instanceof Expression.IntegerLiteral n) {
            length = Operand.of(Math.clamp(n.value(), 1, size));
        } else if (c.arguments().size() > 1) {
            length = limited(lowerer.number(c.arguments().get(1), Int.U64), size);
        }
        Value value = lowerer.value(e);
        Place from;
        if (value instanceof Place place && !(of instanceof Type.Pointer)) {
            if (of instanceof Type.Text && length instanceof Operand.Number) {
                int copied = Math.min(size, of.sizeBytes());
                lowerer.convert(place, new Type.Text(copied), type, to);
                if (copied < of.sizeBytes()) {
                    emit().store(Width.U8, to.base(), to.offset() + copied - 1, Operand.of(0));
                }
                return;
            }
            from = place;
        } else {
            Operand operand = lowerer.numbers().convert(value, of, Int.U64);
            from = new Place(emit().register(operand), 0, lowerer.calls().where(of, e));
        }
        lowerer.memory().zero(to, type.sizeBytes());
        int helper =
                from.where() == Where.USER
                        ? KernelFunction.PROBE_READ_USER_STR
                        : KernelFunction.PROBE_READ_KERNEL_STR;
        Vreg result = emit().call(helper, emit().address(to), length, emit().address(from));
        lowerer.errors().check(result, helper);
        if (c.arguments().size() == 1) {
            whole(from, to, result, size);
        }
    }

    /** Of a text that did not fit all bytes are kept, so that it can be told from one that did. */
    private void whole(Place from, Place to, Vreg result, int size) {
        Block done = emit().block();
        emit().when(Condition.NOT_EQUAL, result, size, done);
        emit().run(
                        from.where() == Where.USER
                                ? KernelFunction.PROBE_READ_USER
                                : KernelFunction.PROBE_READ_KERNEL,
                        emit().address(to.plus(size - 1)),
                        Operand.of(1),
                        emit().address(from.plus(size - 1)));
        emit().start(done);
    }

    /** A length with its NUL, at most {@code size}. */
    private Vreg limited(Operand length, int size) {
        Vreg bounded = emit().copy(length);
        Block fine = emit().block();
        emit().when(Condition.LESS_OR_EQUAL, bounded, size, fine);
        emit().set(bounded, Operand.of(size));
        emit().start(fine);
        return bounded;
    }

    private Value compared(Expression.Call c) {
        Expression left = c.arguments().get(0);
        Expression right = c.arguments().get(1);
        int count = (int) count(c.arguments().get(2));
        Block differ = emit().block();
        Block done = emit().block();
        Vreg result = emit().copy(Operand.of(0));
        int sizeA = lowerer.type(left).sizeBytes();
        int sizeB = lowerer.type(right).sizeBytes();
        int common = Math.min(Math.min(sizeA, sizeB), Math.max(0, count));
        Place a = lowerer.texts().near(left);
        Place b = lowerer.texts().near(right);
        lowerer.texts().beginnings(a, b, common, done, differ);
        emit().start(differ);
        emit().set(result, Operand.of(1));
        emit().start(done);
        return Value.of(result);
    }

    private Value memory(Expression.Call c) {
        int count = (int) count(c.arguments().get(2));
        Block differ = emit().block();
        Block done = emit().block();
        Vreg result = emit().copy(Operand.of(0));
        Place a = lowerer.texts().near(c.arguments().get(0));
        Place b = lowerer.texts().near(c.arguments().get(1));
        lowerer.texts().bytes(a, b, count, differ);
        emit().go(done);
        emit().start(differ);
        emit().set(result, Operand.of(1));
        emit().start(done);
        return Value.of(result);
    }

    private long count(Expression e) {
        return lowerer.clause().value(e) instanceof Long n
                ? n
                : e instanceof Expression.IntegerLiteral n ? n.value() : 0;
    }

    private Value length(Expression e) {
        Type type = lowerer.type(e);
        int size = type.sizeBytes();
        Place place;
        if (type instanceof Type.Text || type instanceof Type.Array) {
            place = lowerer.texts().near(e);
        } else {
            size = lowerer.site().addresses().maxText();
            place = lowerer.memory().own(size, 8);
            lowerer.memory().zero(place, size);
            Operand address = lowerer.number(e, Int.U64);
            int helper =
                    lowerer.calls().where(type, e) == Where.USER
                            ? KernelFunction.PROBE_READ_USER_STR
                            : KernelFunction.PROBE_READ_KERNEL_STR;
            emit().run(helper, emit().address(place), Operand.of(size), address);
        }
        return scan(place, size);
    }

    /** Counts bytes before the first NUL; the verifier walks each. */
    private Value scan(Place place, int size) {
        Vreg index = emit().copy(Operand.of(0));
        Vreg start = emit().address(place);
        Block head = emit().block();
        Block done = emit().block();
        emit().start(head);
        emit().when(Condition.GREATER_OR_EQUAL, index, size, done);
        Vreg at = emit().alu(AluOperation.ADD, start, index);
        Vreg next = emit().load(Width.U8, false, at, 0);
        emit().when(Condition.EQUAL, next, 0, done);
        emit().function()
                .add(new Operation.Alu(AluOperation.ADD, true, index, index, Operand.of(1)));
        emit().go(head);
        emit().start(done);
        return Value.of(index);
    }

    private void concatenate(Expression.Call c, Type type, Place to) {
        Expression left = c.arguments().get(0);
        Expression right = c.arguments().get(1);
        lowerer.memory().zero(to, type.sizeBytes());
        Place a = lowerer.texts().near(left);
        Place b = lowerer.texts().near(right);
        lowerer.memory().copy(a, lowerer.type(left).sizeBytes(), to);
        Operand length =
                lowerer.numbers()
                        .convert(scan(to, lowerer.type(left).sizeBytes()), Int.U64, Int.U64);
        Vreg bounded = emit().copy(length);
        Block fine = emit().block();
        int most = lowerer.type(left).sizeBytes() - 1;
        emit().when(Condition.LESS_OR_EQUAL, bounded, most, fine);
        emit().set(bounded, Operand.of(most));
        emit().start(fine);
        Vreg at = emit().alu(AluOperation.ADD, emit().address(to), bounded);
        emit().run(
                        KernelFunction.PROBE_READ_KERNEL,
                        at,
                        Operand.of(lowerer.type(right).sizeBytes()),
                        emit().address(b));
    }

    private void name(
            Expression.Call c, List<String> names, String otherwise, Type type, Place to) {
        StringBuilder table = new StringBuilder();
        for (String name : names) {
            String cut = name.substring(0, Math.min(NAME_BYTES - 1, name.length()));
            table.append(cut).append("\0".repeat(NAME_BYTES - cut.length()));
        }
        lowerer.texts().write(otherwise, type.sizeBytes(), to);
        Operand number = lowerer.number(c.arguments().getFirst(), Int.U64);
        Vreg index = emit().copy(number);
        Block none = emit().block();
        emit().when(Condition.GREATER_OR_EQUAL, index, names.size(), none);
        Vreg offset = emit().alu(AluOperation.MULTIPLY, index, NAME_BYTES);
        Vreg at =
                emit().alu(
                                AluOperation.ADD,
                                emit().address(lowerer.texts().literal(table.toString())),
                                offset);
        lowerer.memory()
                .copy(new Place(at, 0, Where.OWN), Math.min(NAME_BYTES, type.sizeBytes()), to);
        emit().start(none);
    }
}
