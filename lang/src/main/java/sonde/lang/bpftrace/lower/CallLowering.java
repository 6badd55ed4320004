package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.ImportedFunction;
import sonde.lang.bpftrace.lower.EventAction.CatAction;
import sonde.lang.bpftrace.lower.EventAction.ExitAction;
import sonde.lang.bpftrace.lower.EventAction.PrintAction;
import sonde.lang.bpftrace.lower.EventAction.ReportAction;
import sonde.lang.bpftrace.lower.EventAction.SystemAction;
import sonde.lang.bpftrace.lower.EventAction.TimeAction;
import sonde.lang.bpftrace.lower.EventAction.UnwatchAction;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.NumberValue;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.VoidType;

/** Functions that have an effect, or work on maps; the others are {@link FunctionLowering}'s. */
final class CallLowering {
    private final ProgramLowering lowerer;
    private final FunctionLowering functions;

    CallLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
        this.functions = new FunctionLowering(lowerer);
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    private ScriptUnit unit() {
        return lowerer.unit();
    }

    LoweredValue value(FunctionCall c) {
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
                if (lowerer.type(c) instanceof VoidType) {
                    run(c);
                    yield LoweredValue.of(0);
                }
                yield functions.value(c);
            }
        };
    }

    /** Only as many bits of the result register count as its type has. */
    private LoweredValue imported(FunctionCall c, ImportedFunction function) {
        List<IrOperand> arguments = new ArrayList<>();
        for (int i = 0; i < function.parameters().size(); i++) {
            ValueType wanted = function.parameters().get(i).type();
            arguments.add(lowerer.number(c.arguments().get(i), wanted));
        }
        ValueType result = function.result();
        VirtualRegister to = result instanceof VoidType ? null : emit().function().scalar();
        emit().function().add(new IrOperation.CallImported(to, c.function(), arguments));
        if (to == null) {
            return LoweredValue.of(0);
        }
        return result instanceof BoolType
                ? LoweredValue.of(emit().alu(AluOperation.AND, to, 1))
                : new NumberValue(lowerer.numbers().fit(to, IntType.I64, result));
    }

    boolean into(FunctionCall c, ValueType from, ValueType type, PlaceValue to) {
        return functions.into(c, from, type, to);
    }

    /** The owner of the memory that an expression points to. */
    MemoryOwner where(ValueType type, Expression e) {
        return functions.where(type, e);
    }

    private static String text(FunctionCall c, int index, String otherwise) {
        return c.arguments().size() > index
                        && c.arguments().get(index) instanceof Expression.StringLiteral s
                ? s.bytes()
                : otherwise;
    }

    private long number(FunctionCall c, int index, long otherwise) {
        if (c.arguments().size() <= index) {
            return otherwise;
        }
        Expression e = c.arguments().get(index);
        return lowerer.clause().value(e) instanceof Long n
                ? n
                : e instanceof Expression.IntegerLiteral n ? n.value() : otherwise;
    }

    /** For its effect. */
    void run(FunctionCall c) {
        switch (c.function()) {
            case "printf", "cat", "system", "errorf", "warnf" -> formatted(c);
            case "print" -> print(c);
            case "clear", "zero" ->
                    lowerer.outputs()
                            .signal(
                                    unit().action(
                                                    new EventAction.EmptyMap(
                                                            mapName(c),
                                                            c.function().equals("zero"))));
            case "exit" -> exit(c);
            case "time" ->
                    lowerer.outputs()
                            .signal(unit().action(new TimeAction(text(c, 0, "%H:%M:%S\n"))));
            case "join" -> functions.join(c, text(c, 1, " "));
            case "unwatch" ->
                    lowerer.outputs()
                            .number(
                                    unit().action(new UnwatchAction()),
                                    lowerer.number(c.arguments().getFirst(), IntType.U64),
                                    8);
            case "assert" -> holds(c);
            case "debugf" -> functions.debug(c);
            case "static_assert", "fail", "assert_str" -> {}
            case "signal", "signal_thread", "override" -> functions.change(c);
            default -> value(c);
        }
    }

    private static String mapName(FunctionCall c) {
        return ((Expression.MapName) c.arguments().getFirst()).name();
    }

    private void formatted(FunctionCall c) {
        String format = text(c, 0, "");
        if (lowerer.clause().site().isPinned() && c.function().equals("printf")) {
            functions.printInto(c, format);
            return;
        }
        List<Expression> rest =
                c.arguments().stream().skip(1).map(lowerer.clause()::shown).toList();
        TupleType types = lowerer.outputs().types(rest);
        EventAction action =
                switch (c.function()) {
                    case "printf" -> new PrintAction(format, types);
                    case "cat" -> new CatAction(format, types);
                    case "system" -> new SystemAction(format, types);
                    default ->
                            new ReportAction(
                                    c.function().equals("errorf"), format, types, c.span());
                };
        lowerer.outputs().send(unit().action(action), types, rest);
    }

    private void print(FunctionCall c) {
        Expression first = c.arguments().getFirst();
        if (first instanceof Expression.MapName m) {
            EventAction action =
                    new EventAction.PrintMap(
                            m.name(), (int) number(c, 1, 0), Math.max(1, number(c, 2, 1)));
            lowerer.outputs().signal(unit().action(action));
            return;
        }
        if (first instanceof Expression.MapElement m
                && lowerer.unit().map(m.map().name()).value() instanceof AggregateType) {
            functions.printElement(m);
            return;
        }
        List<Expression> values = List.of(lowerer.clause().shown(first));
        TupleType types = lowerer.outputs().types(values);
        ValueType type = types.fields().getFirst().type();
        lowerer.outputs().send(unit().action(new EventAction.PrintValue(type)), types, values);
    }

    private void exit(FunctionCall c) {
        IrOperand code =
                c.arguments().isEmpty()
                        ? IrOperand.of(0)
                        : lowerer.number(c.arguments().getFirst(), IntType.I32);
        lowerer.outputs().number(unit().action(new ExitAction()), code, 4);
        emit().store(Width.U64, emit().mapValue(ScriptUnit.ENDED, 0), 0, IrOperand.of(1));
        lowerer.statements().leave(IrOperand.of(lowerer.site().success()));
    }

    private void holds(FunctionCall c) {
        BasicBlock fine = emit().block();
        BasicBlock failed = emit().block();
        lowerer.operators().branch(c.arguments().getFirst(), fine, failed);
        emit().start(failed);
        EventAction action =
                new ReportAction(
                        true,
                        "assert failed: " + text(c, 1, ""),
                        TupleType.of(List.of()),
                        c.span());
        lowerer.outputs().signal(unit().action(action));
        lowerer.outputs().number(unit().action(new ExitAction()), IrOperand.of(1), 4);
        emit().store(Width.U64, emit().mapValue(ScriptUnit.ENDED, 0), 0, IrOperand.of(1));
        lowerer.statements().leave(IrOperand.of(1));
        emit().start(fine);
    }

    private MapPlan plan(FunctionCall c) {
        return lowerer.unit().map(mapName(c));
    }

    private LoweredValue has(FunctionCall c) {
        return lowerer.maps().has(plan(c), c.arguments().get(1));
    }

    private LoweredValue delete(FunctionCall c) {
        Expression first = c.arguments().getFirst();
        if (c.arguments().size() == 2) {
            MapPlan plan = plan(c);
            return lowerer.maps()
                    .deleteKey(plan, lowerer.maps().keyPlace(c.arguments().get(1), plan));
        }
        return lowerer.maps().delete(first, lowerer.maps().plan(first));
    }

    private LoweredValue find(FunctionCall c) {
        MapPlan plan = plan(c);
        Expression target = c.arguments().get(2);
        VirtualRegister found =
                lowerer.maps().find(plan, lowerer.maps().keyPlace(c.arguments().get(1), plan));
        BasicBlock none = emit().block();
        VirtualRegister result = emit().copy(IrOperand.of(0));
        emit().when(JumpCondition.EQUAL, found, 0, none);
        if (target instanceof ScratchVariable v) {
            PlaceValue at = new PlaceValue(found, 0, MemoryOwner.OWN);
            lowerer.statements().assign(lowerer.clause().variable(v), at, plan.value());
        }
        emit().set(result, IrOperand.of(1));
        emit().start(none);
        return LoweredValue.of(result);
    }

    private LoweredValue length(FunctionCall c) {
        return c.arguments().getFirst() instanceof Expression.MapName m
                ? functions.count(m.name())
                : functions.frames(c.arguments().getFirst());
    }
}
