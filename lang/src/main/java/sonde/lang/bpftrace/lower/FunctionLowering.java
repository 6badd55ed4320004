package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.InternetAddress;
import sonde.lang.bpftrace.check.PtRegs;
import sonde.lang.bpftrace.check.TypePromotion;
import sonde.lang.bpftrace.lower.EventAction.JoinAction;
import sonde.lang.bpftrace.lower.EventAction.PacketAction;
import sonde.lang.bpftrace.lower.EventAction.PatternAction;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.NumberValue;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.lower.PortableReference.OptionReference;
import sonde.lang.bpftrace.lower.PortableReference.SymbolReference;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation;
import sonde.lang.ir.IrOperation.IrSwap;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.output.PrintFormat;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.TextType;
import sonde.sys.SignalNames;

/** Functions that give a value. */
final class FunctionLowering {
    /** Flag of bpf_skb_output: the ring of the CPU that runs it (include/uapi/linux/bpf.h). */
    private static final long CURRENT_CPU = 0xffff_ffffL;

    private static final int MOST_JOINED = 16;
    private static final long ERRORS = -4095;

    private final ProgramLowering lowerer;
    private final TextFunctionLowering texts;

    FunctionLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
        this.texts = new TextFunctionLowering(lowerer);
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    private static Expression first(FunctionCall c) {
        return c.arguments().getFirst();
    }

    private static String word(FunctionCall c) {
        if (c.arguments().isEmpty()) {
            return "";
        }
        return first(c) instanceof Expression.StringLiteral s
                ? s.bytes()
                : first(c) instanceof BareName n ? n.name() : "";
    }

    /**
     * Where a symbol of the probed program lies. How far the program has been moved follows from
     * where the probe was hit; at returns that is not known.
     */
    private LoweredValue userAddress(String name) {
        Probe probe = lowerer.site().probe();
        String path =
                switch (probe) {
                    case UserProbe u -> u.path();
                    case UsdtProbe u -> u.path();
                    default -> "";
                };
        long place =
                switch (probe) {
                    case UserProbe u when u.kind() == Kind.UPROBE -> u.fileOffset();
                    case UsdtProbe u when u.locations().size() == 1 ->
                            u.locations().getFirst().fileOffset();
                    default -> -1;
                };
        SymbolAddresses addresses = lowerer.site().addresses();
        UserVariable found = addresses.user(path, name);
        long stated = found == null || place < 0 ? -1 : addresses.stated(path, place);
        if (found == null || found.fixed() || stated < 0) {
            return LoweredValue.of(found == null ? 0 : found.address());
        }
        VirtualRegister here =
                emit().load(
                                Width.U64,
                                false,
                                lowerer.body().context(),
                                PtRegs.instructionPointer());
        return LoweredValue.of(emit().alu(AluOperation.ADD, here, found.address() - stated));
    }

    LoweredValue value(FunctionCall c) {
        ValueType type = lowerer.type(c);
        if (!MemoryLowering.isNumber(type) && !(type instanceof AggregateType)) {
            return placed(c, type);
        }
        return switch (c.function()) {
            case "ksym", "kptr", "uptr", "strerror" ->
                    new NumberValue(lowerer.number(first(c), number(first(c))));
            case "kaddr" -> symbol(word(c));
            case "uaddr" -> {
                lowerer.portable().refuse(c.span(), "only this machine knows where that lies");
                yield userAddress(word(c));
            }
            case "cgroupid" -> controlGroup(word(c));
            case "reg" -> register(word(c));
            case "nsecs" -> lowerer.context().clock(c.arguments().isEmpty() ? "boot" : word(c));
            case "pid" -> lowerer.context().identity(true, word(c).equals("init"));
            case "tid" -> lowerer.context().identity(false, word(c).equals("init"));
            case "ppid", "leader_tid" ->
                    lowerer.context().builtin(new BareName(c.span(), c.function()), IntType.U32);
            case "bswap" -> swap(c);
            case "is_err" -> isError(c);
            case "socket_cookie" ->
                    LoweredValue.of(
                            emit().call(
                                            HelperFunctionId.GET_SOCKET_COOKIE,
                                            lowerer.number(first(c))));
            case "write_user" -> write(c);
            case "percpu_kaddr" -> perCpu(c);
            case "skboutput" -> packet(c);
            case "getopt" -> lowerer.portable().named(new OptionReference(word(c)));
            case "default_str_length" -> LoweredValue.of(lowerer.site().addresses().maxText());
            default -> texts.value(c);
        };
    }

