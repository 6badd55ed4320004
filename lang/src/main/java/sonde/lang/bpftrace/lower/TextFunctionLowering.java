package sonde.lang.bpftrace.lower;

import java.util.List;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.NumberValue;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.TextType;
import sonde.sys.SignalNames;

/** Functions of texts. */
final class TextFunctionLowering {
    private static final int NAME_BYTES = 32;

    private final ProgramLowering lowerer;

    TextFunctionLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    LoweredValue value(FunctionCall c) {
        List<Expression> arguments = c.arguments();
        return switch (c.function()) {
            case "strncmp" -> compared(c);
            case "memcmp" -> memory(c);
            case "strlen" -> length(arguments.getFirst());
            case "strcap" -> LoweredValue.of(lowerer.type(arguments.getFirst()).sizeBytes());
            case "strstr" -> lowerer.loops().search(arguments.get(0), arguments.get(1));
            case "strcontains" -> {
                IrOperand at =
                        ((NumberValue) lowerer.loops().search(arguments.get(0), arguments.get(1)))
                                .operand();
                BasicBlock done = emit().block();
                VirtualRegister result = emit().copy(IrOperand.of(1));
                emit().when(JumpCondition.SIGNED_GREATER_OR_EQUAL, emit().register(at), 0, done);
                emit().set(result, IrOperand.of(0));
                emit().start(done);
                yield LoweredValue.of(result);
            }
            default -> throw new IllegalStateException(c.span() + ": " + c.function());
        };
    }

