package sonde.lang.bpftrace.lower;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.TypePromotion;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.PortableReference.RunFact;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SumType;

/** Values that are put together from many, each CPU for itself. */
final class AggregateLowering {
    private final ProgramLowering lowerer;

    AggregateLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** How many zeros are the first value of a map. */
    static int zeros(MapPlan plan) {
        return switch (plan.value()) {
            case ExtremeType _, AverageType _, HistType _, LhistType _, SeriesType _ ->
                    plan.valueBytes();
            default -> 0;
        };
    }

    /** {@code target = count()}. */
    void assign(Expression target, FunctionCall call) {
        MapPlan plan = lowerer.maps().plan(target);
        VirtualRegister number = null;
        if (!call.arguments().isEmpty()) {
            number = emit().register(lowerer.number(call.arguments().getFirst(), wide(call)));
        }
        PlaceValue key = lowerer.maps().key(target, plan);
        if (plan.isKeptByTracer()) {
            VirtualRegister observed = number;
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
        VirtualRegister found = lowerer.maps().find(plan, key);
        BasicBlock done = emit().block();
        if (key != null) {
            boolean simple = plan.value() instanceof CountType || plan.value() instanceof SumType;
            if (simple) {
                first(plan, key, found, number, done);
                return;
            }
            found = made(plan, key, found, done);
        } else {
            emit().when(JumpCondition.EQUAL, found, 0, done);
            emit().store(Width.U64, found, plan.presentAt(), IrOperand.of(1));
        }
        update(plan.value(), found, number);
        emit().start(done);
    }

    private ValueType wide(FunctionCall call) {
        ValueType type = lowerer.type(call.arguments().getFirst());
        return new IntType(8, TypePromotion.isSigned(type));
    }

    /** A count or sum: added to, or set for the first time. */
    private void first(
            MapPlan plan,
            PlaceValue key,
            VirtualRegister found,
            @Nullable VirtualRegister number,
            BasicBlock done) {
        BasicBlock miss = emit().block();
        emit().when(JumpCondition.EQUAL, found, 0, miss);
        update(plan.value(), found, number);
        emit().go(done);
        emit().start(miss);
        VirtualRegister row = lowerer.maps().row();
        PlaceValue initial = new PlaceValue(row, ScriptLosses.ONE, MemoryOwner.OWN);
        if (number != null) {
            StackObject object = lowerer.frame().object(emit().function(), 8, 8);
            emit().store(Width.U64, object, 0, number);
            initial = new PlaceValue(object, 0, MemoryOwner.OWN);
        }
        VirtualRegister result = lowerer.maps().write(plan, key, initial, 0);
        lowerer.maps().countFailure(plan, result, row, 0);
        emit().start(done);
    }

    /** The address of a value that is there from now on; {@code done} is gone to without room. */
    private VirtualRegister made(
            MapPlan plan, PlaceValue key, VirtualRegister found, BasicBlock done) {
        VirtualRegister at = emit().function().pointer();
        emit().function().add(new IrCopy(at, found));
        BasicBlock ready = emit().block();
        emit().when(JumpCondition.NOT_EQUAL, at, 0, ready);
        MapLowering maps = lowerer.maps();
        VirtualRegister zeros = emit().mapValue(ScriptUnit.SHARED, 0);
        VirtualRegister result =
                maps.write(
                        plan, key, new PlaceValue(zeros, 0, MemoryOwner.OWN), MapLowering.NO_EXIST);
        BasicBlock counted = emit().block();
        emit().when(JumpCondition.EQUAL, result, MapLowering.EXISTS, counted);
        maps.countFailure(plan, result, zeros, lowerer.unit().row(lowerer.number()));
        emit().start(counted);
        emit().function().add(new IrCopy(at, lowerer.maps().find(plan, key)));
        emit().when(JumpCondition.EQUAL, at, 0, done);
        emit().start(ready);
        return at;
    }

    private void update(ValueType type, VirtualRegister at, @Nullable VirtualRegister number) {
        VirtualRegister value = number == null ? emit().constant(1) : number;
        switch (type) {
            case CountType _ -> add(at, 0, IrOperand.of(1));
            case SumType _ -> add(at, 0, value);
            case ExtremeType e -> extreme(e, at, value);
            case AverageType _ -> {
                add(at, 0, value);
                add(at, 8, IrOperand.of(1));
            }
            case HistType h -> bucket(at, Buckets.powers(emit(), value, h.bits()), h.buckets());
            case LhistType l -> bucket(at, Buckets.steps(emit(), value, l), l.buckets());
            case SeriesType s -> series(s, at, value);
            default -> throw new IllegalStateException(type + " is not an aggregate");
        }
    }

    private void add(VirtualRegister at, int offset, IrOperand amount) {
        if (lowerer.frame().hasSlots()) {
            VirtualRegister number = emit().register(amount);
            emit().function()
                    .add(new IrAtomic(AtomicOperation.ADD, Width.U64, at, offset, number, null));
            return;
        }
        VirtualRegister before = emit().load(Width.U64, false, at, offset);
        emit().store(Width.U64, at, offset, emit().alu(AluOperation.ADD, before, amount));
    }

    private void extreme(ExtremeType type, VirtualRegister at, VirtualRegister value) {
        BasicBlock take = emit().block();
        BasicBlock done = emit().block();
        VirtualRegister set = emit().load(Width.U64, false, at, 8);
        emit().when(JumpCondition.EQUAL, set, 0, take);
        VirtualRegister known = emit().load(Width.U64, false, at, 0);
        emit().when(better(type), known, value, done);
        emit().start(take);
        emit().store(Width.U64, at, 0, value);
        emit().store(Width.U64, at, 8, IrOperand.of(1));
        emit().start(done);
    }

    private static JumpCondition better(ExtremeType type) {
        if (type.max()) {
            return type.signed()
                    ? JumpCondition.SIGNED_GREATER_OR_EQUAL
                    : JumpCondition.GREATER_OR_EQUAL;
        }
        return type.signed() ? JumpCondition.SIGNED_LESS_OR_EQUAL : JumpCondition.LESS_OR_EQUAL;
    }

    /** Counts in a bucket; the comparison before the access is the verifier's bound. */
    private void bucket(VirtualRegister at, VirtualRegister index, int buckets) {
        BasicBlock done = emit().block();
        VirtualRegister bounded = emit().copy(index);
        emit().when(JumpCondition.GREATER_OR_EQUAL, bounded, buckets, done);
        VirtualRegister offset = emit().alu(AluOperation.SHIFT_LEFT, bounded, 3);
        VirtualRegister place = emit().alu(AluOperation.ADD, at, offset);
        add(place, 0, IrOperand.of(1));
        emit().start(done);
    }

    private void series(SeriesType type, VirtualRegister at, VirtualRegister value) {
        VirtualRegister now = emit().register(now());
        VirtualRegister epoch =
                emit().alu(AluOperation.DIVIDE, now, emit().constant(type.intervalNanos()));
        VirtualRegister index = emit().alu(AluOperation.REMAINDER, epoch, type.buckets());
        BasicBlock done = emit().block();
        emit().when(JumpCondition.GREATER_OR_EQUAL, index, type.buckets(), done);
        VirtualRegister offset = emit().alu(AluOperation.MULTIPLY, index, 24);
        VirtualRegister bucket = emit().alu(AluOperation.ADD, at, offset);
        BasicBlock same = emit().block();
        VirtualRegister known = emit().load(Width.U64, false, bucket, 16);
        emit().when(JumpCondition.EQUAL, known, epoch, same);
        emit().store(Width.U64, bucket, 0, IrOperand.of(0));
        emit().store(Width.U64, bucket, 8, IrOperand.of(0));
        emit().store(Width.U64, bucket, 16, epoch);
        emit().start(same);
        switch (type.kind()) {
            case LAST -> {
                emit().store(Width.U64, bucket, 0, value);
                emit().store(Width.U64, bucket, 8, now);
            }
            case AVERAGE -> {
                add(bucket, 0, value);
                add(bucket, 8, IrOperand.of(1));
            }
            case SUM -> {
                add(bucket, 0, value);
                emit().store(Width.U64, bucket, 8, IrOperand.of(1));
            }
            case MIN -> extreme(new ExtremeType(false, type.signed()), bucket, value);
            case MAX -> extreme(new ExtremeType(true, type.signed()), bucket, value);
        }
        emit().start(done);
    }

    /** The international atomic time, or what the script's own clock says. */
    private IrOperand now() {
        String map = lowerer.unit().options().clockMap();
        MapPlan clock = lowerer.unit().maps().get(map);
        LoweredValue time =
                clock != null && clock.isArray()
                        ? LoweredValue.of(emit().load(Width.U64, false, emit().mapValue(map, 0), 0))
                        : lowerer.context().clock("sw_tai");
        return lowerer.numbers().convert(time, IntType.U64, IntType.U64);
    }

    /** Visits the value of each CPU that has one. */
    void eachCpu(MapPlan plan, @Nullable PlaceValue key, Consumer<VirtualRegister> visit) {
        PlaceValue at = key;
        if (at == null) {
            StackObject zero = lowerer.frame().object(emit().function(), 4, 4);
            emit().store(Width.U32, zero, 0, IrOperand.of(0));
            at = new PlaceValue(zero, 0, MemoryOwner.OWN);
        }
        VirtualRegister cpu = emit().copy(IrOperand.of(0));
        BasicBlock head = emit().block();
        BasicBlock next = emit().block();
        BasicBlock done = emit().block();
        emit().start(head);
        IrOperand cpus = lowerer.portable().fact(RunFact.CPUS, lowerer.unit().options().cpus());
        emit().when(JumpCondition.GREATER_OR_EQUAL, cpu, cpus, done);
        VirtualRegister value =
                emit().find(
                                HelperFunctionId.MAP_LOOKUP_PERCPU_ELEM,
                                emit().map(plan.name()),
                                emit().address(at),
                                cpu);
        emit().when(JumpCondition.EQUAL, value, 0, next);
        visit.accept(value);
        emit().start(next);
        emit().function().add(new IrAlu(AluOperation.ADD, true, cpu, cpu, IrOperand.of(1)));
        emit().go(head);
        emit().start(done);
    }

    /** The number that an aggregate is, over all CPUs. */
    LoweredValue read(MapPlan plan, @Nullable PlaceValue key) {
        ValueType type = plan.value();
        if (!TypePromotion.isNumber(type)) {
            throw new IllegalStateException(plan.name() + " is not a number");
        }
        VirtualRegister result = emit().copy(IrOperand.of(0));
        VirtualRegister second = emit().copy(IrOperand.of(0));
        eachCpu(plan, key, value -> join(type, value, result, second));
        if (type instanceof AverageType a) {
            BasicBlock done = emit().block();
            VirtualRegister average = emit().copy(IrOperand.of(0));
            emit().when(JumpCondition.EQUAL, second, 0, done);
            AluOperation divide = a.signed() ? AluOperation.SIGNED_DIVIDE : AluOperation.DIVIDE;
            emit().set(average, emit().alu(divide, result, second));
            emit().start(done);
            return LoweredValue.of(average);
        }
        return LoweredValue.of(result);
    }

    private void join(
            ValueType type, VirtualRegister value, VirtualRegister result, VirtualRegister second) {
        VirtualRegister word = emit().load(Width.U64, false, value, 0);
        if (type instanceof ExtremeType e) {
            BasicBlock next = emit().block();
            BasicBlock take = emit().block();
            VirtualRegister set = emit().load(Width.U64, false, value, 8);
            emit().when(JumpCondition.EQUAL, set, 0, next);
            emit().when(JumpCondition.EQUAL, second, 0, take);
            emit().when(better(e), result, word, next);
            emit().start(take);
            emit().set(result, word);
            emit().set(second, IrOperand.of(1));
            emit().start(next);
            return;
        }
        emit().function().add(new IrAlu(AluOperation.ADD, true, result, result, word));
        if (type instanceof AverageType) {
            VirtualRegister count = emit().load(Width.U64, false, value, 8);
            emit().function().add(new IrAlu(AluOperation.ADD, true, second, second, count));
        }
    }
}
