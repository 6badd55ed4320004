package sonde.lang.bpftrace.lower;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.VariableSymbol;
import sonde.lang.bpftrace.expand.TreeRewriter;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.ScriptLosses.LossReason;
import sonde.lang.bpftrace.lower.VariableStorage.RegisterStorage;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.JumpStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.LocalImport;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrFunction;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.VoidType;

/** Statements, blocks and conditionals. */
final class StatementLowering {
    private final ProgramLowering lowerer;
    private int returned;

    StatementLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** The whole program. */
    void program() {
        IrOperand success = IrOperand.of(lowerer.site().success());
        returned = lowerer.frame().reserve(8);
        Expression predicate = lowerer.clause().probe().predicate();
        BasicBlock none = emit().block();
        BasicBlock end = emit().block();
        if (lowerer.unit().exits() && !lowerer.clause().site().kind().isSpecial()) {
            VirtualRegister ended =
                    emit().load(Width.U64, false, emit().mapValue(ScriptUnit.ENDED, 0), 0);
            emit().when(JumpCondition.NOT_EQUAL, ended, 0, none);
        }
        lowerer.context().onlyProcess(lowerer.unit().options().process(), none);
        BasicBlock take = emit().block();
        BasicBlock taken = emit().block();
        emit().go(take);
        emit().start(taken);
        if (predicate != null) {
            int mark = lowerer.frame().mark();
            BasicBlock go = emit().block();
            emit().function().from(predicate.span());
            lowerer.operators().branch(predicate, go, end);
            emit().start(go);
            lowerer.frame().release(mark);
        }
        block(lowerer.clause().probe().body());
        emit().start(end);
        emit().leave(success);
        takeMemory(take, taken, none);
        emit().start(none);
        emit().leave(success);
    }

    /** What lies between the filters and the rest of a program that others of it may interrupt. */
    private void takeMemory(BasicBlock take, BasicBlock taken, BasicBlock none) {
        ScratchMemory frame = lowerer.frame();
        IrFunction function = emit().function();
        if (frame.hasSlots() && frame.isUsed(function)) {
            for (BasicBlock block : function.layout()) {
                if (block.isClosed() && block.steps().getLast().operation() instanceof IrReturn) {
                    block.steps()
                            .add(
                                    block.steps().size() - 1,
                                    new BlockStep(frame.free(function), null));
                }
            }
            emit().start(take);
            frame.take(emit(), taken);
            lowerer.maps().lost(LossReason.INTERRUPTED);
            emit().go(none);
        } else {
            emit().start(take);
            emit().go(taken);
        }
    }

    /** A block for its effect. */
    void block(BlockExpression b) {
        int mark = lowerer.frame().mark();
        for (ScriptStatement s : b.statements()) {
            statement(s);
        }
        Expression result = b.result();
        if (result != null) {
            effect(result);
        }
        lowerer.frame().release(mark);
        lowerer.forget(b);
    }

    /** A block for its value. */
    LoweredValue blockValue(BlockExpression b) {
        for (ScriptStatement s : b.statements()) {
            statement(s);
        }
        Expression result = b.result();
        return result == null ? LoweredValue.of(0) : lowerer.value(result);
    }

    private void statement(ScriptStatement s) {
        SourceSpan before = emit().function().place();
        emit().function().from(s.span());
        declared(s);
        int mark = lowerer.frame().mark();
        switch (s) {
            case ScriptStatement.Evaluate e -> effect(e.expression());
            case ScriptStatement.Discard d -> effect(d.expression());
            case ScriptStatement.Assign a -> assign(a);
            case ScriptStatement.Declare d -> declare(d);
            case ScriptStatement.ForRange f -> lowerer.loops().range(f);
            case ScriptStatement.ForMap f -> lowerer.loops().elements(f);
            case ScriptStatement.While w -> loop(w);
            case ScriptStatement.Unroll u -> unroll(u);
            case JumpStatement j -> jump(j);
            case LocalImport _ -> {}
        }
        lowerer.frame().release(mark);
        emit().function().from(before);
    }

    /** A variable's memory outlives the statement that first writes it. */
    private void declared(ScriptStatement s) {
        Expression target =
                switch (s) {
                    case ScriptStatement.Assign a -> a.target();
                    case ScriptStatement.Declare d -> d.variable();
                    default -> null;
                };
        if (target instanceof ScratchVariable v) {
            lowerer.storage(lowerer.clause().variable(v));
        }
    }

    private void effect(Expression e) {
        switch (e) {
            case Expression.If i -> conditional(i);
            case BlockExpression b -> block(b);
            case FunctionCall c -> lowerer.calls().run(c);
            case Expression.Ternary t when lowerer.type(t) instanceof VoidType ->
                    branches(t.condition(), t.then(), t.otherwise());
            default -> lowerer.value(e);
        }
    }

