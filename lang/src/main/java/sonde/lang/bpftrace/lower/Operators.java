package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.lang.bpftrace.check.Promotion;
import sonde.lang.bpftrace.check.VariableSymbol;
import sonde.lang.bpftrace.lower.Value.Number;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.UnaryOperator;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.Vreg;
import sonde.lang.output.RuntimeFault;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** Operators, and conditions that become jumps. */
final class Operators {
    private final Lowerer lowerer;

    Operators(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    Value binary(Expression.Binary b) {
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
    Value arithmetic(
            BinaryOperator operator,
            Value left,
            Type leftType,
            Value right,
            Type rightType,
            Type to) {
        if (to instanceof Type.Pointer p) {
            return pointer(operator, left, leftType, right, rightType, p);
        }
        Operand a = lowerer.numbers().convert(left, leftType, to);
        Operand b = lowerer.numbers().convert(right, rightType, to);
        boolean signed =
                operator == BinaryOperator.SHIFT_RIGHT
                        ? Promotion.isSigned(leftType)
                        : Memory.isSigned(to);
        boolean divides = operator == BinaryOperator.DIVIDE || operator == BinaryOperator.MODULO;
        Vreg result =
                divides && !(b instanceof Operand.Number n && n.value() != 0)
                        ? divided(operation(operator, signed), a, b)
                        : emit().alu(operation(operator, signed), a, b);
        return new Number(
                to.sizeBytes() < 8
                        ? lowerer.numbers().fit(result, Memory.isSigned(to) ? Int.I64 : Int.U64, to)
                        : result);
    }

    /** By 0 it tells so, and gives 1. */
    private Vreg divided(AluOperation operation, Operand a, Operand b) {
        Vreg result = emit().copy(Operand.of(1));
        Vreg by = emit().register(b);
        Block fine = emit().block();
        Block done = emit().block();
        emit().when(Condition.NOT_EQUAL, by, 0, fine);
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

    private Value pointer(
            BinaryOperator operator,
            Value left,
            Type leftType,
            Value right,
            Type rightType,
            Type.Pointer to) {
        boolean first = leftType instanceof Type.Pointer;
        Operand base = lowerer.numbers().convert(first ? left : right, to, to);
        Operand count =
                lowerer.numbers()
                        .convert(first ? right : left, first ? rightType : leftType, Int.I64);
        int size = Math.max(1, to.to().sizeBytes());
        Operand bytes =
                to.space() == Type.Space.KERNEL || to.space() == Type.Space.TYPED
                        ? lowerer.portable().size(to.to(), size)
                        : Operand.of(size);
        Operand offset =
                size == 1
                        ? count
                        : count instanceof Operand.Number n && bytes instanceof Operand.Number
                                ? Operand.of(n.value() * size)
                                : emit().alu(AluOperation.MULTIPLY, count, bytes);
        return Value.of(
                emit().alu(
                                operator == BinaryOperator.ADD
                                        ? AluOperation.ADD
                                        : AluOperation.SUBTRACT,
                                base,
                                offset));
    }

    /** A condition as 0 or 1. */
    Value truth(Expression e) {
        Block yes = emit().block();
        Block no = emit().block();
        Block done = emit().block();
        Vreg result = emit().function().scalar();
        branch(e, yes, no);
        emit().start(yes);
        emit().set(result, Operand.of(1));
        emit().go(done);
        emit().start(no);
        emit().set(result, Operand.of(0));
        emit().start(done);
        return Value.of(result);
    }

    /** Whether a number is not 0, as 0 or 1. */
    Operand truth(Operand operand) {
        if (operand instanceof Operand.Number n) {
            return Operand.of(n.value() != 0 ? 1 : 0);
        }
        Block done = emit().block();
        Vreg result = emit().copy(Operand.of(1));
        emit().when(Condition.NOT_EQUAL, emit().register(operand), 0, done);
        emit().set(result, Operand.of(0));
        emit().start(done);
        return result;
    }

    /** Whether a number is 0, as 0 or 1. */
    Value isZero(Vreg number) {
        Block done = emit().block();
        Vreg result = emit().copy(Operand.of(0));
        emit().when(Condition.NOT_EQUAL, number, 0, done);
        emit().set(result, Operand.of(1));
        emit().start(done);
        return Value.of(result);
    }

    /** Goes to one block or another; both are started by the caller. */
    void branch(Expression e, Block yes, Block no) {
        switch (e) {
            case Expression.Binary b when b.operator() == BinaryOperator.LOGICAL_AND -> {
                Block next = emit().block();
                branch(b.left(), next, no);
                emit().start(next);
                branch(b.right(), yes, no);
            }
            case Expression.Binary b when b.operator() == BinaryOperator.LOGICAL_OR -> {
                Block next = emit().block();
                branch(b.left(), yes, next);
                emit().start(next);
                branch(b.right(), yes, no);
            }
            case Expression.Binary b when b.operator().isComparison() -> compare(b, yes, no);
            case Expression.Unary u when u.operator() == UnaryOperator.NOT ->
                    branch(u.operand(), no, yes);
            default -> {
                Operand operand = lowerer.number(e);
                if (operand instanceof Operand.Number n) {
                    emit().go(n.value() != 0 ? yes : no);
                } else {
                    jump(Condition.NOT_EQUAL, emit().register(operand), Operand.of(0), yes, no);
                }
            }
        }
    }

    private void jump(Condition condition, Vreg left, Operand right, Block yes, Block no) {
        emit().function().add(new Operation.Branch(condition, true, left, right, yes, no));
    }

    private void compare(Expression.Binary b, Block yes, Block no) {
        Type left = lowerer.type(b.left());
        Type right = lowerer.type(b.right());
        boolean equal = b.operator() == BinaryOperator.EQUAL;
        if (isCompared(left) && isCompared(right)) {
            Type common = common(left, right);
            Operand a = lowerer.number(b.left(), common);
            Operand c = lowerer.number(b.right(), common);
            boolean signed = common instanceof Int i && i.signed();
            jump(condition(b.operator(), signed), emit().register(a), c, yes, no);
        } else {
            lowerer.texts().compare(b.left(), b.right(), equal ? yes : no, equal ? no : yes);
        }
    }

    private static boolean isCompared(Type type) {
        return Memory.isNumber(type) || type instanceof Type.Aggregate;
    }

    private static Type common(Type left, Type right) {
        Type a = plain(left);
        Type b = plain(right);
        return a instanceof Int x && b instanceof Int y ? Promotion.integers(x, y) : Int.U64;
    }

    private static Type plain(Type type) {
        return switch (type) {
            case Type.Bool _ -> Int.U8;
            case Type.Enum e -> new Int(e.sizeBytes(), e.signed());
            case Type.Aggregate a -> new Int(8, Promotion.isSigned(a));
            default -> type;
        };
    }

    private static Condition condition(BinaryOperator operator, boolean signed) {
        return switch (operator) {
            case EQUAL -> Condition.EQUAL;
            case NOT_EQUAL -> Condition.NOT_EQUAL;
            case LESS -> signed ? Condition.SIGNED_LESS : Condition.LESS;
            case LESS_OR_EQUAL -> signed ? Condition.SIGNED_LESS_OR_EQUAL : Condition.LESS_OR_EQUAL;
            case GREATER -> signed ? Condition.SIGNED_GREATER : Condition.GREATER;
            case GREATER_OR_EQUAL ->
                    signed ? Condition.SIGNED_GREATER_OR_EQUAL : Condition.GREATER_OR_EQUAL;
            default -> throw new IllegalStateException(operator + " is no comparison");
        };
    }

    Value unary(Expression.Unary u) {
        return switch (u.operator()) {
            case NOT -> truth(u);
            case NEGATE -> negate(u);
            case COMPLEMENT -> {
                Operand operand = lowerer.number(u.operand(), lowerer.type(u));
                yield Value.of(emit().alu(AluOperation.XOR, operand, -1));
            }
            case DEREFERENCE -> dereference(u);
            case ADDRESS -> address(u);
            case PRE_INCREMENT, PRE_DECREMENT, POST_INCREMENT, POST_DECREMENT -> step(u);
        };
    }

    private Value negate(Expression.Unary u) {
        Operand operand = lowerer.number(u.operand(), Int.I64);
        if (operand instanceof Operand.Number n) {
            return Value.of(-n.value());
        }
        Vreg to = emit().function().scalar();
        emit().function().add(new Operation.Negate(to, emit().register(operand)));
        return Value.of(to);
    }

    private Value dereference(Expression.Unary u) {
        Type of = lowerer.type(u.operand());
        Value value = lowerer.value(u.operand());
        if (of instanceof Type.Pointer p) {
            return lowerer.read(value, p.space(), lowerer.type(u));
        }
        return of instanceof Int
                ? lowerer.read(value, lowerer.clause().site().space(), lowerer.type(u))
                : value;
    }

    private Value address(Expression.Unary u) {
        if (u.operand() instanceof Expression.MapName m) {
            return Value.of(emit().map(m.name()));
        }
        if (u.operand() instanceof Expression.Variable v) {
            VariableSymbol symbol = lowerer.clause().variable(v);
            return Value.of(emit().address(lowerer.place(lowerer.storage(symbol))));
        }
        return lowerer.value(u.operand()) instanceof Place p
                ? Value.of(emit().address(p))
                : Value.of(0);
    }

    /** What {@code ++} adds: to a pointer the size of what it points to. */
    private Operand amount(Type type) {
        if (!(type instanceof Type.Pointer p)) {
            return Operand.of(1);
        }
        int size = Math.max(1, p.to().sizeBytes());
        return p.space() == Type.Space.KERNEL || p.space() == Type.Space.TYPED
                ? lowerer.portable().size(p.to(), size)
                : Operand.of(size);
    }

    private Value step(Expression.Unary u) {
        boolean adds =
                u.operator() == UnaryOperator.PRE_INCREMENT
                        || u.operator() == UnaryOperator.POST_INCREMENT;
        Type type = lowerer.type(u.operand());
        boolean old = u.operator().isPostfix();
        if (!(u.operand() instanceof Expression.Variable v)) {
            Operand amount = amount(type);
            if (!(amount instanceof Operand.Number n)) {
                throw new UnportableException(
                        u.span(), "this steps by the size that " + type + " has here");
            }
            return lowerer.maps().step(u.operand(), adds ? n.value() : -n.value(), old);
        }
        Storage storage = lowerer.storage(lowerer.clause().variable(v));
        Type held = lowerer.clause().variable(v).type();
        Operand before;
        if (storage instanceof Storage.Register r) {
            before = old ? emit().copy(r.register()) : r.register();
        } else {
            before = lowerer.memory().load(lowerer.place(storage), held);
        }
        Operand after =
                lowerer.numbers()
                        .fit(
                                emit().alu(
                                                adds ? AluOperation.ADD : AluOperation.SUBTRACT,
                                                before,
                                                amount(type)),
                                Memory.isSigned(held) ? Int.I64 : Int.U64,
                                held);
        if (storage instanceof Storage.Register r) {
            emit().set(r.register(), after);
        } else {
            lowerer.memory().store(lowerer.place(storage), held, after);
        }
        return new Number(old ? before : after);
    }
}
