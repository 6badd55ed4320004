package sonde.lang.bpftrace.lower;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.VariableSymbol;
import sonde.lang.bpftrace.expand.Rewriter;
import sonde.lang.bpftrace.lower.Losses.Reason;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Statement;
import sonde.lang.ir.Block;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Function;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.Vreg;
import sonde.lang.source.Span;
import sonde.lang.type.Type;

/** Statements, blocks and conditionals. */
final class Statements {
    private final Lowerer lowerer;
    private int returned;

    Statements(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** The whole program. */
    void program() {
        Operand success = Operand.of(lowerer.site().success());
        returned = lowerer.frame().reserve(8);
        Expression predicate = lowerer.clause().probe().predicate();
        Block none = emit().block();
        Block end = emit().block();
        if (lowerer.unit().exits() && !lowerer.clause().site().kind().isSpecial()) {
            Vreg ended = emit().load(Width.U64, false, emit().mapValue(Unit.ENDED, 0), 0);
            emit().when(Condition.NOT_EQUAL, ended, 0, none);
        }
        lowerer.context().onlyProcess(lowerer.unit().options().process(), none);
        Block take = emit().block();
        Block taken = emit().block();
        emit().go(take);
        emit().start(taken);
        if (predicate != null) {
            int mark = lowerer.frame().mark();
            Block go = emit().block();
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
    private void takeMemory(Block take, Block taken, Block none) {
        Frame frame = lowerer.frame();
        Function function = emit().function();
        if (frame.hasSlots() && frame.isUsed(function)) {
            for (Block block : function.layout()) {
                if (block.isClosed()
                        && block.steps().getLast().operation() instanceof Operation.Return) {
                    block.steps()
                            .add(block.steps().size() - 1, new Step(frame.free(function), null));
                }
            }
            emit().start(take);
            frame.take(emit(), taken);
            lowerer.maps().lost(Reason.INTERRUPTED);
            emit().go(none);
        } else {
            emit().start(take);
            emit().go(taken);
        }
    }

    /** A block for its effect. */
    void block(Expression.Block b) {
        int mark = lowerer.frame().mark();
        for (Statement s : b.statements()) {
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
    Value blockValue(Expression.Block b) {
        for (Statement s : b.statements()) {
            statement(s);
        }
        Expression result = b.result();
        return result == null ? Value.of(0) : lowerer.value(result);
    }

    private void statement(Statement s) {
        Span before = emit().function().place();
        emit().function().from(s.span());
        declared(s);
        int mark = lowerer.frame().mark();
        switch (s) {
            case Statement.Evaluate e -> effect(e.expression());
            case Statement.Discard d -> effect(d.expression());
            case Statement.Assign a -> assign(a);
            case Statement.Declare d -> declare(d);
            case Statement.ForRange f -> lowerer.loops().range(f);
            case Statement.ForMap f -> lowerer.loops().elements(f);
            case Statement.While w -> loop(w);
            case Statement.Unroll u -> unroll(u);
            case Statement.Jump j -> jump(j);
            case Statement.Import _ -> {}
        }
        lowerer.frame().release(mark);
        emit().function().from(before);
    }

    /** A variable's memory outlives the statement that first writes it. */
    private void declared(Statement s) {
        Expression target =
                switch (s) {
                    case Statement.Assign a -> a.target();
                    case Statement.Declare d -> d.variable();
                    default -> null;
                };
        if (target instanceof Expression.Variable v) {
            lowerer.storage(lowerer.clause().variable(v));
        }
    }

    private void effect(Expression e) {
        switch (e) {
            case Expression.If i -> conditional(i);
            case Expression.Block b -> block(b);
            case Expression.Call c -> lowerer.calls().run(c);
            case Expression.Ternary t when lowerer.type(t) instanceof Type.Void ->
                    branches(t.condition(), t.then(), t.otherwise());
            default -> lowerer.value(e);
        }
    }

    private void branches(
            Expression condition, @Nullable Expression then, @Nullable Expression otherwise) {
        Block yes = emit().block();
        Block no = emit().block();
        Block done = emit().block();
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
    Value conditional(Expression.If i) {
        Boolean decided = lowerer.clause().decision(i);
        if (decided != null) {
            Expression kept = decided ? i.then() : i.otherwise();
            if (kept == null) {
                return Value.of(0);
            }
            if (lowerer.type(i) instanceof Type.Void) {
                effect(kept);
                return Value.of(0);
            }
            return lowerer.value(kept);
        }
        Expression otherwise = i.otherwise();
        if (lowerer.type(i) instanceof Type.Void || otherwise == null) {
            branches(i.condition(), i.then(), otherwise);
            return Value.of(0);
        }
        return choose(i.condition(), i.then(), otherwise, lowerer.type(i));
    }

    Value ternary(Expression.Ternary t) {
        Type type = lowerer.type(t);
        if (type instanceof Type.Void) {
            branches(t.condition(), t.then(), t.otherwise());
            return Value.of(0);
        }
        Expression then = t.then();
        if (then != null) {
            return choose(t.condition(), then, t.otherwise(), type);
        }
        Vreg result = emit().copy(lowerer.number(t.condition(), type));
        Block done = emit().block();
        emit().when(Condition.NOT_EQUAL, result, 0, done);
        emit().set(result, lowerer.number(t.otherwise(), type));
        emit().start(done);
        return Value.of(result);
    }

    private Value choose(Expression condition, Expression then, Expression otherwise, Type type) {
        Block yes = emit().block();
        Block no = emit().block();
        Block done = emit().block();
        boolean number = Memory.isNumber(type);
        Vreg result = emit().function().scalar();
        Place place = number ? null : lowerer.memory().own(type);
        lowerer.operators().branch(condition, yes, no);
        emit().start(yes);
        take(then, type, result, place);
        emit().go(done);
        emit().start(no);
        take(otherwise, type, result, place);
        emit().start(done);
        return place == null ? Value.of(result) : place;
    }

    private void take(Expression e, Type type, Vreg result, @Nullable Place place) {
        if (place == null) {
            emit().set(result, lowerer.number(e, type));
        } else {
            lowerer.into(e, type, place);
        }
    }

    private void declare(Statement.Declare d) {
        VariableSymbol symbol = lowerer.clause().variable(d.variable());
        Expression value = d.value();
        if (value != null) {
            write(symbol, value);
        } else if (lowerer.storage(symbol) instanceof Storage.Register r) {
            emit().set(r.register(), Operand.of(0));
        } else {
            lowerer.memory()
                    .zero(lowerer.place(lowerer.storage(symbol)), symbol.type().sizeBytes());
        }
    }

    /** Gives a variable a number. */
    void set(VariableSymbol symbol, Operand number) {
        Storage storage = lowerer.storage(symbol);
        if (storage instanceof Storage.Register r) {
            emit().set(r.register(), number);
        } else {
            lowerer.memory().store(lowerer.place(storage), symbol.type(), number);
        }
    }

    /** Gives a variable what lies at a place. */
    void assign(VariableSymbol symbol, Place from, Type type) {
        Storage storage = lowerer.storage(symbol);
        if (storage instanceof Storage.Register r) {
            emit().set(r.register(), lowerer.numbers().convert(from, type, symbol.type()));
        } else {
            lowerer.convert(from, type, symbol.type(), lowerer.place(storage));
        }
    }

    private void write(VariableSymbol symbol, Expression value) {
        Storage storage = lowerer.storage(symbol);
        if (storage instanceof Storage.Register r) {
            emit().set(r.register(), lowerer.number(value, symbol.type()));
            return;
        }
        Place place = lowerer.place(storage);
        if (Memory.isNumber(symbol.type()) || !reads(value, symbol)) {
            lowerer.into(value, symbol.type(), place);
            return;
        }
        Place copy = lowerer.placed(value, symbol.type());
        lowerer.memory().copy(copy, symbol.type().sizeBytes(), place);
    }

    /** Whether a value may be made of what the variable held: macros' text does not show it. */
    private static boolean reads(Expression value, VariableSymbol symbol) {
        boolean[] found = {false};
        new Rewriter() {
            @Override
            protected Expression.Variable variable(Expression.Variable variable) {
                found[0] |= variable.name().equals(symbol.name());
                return variable;
            }

            void look() {
                expression(value);
            }
        }.look();
        return found[0];
    }

    private void assign(Statement.Assign a) {
        if (a.operator() != null) {
            compound(a);
            return;
        }
        Expression value = a.value();
        while (value instanceof Expression.Block b
                && b.result() instanceof Expression.Call c
                && lowerer.type(c) instanceof Type.Aggregate) {
            for (Statement s : b.statements()) {
                statement(s);
            }
            value = c;
        }
        switch (a.target()) {
            case Expression.Variable v -> write(lowerer.clause().variable(v), value);
            default -> {
                boolean aggregate =
                        value instanceof Expression.Call c
                                && lowerer.type(c) instanceof Type.Aggregate;
                if (aggregate && value instanceof Expression.Call c) {
                    lowerer.aggregates().assign(a.target(), c);
                } else {
                    lowerer.maps().assign(a.target(), value);
                }
            }
        }
    }

    /** {@code target += value} is {@code target = target + value}. */
    private void compound(Statement.Assign a) {
        if (a.operator() == null) {
            return;
        }
        Expression.Binary sum =
                new Expression.Binary(a.span(), a.operator(), a.target(), a.value());
        lowerer.clause().derive(sum, a.target(), a.value(), a.operator());
        switch (a.target()) {
            case Expression.Variable v -> write(lowerer.clause().variable(v), sum);
            case Expression.MapElement m -> lowerer.maps().compound(m, sum);
            default -> lowerer.maps().assign(a.target(), sum);
        }
    }

    private void loop(Statement.While w) {
        Block head = emit().block();
        Block body = emit().block();
        Block done = emit().block();
        Block breakBefore = lowerer.body().breakTo;
        Block continueBefore = lowerer.body().continueTo;
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

    private void unroll(Statement.Unroll u) {
        Long count = count(u.count());
        Block breakBefore = lowerer.body().breakTo;
        Block continueBefore = lowerer.body().continueTo;
        Block done = emit().block();
        lowerer.body().breakTo = done;
        for (long i = 0; count != null && i < count; i++) {
            Block next = emit().block();
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

    private void jump(Statement.Jump j) {
        switch (j.kind()) {
            case BREAK -> go(lowerer.body().breakTo);
            case CONTINUE -> go(lowerer.body().continueTo);
            case RETURN -> {
                Expression value = j.value();
                Operand result =
                        value == null
                                ? Operand.of(lowerer.site().success())
                                : lowerer.number(value, Type.Int.I64);
                leave(result);
            }
        }
    }

    private void go(@Nullable Block target) {
        if (target != null) {
            emit().go(target);
            emit().start(emit().block());
        }
    }

    /** Leaves the program, also from within the body of a loop. */
    void leave(Operand result) {
        if (!lowerer.body().isLoop()) {
            emit().leave(result);
            emit().start(emit().block());
            return;
        }
        lowerer.body().markReturn();
        Place flag = returned();
        emit().store(Width.U64, flag.base(), flag.offset(), Operand.of(1));
        emit().leave(Operand.of(1));
        emit().start(emit().block());
    }

    /** Memory that says whether the body of a loop left the program. */
    Place returned() {
        return lowerer.frame().at(emit().function(), returned);
    }
}