    private LoweredValue symbol(String name) {
        return lowerer.portable().isWanted()
                ? lowerer.portable().named(new SymbolReference(name))
                : LoweredValue.of(lowerer.site().addresses().kernel(name));
    }

    private LoweredValue controlGroup(String path) {
        return lowerer.portable().isWanted()
                ? lowerer.portable().named(new PortableReference.ControlGroup(path))
                : LoweredValue.of(lowerer.site().addresses().cgroup(path));
    }

    private ValueType number(Expression e) {
        ValueType type = lowerer.type(e);
        return MemoryLowering.isNumber(type) ? type : IntType.U64;
    }

    private PlaceValue placed(FunctionCall c, ValueType type) {
        if ((c.function().equals("kptr") || c.function().equals("uptr"))
                && lowerer.value(first(c)) instanceof PlaceValue place) {
            return place;
        }
        PlaceValue own = lowerer.memory().own(type);
        if (!into(c, type, type, own)) {
            throw new IllegalStateException(c.span() + ": " + c.function());
        }
        return own;
    }

    /** Writes what is too large for a register; false for what is none of these. */
    boolean into(FunctionCall c, ValueType from, ValueType type, PlaceValue to) {
        switch (c.function()) {
            case "buf" -> buffer(c, (BytesType) from, to);
            case "usym" -> symbol(c, to);
            case "ntop" -> address(c, to);
            case "pton" -> {
                byte[] bytes = InternetAddress.parse(word(c));
                for (int i = 0; bytes != null && i < bytes.length; i++) {
                    emit().store(Width.U8, to.base(), to.offset() + i, IrOperand.of(bytes[i]));
                }
            }
            case "macaddr" -> bytes(first(c), 6, to);
            case "cgroup_path" -> {
                String pattern =
                        c.arguments().size() > 1
                                        && c.arguments().get(1)
                                                instanceof Expression.StringLiteral s
                                ? s.bytes()
                                : "";
                pair(pattern, lowerer.number(first(c), IntType.U64), to);
            }
            case "strftime" -> timestamp(c, to);
            case "kstack", "ustack", "dw_ustack" -> lowerer.context().stack((StackType) from, to);
            case "path" -> path(c, type, to);
            case "comm", "pcomm", "leader_comm" -> {
                BareName name = new BareName(c.span(), c.function());
                return lowerer.context().into(name, from, type, to);
            }
            default -> {
                return texts.into(c, type, to);
            }
        }
        return true;
    }

    private void pair(String pattern, IrOperand number, PlaceValue to) {
        int action = lowerer.unit().action(new PatternAction(pattern));
        emit().store(Width.U64, to.base(), to.offset(), IrOperand.of(action));
        emit().store(Width.U64, to.base(), to.offset() + 8, number);
    }

    private void timestamp(FunctionCall c, PlaceValue to) {
        String format = word(c);
        Expression time = c.arguments().get(1);
        int clock = 0;
        if (time instanceof FunctionCall n
                && n.function().equals("nsecs")
                && !n.arguments().isEmpty()) {
            clock =
                    switch (word(n)) {
                        case "monotonic" -> 1;
                        case "tai", "sw_tai" -> 2;
                        default -> 0;
                    };
        }
        int action = lowerer.unit().action(new PatternAction(format));
        IrOperand nanos = lowerer.number(time, IntType.U64);
        emit().store(Width.U32, to.base(), to.offset(), IrOperand.of(action));
        emit().store(Width.U32, to.base(), to.offset() + 4, IrOperand.of(clock));
        emit().store(Width.U64, to.base(), to.offset() + 8, nanos);
    }

    private void symbol(FunctionCall c, PlaceValue to) {
        IrOperand address = lowerer.number(first(c), IntType.U64);
        emit().store(Width.U64, to.base(), to.offset(), address);
        emit().store(Width.U64, to.base(), to.offset() + 8, lowerer.context().process());
    }

    /** Copies bytes that a value consists of or points to. */
    private void bytes(Expression e, int size, PlaceValue to) {
        ValueType type = lowerer.type(e);
        LoweredValue value = lowerer.value(e);
        PlaceValue from =
                value instanceof PlaceValue place && !(type instanceof PointerType)
                        ? place
                        : at(value, type, e);
        lowerer.memory().copy(from, size, to);
    }

    private PlaceValue at(LoweredValue value, ValueType type, Expression e) {
        IrOperand operand = lowerer.numbers().convert(value, type, IntType.U64);
        return new PlaceValue(emit().register(operand), 0, where(type, e));
    }