    private void branches(
            Expression condition, @Nullable Expression then, @Nullable Expression otherwise) {
        BasicBlock yes = emit().block();
        BasicBlock no = emit().block();
        BasicBlock done = emit().block();
        int mark = lowerer.frame().mark();
        lowerer.operators().branch(condition, yes, no);
        lowerer.frame().release(mark);
        emit().start(yes);
        if (then != null) {
            effect(then);
        }
        emit().go(done);
        emit().start(no);
        if (otherwise != null) {
            effect(otherwise);
        }
        emit().start(done);
    }

    /** {@code if}: for its effect, or for the value of the branch that is taken. */
    LoweredValue conditional(Expression.If i) {
        Boolean decided = lowerer.clause().decision(i);
        if (decided != null) {
            Expression kept = decided ? i.then() : i.otherwise();
            if (kept == null) {
                return LoweredValue.of(0);
            }
            if (lowerer.type(i) instanceof VoidType) {
                effect(kept);
                return LoweredValue.of(0);
            }
            return lowerer.value(kept);
        }
        Expression otherwise = i.otherwise();
        if (lowerer.type(i) instanceof VoidType || otherwise == null) {
            branches(i.condition(), i.then(), otherwise);
            return LoweredValue.of(0);
        }
        return choose(i.condition(), i.then(), otherwise, lowerer.type(i));
    }

    LoweredValue ternary(Expression.Ternary t) {
        ValueType type = lowerer.type(t);
        if (type instanceof VoidType) {
            branches(t.condition(), t.then(), t.otherwise());
            return LoweredValue.of(0);
        }
        Expression then = t.then();
        if (then != null) {
            return choose(t.condition(), then, t.otherwise(), type);
        }
        VirtualRegister result = emit().copy(lowerer.number(t.condition(), type));
        BasicBlock done = emit().block();
        emit().when(JumpCondition.NOT_EQUAL, result, 0, done);
        emit().set(result, lowerer.number(t.otherwise(), type));
        emit().start(done);
        return LoweredValue.of(result);
    }

    private LoweredValue choose(
            Expression condition, Expression then, Expression otherwise, ValueType type) {
        BasicBlock yes = emit().block();
        BasicBlock no = emit().block();
        BasicBlock done = emit().block();
        boolean number = MemoryLowering.isNumber(type);
        VirtualRegister result = emit().function().scalar();
        PlaceValue place = number ? null : lowerer.memory().own(type);
        lowerer.operators().branch(condition, yes, no);
        emit().start(yes);
        take(then, type, result, place);
        emit().go(done);
        emit().start(no);
        take(otherwise, type, result, place);
        emit().start(done);
        return place == null ? LoweredValue.of(result) : place;
    }

    private void take(
            Expression e, ValueType type, VirtualRegister result, @Nullable PlaceValue place) {
        if (place == null) {
            emit().set(result, lowerer.number(e, type));
        } else {
            lowerer.into(e, type, place);
        }
    }

    private void declare(ScriptStatement.Declare d) {
        VariableSymbol symbol = lowerer.clause().variable(d.variable());
        Expression value = d.value();
        if (value != null) {
            write(symbol, value);
        } else if (lowerer.storage(symbol) instanceof RegisterStorage r) {
            emit().set(r.register(), IrOperand.of(0));
        } else {
            lowerer.memory()
                    .zero(lowerer.place(lowerer.storage(symbol)), symbol.type().sizeBytes());
        }
    }

    /** Gives a variable a number. */
    void set(VariableSymbol symbol, IrOperand number) {
        VariableStorage storage = lowerer.storage(symbol);
        if (storage instanceof RegisterStorage r) {
            emit().set(r.register(), number);
        } else {
            lowerer.memory().store(lowerer.place(storage), symbol.type(), number);
        }
    }

    /** Gives a variable what lies at a place. */
    void assign(VariableSymbol symbol, PlaceValue from, ValueType type) {
        VariableStorage storage = lowerer.storage(symbol);
        if (storage instanceof RegisterStorage r) {
            emit().set(r.register(), lowerer.numbers().convert(from, type, symbol.type()));
        } else {
            lowerer.convert(from, type, symbol.type(), lowerer.place(storage));
        }
    }

    private void write(VariableSymbol symbol, Expression value) {
        VariableStorage storage = lowerer.storage(symbol);
        if (storage instanceof RegisterStorage r) {
            emit().set(r.register(), lowerer.number(value, symbol.type()));
            return;
        }
        PlaceValue place = lowerer.place(storage);
        if (MemoryLowering.isNumber(symbol.type()) || !reads(value, symbol)) {
            lowerer.into(value, symbol.type(), place);
            return;
        }
        PlaceValue copy = lowerer.placed(value, symbol.type());
        lowerer.memory().copy(copy, symbol.type().sizeBytes(), place);
    }

