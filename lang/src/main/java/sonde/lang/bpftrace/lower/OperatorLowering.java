package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.lang.bpftrace.check.TypePromotion;
import sonde.lang.bpftrace.check.VariableSymbol;
import sonde.lang.bpftrace.lower.LoweredValue.NumberValue;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.VariableStorage.RegisterStorage;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.UnaryOperation;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrNegate;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.output.RuntimeFault;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;

/** Operators, and conditions that become jumps. */
final class OperatorLowering {
    private final ProgramLowering lowerer;

    OperatorLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    LoweredValue binary(BinaryOperation b) {
        if (b.operator().isComparison() || isLogical(b.operator())) {
            return truth(b);
        }
        return arithmetic(
                b.operator(),
                lowerer.value(b.left()),
                lowerer.type(b.left()),
                lowerer.value(b.right()),
                lowerer.type(b.right()),
                lowerer.type(b));
    }

    private static boolean isLogical(BinaryOperator operator) {
        return operator == BinaryOperator.LOGICAL_AND || operator == BinaryOperator.LOGICAL_OR;
    }

    /** {@code left operator right} as a number of a type. */
    LoweredValue arithmetic(
            BinaryOperator operator,
            LoweredValue left,
            ValueType leftType,
            LoweredValue right,
            ValueType rightType,
            ValueType to) {
        if (to instanceof PointerType p) {
            return pointer(operator, left, leftType, right, rightType, p);
        }
        IrOperand a = lowerer.numbers().convert(left, leftType, to);
        IrOperand b = lowerer.numbers().convert(right, rightType, to);
        boolean signed =
                operator == BinaryOperator.SHIFT_RIGHT
                        ? TypePromotion.isSigned(leftType)
                        : MemoryLowering.isSigned(to);
        boolean divides = operator == BinaryOperator.DIVIDE || operator == BinaryOperator.MODULO;
        VirtualRegister result =
                divides && !(b instanceof IrNumber n && n.value() != 0)
                        ? divided(operation(operator, signed), a, b)
                        : emit().alu(operation(operator, signed), a, b);
        return new NumberValue(
                to.sizeBytes() < 8
                        ? lowerer.numbers()
                                .fit(
                                        result,
                                        MemoryLowering.isSigned(to) ? IntType.I64 : IntType.U64,
                                        to)
                        : result);
    }

    /** By 0 it tells so, and gives 1. */
    private VirtualRegister divided(AluOperation operation, IrOperand a, IrOperand b) {
        VirtualRegister result = emit().copy(IrOperand.of(1));
        VirtualRegister by = emit().register(b);
        BasicBlock fine = emit().block();
        BasicBlock done = emit().block();
        emit().when(JumpCondition.NOT_EQUAL, by, 0, fine);
        lowerer.errors().fault(RuntimeFault.DIVIDE_BY_ZERO);
        emit().go(done);
        emit().start(fine);
        emit().set(result, emit().alu(operation, a, by));
        emit().start(done);
        return result;
    }

    private static AluOperation operation(BinaryOperator operator, boolean signed) {
        return switch (operator) {
            case ADD -> AluOperation.ADD;
            case SUBTRACT -> AluOperation.SUBTRACT;
            case MULTIPLY -> AluOperation.MULTIPLY;
            case DIVIDE -> signed ? AluOperation.SIGNED_DIVIDE : AluOperation.DIVIDE;
            case MODULO -> signed ? AluOperation.SIGNED_REMAINDER : AluOperation.REMAINDER;
            case OR -> AluOperation.OR;
            case XOR -> AluOperation.XOR;
            case AND -> AluOperation.AND;
            case SHIFT_LEFT -> AluOperation.SHIFT_LEFT;
            case SHIFT_RIGHT -> signed ? AluOperation.SHIFT_RIGHT_SIGNED : AluOperation.SHIFT_RIGHT;
            default -> throw new IllegalStateException(operator + " is no arithmetic");
        };
    }

    private LoweredValue pointer(
            BinaryOperator operator,
            LoweredValue left,
            ValueType leftType,
            LoweredValue right,
            ValueType rightType,
            PointerType to) {
        boolean first = leftType instanceof PointerType;
        IrOperand base = lowerer.numbers().convert(first ? left : right, to, to);
        IrOperand count =
                lowerer.numbers()
                        .convert(first ? right : left, first ? rightType : leftType, IntType.I64);
        int size = Math.max(1, to.to().sizeBytes());
        IrOperand bytes =
                to.space() == PointerSpace.KERNEL || to.space() == PointerSpace.TYPED
                        ? lowerer.portable().size(to.to(), size)
                        : IrOperand.of(size);
        IrOperand offset =
                size == 1
                        ? count
                        : count instanceof IrNumber n && bytes instanceof IrNumber
                                ? IrOperand.of(n.value() * size)
                                : emit().alu(AluOperation.MULTIPLY, count, bytes);
        return LoweredValue.of(
                emit().alu(
                                operator == BinaryOperator.ADD
                                        ? AluOperation.ADD
                                        : AluOperation.SUBTRACT,
                                base,
                                offset));
    }

