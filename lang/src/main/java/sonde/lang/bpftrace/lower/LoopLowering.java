package sonde.lang.bpftrace.lower;

import static sonde.lang.ir.VirtualRegister.Kind.POINTER;
import static sonde.lang.ir.VirtualRegister.Kind.SCALAR;

import java.util.List;
import java.util.function.Consumer;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.VariableSymbol;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.VariableStorage.SharedStorage;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrFunction;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.output.RuntimeFault;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.IntType;

/** Loops whose bodies the kernel calls back: over ranges and maps. */
final class LoopLowering {
    /** BPF_MAX_LOOPS (kernel/bpf/bpf_iter.c): of more rounds bpf_loop runs none. */
    private static final int MOST_ROUNDS = 1 << 23;

    private final ProgramLowering lowerer;
    private int count;

    LoopLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** {@code for ($i : from..to)}. */
    void range(ScriptStatement.ForRange f) {
        VariableSymbol symbol = lowerer.clause().variable(f);
        ValueType wide = new IntType(8, true);
        IrOperand from = lowerer.number(f.from(), wide);
        IrOperand to = lowerer.number(f.to(), wide);
        VariableStorage start = shared(from);
        VirtualRegister left = emit().alu(AluOperation.SUBTRACT, emit().register(to), from);
        BasicBlock done = emit().block();
        emit().when(JumpCondition.SIGNED_LESS_OR_EQUAL, left, 0, done);
        BasicBlock possible = emit().block();
        emit().when(JumpCondition.LESS_OR_EQUAL, left, MOST_ROUNDS, possible);
        lowerer.errors().fault(RuntimeFault.LOOP_TOO_LONG);
        emit().go(done);
        emit().start(possible);
        FunctionWriter outer = lowerer.body();
        IrFunction function = loop(SCALAR, POINTER);
        FunctionWriter body = new FunctionWriter(function, outer);
        lowerer.body(body);
        VirtualRegister first = lowerer.memory().load(lowerer.place(start), wide);
        VirtualRegister index = function.parameters().getFirst();
        IrOperand value = emit().alu(AluOperation.ADD, first, index);
        lowerer.statements().set(symbol, lowerer.numbers().fit(value, wide, symbol.type()));
        body(f.body(), body);
        lowerer.body(outer);
        call(
                body,
                context ->
                        emit().run(
                                        HelperFunctionId.LOOP,
                                        left,
                                        function(function),
                                        context,
                                        IrOperand.of(0)));
        emit().start(done);
    }

    /** The function that a helper calls for each round. */
    private IrFunction loop(VirtualRegister.Kind... parameters) {
        String name = lowerer.body().function().name() + "_loop" + count++;
        return new IrFunction(name, List.of(parameters));
    }

    private VariableStorage shared(IrOperand value) {
        int offset = lowerer.frame().reserve(8);
        PlaceValue place = lowerer.frame().at(emit().function(), offset);
        emit().store(Width.U64, place.base(), place.offset(), value);
        return new SharedStorage(offset);
    }

    private VirtualRegister function(IrFunction function) {
        VirtualRegister to = emit().function().pointer();
        emit().function().add(new IrOperation.FunctionAddress(to, function));
        return to;
    }

    /** {@code for ($kv : @map)}. */
    void elements(ScriptStatement.ForMap f) {
        MapPlan plan = lowerer.unit().map(f.map().name());
        VariableSymbol symbol = lowerer.clause().variable(f);
        FunctionWriter outer = lowerer.body();
        IrFunction function = loop(POINTER, POINTER, POINTER, POINTER);
        FunctionWriter body = new FunctionWriter(function, outer);
        lowerer.body(body);
        PlaceValue pair = lowerer.place(memory(symbol));
        VirtualRegister key = function.parameters().get(1);
        VirtualRegister value = function.parameters().get(2);
        fill((TupleType) symbol.type(), pair, plan, key, value);
        body(f.body(), body);
        lowerer.body(outer);
        call(
                body,
                context ->
                        emit().run(
                                        HelperFunctionId.FOR_EACH_MAP_ELEM,
                                        emit().map(plan.name()),
                                        function(function),
                                        context,
                                        IrOperand.of(0)));
    }

    /** How many keys a map has, counted one by one. */
    LoweredValue count(String map) {
        int offset = lowerer.frame().reserve(8);
        PlaceValue total = lowerer.frame().at(emit().function(), offset);
        emit().store(Width.U64, total.base(), total.offset(), IrOperand.of(0));
        FunctionWriter outer = lowerer.body();
        IrFunction function = loop(POINTER, POINTER, POINTER, POINTER);
        FunctionWriter body = new FunctionWriter(function, outer);
        lowerer.body(body);
        PlaceValue inside = lowerer.frame().at(function, offset);
        VirtualRegister before = emit().load(Width.U64, false, inside.base(), inside.offset());
        emit().store(
                        Width.U64,
                        inside.base(),
                        inside.offset(),
                        emit().alu(AluOperation.ADD, before, 1));
        emit().leave(IrOperand.of(0));
        lowerer.body(outer);
        emit().run(
                        HelperFunctionId.FOR_EACH_MAP_ELEM,
                        emit().map(map),
                        function(function),
                        context(body),
                        IrOperand.of(0));
        PlaceValue after = lowerer.frame().at(emit().function(), offset);
        return LoweredValue.of(emit().load(Width.U64, false, after.base(), after.offset()));
    }

