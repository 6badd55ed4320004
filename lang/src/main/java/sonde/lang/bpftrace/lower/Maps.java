package sonde.lang.bpftrace.lower;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Losses.Reason;
import sonde.lang.bpftrace.lower.Value.Number;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Type;

/** Reads, writes and steps of maps. */
final class Maps {
    /** Flag of an update that only sets a first value. */
    static final int NO_EXIST = 1;

    /** What such an update gives when another CPU was faster: nothing is lost. */
    static final int EXISTS = -17;

    private final Lowerer lowerer;

    Maps(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** The map that an expression names. */
    MapPlan plan(Expression e) {
        return lowerer.unit()
                .map(
                        e instanceof Expression.MapElement m
                                ? m.map().name()
                                : ((Expression.MapName) e).name());
    }

    /** The key that an expression names, in memory; null for an array of one. */
    @Nullable Place key(Expression e, MapPlan plan) {
        if (e instanceof Expression.MapElement m) {
            return keyPlace(m.key(), plan);
        }
        return plan.isArray() ? null : zeroKey();
    }

    /** The key 0 of a map without keys. */
    private Place zeroKey() {
        StackObject object = lowerer.frame().object(emit().function(), 8, 8);
        emit().store(Width.U64, object, 0, Operand.of(0));
        return new Place(object, 0, Where.OWN);
    }

    /** A key in memory, as the map's type. */
    Place keyPlace(Expression key, MapPlan plan) {
        Type type = plan.key();
        Place upper = upperHalf(key, plan);
        if (upper != null) {
            return upper;
        }
        if (lowerer.type(key).equals(type)
                && !Memory.isNumber(type)
                && lowerer.value(key) instanceof Place place) {
            return place.where() == Where.OWN ? place : copied(place, type);
        }
        return lowerer.placed(key, type);
    }

    /** The process' number where the kernel gives it: above the thread's. */
    private @Nullable Place upperHalf(Expression key, MapPlan plan) {
        if (plan.keyBytes() != 4
                || !(key instanceof Expression.Name n && n.name().equals("pid"))
                || !lowerer.context().isInitialSpace()) {
            return null;
        }
        StackObject both = lowerer.frame().object(emit().function(), 8, 8);
        emit().store(Width.U64, both, 0, emit().call(KernelFunction.GET_CURRENT_PID_TGID));
        return new Place(both, 4, Where.OWN);
    }

    private Place copied(Place place, Type type) {
        Place own = lowerer.memory().own(type);
        lowerer.memory().copy(place, type.sizeBytes(), own);
        return own;
    }

    /** The address of a value, or null. */
    Vreg find(MapPlan plan, @Nullable Place key) {
        Place at = key;
        if (at == null) {
            StackObject zero = lowerer.frame().object(emit().function(), 4, 4);
            emit().store(Width.U32, zero, 0, Operand.of(0));
            at = new Place(zero, 0, Where.OWN);
        }
        return emit().find(
                        KernelFunction.MAP_LOOKUP_ELEM,
                        emit().map(plan.name()),
                        emit().address(at));
    }

    Value read(Expression e) {
        MapPlan plan = plan(e);
        Type type = plan.value();
        if (type instanceof Type.Aggregate) {
            return lowerer.aggregates().read(plan, key(e, plan));
        }
        if (plan.isArray()) {
            return Value.of(
                    lowerer.memory()
                            .load(new Place(emit().mapValue(plan.name(), 0), 0, Where.OWN), type));
        }
        Vreg found = find(plan, key(e, plan));
        return valueOrZero(found, type);
    }

    /** What lies at an address that may be null; zeros for null. */
    private Value valueOrZero(Vreg found, Type type) {
        Block none = emit().block();
        Block done = emit().block();
        if (Memory.isNumber(type)) {
            Vreg result = emit().function().scalar();
            emit().when(Condition.EQUAL, found, 0, none);
            emit().set(result, lowerer.memory().load(new Place(found, 0, Where.OWN), type));
            emit().go(done);
            emit().start(none);
            lowerer.errors().missing();
            emit().set(result, Operand.of(0));
            emit().start(done);
            return Value.of(result);
        }
        Place own = lowerer.memory().own(type);
        emit().when(Condition.EQUAL, found, 0, none);
        lowerer.memory().copy(new Place(found, 0, Where.OWN), type.sizeBytes(), own);
        emit().go(done);
        emit().start(none);
        lowerer.errors().missing();
        lowerer.memory().zero(own, type.sizeBytes());
        emit().start(done);
        return own;
    }

    /** {@code target = value}. */
    void assign(Expression target, Expression value) {
        MapPlan plan = plan(target);
        Type type = plan.value();
        if (plan.isArray()) {
            Operand number = lowerer.number(value, type);
            write(plan, number);
            return;
        }
        Place place = valuePlace(value, type, plan);
        Place key = key(target, plan);
        if (plan.isKeptByTracer()) {
            send(plan, key, at -> lowerer.memory().copy(place, plan.valueBytes(), at));
            return;
        }
        update(plan, key, place);
    }

    /** {@code target operator= value}: what the key does, it does once. */
    void compound(Expression.MapElement target, Expression.Binary sum) {
        MapPlan plan = plan(target);
        Place key = key(target, plan);
        Value before = valueOrZero(find(plan, key), plan.value());
        Type type = lowerer.type(sum);
        Value after =
                lowerer.operators()
                        .arithmetic(
                                sum.operator(),
                                before,
                                plan.value(),
                                lowerer.value(sum.right()),
                                lowerer.type(sum.right()),
                                type);
        update(plan, key, numberPlace(plan, lowerer.numbers().convert(after, type, plan.value())));
    }

    private Place numberPlace(MapPlan plan, Operand number) {
        Place own = lowerer.memory().own(plan.valueBytes(), 8);
        emit().store(Width.U64, own.base(), own.offset(), number);
        return own;
    }

    /** A value in memory of the map's size. */
    private Place valuePlace(Expression value, Type type, MapPlan plan) {
        if (lowerer.type(value).equals(type)
                && type.sizeBytes() == plan.valueBytes()
                && !Memory.isNumber(type)
                && lowerer.value(value) instanceof Place place
                && place.where() == Where.OWN) {
            return place;
        }
        if (type.sizeBytes() < plan.valueBytes() && Memory.isNumber(type)) {
            return numberPlace(plan, lowerer.number(value, type));
        }
        Place own = lowerer.memory().own(plan.valueBytes(), 8);
        lowerer.into(value, type, own);
        int rest = plan.valueBytes() - type.sizeBytes();
        if (rest > 0) {
            lowerer.memory().zero(own.plus(type.sizeBytes()), rest);
        }
        return own;
    }

    /** Sends a key and a value, which is written where it is wanted. */
    void send(MapPlan plan, @Nullable Place key, Consumer<Place> value) {
        if (key == null) {
            throw new IllegalStateException(plan.name() + " has no keys");
        }
        int keyBytes = plan.key().sizeBytes();
        int valueAt = keyBytes + 7 & ~7;
        int action = lowerer.unit().action(new Action.Put(plan.name()));
        lowerer.outputs()
                .record(
                        action,
                        valueAt + plan.valueBytes(),
                        at -> {
                            lowerer.memory().copy(key, keyBytes, at);
                            value.accept(at.plus(valueAt));
                        });
    }

    private void write(MapPlan plan, Operand number) {
        Vreg at = emit().mapValue(plan.name(), 0);
        lowerer.memory().store(new Place(at, 0, Where.OWN), plan.value(), number);
        emit().store(Width.U64, at, plan.presentAt(), Operand.of(1));
    }

    /** Sets a value; what finds no room is counted. */
    void update(MapPlan plan, @Nullable Place key, Place value) {
        if (key == null) {
            throw new IllegalStateException(plan.name() + " has no keys");
        }
        Vreg result = write(plan, key, value, 0);
        Block fine = emit().block();
        if (!plan.scalar()) {
            // Most find room, and the counter is one for all CPUs.
            emit().when(Condition.EQUAL, result, 0, fine);
        }
        countFailure(plan, result, row(), 0);
        emit().start(fine);
    }

    /** The result of writing a value. */
    Vreg write(MapPlan plan, Place key, Place value, int flags) {
        return emit().call(
                        KernelFunction.MAP_UPDATE_ELEM,
                        emit().map(plan.name()),
                        emit().address(key),
                        emit().address(value),
                        Operand.of(flags));
    }

    /** Where the program's row of {@link Losses} begins. */
    Vreg row() {
        return emit().mapValue(Unit.SHARED, lowerer.unit().row(lowerer.number()));
    }

    /**
     * Counts a value that found no room or could not be written, and nothing when it was; tells of
     * failures where the script wants to know.
     *
     * @param from in {@link Unit#SHARED}
     * @param offset of the program's row from there
     */
    void countFailure(MapPlan plan, Vreg result, Vreg from, int offset) {
        if (!plan.scalar()) {
            Vreg error = emit().function().scalar();
            emit().function()
                    .add(new Operation.Alu(AluOperation.MOVE, false, error, result, result));
            add(from, offset + Losses.UPDATES, error);
        }
        lowerer.errors().check(result, KernelFunction.MAP_UPDATE_ELEM);
    }

    /** Counts an event that did not come. */
    void lost(Reason reason) {
        add(row(), Losses.at(reason), emit().constant(1));
    }

    private void add(Vreg at, int offset, Vreg number) {
        emit().function()
                .add(
                        new Operation.Atomic(
                                AtomicOperation.ADD, Width.U64, at, offset, number, null));
    }

    /** {@code @++}: in one step for what is there, else a first value. */
    Value step(Expression target, long change, boolean old) {
        MapPlan plan = plan(target);
        Type type = plan.value();
        if (plan.isPerCpu()) {
            return stepPerCpu(target, plan, change, old);
        }
        if (plan.isArray()) {
            Vreg at = emit().mapValue(plan.name(), 0);
            emit().store(Width.U64, at, plan.presentAt(), Operand.of(1));
            return new Number(add(at, change, type, old));
        }
        Place key = key(target, plan);
        Vreg result = emit().function().scalar();
        Block miss = emit().block();
        Block done = emit().block();
        Vreg found = find(plan, key);
        emit().when(Condition.EQUAL, found, 0, miss);
        emit().set(result, add(found, change, type, old));
        emit().go(done);
        emit().start(miss);
        first(plan, key, change);
        emit().set(result, Operand.of(old ? 0 : change));
        emit().start(done);
        return Value.of(result);
    }

    /** Sets the first value of a key unless another CPU was faster. */
    private void first(MapPlan plan, @Nullable Place key, long value) {
        if (key == null) {
            throw new IllegalStateException(plan.name() + " has no keys");
        }
        StackObject initial = lowerer.frame().object(emit().function(), plan.valueBytes(), 8);
        emit().store(Width.U64, initial, 0, Operand.of(value));
        Vreg result = write(plan, key, new Place(initial, 0, Where.OWN), NO_EXIST);
        Block faster = emit().block();
        Block done = emit().block();
        emit().when(Condition.EQUAL, result, EXISTS, faster);
        countFailure(plan, result, row(), 0);
        emit().go(done);
        emit().start(faster);
        Vreg again = find(plan, key);
        emit().when(Condition.EQUAL, again, 0, done);
        add(again, value, Type.Int.I64, false);
        emit().start(done);
    }

    /** Adds atomically to 4 or 8 bytes; smaller values are never kept alone. */
    private Operand add(Vreg at, long change, Type type, boolean old) {
        int size = type.sizeBytes();
        if (size < 8) {
            Vreg before = lowerer.memory().load(new Place(at, 0, Where.OWN), type);
            Operand after =
                    lowerer.numbers()
                            .fit(emit().alu(AluOperation.ADD, before, change), Type.Int.I64, type);
            lowerer.memory().store(new Place(at, 0, Where.OWN), type, after);
            return old ? before : after;
        }
        Vreg before = emit().function().scalar();
        emit().function()
                .add(
                        new Operation.Atomic(
                                AtomicOperation.FETCH_ADD,
                                Width.U64,
                                at,
                                0,
                                emit().constant(change),
                                before));
        return old ? before : emit().alu(AluOperation.ADD, before, change);
    }

    private Value stepPerCpu(Expression target, MapPlan plan, long change, boolean old) {
        Place key = key(target, plan);
        Type type = plan.value();
        Operand number = ((Number) valueOrZero(find(plan, key), type)).operand();
        Vreg after = emit().alu(AluOperation.ADD, number, change);
        update(plan, key, numberPlace(plan, after));
        return new Number(old ? number : lowerer.numbers().fit(after, Type.Int.I64, type));
    }

    /** Whether there is a value for a key, as 0 or 1. */
    Value has(MapPlan plan, Expression key) {
        Vreg found = find(plan, keyPlace(key, plan));
        return Value.of(emit().register(lowerer.operators().truth(found)));
    }

    /** Removes a key; 1 when there was one. */
    Value delete(Expression target, MapPlan plan) {
        if (plan.isArray() && !plan.isPerCpu()) {
            Vreg at = emit().mapValue(plan.name(), 0);
            Vreg present = emit().load(Width.U64, false, at, plan.presentAt());
            for (int word = 0; word < plan.valueBytes(); word += 8) {
                emit().store(Width.U64, at, word, Operand.of(0));
            }
            return Value.of(present);
        }
        if (plan.isArray()) {
            return deletePerCpu(plan);
        }
        Place key = key(target, plan);
        return deleteKey(plan, key);
    }

    /** Removes a key that is in memory. */
    Value deleteKey(MapPlan plan, @Nullable Place key) {
        if (key == null) {
            throw new IllegalStateException(plan.name() + " has no keys");
        }
        Vreg result =
                emit().call(
                                KernelFunction.MAP_DELETE_ELEM,
                                emit().map(plan.name()),
                                emit().address(key));
        Block done = emit().block();
        Vreg gone = emit().copy(Operand.of(1));
        emit().when(Condition.EQUAL, result, 0, done);
        emit().set(gone, Operand.of(0));
        emit().start(done);
        return Value.of(gone);
    }

    private Value deletePerCpu(MapPlan plan) {
        lowerer.aggregates()
                .eachCpu(
                        plan,
                        null,
                        value -> {
                            for (int word = 0; word < plan.valueBytes(); word += 8) {
                                emit().store(Width.U64, value, word, Operand.of(0));
                            }
                        });
        return Value.of(1);
    }
}