    /** A condition as 0 or 1. */
    LoweredValue truth(Expression e) {
        BasicBlock yes = emit().block();
        BasicBlock no = emit().block();
        BasicBlock done = emit().block();
        VirtualRegister result = emit().function().scalar();
        branch(e, yes, no);
        emit().start(yes);
        emit().set(result, IrOperand.of(1));
        emit().go(done);
        emit().start(no);
        emit().set(result, IrOperand.of(0));
        emit().start(done);
        return LoweredValue.of(result);
    }

    /** Whether a number is not 0, as 0 or 1. */
    IrOperand truth(IrOperand operand) {
        if (operand instanceof IrNumber n) {
            return IrOperand.of(n.value() != 0 ? 1 : 0);
        }
        BasicBlock done = emit().block();
        VirtualRegister result = emit().copy(IrOperand.of(1));
        emit().when(JumpCondition.NOT_EQUAL, emit().register(operand), 0, done);
        emit().set(result, IrOperand.of(0));
        emit().start(done);
        return result;
    }

    /** Whether a number is 0, as 0 or 1. */
    LoweredValue isZero(VirtualRegister number) {
        BasicBlock done = emit().block();
        VirtualRegister result = emit().copy(IrOperand.of(0));
        emit().when(JumpCondition.NOT_EQUAL, number, 0, done);
        emit().set(result, IrOperand.of(1));
        emit().start(done);
        return LoweredValue.of(result);
    }

    /** Goes to one block or another; both are started by the caller. */
    void branch(Expression e, BasicBlock yes, BasicBlock no) {
        switch (e) {
            case BinaryOperation b when b.operator() == BinaryOperator.LOGICAL_AND -> {
                BasicBlock next = emit().block();
                branch(b.left(), next, no);
                emit().start(next);
                branch(b.right(), yes, no);
            }
            case BinaryOperation b when b.operator() == BinaryOperator.LOGICAL_OR -> {
                BasicBlock next = emit().block();
                branch(b.left(), yes, next);
                emit().start(next);
                branch(b.right(), yes, no);
            }
            case BinaryOperation b when b.operator().isComparison() -> compare(b, yes, no);
            case UnaryOperation u when u.operator() == UnaryOperator.NOT ->
                    branch(u.operand(), no, yes);
            default -> {
                IrOperand operand = lowerer.number(e);
                if (operand instanceof IrNumber n) {
                    emit().go(n.value() != 0 ? yes : no);
                } else {
                    jump(
                            JumpCondition.NOT_EQUAL,
                            emit().register(operand),
                            IrOperand.of(0),
                            yes,
                            no);
                }
            }
        }
    }

    private void jump(
            JumpCondition condition,
            VirtualRegister left,
            IrOperand right,
            BasicBlock yes,
            BasicBlock no) {
        emit().function().add(new IrBranch(condition, true, left, right, yes, no));
    }

    private void compare(BinaryOperation b, BasicBlock yes, BasicBlock no) {
        ValueType left = lowerer.type(b.left());
        ValueType right = lowerer.type(b.right());
        boolean equal = b.operator() == BinaryOperator.EQUAL;
        if (isCompared(left) && isCompared(right)) {
            ValueType common = common(left, right);
            IrOperand a = lowerer.number(b.left(), common);
            IrOperand c = lowerer.number(b.right(), common);
            boolean signed = common instanceof IntType i && i.signed();
            jump(condition(b.operator(), signed), emit().register(a), c, yes, no);
        } else {
            lowerer.texts().compare(b.left(), b.right(), equal ? yes : no, equal ? no : yes);
        }
    }

    private static boolean isCompared(ValueType type) {
        return MemoryLowering.isNumber(type) || type instanceof AggregateType;
    }

    private static ValueType common(ValueType left, ValueType right) {
        ValueType a = plain(left);
        ValueType b = plain(right);
        return a instanceof IntType x && b instanceof IntType y
                ? TypePromotion.integers(x, y)
                : IntType.U64;
    }

    private static ValueType plain(ValueType type) {
        return switch (type) {
            case BoolType _ -> IntType.U8;
            case EnumType e -> new IntType(e.sizeBytes(), e.signed());
            case AggregateType a -> new IntType(8, TypePromotion.isSigned(a));
            default -> type;
        };
    }