    /** The owner of the memory that an expression points to. */
    MemoryOwner where(ValueType type, Expression e) {
        if (e instanceof FunctionCall c && c.function().equals("kptr")) {
            return MemoryOwner.KERNEL;
        }
        if (e instanceof FunctionCall c && c.function().equals("uptr")) {
            return MemoryOwner.USER;
        }
        PointerSpace space =
                type instanceof PointerType p ? p.space() : lowerer.clause().site().space();
        return space == PointerSpace.USER ? MemoryOwner.USER : MemoryOwner.KERNEL;
    }

    private void buffer(FunctionCall c, BytesType type, PlaceValue to) {
        ValueType of = lowerer.type(first(c));
        int most = type.capacity();
        IrOperand length = IrOperand.of(of.sizeBytes());
        if (c.arguments().size() > 1) {
            length = lowerer.number(c.arguments().get(1), IntType.U64);
        }
        VirtualRegister bounded = emit().copy(length);
        BasicBlock small = emit().block();
        emit().when(JumpCondition.LESS_OR_EQUAL, bounded, most, small);
        emit().set(bounded, IrOperand.of(most));
        emit().start(small);
        lowerer.memory().zero(to, type.sizeBytes());
        emit().store(Width.U32, to.base(), to.offset(), bounded);
        LoweredValue value = lowerer.value(first(c));
        PlaceValue from =
                value instanceof PlaceValue place && !(of instanceof PointerType)
                        ? place
                        : at(value, of, first(c));
        int helper =
                from.where() == MemoryOwner.USER
                        ? HelperFunctionId.PROBE_READ_USER
                        : HelperFunctionId.PROBE_READ_KERNEL;
        VirtualRegister result =
                emit().call(helper, emit().address(to.plus(4)), bounded, emit().address(from));
        lowerer.errors().check(result, helper);
    }

    private void address(FunctionCall c, PlaceValue to) {
        Expression e = c.arguments().getLast();
        ValueType type = lowerer.type(e);
        boolean six =
                !(type instanceof IntType)
                        && !(type instanceof PointerType)
                        && type.sizeBytes() == 16;
        lowerer.memory().zero(to, 20);
        IrOperand family =
                c.arguments().size() == 2
                        ? lowerer.number(first(c), IntType.U32)
                        : IrOperand.of(six ? 10 : 2);
        emit().store(Width.U32, to.base(), to.offset(), family);
        if (type instanceof IntType) {
            emit().store(Width.U32, to.base(), to.offset() + 4, lowerer.number(e, IntType.U32));
        } else {
            bytes(e, type.sizeBytes() >= 16 ? 16 : 4, to.plus(4));
        }
    }

    private LoweredValue register(String name) {
        int offset = PtRegs.offset(name);
        return offset < 0
                ? LoweredValue.of(0)
                : LoweredValue.of(emit().load(Width.U64, false, lowerer.body().context(), offset));
    }

    private LoweredValue swap(FunctionCall c) {
        ValueType type = lowerer.type(c);
        IrOperand operand = lowerer.number(first(c), type);
        if (type.sizeBytes() == 1) {
            return new NumberValue(operand);
        }
        VirtualRegister to = emit().function().scalar();
        emit().function().add(new IrSwap(type.sizeBytes() * 8, to, emit().register(operand)));
        return LoweredValue.of(to);
    }

    private LoweredValue isError(FunctionCall c) {
        IrOperand operand = lowerer.number(first(c), IntType.U64);
        BasicBlock done = emit().block();
        VirtualRegister result = emit().copy(IrOperand.of(1));
        emit().when(
                        JumpCondition.GREATER_OR_EQUAL,
                        emit().register(operand),
                        IrOperand.of(ERRORS),
                        done);
        emit().set(result, IrOperand.of(0));
        emit().start(done);
        return LoweredValue.of(result);
    }

    private LoweredValue perCpu(FunctionCall c) {
        boolean portable = lowerer.portable().isWanted();
        int id = portable ? 0 : lowerer.site().addresses().variable(word(c));
        if (id == 0 && !portable) {
            return LoweredValue.of(0);
        }
        VirtualRegister variable =
                portable ? lowerer.portable().variable(word(c)) : emit().function().pointer();
        if (!portable) {
            emit().function().add(new IrOperation.KernelVariable(variable, id));
        }
        if (c.arguments().size() > 1) {
            IrOperand cpu = lowerer.number(c.arguments().get(1), IntType.U32);
            return LoweredValue.of(emit().call(153, variable, cpu));
        }
        return LoweredValue.of(emit().call(154, variable));
    }

