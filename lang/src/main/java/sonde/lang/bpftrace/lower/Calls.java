package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.ImportedFunction;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** Functions that have an effect, or work on maps; the others are {@link Functions}'s. */
final class Calls {
    private final Lowerer lowerer;
    private final Functions functions;

    Calls(Lowerer lowerer) {
        this.lowerer = lowerer;
        this.functions = new Functions(lowerer);
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    private Unit unit() {
        return lowerer.unit();
    }

    Value value(Expression.Call c) {
        ImportedFunction imported = lowerer.clause().imported(c);
        if (imported != null) {
            return imported(c, imported);
        }
        return switch (c.function()) {
            case "has_key" -> has(c);
            case "delete" -> delete(c);
            case "find" -> find(c);
            case "len" -> length(c);
            default -> {
                if (lowerer.type(c) instanceof Type.Void) {
                    run(c);
                    yield Value.of(0);
                }
                yield functions.value(c);
            }
        };
    }

    /** Of the register with the result only as many bits count as its type has. */
    private Value imported(Expression.Call c, ImportedFunction function) {
        List<Operand> arguments = new ArrayList<>();
        for (int i = 0; i < function.parameters().size(); i++) {
            Type wanted = function.parameters().get(i).type();
            arguments.add(lowerer.number(c.arguments().get(i), wanted));
        }
        Type result = function.result();
        Vreg to = result instanceof Type.Void ? null : emit().function().scalar();
        emit().function().add(new Operation.CallImported(to, c.function(), arguments));
        if (to == null) {
            return Value.of(0);
        }
        return result instanceof Type.Bool
                ? Value.of(emit().alu(AluOperation.AND, to, 1))
                : new Value.Number(lowerer.numbers().fit(to, Type.Int.I64, result));
    }

    boolean into(Expression.Call c, Type from, Type type, Place to) {
        return functions.into(c, from, type, to);
    }

    /** Whose memory an expression points to. */
    Value.Where where(Type type, Expression e) {
        return functions.where(type, e);
    }

    private static String text(Expression.Call c, int index, String otherwise) {
        return c.arguments().size() > index
                        && c.arguments().get(index) instanceof Expression.StringLiteral s
                ? s.bytes()
                : otherwise;
    }

    private long number(Expression.Call c, int index, long otherwise) {
        if (c.arguments().size() <= index) {
            return otherwise;
        }
        Expression e = c.arguments().get(index);
        return lowerer.clause().value(e) instanceof Long n
                ? n
                : e instanceof Expression.IntegerLiteral n ? n.value() : otherwise;
    }

    /** For its effect. */
    void run(Expression.Call c) {
        switch (c.function()) {
            case "printf", "cat", "system", "errorf", "warnf" -> formatted(c);
            case "print" -> print(c);
            case "clear", "zero" ->
                    lowerer.outputs()
                            .signal(
                                    unit().action(
                                                    new Action.EmptyMap(
                                                            mapName(c),
                                                            c.function().equals("zero"))));
            case "exit" -> exit(c);
            case "time" ->
                    lowerer.outputs()
                            .signal(unit().action(new Action.Time(text(c, 0, "%H:%M:%S\n"))));
            case "join" -> functions.join(c, text(c, 1, " "));
            case "unwatch" ->
                    lowerer.outputs()
                            .number(
                                    unit().action(new Action.Unwatch()),
                                    lowerer.number(c.arguments().getFirst(), Type.Int.U64),
                                    8);
            case "assert" -> holds(c);
            case "debugf" -> functions.debug(c);
            case "static_assert", "fail", "assert_str" -> {}
            case "signal", "signal_thread", "override" -> functions.change(c);
            default -> value(c);
        }
    }

    private static String mapName(Expression.Call c) {
        return ((Expression.MapName) c.arguments().getFirst()).name();
    }

    private void formatted(Expression.Call c) {
        String format = text(c, 0, "");
        if (lowerer.clause().site().isPinned() && c.function().equals("printf")) {
            functions.printInto(c, format);
            return;
        }
        List<Expression> rest =
                c.arguments().stream().skip(1).map(lowerer.clause()::shown).toList();
        Tuple types = lowerer.outputs().types(rest);
        Action action =
                switch (c.function()) {
                    case "printf" -> new Action.Print(format, types);
                    case "cat" -> new Action.Cat(format, types);
                    case "system" -> new Action.System(format, types);
                    default ->
                            new Action.Report(
                                    c.function().equals("errorf"), format, types, c.span());
                };
        lowerer.outputs().send(unit().action(action), types, rest);
    }

    private void print(Expression.Call c) {
        Expression first = c.arguments().getFirst();
        if (first instanceof Expression.MapName m) {
            Action action =
                    new Action.PrintMap(
                            m.name(), (int) number(c, 1, 0), Math.max(1, number(c, 2, 1)));
            lowerer.outputs().signal(unit().action(action));
            return;
        }
        if (first instanceof Expression.MapElement m
                && lowerer.unit().map(m.map().name()).value() instanceof Type.Aggregate) {
            functions.printElement(m);
            return;
        }
        List<Expression> values = List.of(lowerer.clause().shown(first));
        Tuple types = lowerer.outputs().types(values);
        Type type = types.fields().getFirst().type();
        lowerer.outputs().send(unit().action(new Action.PrintValue(type)), types, values);
    }

    private void exit(Expression.Call c) {
        Operand code =
                c.arguments().isEmpty()
                        ? Operand.of(0)
                        : lowerer.number(c.arguments().getFirst(), Type.Int.I32);
        lowerer.outputs().number(unit().action(new Action.Exit()), code, 4);
        emit().store(Width.U64, emit().mapValue(Unit.ENDED, 0), 0, Operand.of(1));
        lowerer.statements().leave(Operand.of(lowerer.site().success()));
    }

    private void holds(Expression.Call c) {
        Block fine = emit().block();
        Block failed = emit().block();
        lowerer.operators().branch(c.arguments().getFirst(), fine, failed);
        emit().start(failed);
        Action action =
                new Action.Report(
                        true, "assert failed: " + text(c, 1, ""), Tuple.of(List.of()), c.span());
        lowerer.outputs().signal(unit().action(action));
        lowerer.outputs().number(unit().action(new Action.Exit()), Operand.of(1), 4);
        emit().store(Width.U64, emit().mapValue(Unit.ENDED, 0), 0, Operand.of(1));
        lowerer.statements().leave(Operand.of(1));
        emit().start(fine);
    }

    private MapPlan plan(Expression.Call c) {
        return lowerer.unit().map(mapName(c));
    }

    private Value has(Expression.Call c) {
        return lowerer.maps().has(plan(c), c.arguments().get(1));
    }

    private Value delete(Expression.Call c) {
        Expression first = c.arguments().getFirst();
        if (c.arguments().size() == 2) {
            MapPlan plan = plan(c);
            return lowerer.maps()
                    .deleteKey(plan, lowerer.maps().keyPlace(c.arguments().get(1), plan));
        }
        return lowerer.maps().delete(first, lowerer.maps().plan(first));
    }

    private Value find(Expression.Call c) {
        MapPlan plan = plan(c);
        Expression target = c.arguments().get(2);
        Vreg found = lowerer.maps().find(plan, lowerer.maps().keyPlace(c.arguments().get(1), plan));
        Block none = emit().block();
        Vreg result = emit().copy(Operand.of(0));
        emit().when(Condition.EQUAL, found, 0, none);
        if (target instanceof Expression.Variable v) {
            Place at = new Place(found, 0, Value.Where.OWN);
            lowerer.statements().assign(lowerer.clause().variable(v), at, plan.value());
        }
        emit().set(result, Operand.of(1));
        emit().start(none);
        return Value.of(result);
    }

    private Value length(Expression.Call c) {
        return c.arguments().getFirst() instanceof Expression.MapName m
                ? functions.count(m.name())
                : functions.frames(c.arguments().getFirst());
    }
}