    private static JumpCondition condition(BinaryOperator operator, boolean signed) {
        return switch (operator) {
            case EQUAL -> JumpCondition.EQUAL;
            case NOT_EQUAL -> JumpCondition.NOT_EQUAL;
            case LESS -> signed ? JumpCondition.SIGNED_LESS : JumpCondition.LESS;
            case LESS_OR_EQUAL ->
                    signed ? JumpCondition.SIGNED_LESS_OR_EQUAL : JumpCondition.LESS_OR_EQUAL;
            case GREATER -> signed ? JumpCondition.SIGNED_GREATER : JumpCondition.GREATER;
            case GREATER_OR_EQUAL ->
                    signed ? JumpCondition.SIGNED_GREATER_OR_EQUAL : JumpCondition.GREATER_OR_EQUAL;
            default -> throw new IllegalStateException(operator + " is not a comparison");
        };
    }

    LoweredValue unary(UnaryOperation u) {
        return switch (u.operator()) {
            case NOT -> truth(u);
            case NEGATE -> negate(u);
            case COMPLEMENT -> {
                IrOperand operand = lowerer.number(u.operand(), lowerer.type(u));
                yield LoweredValue.of(emit().alu(AluOperation.XOR, operand, -1));
            }
            case DEREFERENCE -> dereference(u);
            case ADDRESS -> address(u);
            case PRE_INCREMENT, PRE_DECREMENT, POST_INCREMENT, POST_DECREMENT -> step(u);
        };
    }

    private LoweredValue negate(UnaryOperation u) {
        IrOperand operand = lowerer.number(u.operand(), IntType.I64);
        if (operand instanceof IrNumber n) {
            return LoweredValue.of(-n.value());
        }
        VirtualRegister to = emit().function().scalar();
        emit().function().add(new IrNegate(to, emit().register(operand)));
        return LoweredValue.of(to);
    }

    private LoweredValue dereference(UnaryOperation u) {
        ValueType of = lowerer.type(u.operand());
        LoweredValue value = lowerer.value(u.operand());
        if (of instanceof PointerType p) {
            return lowerer.read(value, p.space(), lowerer.type(u));
        }
        return of instanceof IntType
                ? lowerer.read(value, lowerer.clause().site().space(), lowerer.type(u))
                : value;
    }

    private LoweredValue address(UnaryOperation u) {
        if (u.operand() instanceof Expression.MapName m) {
            return LoweredValue.of(emit().map(m.name()));
        }
        if (u.operand() instanceof ScratchVariable v) {
            VariableSymbol symbol = lowerer.clause().variable(v);
            return LoweredValue.of(emit().address(lowerer.place(lowerer.storage(symbol))));
        }
        return lowerer.value(u.operand()) instanceof PlaceValue p
                ? LoweredValue.of(emit().address(p))
                : LoweredValue.of(0);
    }

    /** What {@code ++} adds: to a pointer the size of what it points to. */
    private IrOperand amount(ValueType type) {
        if (!(type instanceof PointerType p)) {
            return IrOperand.of(1);
        }
        int size = Math.max(1, p.to().sizeBytes());
        return p.space() == PointerSpace.KERNEL || p.space() == PointerSpace.TYPED
                ? lowerer.portable().size(p.to(), size)
                : IrOperand.of(size);
    }

    private LoweredValue step(UnaryOperation u) {
        boolean adds =
                u.operator() == UnaryOperator.PRE_INCREMENT
                        || u.operator() == UnaryOperator.POST_INCREMENT;
        ValueType type = lowerer.type(u.operand());
        boolean old = u.operator().isPostfix();
        if (!(u.operand() instanceof ScratchVariable v)) {
            IrOperand amount = amount(type);
            if (!(amount instanceof IrNumber n)) {
                throw new UnportableException(
                        u.span(), "this steps by the size that " + type + " has here");
            }
            return lowerer.maps().step(u.operand(), adds ? n.value() : -n.value(), old);
        }
        VariableStorage storage = lowerer.storage(lowerer.clause().variable(v));
        ValueType held = lowerer.clause().variable(v).type();
        IrOperand before;
        if (storage instanceof RegisterStorage r) {
            before = old ? emit().copy(r.register()) : r.register();
        } else {
            before = lowerer.memory().load(lowerer.place(storage), held);
        }
        IrOperand after =
                lowerer.numbers()
                        .fit(
                                emit().alu(
                                                adds ? AluOperation.ADD : AluOperation.SUBTRACT,
                                                before,
                                                amount(type)),
                                MemoryLowering.isSigned(held) ? IntType.I64 : IntType.U64,
                                held);
        if (storage instanceof RegisterStorage r) {
            emit().set(r.register(), after);
        } else {
            lowerer.memory().store(lowerer.place(storage), held, after);
        }
        return new NumberValue(old ? before : after);
    }
}