    /** {@code skboutput("file", skb, length, offset)}: a record of its own kind. */
    private LoweredValue packet(FunctionCall c) {
        int offset = (int) ((Expression.IntegerLiteral) c.arguments().get(3)).value();
        int action = lowerer.unit().action(new PacketAction(word(c), offset));
        IrOperand length = lowerer.number(c.arguments().get(2), IntType.U32);
        PlaceValue head = lowerer.memory().own(PacketAction.HEAD_BYTES, 8);
        emit().store(Width.U64, head.base(), head.offset(), IrOperand.of(action));
        emit().store(
                        Width.U64,
                        head.base(),
                        head.offset() + 8,
                        emit().call(HelperFunctionId.KTIME_GET_BOOT_NS));
        emit().store(Width.U64, head.base(), head.offset() + 16, length);
        VirtualRegister flags = emit().alu(AluOperation.SHIFT_LEFT, length, 32);
        flags = emit().alu(AluOperation.OR, flags, CURRENT_CPU);
        VirtualRegister result =
                emit().call(
                                HelperFunctionId.SKB_OUTPUT,
                                lowerer.number(c.arguments().get(1)),
                                emit().map(ScriptUnit.PACKETS),
                                flags,
                                emit().address(head),
                                IrOperand.of(PacketAction.HEAD_BYTES));
        lowerer.errors().check(result, HelperFunctionId.SKB_OUTPUT);
        return LoweredValue.of(result);
    }

    private void path(FunctionCall c, ValueType type, PlaceValue to) {
        lowerer.memory().zero(to, type.sizeBytes());
        BasicBlock nothing = emit().block();
        VirtualRegister result =
                emit().call(
                                HelperFunctionId.D_PATH,
                                pathAddress(c, nothing),
                                emit().address(to),
                                IrOperand.of(type.sizeBytes()));
        lowerer.errors().check(result, HelperFunctionId.D_PATH);
        emit().start(nothing);
    }

    /** The address of a struct path; of the last object of an iterator there is none. */
    private IrOperand pathAddress(FunctionCall c, BasicBlock nothing) {
        if (lowerer.type(first(c)) instanceof PointerType) {
            return lowerer.number(first(c));
        }
        PlaceValue followed = new ContextMembers(lowerer, nothing).member(first(c));
        if (followed != null) {
            return emit().address(followed);
        }
        if (lowerer.value(first(c)) instanceof PlaceValue p) {
            lowerer.memory().skipNull(p, nothing);
            return emit().address(p);
        }
        return IrOperand.of(0);
    }

    /** What changes more than the trace. */
    void change(FunctionCall c) {
        switch (c.function()) {
            case "signal", "signal_thread" -> {
                int helper =
                        c.function().equals("signal")
                                ? HelperFunctionId.SEND_SIGNAL
                                : HelperFunctionId.SEND_SIGNAL_THREAD;
                IrOperand number =
                        first(c) instanceof Expression.StringLiteral s
                                ? IrOperand.of(signal(s.bytes()))
                                : lowerer.number(first(c), IntType.U32);
                lowerer.errors().check(emit().call(helper, number), helper);
            }
            default -> {
                IrOperand value = lowerer.number(first(c), IntType.U64);
                emit().run(HelperFunctionId.OVERRIDE_RETURN, lowerer.body().context(), value);
            }
        }
    }

    /** 9 for "SIGKILL" or "KILL"; 0 for none. */
    private static int signal(String name) {
        return SignalNames.numbered(name.startsWith("SIG") ? name : "SIG" + name);
    }

    /** {@code debugf(format, …)}: into the kernel's trace. */
    void debug(FunctionCall c) {
        String format = word(c);
        List<IrOperand> arguments = new ArrayList<>();
        PlaceValue text = lowerer.texts().literal(format);
        arguments.add(emit().address(text));
        arguments.add(IrOperand.of(format.length() + 1L));
        for (Expression e : c.arguments().subList(1, Math.min(4, c.arguments().size()))) {
            arguments.add(
                    lowerer.type(e) instanceof TextType
                            ? emit().address(lowerer.texts().near(e))
                            : lowerer.number(e));
        }
        emit().run(HelperFunctionId.TRACE_PRINTK, arguments.toArray(IrOperand[]::new));
    }

