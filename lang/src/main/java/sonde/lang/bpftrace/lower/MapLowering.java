package sonde.lang.bpftrace.lower;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.EventAction.PutAction;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.NumberValue;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.ScriptLosses.LossReason;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.IntType;

/** Reads, writes and steps of maps. */
final class MapLowering {
    /** Flag of an update that only sets a first value. */
    static final int NO_EXIST = 1;

    /** What such an update gives when another CPU was faster: nothing is lost. */
    static final int EXISTS = -17;

    private final ProgramLowering lowerer;

    MapLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
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
    @Nullable PlaceValue key(Expression e, MapPlan plan) {
        if (e instanceof Expression.MapElement m) {
            return keyPlace(m.key(), plan);
        }
        return plan.isArray() ? null : zeroKey();
    }

    /** The key 0 of a map without keys. */
    private PlaceValue zeroKey() {
        StackObject object = lowerer.frame().object(emit().function(), 8, 8);
        emit().store(Width.U64, object, 0, IrOperand.of(0));
        return new PlaceValue(object, 0, MemoryOwner.OWN);
    }

    /** A key in memory, as the map's type. */
    PlaceValue keyPlace(Expression key, MapPlan plan) {
        ValueType type = plan.key();
        PlaceValue upper = upperHalf(key, plan);
        if (upper != null) {
            return upper;
        }
        if (lowerer.type(key).equals(type)
                && !MemoryLowering.isNumber(type)
                && lowerer.value(key) instanceof PlaceValue place) {
            return place.where() == MemoryOwner.OWN ? place : copied(place, type);
        }
        return lowerer.placed(key, type);
    }

    /** The process' number where the kernel gives it: above the thread's. */
    private @Nullable PlaceValue upperHalf(Expression key, MapPlan plan) {
        if (plan.keyBytes() != 4
                || !(key instanceof BareName n && n.name().equals("pid"))
                || !lowerer.context().isInitialSpace()) {
            return null;
        }
        StackObject both = lowerer.frame().object(emit().function(), 8, 8);
        emit().store(Width.U64, both, 0, emit().call(HelperFunctionId.GET_CURRENT_PID_TGID));
        return new PlaceValue(both, 4, MemoryOwner.OWN);
    }

    private PlaceValue copied(PlaceValue place, ValueType type) {
        PlaceValue own = lowerer.memory().own(type);
        lowerer.memory().copy(place, type.sizeBytes(), own);
        return own;
    }

    /** The address of a value, or null. */
    VirtualRegister find(MapPlan plan, @Nullable PlaceValue key) {
        PlaceValue at = key;
        if (at == null) {
            StackObject zero = lowerer.frame().object(emit().function(), 4, 4);
            emit().store(Width.U32, zero, 0, IrOperand.of(0));
            at = new PlaceValue(zero, 0, MemoryOwner.OWN);
        }
        return emit().find(
                        HelperFunctionId.MAP_LOOKUP_ELEM,
                        emit().map(plan.name()),
                        emit().address(at));
    }

    LoweredValue read(Expression e) {
        MapPlan plan = plan(e);
        ValueType type = plan.value();
        if (type instanceof AggregateType) {
            return lowerer.aggregates().read(plan, key(e, plan));
        }
        if (plan.isArray()) {
            return LoweredValue.of(
                    lowerer.memory()
                            .load(
                                    new PlaceValue(
                                            emit().mapValue(plan.name(), 0), 0, MemoryOwner.OWN),
                                    type));
        }
        VirtualRegister found = find(plan, key(e, plan));
        return valueOrZero(found, type);
    }

    /** What lies at an address that may be null; zeros for null. */
    private LoweredValue valueOrZero(VirtualRegister found, ValueType type) {
        BasicBlock none = emit().block();
        BasicBlock done = emit().block();
        if (MemoryLowering.isNumber(type)) {
            VirtualRegister result = emit().function().scalar();
            emit().when(JumpCondition.EQUAL, found, 0, none);
            emit().set(
                            result,
                            lowerer.memory().load(new PlaceValue(found, 0, MemoryOwner.OWN), type));
            emit().go(done);
            emit().start(none);
            lowerer.errors().missing();
            emit().set(result, IrOperand.of(0));
            emit().start(done);
            return LoweredValue.of(result);
        }
        PlaceValue own = lowerer.memory().own(type);
        emit().when(JumpCondition.EQUAL, found, 0, none);
        lowerer.memory().copy(new PlaceValue(found, 0, MemoryOwner.OWN), type.sizeBytes(), own);
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
        ValueType type = plan.value();
        if (plan.isArray()) {
            IrOperand number = lowerer.number(value, type);
            write(plan, number);
            return;
        }
        PlaceValue place = valuePlace(value, type, plan);
        PlaceValue key = key(target, plan);
        if (plan.isKeptByTracer()) {
            send(plan, key, at -> lowerer.memory().copy(place, plan.valueBytes(), at));
            return;
        }
        update(plan, key, place);
    }

