package sonde.lang.bpftrace.lower;

import java.util.List;
import java.util.function.Consumer;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.VariableSymbol;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Statement;
import sonde.lang.ir.Block;
import sonde.lang.ir.Function;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;
import sonde.lang.output.RuntimeFault;
import sonde.lang.type.Field;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** Loops whose bodies the kernel calls back: over ranges and maps. */
final class Loops {
    /** BPF_MAX_LOOPS (kernel/bpf/bpf_iter.c): of more rounds bpf_loop runs none. */
    private static final int MOST_ROUNDS = 1 << 23;

    private final Lowerer lowerer;
    private int count;

    Loops(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** {@code for ($i : from..to)}. */
    void range(Statement.ForRange f) {
        VariableSymbol symbol = lowerer.clause().variable(f);
        Type wide = new Type.Int(8, true);
        Operand from = lowerer.number(f.from(), wide);
        Operand to = lowerer.number(f.to(), wide);
        Storage start = shared(from);
        Vreg left = emit().alu(AluOperation.SUBTRACT, emit().register(to), from);
        Block done = emit().block();
        emit().when(Condition.SIGNED_LESS_OR_EQUAL, left, 0, done);
        Block possible = emit().block();
        emit().when(Condition.LESS_OR_EQUAL, left, MOST_ROUNDS, possible);
        lowerer.errors().fault(RuntimeFault.LOOP_TOO_LONG);
        emit().go(done);
        emit().start(possible);
        Body outer = lowerer.body();
        Function function =
                new Function(
                        outer.function().name() + "_loop" + count++,
                        List.of(Vreg.Kind.SCALAR, Vreg.Kind.POINTER));
        Body body = new Body(function, outer);
        lowerer.body(body);
        Vreg first = lowerer.memory().load(lowerer.place(start), wide);
        Vreg index = function.parameters().getFirst();
        Operand value = emit().alu(AluOperation.ADD, first, index);
        lowerer.statements().set(symbol, lowerer.numbers().fit(value, wide, symbol.type()));
        body(f.body(), body);
        lowerer.body(outer);
        call(
                body,
                context ->
                        emit().run(
                                        KernelFunction.LOOP,
                                        left,
                                        function(function),
                                        context,
                                        Operand.of(0)));
        emit().start(done);
    }

    private Storage shared(Operand value) {
        int offset = lowerer.frame().reserve(8);
        Place place = lowerer.frame().at(emit().function(), offset);
        emit().store(Width.U64, place.base(), place.offset(), value);
        return new Storage.Shared(offset);
    }

    private Vreg function(Function function) {
        Vreg to = emit().function().pointer();
        emit().function().add(new Operation.FunctionAddress(to, function));
        return to;
    }

    /** {@code for ($kv : @map)}. */
    void elements(Statement.ForMap f) {
        MapPlan plan = lowerer.unit().map(f.map().name());
        VariableSymbol symbol = lowerer.clause().variable(f);
        Body outer = lowerer.body();
        Function function =
                new Function(
                        outer.function().name() + "_loop" + count++,
                        List.of(
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER));
        Body body = new Body(function, outer);
        lowerer.body(body);
        Place pair = lowerer.place(memory(symbol));
        Vreg key = function.parameters().get(1);
        Vreg value = function.parameters().get(2);
        fill((Tuple) symbol.type(), pair, plan, key, value);
        body(f.body(), body);
        lowerer.body(outer);
        call(
                body,
                context ->
                        emit().run(
                                        KernelFunction.FOR_EACH_MAP_ELEM,
                                        emit().map(plan.name()),
                                        function(function),
                                        context,
                                        Operand.of(0)));
    }

    /** How many keys a map has, counted one by one. */
    Value count(String map) {
        int offset = lowerer.frame().reserve(8);
        Place total = lowerer.frame().at(emit().function(), offset);
        emit().store(Width.U64, total.base(), total.offset(), Operand.of(0));
        Body outer = lowerer.body();
        Function function =
                new Function(
                        outer.function().name() + "_loop" + count++,
                        List.of(
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER,
                                Vreg.Kind.POINTER));
        Body body = new Body(function, outer);
        lowerer.body(body);
        Place inside = lowerer.frame().at(function, offset);
        Vreg before = emit().load(Width.U64, false, inside.base(), inside.offset());
        emit().store(
                        Width.U64,
                        inside.base(),
                        inside.offset(),
                        emit().alu(AluOperation.ADD, before, 1));
        emit().leave(Operand.of(0));
        lowerer.body(outer);
        emit().run(
                        KernelFunction.FOR_EACH_MAP_ELEM,
                        emit().map(map),
                        function(function),
                        context(body),
                        Operand.of(0));
        Place after = lowerer.frame().at(emit().function(), offset);
        return Value.of(emit().load(Width.U64, false, after.base(), after.offset()));
    }

    /** Where a text begins in another; -1 for nowhere. */
    Value search(Expression in, Expression what) {
        int size = lowerer.type(in).sizeBytes();
        int most = lowerer.type(what).sizeBytes();
        int haystack = lowerer.frame().reserve(size + most + 8);
        int needle = lowerer.frame().reserve(most + 8);
        int found = lowerer.frame().reserve(8);
        shared(in, size, size + most + 8, haystack);
        shared(what, most, most + 8, needle);
        Place result = lowerer.frame().at(emit().function(), found);
        emit().store(Width.U64, result.base(), result.offset(), Operand.of(-1));
        Body outer = lowerer.body();
        Function function =
                new Function(
                        outer.function().name() + "_loop" + count++,
                        List.of(Vreg.Kind.SCALAR, Vreg.Kind.POINTER));
        Body body = new Body(function, outer);
        lowerer.body(body);
        new Search(lowerer).at(haystack, size, needle, most, found);
        lowerer.body(outer);
        emit().run(
                        KernelFunction.LOOP,
                        Operand.of(size),
                        function(function),
                        context(body),
                        Operand.of(0));
        Place after = lowerer.frame().at(emit().function(), found);
        return Value.of(emit().load(Width.U64, false, after.base(), after.offset()));
    }

    private void shared(Expression e, int size, int room, int offset) {
        Place to = lowerer.frame().at(emit().function(), offset);
        lowerer.memory().zero(to, room);
        if (lowerer.value(e) instanceof Place place) {
            lowerer.memory().copy(place, size, to);
        }
    }

    private Storage memory(VariableSymbol symbol) {
        Storage shared =
                new Storage.Shared(lowerer.frame().reserve(symbol.type().sizeBytes() + 7 & ~7));
        lowerer.store(symbol, shared);
        return shared;
    }

    private void fill(Tuple type, Place pair, MapPlan plan, Vreg key, Vreg value) {
        lowerer.memory().zero(pair, type.sizeBytes());
        Field first = type.fields().get(0);
        Field second = type.fields().get(1);
        Place keyPlace = new Place(key, 0, Where.OWN);
        lowerer.convert(keyPlace, plan.key(), first.type(), pair.plus(first.offsetBytes()));
        Place to = pair.plus(second.offsetBytes());
        if (plan.value() instanceof Type.Aggregate) {
            Place own = lowerer.memory().own(plan.key());
            lowerer.memory().copy(keyPlace, plan.key().sizeBytes(), own);
            Value number = lowerer.aggregates().read(plan, own);
            Operand operand = lowerer.numbers().convert(number, Type.Int.I64, Type.Int.I64);
            emit().store(Width.U64, to.base(), to.offset(), operand);
        } else {
            lowerer.convert(new Place(value, 0, Where.OWN), plan.value(), second.type(), to);
        }
    }

    /** The body of a loop: 0 goes on, 1 ends it. */
    private void body(Expression.Block block, Body body) {
        Block next = emit().block();
        Block stop = emit().block();
        body.continueTo = next;
        body.breakTo = stop;
        lowerer.statements().block(block);
        emit().start(next);
        emit().leave(Operand.of(0));
        emit().start(stop);
        emit().leave(Operand.of(1));
        int last = body.function().parameters().size() - 1;
        body.finish(body.function().parameters().get(last));
    }

    /** What a helper hands to the body of a loop: the program's context, the run's memory. */
    private Operand context(Body body) {
        boolean memory = lowerer.frame().hasSlots() && lowerer.frame().isUsed(body.function());
        if (!body.usesContext() && !memory) {
            return Operand.of(0);
        }
        StackObject object = lowerer.frame().object(emit().function(), memory ? 16 : 8, 8);
        if (body.usesContext()) {
            emit().store(Width.U64, object, 0, lowerer.body().context());
        }
        if (memory) {
            Vreg pointer = lowerer.frame().pointer(emit().function());
            emit().store(Width.U64, object, Frame.IN_CONTEXT, pointer);
        }
        return emit().address(new Place(object, 0, Where.OWN));
    }

    private void call(Body body, Consumer<Operand> helper) {
        Operand context = context(body);
        if (!body.returns()) {
            helper.accept(context);
            return;
        }
        Place left = lowerer.statements().returned();
        emit().store(Width.U64, left.base(), left.offset(), Operand.of(0));
        helper.accept(context);
        left = lowerer.statements().returned();
        Vreg flag = emit().load(Width.U64, false, left.base(), left.offset());
        Block go = emit().block();
        emit().when(Condition.EQUAL, flag, 0, go);
        lowerer.statements().leave(Operand.of(lowerer.site().success()));
        emit().start(go);
    }
}
