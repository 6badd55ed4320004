package sonde.lang.bpftrace.lower;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.bpf.usdt.UsdtArgument;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UnreadableOperand;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtConstant;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtMemory;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtRegister;
import sonde.lang.bpftrace.check.PtRegs;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.NumberValue;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.PortableReference.RunFact;
import sonde.lang.bpftrace.lower.PortableReferences.ReferenceFactory;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.type.CompositeType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.probe.stack.UserStackFunction;

/** What is known where the probe is hit: the words without arguments. */
final class ContextReads {
    private static final long USER_STACK = 256;
    private static final long BUILD_ID = 2048;

    private final ProgramLowering lowerer;

    /** Place of the unwinder's memory in the frame; -1 while no stack is unwound. */
    private int unwinder = -1;

    ContextReads(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    private Kind kind() {
        return lowerer.clause().site().kind();
    }

    LoweredValue builtin(BareName n, ValueType type) {
        return switch (n.name()) {
            case "pid" -> identity(true, false);
            case "tid" -> identity(false, false);
            case "uid" -> lowerCut(emit().call(HelperFunctionId.GET_CURRENT_UID_GID));
            case "gid" ->
                    LoweredValue.of(
                            emit().alu(
                                            AluOperation.SHIFT_RIGHT,
                                            emit().call(HelperFunctionId.GET_CURRENT_UID_GID),
                                            32));
            case "username" -> lowerCut(emit().call(HelperFunctionId.GET_CURRENT_UID_GID));
            case "nsecs" -> LoweredValue.of(emit().call(HelperFunctionId.KTIME_GET_BOOT_NS));
            case "elapsed" -> LoweredValue.of(since(AluOperation.SUBTRACT, start()));
            case "cpu" -> LoweredValue.of(emit().call(HelperFunctionId.GET_SMP_PROCESSOR_ID));
            case "ncpus" ->
                    new NumberValue(lowerer.portable().fact(RunFact.CPUS, options().cpus()));
            case "numaid" -> LoweredValue.of(emit().call(HelperFunctionId.GET_NUMA_NODE_ID));
            case "rand" -> LoweredValue.of(emit().call(HelperFunctionId.GET_PRANDOM_U32));
            case "cgroup" -> LoweredValue.of(emit().call(HelperFunctionId.GET_CURRENT_CGROUP_ID));
            case "jiffies" -> LoweredValue.of(emit().call(HelperFunctionId.JIFFIES64));
            case "curtask" -> LoweredValue.of(task());
            case "cpid" -> new NumberValue(child());
            case "has_cpid" -> new NumberValue(lowerer.operators().truth(child()));
            case "ppid" -> LoweredValue.of(parent("tgid"));
            case "leader_tid" -> LoweredValue.of(leader("pid"));
            case "usermode" -> usermode();
            case "probe" -> lowerer.texts().literal(lowerer.site().name());
            case "probetype" -> lowerer.texts().literal(lowerer.clause().site().family());
            case "func" -> function(type);
            case "args" -> new PlaceValue(lowerer.body().context(), 0, MemoryOwner.CONTEXT);
            case "ctx" -> LoweredValue.of(lowerer.body().context());
            case "retval" -> result(type);
            case "comm", "pcomm", "leader_comm", "kstack", "ustack", "dw_ustack" -> {
                PlaceValue own = lowerer.memory().own(type);
                into(n, type, type, own);
                yield own;
            }
            default -> argument(Integer.parseInt(n.name().substring(3)));
        };
    }

    private LoweringOptions options() {
        return lowerer.unit().options();
    }

    private IrOperand start() {
        return lowerer.portable().fact(RunFact.START_NANOS, options().startNanos());
    }

    private IrOperand taiOffset() {
        return lowerer.portable().fact(RunFact.TAI_OFFSET_NANOS, options().taiOffsetNanos());
    }

    /** The boot clock, moved. */
    private VirtualRegister since(AluOperation operation, IrOperand by) {
        return emit().alu(
                        operation,
                        emit().call(HelperFunctionId.KTIME_GET_BOOT_NS),
                        emit().register(by));
    }

    private IrOperand child() {
        return lowerer.portable().fact(RunFact.CHILD, options().child());
    }

    /** Leaves other processes alone, where the kernel does not choose by itself. */
    void onlyProcess(int process, BasicBlock end) {
        boolean chosen =
                switch (kind()) {
                    case KPROBE, KRETPROBE, FENTRY, FEXIT, TRACEPOINT, RAWTRACEPOINT -> true;
                    case PROFILE -> true;
                    default -> false;
                };
        if (chosen && lowerer.portable().isWanted()) {
            BasicBlock all = emit().block();
            VirtualRegister only =
                    emit().register(lowerer.portable().fact(RunFact.PROCESS, process));
            emit().when(JumpCondition.EQUAL, only, 0, all);
            emit().when(JumpCondition.NOT_EQUAL, process(), only, end);
            emit().start(all);
        } else if (process != 0 && chosen) {
            emit().when(JumpCondition.NOT_EQUAL, process(), process, end);
        }
    }

    private VirtualRegister ids() {
        return emit().call(HelperFunctionId.GET_CURRENT_PID_TGID);
    }

    /** The current process as the tracer sees it, who looks for it in its own /proc. */
    VirtualRegister process() {
        return emit().register(((NumberValue) identity(true, false)).operand());
    }

    /**
     * The current process or thread.
     *
     * @param first in the first name space, not in the tracer's
     */
    LoweredValue identity(boolean process, boolean first) {
        if (first || isInitialSpace()) {
            return initialIdentity(process);
        }
        IrOperand space =
                lowerer.portable().fact(RunFact.PID_SPACE_INODE, options().pidSpaceInode());
        if (!lowerer.portable().isWanted()) {
            return LoweredValue.of(identityIn(space, process));
        }
        BasicBlock plain = emit().block();
        BasicBlock done = emit().block();
        VirtualRegister result = emit().function().scalar();
        emit().when(JumpCondition.EQUAL, emit().register(space), 0, plain);
        emit().set(result, identityIn(space, process));
        emit().go(done);
        emit().start(plain);
        emit().set(result, initialIdentity(process).operand());
        emit().start(done);
        return LoweredValue.of(result);
    }

    /**
     * Whether it is known that the tracer sees processes by the numbers of the first name space.
     */
    boolean isInitialSpace() {
        return !lowerer.portable().isWanted() && options().pidSpaceInode() == 0;
    }

    private NumberValue initialIdentity(boolean process) {
        return process
                ? LoweredValue.of(emit().alu(AluOperation.SHIFT_RIGHT, ids(), 32))
                : lowerCut(ids());
    }

    private VirtualRegister identityIn(IrOperand space, boolean process) {
        PlaceValue both = lowerer.memory().own(8, 4);
        emit().store(Width.U32, both.base(), both.offset(), IrOperand.of(0));
        emit().store(Width.U32, both.base(), both.offset() + 4, IrOperand.of(0));
        emit().run(
                        HelperFunctionId.GET_NS_CURRENT_PID_TGID,
                        lowerer.portable()
                                .fact(RunFact.PID_SPACE_DEVICE, options().pidSpaceDevice()),
                        space,
                        emit().address(both),
                        IrOperand.of(8));
        return emit().load(Width.U32, false, both.base(), both.offset() + (process ? 4 : 0));
    }

    private NumberValue lowerCut(VirtualRegister both) {
        return new NumberValue(lowerer.numbers().fit(both, IntType.U64, IntType.U32));
    }

    /** The current task. */
    VirtualRegister task() {
        return emit().call(HelperFunctionId.GET_CURRENT_TASK);
    }

    /** Writes what is too large for a register; false for what is none of these. */
    boolean into(BareName n, ValueType from, ValueType type, PlaceValue to) {
        switch (n.name()) {
            case "comm" -> comm(to, type.sizeBytes());
            case "kstack", "ustack", "dw_ustack" -> stack((StackType) from, to);
            case "pcomm" -> taskComm(parentTask(), type, to);
            case "leader_comm" -> taskComm(follow(task(), "group_leader"), type, to);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void comm(PlaceValue to, int sizeBytes) {
        emit().run(HelperFunctionId.GET_CURRENT_COMM, emit().address(to), IrOperand.of(16));
        if (sizeBytes > 16) {
            lowerer.memory().zero(to.plus(16), sizeBytes - 16);
        }
    }

    /** Takes a stack; what is not used of it is 0. */
    void stack(StackType type, PlaceValue to) {
        if (type.copied()) {
            new StackCopies(lowerer).copy(to);
            return;
        }
        int head = type.user() ? 8 : 0;
        if (type.user()) {
            emit().store(Width.U64, to.base(), to.offset(), process());
        }
        long flags = type.user() ? USER_STACK : 0;
        if (type.mode() == ValueType.StackMode.BUILD_ID) {
            flags |= BUILD_ID;
        }
        int size = type.sizeBytes() - head;
        if (type.user() && unwinds(type)) {
            lowerer.errors().check(unwound(to.plus(head), size), HelperFunctionId.GET_STACK);
            return;
        }
        VirtualRegister result =
                emit().call(
                                HelperFunctionId.GET_STACK,
                                lowerer.body().context(),
                                emit().address(to.plus(head)),
                                IrOperand.of(size),
                                IrOperand.of(flags));
        lowerer.errors().check(result, HelperFunctionId.GET_STACK);
    }

    /** Where the task was in user mode when the probe was hit. */
    private boolean unwinds(StackType type) {
        boolean inTask =
                switch (kind()) {
                    case KPROBE, KRETPROBE, FENTRY, FEXIT, TRACEPOINT, RAWTRACEPOINT -> true;
                    case UPROBE, URETPROBE, USDT, PROFILE, SOFTWARE, HARDWARE, WATCHPOINT -> true;
                    default -> false;
                };
        return inTask
                && type.mode() != ValueType.StackMode.BUILD_ID
                && !lowerer.portable().isWanted();
    }

    private VirtualRegister unwound(PlaceValue to, int size) {
        if (unwinder < 0) {
            unwinder = lowerer.frame().keep(UserStackFunction.SCRATCH_BYTES);
        }
        VirtualRegister result = emit().function().scalar();
        List<IrOperand> arguments =
                List.of(
                        emit().address(to),
                        IrOperand.of(size),
                        emit().address(lowerer.frame().at(emit().function(), unwinder)),
                        lowerer.body().context());
        emit().function()
                .add(new IrOperation.CallImported(result, ScriptUnit.USER_STACK, arguments));
        return result;
    }

    private VirtualRegister parentTask() {
        return follow(task(), "real_parent");
    }

    private VirtualRegister parent(String field) {
        return member(parentTask(), field);
    }

    private VirtualRegister leader(String field) {
        return member(follow(task(), "group_leader"), field);
    }

    private @Nullable TypeField taskField(String name) {
        ValueType type = lowerer.site().task().get();
        return type instanceof CompositeType c ? c.field(name) : null;
    }

    private VirtualRegister follow(VirtualRegister task, String name) {
        return number(task, name, IntType.U64);
    }

    private VirtualRegister member(VirtualRegister task, String name) {
        return number(task, name, IntType.U32);
    }

    private VirtualRegister number(VirtualRegister task, String name, IntType type) {
        TypeField field = taskField(name);
        return field == null
                ? emit().constant(0)
                : lowerer.memory().load(taskPlace(task, name, field), type);
    }

    /** Where a member of a task lies. */
    private PlaceValue taskPlace(VirtualRegister task, String name, TypeField field) {
        PlaceValue place = new PlaceValue(task, 0, MemoryOwner.KERNEL);
        return lowerer.portable().isWanted()
                ? lowerer.portable().taskMember(place, name)
                : place.plus(field.offsetBytes());
    }

    private void taskComm(VirtualRegister task, ValueType type, PlaceValue to) {
        TypeField field = taskField("comm");
        lowerer.memory().zero(to, type.sizeBytes());
        if (field != null) {
            lowerer.memory()
                    .copy(taskPlace(task, "comm", field), Math.min(16, type.sizeBytes()), to);
        }
    }

    private LoweredValue usermode() {
        int offset = PtRegs.codeSegment();
        if (!lowerer.clause().site().isPerfEvent() || offset < 0) {
            boolean kernel =
                    switch (kind()) {
                        case KPROBE, KRETPROBE, FENTRY, FEXIT -> true;
                        case TRACEPOINT, RAWTRACEPOINT, ITER -> true;
                        default -> false;
                    };
            return LoweredValue.of(kernel ? 0 : 1);
        }
        VirtualRegister segment = emit().load(Width.U64, false, lowerer.body().context(), offset);
        VirtualRegister ring = emit().alu(AluOperation.AND, segment, 3);
        return LoweredValue.of(emit().register(lowerer.operators().truth(ring)));
    }

    private LoweredValue function(ValueType type) {
        VirtualRegister address =
                kind() == Kind.UPROBE
                        ? emit().load(
                                        Width.U64,
                                        false,
                                        lowerer.body().context(),
                                        PtRegs.instructionPointer())
                        : emit().call(HelperFunctionId.GET_FUNC_IP, lowerer.body().context());
        if (type instanceof SpecialType n && n.kind() == SpecialValue.USER_SYMBOL) {
            return userSymbol(address);
        }
        return LoweredValue.of(address);
    }

    /** An address of the current process's code. */
    PlaceValue userSymbol(IrOperand address) {
        PlaceValue own = lowerer.memory().own(16, 8);
        emit().store(Width.U64, own.base(), own.offset(), address);
        emit().store(Width.U64, own.base(), own.offset() + 8, process());
        return own;
    }

    private LoweredValue result(ValueType type) {
        if (kind() == Kind.FEXIT
                && lowerer.clause().site().arguments() instanceof CompositeType arguments
                && arguments.field("$retval") instanceof TypeField field) {
            PlaceValue context = new PlaceValue(lowerer.body().context(), 0, MemoryOwner.CONTEXT);
            ReferenceFactory root =
                    lowerer.portable().root(arguments, context, lowerer.clause().probe().span());
            return root == null
                    ? lowerer.member(context, field, type)
                    : lowerer.portable().member(context, root, List.of("$retval"), field, type);
        }
        VirtualRegister all =
                emit().load(Width.U64, false, lowerer.body().context(), PtRegs.result());
        int size = type.sizeBytes();
        boolean part =
                size < 8
                        && (type instanceof IntType
                                || type instanceof BoolType
                                || type instanceof EnumType);
        IntType number = new IntType(part ? size : 8, MemoryLowering.isSigned(type));
        return new NumberValue(lowerer.numbers().fit(all, IntType.U64, number));
    }

    private LoweredValue argument(int index) {
        VirtualRegister context = lowerer.body().context();
        List<UsdtArgument> markers = lowerer.site().markers();
        if (markers != null) {
            return index < markers.size() ? marker(markers.get(index)) : LoweredValue.of(0);
        }
        if (kind() == Kind.RAWTRACEPOINT || kind() == Kind.FENTRY || kind() == Kind.FEXIT) {
            return LoweredValue.of(emit().load(Width.U64, false, context, index * 8));
        }
        int offset = PtRegs.argument(index);
        if (offset >= 0) {
            return LoweredValue.of(emit().load(Width.U64, false, context, offset));
        }
        VirtualRegister stack = emit().load(Width.U64, false, context, PtRegs.stackPointer());
        MemoryOwner where =
                lowerer.clause().site().isUser() ? MemoryOwner.USER : MemoryOwner.KERNEL;
        return LoweredValue.of(
                lowerer.memory()
                        .load(
                                new PlaceValue(stack, PtRegs.stackArgument(index), where),
                                IntType.U64));
    }

    private LoweredValue marker(UsdtArgument argument) {
        VirtualRegister context = lowerer.body().context();
        ValueType type = new IntType(argument.sizeBytes(), argument.isSigned());
        IrOperand value =
                switch (argument.operand()) {
                    case UsdtConstant c -> IrOperand.of(c.value());
                    case UsdtRegister r -> {
                        VirtualRegister all = emit().load(Width.U64, false, context, r.offset());
                        yield r.shift() == 0
                                ? all
                                : emit().alu(AluOperation.SHIFT_RIGHT, all, r.shift());
                    }
                    case UsdtMemory m -> {
                        VirtualRegister base =
                                m.base().isEmpty()
                                        ? emit().constant(0)
                                        : emit().load(Width.U64, false, context, m.baseOffset());
                        if (!m.index().isEmpty()) {
                            VirtualRegister index =
                                    emit().load(Width.U64, false, context, m.indexOffset());
                            VirtualRegister scaled =
                                    emit().alu(AluOperation.MULTIPLY, index, m.scale());
                            base = emit().alu(AluOperation.ADD, base, scaled);
                        }
                        VirtualRegister at = emit().alu(AluOperation.ADD, base, m.displacement());
                        yield lowerer.memory().load(new PlaceValue(at, 0, MemoryOwner.USER), type);
                    }
                    case UnreadableOperand _ -> IrOperand.of(0);
                };
        return new NumberValue(lowerer.numbers().fit(value, IntType.U64, type));
    }

    /** {@code nsecs(clock)}. */
    LoweredValue clock(String name) {
        return switch (name) {
            case "monotonic" -> LoweredValue.of(emit().call(HelperFunctionId.KTIME_GET_NS));
            case "tai" -> LoweredValue.of(emit().call(HelperFunctionId.KTIME_GET_TAI_NS));
            case "sw_tai" -> LoweredValue.of(since(AluOperation.ADD, taiOffset()));
            default -> LoweredValue.of(emit().call(HelperFunctionId.KTIME_GET_BOOT_NS));
        };
    }
}