    /** {@code target operator= value}: what the key does, it does once. */
    void compound(Expression.MapElement target, BinaryOperation sum) {
        MapPlan plan = plan(target);
        PlaceValue key = key(target, plan);
        LoweredValue before = valueOrZero(find(plan, key), plan.value());
        ValueType type = lowerer.type(sum);
        LoweredValue after =
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

    private PlaceValue numberPlace(MapPlan plan, IrOperand number) {
        PlaceValue own = lowerer.memory().own(plan.valueBytes(), 8);
        emit().store(Width.U64, own.base(), own.offset(), number);
        return own;
    }

    /** A value in memory of the map's size. */
    private PlaceValue valuePlace(Expression value, ValueType type, MapPlan plan) {
        if (lowerer.type(value).equals(type)
                && type.sizeBytes() == plan.valueBytes()
                && !MemoryLowering.isNumber(type)
                && lowerer.value(value) instanceof PlaceValue place
                && place.where() == MemoryOwner.OWN) {
            return place;
        }
        if (type.sizeBytes() < plan.valueBytes() && MemoryLowering.isNumber(type)) {
            return numberPlace(plan, lowerer.number(value, type));
        }
        PlaceValue own = lowerer.memory().own(plan.valueBytes(), 8);
        lowerer.into(value, type, own);
        int rest = plan.valueBytes() - type.sizeBytes();
        if (rest > 0) {
            lowerer.memory().zero(own.plus(type.sizeBytes()), rest);
        }
        return own;
    }

    /** Sends a key and a value, which is written where it is wanted. */
    void send(MapPlan plan, @Nullable PlaceValue key, Consumer<PlaceValue> value) {
        if (key == null) {
            throw new IllegalStateException(plan.name() + " has no keys");
        }
        int keyBytes = plan.key().sizeBytes();
        int valueAt = keyBytes + 7 & ~7;
        int action = lowerer.unit().action(new PutAction(plan.name()));
        lowerer.outputs()
                .record(
                        action,
                        valueAt + plan.valueBytes(),
                        at -> {
                            lowerer.memory().copy(key, keyBytes, at);
                            value.accept(at.plus(valueAt));
                        });
    }

    private void write(MapPlan plan, IrOperand number) {
        VirtualRegister at = emit().mapValue(plan.name(), 0);
        lowerer.memory().store(new PlaceValue(at, 0, MemoryOwner.OWN), plan.value(), number);
        emit().store(Width.U64, at, plan.presentAt(), IrOperand.of(1));
    }

    /** Sets a value; what finds no room is counted. */
    void update(MapPlan plan, @Nullable PlaceValue key, PlaceValue value) {
        if (key == null) {
            throw new IllegalStateException(plan.name() + " has no keys");
        }
        VirtualRegister result = write(plan, key, value, 0);
        BasicBlock fine = emit().block();
        if (!plan.scalar()) {
            // Most find room, and the counter is one for all CPUs.
            emit().when(JumpCondition.EQUAL, result, 0, fine);
        }
        countFailure(plan, result, row(), 0);
        emit().start(fine);
    }

    /** The result of writing a value. */
    VirtualRegister write(MapPlan plan, PlaceValue key, PlaceValue value, int flags) {
        return emit().call(
                        HelperFunctionId.MAP_UPDATE_ELEM,
                        emit().map(plan.name()),
                        emit().address(key),
                        emit().address(value),
                        IrOperand.of(flags));
    }

    /** Where the program's row of {@link ScriptLosses} begins. */
    VirtualRegister row() {
        return emit().mapValue(ScriptUnit.SHARED, lowerer.unit().row(lowerer.number()));
    }

    /**
     * Counts a value that found no room or could not be written, and nothing when it was; tells of
     * failures where the script wants to know.
     *
     * @param from in {@link ScriptUnit#SHARED}
     * @param offset of the program's row from there
     */
    void countFailure(MapPlan plan, VirtualRegister result, VirtualRegister from, int offset) {
        if (!plan.scalar()) {
            VirtualRegister error = emit().function().scalar();
            emit().function().add(new IrAlu(AluOperation.MOVE, false, error, result, result));
            add(from, offset + ScriptLosses.UPDATES, error);
        }
        lowerer.errors().check(result, HelperFunctionId.MAP_UPDATE_ELEM);
    }

    /** Counts an event that did not come. */
    void lost(LossReason reason) {
        add(row(), ScriptLosses.at(reason), emit().constant(1));
    }

    private void add(VirtualRegister at, int offset, VirtualRegister number) {
        emit().function()
                .add(new IrAtomic(AtomicOperation.ADD, Width.U64, at, offset, number, null));
    }

    /** {@code @++}: in one step for what is there, else a first value. */
    LoweredValue step(Expression target, long change, boolean old) {
        MapPlan plan = plan(target);
        ValueType type = plan.value();
        if (plan.isPerCpu()) {
            return stepPerCpu(target, plan, change, old);
        }
        if (plan.isArray()) {
            VirtualRegister at = emit().mapValue(plan.name(), 0);
            emit().store(Width.U64, at, plan.presentAt(), IrOperand.of(1));
            return new NumberValue(add(at, change, type, old));
        }
        PlaceValue key = key(target, plan);
        VirtualRegister result = emit().function().scalar();
        BasicBlock miss = emit().block();
        BasicBlock done = emit().block();
        VirtualRegister found = find(plan, key);
        emit().when(JumpCondition.EQUAL, found, 0, miss);
        emit().set(result, add(found, change, type, old));
        emit().go(done);
        emit().start(miss);
        first(plan, key, change);
        emit().set(result, IrOperand.of(old ? 0 : change));
        emit().start(done);
        return LoweredValue.of(result);
    }

    /** Sets the first value of a key unless another CPU was faster. */
    private void first(MapPlan plan, @Nullable PlaceValue key, long value) {
        if (key == null) {
            throw new IllegalStateException(plan.name() + " has no keys");
        }
        StackObject initial = lowerer.frame().object(emit().function(), plan.valueBytes(), 8);
        emit().store(Width.U64, initial, 0, IrOperand.of(value));
        VirtualRegister result =
                write(plan, key, new PlaceValue(initial, 0, MemoryOwner.OWN), NO_EXIST);
        BasicBlock faster = emit().block();
        BasicBlock done = emit().block();
        emit().when(JumpCondition.EQUAL, result, EXISTS, faster);
        countFailure(plan, result, row(), 0);
        emit().go(done);
        emit().start(faster);
        VirtualRegister again = find(plan, key);
        emit().when(JumpCondition.EQUAL, again, 0, done);
        add(again, value, IntType.I64, false);
        emit().start(done);
    }

    /** Adds atomically to 4 or 8 bytes; smaller values are never kept alone. */
    private IrOperand add(VirtualRegister at, long change, ValueType type, boolean old) {
        int size = type.sizeBytes();
        if (size < 8) {
            VirtualRegister before =
                    lowerer.memory().load(new PlaceValue(at, 0, MemoryOwner.OWN), type);
            IrOperand after =
                    lowerer.numbers()
                            .fit(emit().alu(AluOperation.ADD, before, change), IntType.I64, type);
            lowerer.memory().store(new PlaceValue(at, 0, MemoryOwner.OWN), type, after);
            return old ? before : after;
        }
        VirtualRegister before = emit().function().scalar();
        emit().function()
                .add(
                        new IrAtomic(
                                AtomicOperation.FETCH_ADD,
                                Width.U64,
                                at,
                                0,
                                emit().constant(change),
                                before));
        return old ? before : emit().alu(AluOperation.ADD, before, change);
    }

    private LoweredValue stepPerCpu(Expression target, MapPlan plan, long change, boolean old) {
        PlaceValue key = key(target, plan);
        ValueType type = plan.value();
        IrOperand number = ((NumberValue) valueOrZero(find(plan, key), type)).operand();
        VirtualRegister after = emit().alu(AluOperation.ADD, number, change);
        update(plan, key, numberPlace(plan, after));
        return new NumberValue(old ? number : lowerer.numbers().fit(after, IntType.I64, type));
    }

    /** Whether there is a value for a key, as 0 or 1. */
    LoweredValue has(MapPlan plan, Expression key) {
        VirtualRegister found = find(plan, keyPlace(key, plan));
        return LoweredValue.of(emit().register(lowerer.operators().truth(found)));
    }

    /** Removes a key; 1 when there was one. */
    LoweredValue delete(Expression target, MapPlan plan) {
        if (plan.isArray() && !plan.isPerCpu()) {
            VirtualRegister at = emit().mapValue(plan.name(), 0);
            VirtualRegister present = emit().load(Width.U64, false, at, plan.presentAt());
            for (int word = 0; word < plan.valueBytes(); word += 8) {
                emit().store(Width.U64, at, word, IrOperand.of(0));
            }
            return LoweredValue.of(present);
        }
        if (plan.isArray()) {
            return deletePerCpu(plan);
        }
        PlaceValue key = key(target, plan);
        return deleteKey(plan, key);
    }

    /** Removes a key that is in memory. */
    LoweredValue deleteKey(MapPlan plan, @Nullable PlaceValue key) {
        if (key == null) {
            throw new IllegalStateException(plan.name() + " has no keys");
        }
        VirtualRegister result =
                emit().call(
                                HelperFunctionId.MAP_DELETE_ELEM,
                                emit().map(plan.name()),
                                emit().address(key));
        BasicBlock done = emit().block();
        VirtualRegister gone = emit().copy(IrOperand.of(1));
        emit().when(JumpCondition.EQUAL, result, 0, done);
        emit().set(gone, IrOperand.of(0));
        emit().start(done);
        return LoweredValue.of(gone);
    }

    private LoweredValue deletePerCpu(MapPlan plan) {
        lowerer.aggregates()
                .eachCpu(
                        plan,
                        null,
                        value -> {
                            for (int word = 0; word < plan.valueBytes(); word += 8) {
                                emit().store(Width.U64, value, word, IrOperand.of(0));
                            }
                        });
        return LoweredValue.of(1);
    }
}