    /** Writes what is a text; false for what is none. */
    boolean into(FunctionCall c, ValueType type, PlaceValue to) {
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

    private void text(FunctionCall c, ValueType type, PlaceValue to) {
        Expression e = c.arguments().getFirst();
        ValueType of = lowerer.type(e);
        int size = type.sizeBytes();
        if (lowerer.type(c) instanceof TextType t) {
            size = Math.min(size, t.sizeBytes());
        }
        IrOperand length = IrOperand.of(size);
        if (c.arguments().size() > 1
                && c.arguments().get(1) instanceof Expression.IntegerLiteral n) {
            length = IrOperand.of(Math.clamp(n.value(), 1, size));
        } else if (c.arguments().size() > 1) {
            length = limited(lowerer.number(c.arguments().get(1), IntType.U64), size);
        }
        LoweredValue value = lowerer.value(e);
        PlaceValue from;
        if (value instanceof PlaceValue place && !(of instanceof PointerType)) {
            if (of instanceof TextType && length instanceof IrNumber) {
                int copied = Math.min(size, of.sizeBytes());
                lowerer.convert(place, new TextType(copied), type, to);
                if (copied < of.sizeBytes()) {
                    emit().store(Width.U8, to.base(), to.offset() + copied - 1, IrOperand.of(0));
                }
                return;
            }
            from = place;
        } else {
            IrOperand operand = lowerer.numbers().convert(value, of, IntType.U64);
            from = new PlaceValue(emit().register(operand), 0, lowerer.calls().where(of, e));
        }
        lowerer.memory().zero(to, type.sizeBytes());
        int helper =
                from.where() == MemoryOwner.USER
                        ? HelperFunctionId.PROBE_READ_USER_STR
                        : HelperFunctionId.PROBE_READ_KERNEL_STR;
        VirtualRegister result =
                emit().call(helper, emit().address(to), length, emit().address(from));
        lowerer.errors().check(result, helper);
        if (c.arguments().size() == 1) {
            whole(from, to, result, size);
        }
    }

    /** Keeps all bytes of a text that did not fit, so that it differs from one that did. */
    private void whole(PlaceValue from, PlaceValue to, VirtualRegister result, int size) {
        BasicBlock done = emit().block();
        emit().when(JumpCondition.NOT_EQUAL, result, size, done);
        emit().run(
                        from.where() == MemoryOwner.USER
                                ? HelperFunctionId.PROBE_READ_USER
                                : HelperFunctionId.PROBE_READ_KERNEL,
                        emit().address(to.plus(size - 1)),
                        IrOperand.of(1),
                        emit().address(from.plus(size - 1)));
        emit().start(done);
    }

    /** A length with its NUL, at most {@code size}. */
    private VirtualRegister limited(IrOperand length, int size) {
        VirtualRegister bounded = emit().copy(length);
        BasicBlock fine = emit().block();
        emit().when(JumpCondition.LESS_OR_EQUAL, bounded, size, fine);
        emit().set(bounded, IrOperand.of(size));
        emit().start(fine);
        return bounded;
    }

    private LoweredValue compared(FunctionCall c) {
        Expression left = c.arguments().get(0);
        Expression right = c.arguments().get(1);
        int count = (int) count(c.arguments().get(2));
        BasicBlock differ = emit().block();
        BasicBlock done = emit().block();
        VirtualRegister result = emit().copy(IrOperand.of(0));
        int sizeA = lowerer.type(left).sizeBytes();
        int sizeB = lowerer.type(right).sizeBytes();
        int common = Math.min(Math.min(sizeA, sizeB), Math.max(0, count));
        PlaceValue a = lowerer.texts().near(left);
        PlaceValue b = lowerer.texts().near(right);
        lowerer.texts().beginnings(a, b, common, done, differ);
        emit().start(differ);
        emit().set(result, IrOperand.of(1));
        emit().start(done);
        return LoweredValue.of(result);
    }

    private LoweredValue memory(FunctionCall c) {
        int count = (int) count(c.arguments().get(2));
        BasicBlock differ = emit().block();
        BasicBlock done = emit().block();
        VirtualRegister result = emit().copy(IrOperand.of(0));
        PlaceValue a = lowerer.texts().near(c.arguments().get(0));
        PlaceValue b = lowerer.texts().near(c.arguments().get(1));
        lowerer.texts().bytes(a, b, count, differ);
        emit().go(done);
        emit().start(differ);
        emit().set(result, IrOperand.of(1));
        emit().start(done);
        return LoweredValue.of(result);
    }

    private long count(Expression e) {
        return lowerer.clause().value(e) instanceof Long n
                ? n
                : e instanceof Expression.IntegerLiteral n ? n.value() : 0;
    }

    private LoweredValue length(Expression e) {
        ValueType type = lowerer.type(e);
        int size = type.sizeBytes();
        PlaceValue place;
        if (type instanceof TextType || type instanceof ArrayType) {
            place = lowerer.texts().near(e);
        } else {
            size = lowerer.site().addresses().maxText();
            place = lowerer.memory().own(size, 8);
            lowerer.memory().zero(place, size);
            IrOperand address = lowerer.number(e, IntType.U64);
            int helper =
                    lowerer.calls().where(type, e) == MemoryOwner.USER
                            ? HelperFunctionId.PROBE_READ_USER_STR
                            : HelperFunctionId.PROBE_READ_KERNEL_STR;
            emit().run(helper, emit().address(place), IrOperand.of(size), address);
        }
        return scan(place, size);
    }

    /** Counts bytes before the first NUL; the verifier walks each. */
    private LoweredValue scan(PlaceValue place, int size) {
        VirtualRegister index = emit().copy(IrOperand.of(0));
        VirtualRegister start = emit().address(place);
        BasicBlock head = emit().block();
        BasicBlock done = emit().block();
        emit().start(head);
        emit().when(JumpCondition.GREATER_OR_EQUAL, index, size, done);
        VirtualRegister at = emit().alu(AluOperation.ADD, start, index);
        VirtualRegister next = emit().load(Width.U8, false, at, 0);
        emit().when(JumpCondition.EQUAL, next, 0, done);
        emit().function().add(new IrAlu(AluOperation.ADD, true, index, index, IrOperand.of(1)));
        emit().go(head);
        emit().start(done);
        return LoweredValue.of(index);
    }

    private void concatenate(FunctionCall c, ValueType type, PlaceValue to) {
        Expression left = c.arguments().get(0);
        Expression right = c.arguments().get(1);
        lowerer.memory().zero(to, type.sizeBytes());
        PlaceValue a = lowerer.texts().near(left);
        PlaceValue b = lowerer.texts().near(right);
        lowerer.memory().copy(a, lowerer.type(left).sizeBytes(), to);
        IrOperand length =
                lowerer.numbers()
                        .convert(
                                scan(to, lowerer.type(left).sizeBytes()), IntType.U64, IntType.U64);
        VirtualRegister bounded = emit().copy(length);
        BasicBlock fine = emit().block();
        int most = lowerer.type(left).sizeBytes() - 1;
        emit().when(JumpCondition.LESS_OR_EQUAL, bounded, most, fine);
        emit().set(bounded, IrOperand.of(most));
        emit().start(fine);
        VirtualRegister at = emit().alu(AluOperation.ADD, emit().address(to), bounded);
        emit().run(
                        HelperFunctionId.PROBE_READ_KERNEL,
                        at,
                        IrOperand.of(lowerer.type(right).sizeBytes()),
                        emit().address(b));
    }

    private void name(
            FunctionCall c, List<String> names, String otherwise, ValueType type, PlaceValue to) {
        StringBuilder table = new StringBuilder();
        for (String name : names) {
            String cut = name.substring(0, Math.min(NAME_BYTES - 1, name.length()));
            table.append(cut).append("\0".repeat(NAME_BYTES - cut.length()));
        }
        lowerer.texts().write(otherwise, type.sizeBytes(), to);
        IrOperand number = lowerer.number(c.arguments().getFirst(), IntType.U64);
        VirtualRegister index = emit().copy(number);
        BasicBlock none = emit().block();
        emit().when(JumpCondition.GREATER_OR_EQUAL, index, names.size(), none);
        VirtualRegister offset = emit().alu(AluOperation.MULTIPLY, index, NAME_BYTES);
        VirtualRegister at =
                emit().alu(
                                AluOperation.ADD,
                                emit().address(lowerer.texts().literal(table.toString())),
                                offset);
        lowerer.memory()
                .copy(
                        new PlaceValue(at, 0, MemoryOwner.OWN),
                        Math.min(NAME_BYTES, type.sizeBytes()),
                        to);
        emit().start(none);
    }
}