    /** {@code printf(format, …)} of a pinned iterator: into what its reader gets. */
    void printInto(FunctionCall c, String format) {
        String known = PrintFormat.inKernel(format).orElseThrow(); // the checker has looked
        List<Expression> rest = c.arguments().subList(1, c.arguments().size());
        StackObject values =
                lowerer.frame().object(emit().function(), Math.max(8, 8 * rest.size()), 8);
        for (int i = 0; i < rest.size(); i++) {
            IrOperand value =
                    MemoryLowering.isNumber(lowerer.type(rest.get(i)))
                            ? lowerer.number(rest.get(i))
                            : emit().address(lowerer.texts().near(rest.get(i)));
            emit().store(Width.U64, values, 8 * i, value);
        }
        // struct bpf_iter_meta *meta is the first member of every context, seq its first.
        VirtualRegister meta = emit().load(Width.U64, false, lowerer.body().context(), 0);
        VirtualRegister file = emit().load(Width.U64, false, meta, 0);
        emit().run(
                        HelperFunctionId.SEQ_PRINTF,
                        file,
                        emit().address(lowerer.texts().literal(known)),
                        IrOperand.of(known.length() + 1L),
                        emit().address(new PlaceValue(values, 0, MemoryOwner.OWN)),
                        IrOperand.of(8L * rest.size()));
    }

    /** {@code write_user(to, from, length)}: whether it was written. */
    LoweredValue write(FunctionCall c) {
        IrOperand target = lowerer.number(first(c), IntType.U64);
        PlaceValue source = lowerer.texts().near(c.arguments().get(1));
        IrOperand length = lowerer.number(c.arguments().get(2), IntType.U32);
        VirtualRegister result =
                emit().call(
                                HelperFunctionId.PROBE_WRITE_USER,
                                target,
                                emit().address(source),
                                length);
        lowerer.errors().check(result, HelperFunctionId.PROBE_WRITE_USER);
        return lowerer.operators().isZero(result);
    }

    /** {@code join(array, separator)}. */
    void join(FunctionCall c, String separator) {
        int size = lowerer.site().addresses().maxText();
        ValueType type = lowerer.type(first(c));
        PlaceValue array = at(lowerer.value(first(c)), type, first(c));
        List<Integer> slots = IntStream.range(0, MOST_JOINED).boxed().toList();
        int action = lowerer.unit().action(new JoinAction(separator, MOST_JOINED, size));
        lowerer.outputs()
                .record(
                        action,
                        MOST_JOINED * size,
                        at -> {
                            BasicBlock done = emit().block();
                            for (int slot : slots) {
                                emit().store(
                                                Width.U8,
                                                at.base(),
                                                at.offset() + slot * size,
                                                IrOperand.of(0));
                            }
                            for (int slot : slots) {
                                joined(array.plus(slot * 8), at.plus(slot * size), size, done);
                            }
                            emit().start(done);
                        });
    }

    private void joined(PlaceValue pointer, PlaceValue to, int size, BasicBlock done) {
        VirtualRegister text = lowerer.memory().load(pointer, IntType.U64);
        emit().when(JumpCondition.EQUAL, text, 0, done);
        int helper =
                pointer.where() == MemoryOwner.USER
                        ? HelperFunctionId.PROBE_READ_USER_STR
                        : HelperFunctionId.PROBE_READ_KERNEL_STR;
        emit().run(helper, emit().address(to), IrOperand.of(size), text);
    }

    /** {@code print(@map[key])} of an aggregate: the map's key and what it is together. */
    void printElement(Expression.MapElement m) {
        MapPlan plan = lowerer.maps().plan(m);
        PlaceValue key = lowerer.maps().key(m, plan);
        LoweredValue value = lowerer.aggregates().read(plan, key);
        int action =
                lowerer.unit()
                        .action(
                                new EventAction.PrintValue(
                                        new IntType(8, TypePromotion.isSigned(plan.value()))));
        lowerer.outputs()
                .number(action, lowerer.numbers().convert(value, IntType.I64, IntType.I64), 8);
    }

    /** How many keys a map has. */
    LoweredValue count(String map) {
        return lowerer.loops().count(map);
    }

    /** How many frames a stack has. */
    LoweredValue frames(Expression e) {
        ValueType type = lowerer.type(e);
        if (!(type instanceof StackType stack) || !(lowerer.value(e) instanceof PlaceValue place)) {
            return LoweredValue.of(0);
        }
        VirtualRegister count = emit().copy(IrOperand.of(0));
        BasicBlock done = emit().block();
        int head = stack.user() ? 8 : 0;
        int step = stack.mode() == ValueType.StackMode.BUILD_ID ? 32 : 8;
        for (int frame = 0; frame < stack.frames(); frame++) {
            VirtualRegister word =
                    emit().load(
                                    Width.U64,
                                    false,
                                    place.base(),
                                    place.offset() + head + frame * step);
            emit().when(JumpCondition.EQUAL, word, 0, done);
            emit().set(count, IrOperand.of(frame + 1));
        }
        emit().start(done);
        return LoweredValue.of(count);
    }
}
