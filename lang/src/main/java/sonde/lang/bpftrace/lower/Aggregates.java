package sonde.lang.bpftrace.lower;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.Promotion;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Type;

/** Values that are put together from many, each CPU for itself. */
final class Aggregates {
    private final Lowerer lowerer;

    Aggregates(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** How many zeros are the first value of a map. */
    static int zeros(MapPlan plan) {
        return switch (plan.value()) {
            case Type.Extreme _, Type.Average _, Type.Hist _, Type.Lhist _, Type.Series _ ->
                    plan.valueBytes();
            default -> 0;
        };
    }

    /** {@code target = count()}. */
    void assign(Expression target, Expression.Call call) {
        MapPlan plan = lowerer.maps().plan(target);
        Vreg number = null;
        if (!call.arguments().isEmpty()) {
            number = emit().register(lowerer.number(call.arguments().getFirst(), wide(call)));
        }
        Place key = lowerer.maps().key(target, plan);
        if (plan.isKeptByTracer()) {
            Vreg observed = number;
            lowerer.maps()
                    .send(
                            plan,
                            key,
                            at -> {
                                lowerer.memory().zero(at, plan.valueBytes());
                                update(plan.value(), emit().address(at), observed);
                            });
            return;
        }
        Vreg found = lowerer.maps().find(plan, key);
        Block done = emit().block();
        if (key != null) {
            boolean simple = plan.value() instanceof Type.Count || plan.value() instanceof Type.Sum;
            if (simple) {
                first(plan, key, found, number, done);
                return;
            }
            found = made(plan, key, found, done);
        } else {
            emit().when(Condition.EQUAL, found, 0, done);
            emit().store(Width.U64, found, plan.presentAt(), Operand.of(1));
        }
        update(plan.value(), found, number);
        emit().start(done);
    }

    private Type wide(Expression.Call call) {
        Type type = lowerer.type(call.arguments().getFirst());
        return new Type.Int(8, Promotion.isSigned(type));
    }

    /** A count or sum: added to, or set for the first time. */
    private void first(MapPlan plan, Place key, Vreg found, @Nullable Vreg number, Block done) {
        Block miss = emit().block();
        emit().when(Condition.EQUAL, found, 0, miss);
        update(plan.value(), found, number);
        emit().go(done);
        emit().start(miss);
        Vreg row = lowerer.maps().row();
        Place initial = new Place(row, Losses.ONE, Where.OWN);
        if (number != null) {
            StackObject object = lowerer.frame().object(emit().function(), 8, 8);
            emit().store(Width.U64, object, 0, number);
            initial = new Place(object, 0, Where.OWN);
        }
        Vreg result = lowerer.maps().write(plan, key, initial, 0);
        lowerer.maps().countFailure(plan, result, row, 0);
        emit().start(done);
    }

    /** The address of a value that is there from now on; {@code done} is gone to without room. */
    private Vreg made(MapPlan plan, Place key, Vreg found, Block done) {
        Vreg at = emit().function().pointer();
        emit().function().add(new Operation.Copy(at, found));
        Block ready = emit().block();
        emit().when(Condition.NOT_EQUAL, at, 0, ready);
        Maps maps = lowerer.maps();
        Vreg zeros = emit().mapValue(Unit.SHARED, 0);
        Vreg result = maps.write(plan, key, new Place(zeros, 0, Where.OWN), Maps.NO_EXIST);
        Block counted = emit().block();
        emit().when(Condition.EQUAL, result, Maps.EXISTS, counted);
        maps.countFailure(plan, result, zeros, lowerer.unit().row(lowerer.number()));
        emit().start(counted);
        emit().function().add(new Operation.Copy(at, lowerer.maps().find(plan, key)));
        emit().when(Condition.EQUAL, at, 0, done);
        emit().start(ready);
        return at;
    }

    private void update(Type type, Vreg at, @Nullable Vreg number) {
        Vreg value = number == null ? emit().constant(1) : number;
        switch (type) {
            case Type.Count _ -> add(at, 0, Operand.of(1));
            case Type.Sum _ -> add(at, 0, value);
            case Type.Extreme e -> extreme(e, at, value);
            case Type.Average _ -> {
                add(at, 0, value);
                add(at, 8, Operand.of(1));
            }
            case Type.Hist h -> bucket(at, Buckets.powers(emit(), value, h.bits()), h.buckets());
            case Type.Lhist l -> bucket(at, Buckets.steps(emit(), value, l), l.buckets());
            case Type.Series s -> series(s, at, value);
            default -> throw new IllegalStateException(type + " is no aggregate");
        }
    }

    private void add(Vreg at, int offset, Operand amount) {
        if (lowerer.frame().hasSlots()) {
            Vreg number = emit().register(amount);
            emit().function()
                    .add(
                            new Operation.Atomic(
                                    AtomicOperation.ADD, Width.U64, at, offset, number, null));
            return;
        }
        Vreg before = emit().load(Width.U64, false, at, offset);
        emit().store(Width.U64, at, offset, emit().alu(AluOperation.ADD, before, amount));
    }

    private void extreme(Type.Extreme type, Vreg at, Vreg value) {
        Block take = emit().block();
        Block done = emit().block();
        Vreg set = emit().load(Width.U64, false, at, 8);
        emit().when(Condition.EQUAL, set, 0, take);
        Vreg known = emit().load(Width.U64, false, at, 0);
        emit().when(better(type), known, value, done);
        emit().start(take);
        emit().store(Width.U64, at, 0, value);
        emit().store(Width.U64, at, 8, Operand.of(1));
        emit().start(done);
    }

    private static Condition better(Type.Extreme type) {
        if (type.max()) {
            return type.signed() ? Condition.SIGNED_GREATER_OR_EQUAL : Condition.GREATER_OR_EQUAL;
        }
        return type.signed() ? Condition.SIGNED_LESS_OR_EQUAL : Condition.LESS_OR_EQUAL;
    }

    /** Counts in a bucket; the comparison before the access is the verifier's bound. */
    private void bucket(Vreg at, Vreg index, int buckets) {
        Block done = emit().block();
        Vreg bounded = emit().copy(index);
        emit().when(Condition.GREATER_OR_EQUAL, bounded, buckets, done);
        Vreg offset = emit().alu(AluOperation.SHIFT_LEFT, bounded, 3);
        Vreg place = emit().alu(AluOperation.ADD, at, offset);
        add(place, 0, Operand.of(1));
        emit().start(done);
    }

    private void series(Type.Series type, Vreg at, Vreg value) {
        Vreg now = emit().register(now());
        Vreg epoch = emit().alu(AluOperation.DIVIDE, now, emit().constant(type.intervalNanos()));
        Vreg index = emit().alu(AluOperation.REMAINDER, epoch, type.buckets());
        Block done = emit().block();
        emit().when(Condition.GREATER_OR_EQUAL, index, type.buckets(), done);
        Vreg offset = emit().alu(AluOperation.MULTIPLY, index, 24);
        Vreg bucket = emit().alu(AluOperation.ADD, at, offset);
        Block same = emit().block();
        Vreg known = emit().load(Width.U64, false, bucket, 16);
        emit().when(Condition.EQUAL, known, epoch, same);
        emit().store(Width.U64, bucket, 0, Operand.of(0));
        emit().store(Width.U64, bucket, 8, Operand.of(0));
        emit().store(Width.U64, bucket, 16, epoch);
        emit().start(same);
        switch (type.kind()) {
            case LAST -> {
                emit().store(Width.U64, bucket, 0, value);
                emit().store(Width.U64, bucket, 8, now);
            }
            case AVERAGE -> {
                add(bucket, 0, value);
                add(bucket, 8, Operand.of(1));
            }
            case SUM -> {
                add(bucket, 0, value);
                emit().store(Width.U64, bucket, 8, Operand.of(1));
            }
            case MIN -> extreme(new Type.Extreme(false, type.signed()), bucket, value);
            case MAX -> extreme(new Type.Extreme(true, type.signed()), bucket, value);
        }
        emit().start(done);
    }

    /** The international atomic time, or what the script's own clock says. */
    private Operand now() {
        String map = lowerer.unit().options().clockMap();
        MapPlan clock = lowerer.unit().maps().get(map);
        Value time =
                clock != null && clock.isArray()
                        ? Value.of(emit().load(Width.U64, false, emit().mapValue(map, 0), 0))
                        : lowerer.context().clock("sw_tai");
        return lowerer.numbers().convert(time, Type.Int.U64, Type.Int.U64);
    }

    /** Visits the value of each CPU that has one. */
    void eachCpu(MapPlan plan, @Nullable Place key, Consumer<Vreg> visit) {
        Place at = key;
        if (at == null) {
            StackObject zero = lowerer.frame().object(emit().function(), 4, 4);
            emit().store(Width.U32, zero, 0, Operand.of(0));
            at = new Place(zero, 0, Where.OWN);
        }
        Vreg cpu = emit().copy(Operand.of(0));
        Block head = emit().block();
        Block next = emit().block();
        Block done = emit().block();
        emit().start(head);
        Operand cpus =
                lowerer.portable().fact(Reference.Fact.CPUS, lowerer.unit().options().cpus());
        emit().when(Condition.GREATER_OR_EQUAL, cpu, cpus, done);
        Vreg value =
                emit().find(
                                KernelFunction.MAP_LOOKUP_PERCPU_ELEM,
                                emit().map(plan.name()),
                                emit().address(at),
                                cpu);
        emit().when(Condition.EQUAL, value, 0, next);
        visit.accept(value);
        emit().start(next);
        emit().function().add(new Operation.Alu(AluOperation.ADD, true, cpu, cpu, Operand.of(1)));
        emit().go(head);
        emit().start(done);
    }

    /** The number that an aggregate is, over all CPUs. */
    Value read(MapPlan plan, @Nullable Place key) {
        Type type = plan.value();
        if (!Promotion.isNumber(type)) {
            throw new IllegalStateException(plan.name() + " is no number");
        }
        Vreg result = emit().copy(Operand.of(0));
        Vreg second = emit().copy(Operand.of(0));
        eachCpu(plan, key, value -> join(type, value, result, second));
        if (type instanceof Type.Average a) {
            Block done = emit().block();
            Vreg average = emit().copy(Operand.of(0));
            emit().when(Condition.EQUAL, second, 0, done);
            AluOperation divide = a.signed() ? AluOperation.SIGNED_DIVIDE : AluOperation.DIVIDE;
            emit().set(average, emit().alu(divide, result, second));
            emit().start(done);
            return Value.of(average);
        }
        return Value.of(result);
    }

    private void join(Type type, Vreg value, Vreg result, Vreg second) {
        Vreg word = emit().load(Width.U64, false, value, 0);
        if (type instanceof Type.Extreme e) {
            Block next = emit().block();
            Block take = emit().block();
            Vreg set = emit().load(Width.U64, false, value, 8);
            emit().when(Condition.EQUAL, set, 0, next);
            emit().when(Condition.EQUAL, second, 0, take);
            emit().when(better(e), result, word, next);
            emit().start(take);
            emit().set(result, word);
            emit().set(second, Operand.of(1));
            emit().start(next);
            return;
        }
        emit().function().add(new Operation.Alu(AluOperation.ADD, true, result, result, word));
        if (type instanceof Type.Average) {
            Vreg count = emit().load(Width.U64, false, value, 8);
            emit().function().add(new Operation.Alu(AluOperation.ADD, true, second, second, count));
        }
    }
}
