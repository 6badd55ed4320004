package sonde.lang.bpftrace.lower;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.bpf.usdt.UsdtArgument;
import sonde.lang.bpftrace.lower.Reference.Fact;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Vreg;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** What is known where the probe is hit: the words without arguments. */
final class ContextReads {
    private static final long USER_STACK = 256;
    private static final long BUILD_ID = 2048;

    private final Lowerer lowerer;

    ContextReads(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    private Kind kind() {
        return lowerer.clause().site().kind();
    }

    Value builtin(Expression.Name n, Type type) {
        return switch (n.name()) {
            case "pid" -> identity(true, false);
            case "tid" -> identity(false, false);
            case "uid" -> lowerCut(emit().call(KernelFunction.GET_CURRENT_UID_GID));
            case "gid" ->
                    Value.of(
                            emit().alu(
                                            AluOperation.SHIFT_RIGHT,
                                            emit().call(KernelFunction.GET_CURRENT_UID_GID),
                                            32));
            case "username" -> lowerCut(emit().call(KernelFunction.GET_CURRENT_UID_GID));
            case "nsecs" -> Value.of(emit().call(KernelFunction.KTIME_GET_BOOT_NS));
            case "elapsed" -> Value.of(since(AluOperation.SUBTRACT, start()));
            case "cpu" -> Value.of(emit().call(KernelFunction.GET_SMP_PROCESSOR_ID));
            case "ncpus" -> new Value.Number(lowerer.portable().fact(Fact.CPUS, options().cpus()));
            case "numaid" -> Value.of(emit().call(KernelFunction.GET_NUMA_NODE_ID));
            case "rand" -> Value.of(emit().call(KernelFunction.GET_PRANDOM_U32));
            case "cgroup" -> Value.of(emit().call(KernelFunction.GET_CURRENT_CGROUP_ID));
            case "jiffies" -> Value.of(emit().call(KernelFunction.JIFFIES64));
            case "curtask" -> Value.of(task());
            case "cpid" -> new Value.Number(child());
            case "has_cpid" -> new Value.Number(lowerer.operators().truth(child()));
            case "ppid" -> Value.of(parent("tgid"));
            case "leader_tid" -> Value.of(leader("pid"));
            case "usermode" -> usermode();
            case "probe" -> lowerer.texts().literal(lowerer.site().name());
            case "probetype" -> lowerer.texts().literal(lowerer.clause().site().family());
            case "func" -> function(type);
            case "args" -> new Place(lowerer.body().context(), 0, Where.CONTEXT);
            case "ctx" -> Value.of(lowerer.body().context());
            case "retval" -> result(type);
            case "comm", "pcomm", "leader_comm", "kstack", "ustack", "dw_ustack" -> {
                Place own = lowerer.memory().own(type);
                into(n, type, type, own);
                yield own;
            }
            default -> argument(Integer.parseInt(n.name().substring(3)));
        };
    }

    private Options options() {
        return lowerer.unit().options();
    }

    private Operand start() {
        return lowerer.portable().fact(Fact.START_NANOS, options().startNanos());
    }

    private Operand taiOffset() {
        return lowerer.portable().fact(Fact.TAI_OFFSET_NANOS, options().taiOffsetNanos());
    }

    /** The boot clock, moved. */
    private Vreg since(AluOperation operation, Operand by) {
        return emit().alu(
                        operation,
                        emit().call(KernelFunction.KTIME_GET_BOOT_NS),
                        emit().register(by));
    }

    private Operand child() {
        return lowerer.portable().fact(Fact.CHILD, options().child());
    }

    /** Leaves other processes alone, where the kernel does not choose by itself. */
    void onlyProcess(int process, Block end) {
        boolean chosen =
                switch (kind()) {
                    case KPROBE, KRETPROBE, FENTRY, FEXIT, TRACEPOINT, RAWTRACEPOINT -> true;
                    case PROFILE -> true;
                    default -> false;
                };
        if (chosen && lowerer.portable().isWanted()) {
            Block all = emit().block();
            Vreg only = emit().register(lowerer.portable().fact(Fact.PROCESS, process));
            emit().when(Condition.EQUAL, only, 0, all);
            emit().when(Condition.NOT_EQUAL, process(), only, end);
            emit().start(all);
        } else if (process != 0 && chosen) {
            emit().when(Condition.NOT_EQUAL, process(), process, end);
        }
    }

    private Vreg ids() {
        return emit().call(KernelFunction.GET_CURRENT_PID_TGID);
    }

    /** The current process as the tracer sees it, who looks for it in its own /proc. */
    Vreg process() {
        return emit().register(((Value.Number) identity(true, false)).operand());
    }

    /**
     * The current process or thread.
     *
     * @param first in the first name space, not in the tracer's
     */
    Value identity(boolean process, boolean first) {
        if (first || isInitialSpace()) {
            return initialIdentity(process);
        }
        Operand space = lowerer.portable().fact(Fact.PID_SPACE_INODE, options().pidSpaceInode());
        if (!lowerer.portable().isWanted()) {
            return Value.of(identityIn(space, process));
        }
        Block plain = emit().block();
        Block done = emit().block();
        Vreg result = emit().function().scalar();
        emit().when(Condition.EQUAL, emit().register(space), 0, plain);
        emit().set(result, identityIn(space, process));
        emit().go(done);
        emit().start(plain);
        emit().set(result, initialIdentity(process).operand());
        emit().start(done);
        return Value.of(result);
    }

    /**
     * Whether it is known that the tracer sees processes by the numbers of the first name space.
     */
    boolean isInitialSpace() {
        return !lowerer.portable().isWanted() && options().pidSpaceInode() == 0;
    }

    private Value.Number initialIdentity(boolean process) {
        return process
                ? Value.of(emit().alu(AluOperation.SHIFT_RIGHT, ids(), 32))
                : lowerCut(ids());
    }

    private Vreg identityIn(Operand space, boolean process) {
        Place both = lowerer.memory().own(8, 4);
        emit().store(Width.U32, both.base(), both.offset(), Operand.of(0));
        emit().store(Width.U32, both.base(), both.offset() + 4, Operand.of(0));
        emit().run(
                        KernelFunction.GET_NS_CURRENT_PID_TGID,
                        lowerer.portable().fact(Fact.PID_SPACE_DEVICE, options().pidSpaceDevice()),
                        space,
                        emit().address(both),
                        Operand.of(8));
        return emit().load(Width.U32, false, both.base(), both.offset() + (process ? 4 : 0));
    }

    private Value.Number lowerCut(Vreg both) {
        return new Value.Number(lowerer.numbers().fit(both, Int.U64, Int.U32));
    }

    /** The current task. */
    Vreg task() {
        return emit().call(KernelFunction.GET_CURRENT_TASK);
    }

    /** Writes what is too large for a register; false for what is none of these. */
    boolean into(Expression.Name n, Type from, Type type, Place to) {
        switch (n.name()) {
            case "comm" -> comm(to, type.sizeBytes());
            case "kstack", "ustack", "dw_ustack" -> stack((Type.Stack) from, to);
            case "pcomm" -> taskComm(parentTask(), type, to);
            case "leader_comm" -> taskComm(follow(task(), "group_leader"), type, to);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void comm(Place to, int sizeBytes) {
        emit().run(KernelFunction.GET_CURRENT_COMM, emit().address(to), Operand.of(16));
        if (sizeBytes > 16) {
            lowerer.memory().zero(to.plus(16), sizeBytes - 16);
        }
    }

    /** Takes a stack; what is not used of it is 0. */
    void stack(Type.Stack type, Place to) {
        if (type.copied()) {
            new StackCopies(lowerer).copy(to);
            return;
        }
        int head = type.user() ? 8 : 0;
        if (type.user()) {
            emit().store(Width.U64, to.base(), to.offset(), process());
        }
        long flags = type.user() ? USER_STACK : 0;
        if (type.mode() == Type.StackMode.BUILD_ID) {
            flags |= BUILD_ID;
        }
        int size = type.sizeBytes() - head;
        Vreg result =
                emit().call(
                                KernelFunction.GET_STACK,
                                lowerer.body().context(),
                                emit().address(to.plus(head)),
                                Operand.of(size),
                                Operand.of(flags));
        lowerer.errors().check(result, KernelFunction.GET_STACK);
    }

    private Vreg parentTask() {
        return follow(task(), "real_parent");
    }

    private Vreg parent(String field) {
        return member(parentTask(), field);
    }

    private Vreg leader(String field) {
        return member(follow(task(), "group_leader"), field);
    }

    private @Nullable Field taskField(String name) {
        Type type = lowerer.site().task().get();
        return type instanceof Composite c ? c.field(name) : null;
    }

    private Vreg follow(Vreg task, String name) {
        return number(task, name, Int.U64);
    }

    private Vreg member(Vreg task, String name) {
        return number(task, name, Int.U32);
    }

    private Vreg number(Vreg task, String name, Int type) {
        Field field = taskField(name);
        return field == null
                ? emit().constant(0)
                : lowerer.memory().load(taskPlace(task, name, field), type);
    }

    /** Where a member of a task lies. */
    private Place taskPlace(Vreg task, String name, Field field) {
        Place place = new Place(task, 0, Where.KERNEL);
        return lowerer.portable().isWanted()
                ? lowerer.portable().taskMember(place, name)
                : place.plus(field.offsetBytes());
    }

    private void taskComm(Vreg task, Type type, Place to) {
        Field field = taskField("comm");
        lowerer.memory().zero(to, type.sizeBytes());
        if (field != null) {
            lowerer.memory()
                    .copy(taskPlace(task, "comm", field), Math.min(16, type.sizeBytes()), to);
        }
    }

    private Value usermode() {
        int offset = Registers.codeSegment();
        if (!lowerer.clause().site().isPerfEvent() || offset < 0) {
            boolean kernel =
                    switch (kind()) {
                        case KPROBE, KRETPROBE, FENTRY, FEXIT -> true;
                        case TRACEPOINT, RAWTRACEPOINT, ITER -> true;
                        default -> false;
                    };
            return Value.of(kernel ? 0 : 1);
        }
        Vreg segment = emit().load(Width.U64, false, lowerer.body().context(), offset);
        Vreg ring = emit().alu(AluOperation.AND, segment, 3);
        return Value.of(emit().register(lowerer.operators().truth(ring)));
    }

    private Value function(Type type) {
        Vreg address =
                kind() == Kind.UPROBE
                        ? emit().load(
                                        Width.U64,
                                        false,
                                        lowerer.body().context(),
                                        Registers.instructionPointer())
                        : emit().call(KernelFunction.GET_FUNC_IP, lowerer.body().context());
        if (type instanceof Type.Named n && n.kind() == Type.Special.USER_SYMBOL) {
            return userSymbol(address);
        }
        return Value.of(address);
    }

    /** An address of the current process's code. */
    Place userSymbol(Operand address) {
        Place own = lowerer.memory().own(16, 8);
        emit().store(Width.U64, own.base(), own.offset(), address);
        emit().store(Width.U64, own.base(), own.offset() + 8, process());
        return own;
    }

    private Value result(Type type) {
        if (kind() == Kind.FEXIT
                && lowerer.clause().site().arguments() instanceof Composite arguments
                && arguments.field("$retval") instanceof Field field) {
            Place context = new Place(lowerer.body().context(), 0, Where.CONTEXT);
            Portable.Root root =
                    lowerer.portable().root(arguments, context, lowerer.clause().probe().span());
            return root == null
                    ? lowerer.member(context, field, type)
                    : lowerer.portable().member(context, root, List.of("$retval"), field, type);
        }
        Vreg all = emit().load(Width.U64, false, lowerer.body().context(), Registers.result());
        int size = type.sizeBytes();
        boolean part =
                size < 8
                        && (type instanceof Int
                                || type instanceof Type.Bool
                                || type instanceof Type.Enum);
        Int number = new Int(part ? size : 8, Memory.isSigned(type));
        return new Value.Number(lowerer.numbers().fit(all, Int.U64, number));
    }

    private Value argument(int index) {
        Vreg context = lowerer.body().context();
        List<UsdtArgument> markers = lowerer.site().markers();
        if (markers != null) {
            return index < markers.size() ? marker(markers.get(index)) : Value.of(0);
        }
        if (kind() == Kind.RAWTRACEPOINT || kind() == Kind.FENTRY || kind() == Kind.FEXIT) {
            return Value.of(emit().load(Width.U64, false, context, index * 8));
        }
        int offset = Registers.argument(index);
        if (offset >= 0) {
            return Value.of(emit().load(Width.U64, false, context, offset));
        }
        Vreg stack = emit().load(Width.U64, false, context, Registers.stackPointer());
        Where where = lowerer.clause().site().isUser() ? Where.USER : Where.KERNEL;
        return Value.of(
                lowerer.memory()
                        .load(new Place(stack, Registers.stackArgument(index), where), Int.U64));
    }

    private Value marker(UsdtArgument argument) {
        Vreg context = lowerer.body().context();
        Type type = new Int(argument.sizeBytes(), argument.isSigned());
        Operand value =
                switch (argument.operand()) {
                    case UsdtArgument.Operand.Constant c -> Operand.of(c.value());
                    case UsdtArgument.Operand.Register r -> {
                        Vreg all = emit().load(Width.U64, false, context, r.offset());
                        yield r.shift() == 0
                                ? all
                                : emit().alu(AluOperation.SHIFT_RIGHT, all, r.shift());
                    }
                    case UsdtArgument.Operand.Memory m -> {
                        Vreg base =
                                m.base().isEmpty()
                                        ? emit().constant(0)
                                        : emit().load(Width.U64, false, context, m.baseOffset());
                        if (!m.index().isEmpty()) {
                            Vreg index = emit().load(Width.U64, false, context, m.indexOffset());
                            Vreg scaled = emit().alu(AluOperation.MULTIPLY, index, m.scale());
                            base = emit().alu(AluOperation.ADD, base, scaled);
                        }
                        Vreg at = emit().alu(AluOperation.ADD, base, m.displacement());
                        yield lowerer.memory().load(new Place(at, 0, Where.USER), type);
                    }
                    case UsdtArgument.Operand.Unreadable _ -> Operand.of(0);
                };
        return new Value.Number(lowerer.numbers().fit(value, Int.U64, type));
    }

    /** {@code nsecs(clock)}. */
    Value clock(String name) {
        return switch (name) {
            case "monotonic" -> Value.of(emit().call(KernelFunction.KTIME_GET_NS));
            case "tai" -> Value.of(emit().call(KernelFunction.KTIME_GET_TAI_NS));
            case "sw_tai" -> Value.of(since(AluOperation.ADD, taiOffset()));
            default -> Value.of(emit().call(KernelFunction.KTIME_GET_BOOT_NS));
        };
    }
}