    /** Where a text begins in another; -1 for nowhere. */
    LoweredValue search(Expression in, Expression what) {
        int size = lowerer.type(in).sizeBytes();
        int most = lowerer.type(what).sizeBytes();
        int haystack = lowerer.frame().reserve(size + most + 8);
        int needle = lowerer.frame().reserve(most + 8);
        int found = lowerer.frame().reserve(8);
        shared(in, size, size + most + 8, haystack);
        shared(what, most, most + 8, needle);
        PlaceValue result = lowerer.frame().at(emit().function(), found);
        emit().store(Width.U64, result.base(), result.offset(), IrOperand.of(-1));
        FunctionWriter outer = lowerer.body();
        IrFunction function = loop(SCALAR, POINTER);
        FunctionWriter body = new FunctionWriter(function, outer);
        lowerer.body(body);
        new SubstringSearch(lowerer).at(haystack, size, needle, most, found);
        lowerer.body(outer);
        emit().run(
                        HelperFunctionId.LOOP,
                        IrOperand.of(size),
                        function(function),
                        context(body),
                        IrOperand.of(0));
        PlaceValue after = lowerer.frame().at(emit().function(), found);
        return LoweredValue.of(emit().load(Width.U64, false, after.base(), after.offset()));
    }

    private void shared(Expression e, int size, int room, int offset) {
        PlaceValue to = lowerer.frame().at(emit().function(), offset);
        lowerer.memory().zero(to, room);
        if (lowerer.value(e) instanceof PlaceValue place) {
            lowerer.memory().copy(place, size, to);
        }
    }

    private VariableStorage memory(VariableSymbol symbol) {
        VariableStorage shared =
                new SharedStorage(lowerer.frame().reserve(symbol.type().sizeBytes() + 7 & ~7));
        lowerer.store(symbol, shared);
        return shared;
    }

    private void fill(
            TupleType type,
            PlaceValue pair,
            MapPlan plan,
            VirtualRegister key,
            VirtualRegister value) {
        lowerer.memory().zero(pair, type.sizeBytes());
        TypeField first = type.fields().get(0);
        TypeField second = type.fields().get(1);
        PlaceValue keyPlace = new PlaceValue(key, 0, MemoryOwner.OWN);
        lowerer.convert(keyPlace, plan.key(), first.type(), pair.plus(first.offsetBytes()));
        PlaceValue to = pair.plus(second.offsetBytes());
        if (plan.value() instanceof AggregateType) {
            PlaceValue own = lowerer.memory().own(plan.key());
            lowerer.memory().copy(keyPlace, plan.key().sizeBytes(), own);
            LoweredValue number = lowerer.aggregates().read(plan, own);
            IrOperand operand = lowerer.numbers().convert(number, IntType.I64, IntType.I64);
            emit().store(Width.U64, to.base(), to.offset(), operand);
        } else {
            lowerer.convert(
                    new PlaceValue(value, 0, MemoryOwner.OWN), plan.value(), second.type(), to);
        }
    }

    /** The body of a loop: 0 goes on, 1 ends it. */
    private void body(BlockExpression block, FunctionWriter body) {
        BasicBlock next = emit().block();
        BasicBlock stop = emit().block();
        body.continueTo = next;
        body.breakTo = stop;
        lowerer.statements().block(block);
        emit().start(next);
        emit().leave(IrOperand.of(0));
        emit().start(stop);
        emit().leave(IrOperand.of(1));
        int last = body.function().parameters().size() - 1;
        body.finish(body.function().parameters().get(last));
    }

    /** What a helper hands to the body of a loop: the program's context, the run's memory. */
    private IrOperand context(FunctionWriter body) {
        boolean memory = lowerer.frame().hasSlots() && lowerer.frame().isUsed(body.function());
        if (!body.usesContext() && !memory) {
            return IrOperand.of(0);
        }
        StackObject object = lowerer.frame().object(emit().function(), memory ? 16 : 8, 8);
        if (body.usesContext()) {
            emit().store(Width.U64, object, 0, lowerer.body().context());
        }
        if (memory) {
            VirtualRegister pointer = lowerer.frame().pointer(emit().function());
            emit().store(Width.U64, object, ScratchMemory.IN_CONTEXT, pointer);
        }
        return emit().address(new PlaceValue(object, 0, MemoryOwner.OWN));
    }

    private void call(FunctionWriter body, Consumer<IrOperand> helper) {
        IrOperand context = context(body);
        if (!body.returns()) {
            helper.accept(context);
            return;
        }
        PlaceValue left = lowerer.statements().returned();
        emit().store(Width.U64, left.base(), left.offset(), IrOperand.of(0));
        helper.accept(context);
        left = lowerer.statements().returned();
        VirtualRegister flag = emit().load(Width.U64, false, left.base(), left.offset());
        BasicBlock go = emit().block();
        emit().when(JumpCondition.EQUAL, flag, 0, go);
        lowerer.statements().leave(IrOperand.of(lowerer.site().success()));
        emit().start(go);
    }
}