    /** Whether a value may be made of what the variable held: macros' text does not show it. */
    private static boolean reads(Expression value, VariableSymbol symbol) {
        boolean[] found = {false};
        new TreeRewriter() {
            @Override
            protected ScratchVariable variable(ScratchVariable variable) {
                found[0] |= variable.name().equals(symbol.name());
                return variable;
            }

            void look() {
                expression(value);
            }
        }.look();
        return found[0];
    }

    private void assign(ScriptStatement.Assign a) {
        if (a.operator() != null) {
            compound(a);
            return;
        }
        Expression value = a.value();
        while (value instanceof BlockExpression b
                && b.result() instanceof FunctionCall c
                && lowerer.type(c) instanceof AggregateType) {
            for (ScriptStatement s : b.statements()) {
                statement(s);
            }
            value = c;
        }
        switch (a.target()) {
            case ScratchVariable v -> write(lowerer.clause().variable(v), value);
            default -> {
                boolean aggregate =
                        value instanceof FunctionCall c && lowerer.type(c) instanceof AggregateType;
                if (aggregate && value instanceof FunctionCall c) {
                    lowerer.aggregates().assign(a.target(), c);
                } else {
                    lowerer.maps().assign(a.target(), value);
                }
            }
        }
    }

    /** {@code target += value} is {@code target = target + value}. */
    private void compound(ScriptStatement.Assign a) {
        if (a.operator() == null) {
            return;
        }
        BinaryOperation sum = new BinaryOperation(a.span(), a.operator(), a.target(), a.value());
        lowerer.clause().derive(sum, a.target(), a.value(), a.operator());
        switch (a.target()) {
            case ScratchVariable v -> write(lowerer.clause().variable(v), sum);
            case Expression.MapElement m -> lowerer.maps().compound(m, sum);
            default -> lowerer.maps().assign(a.target(), sum);
        }
    }

    private void loop(ScriptStatement.While w) {
        BasicBlock head = emit().block();
        BasicBlock body = emit().block();
        BasicBlock done = emit().block();
        BasicBlock breakBefore = lowerer.body().breakTo;
        BasicBlock continueBefore = lowerer.body().continueTo;
        emit().start(head);
        int mark = lowerer.frame().mark();
        lowerer.operators().branch(w.condition(), body, done);
        lowerer.frame().release(mark);
        emit().start(body);
        lowerer.body().breakTo = done;
        lowerer.body().continueTo = head;
        block(w.body());
        lowerer.body().breakTo = breakBefore;
        lowerer.body().continueTo = continueBefore;
        emit().go(head);
        emit().start(done);
    }

    private void unroll(ScriptStatement.Unroll u) {
        Long count = count(u.count());
        BasicBlock breakBefore = lowerer.body().breakTo;
        BasicBlock continueBefore = lowerer.body().continueTo;
        BasicBlock done = emit().block();
        lowerer.body().breakTo = done;
        for (long i = 0; count != null && i < count; i++) {
            BasicBlock next = emit().block();
            lowerer.body().continueTo = next;
            block(u.body());
            emit().start(next);
        }
        lowerer.body().breakTo = breakBefore;
        lowerer.body().continueTo = continueBefore;
        emit().start(done);
    }

    private @Nullable Long count(Expression e) {
        Object known = lowerer.clause().value(e);
        if (known instanceof Long n) {
            return n;
        }
        return e instanceof Expression.IntegerLiteral n ? (Long) n.value() : null;
    }

    private void jump(JumpStatement j) {
        switch (j.kind()) {
            case BREAK -> go(lowerer.body().breakTo);
            case CONTINUE -> go(lowerer.body().continueTo);
            case RETURN -> {
                Expression value = j.value();
                IrOperand result =
                        value == null
                                ? IrOperand.of(lowerer.site().success())
                                : lowerer.number(value, IntType.I64);
                leave(result);
            }
        }
    }

    private void go(@Nullable BasicBlock target) {
        if (target != null) {
            emit().go(target);
            emit().start(emit().block());
        }
    }

    /** Leaves the program, also from within the body of a loop. */
    void leave(IrOperand result) {
        if (!lowerer.body().isLoop()) {
            emit().leave(result);
            emit().start(emit().block());
            return;
        }
        lowerer.body().markReturn();
        PlaceValue flag = returned();
        emit().store(Width.U64, flag.base(), flag.offset(), IrOperand.of(1));
        emit().leave(IrOperand.of(1));
        emit().start(emit().block());
    }

    /** Memory that says whether the body of a loop left the program. */
    PlaceValue returned() {
        return lowerer.frame().at(emit().function(), returned);
    }
}
