package sonde.lang.bpftrace.lower;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.InternetAddress;
import sonde.lang.bpftrace.check.Promotion;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;
import sonde.lang.output.PrintFormat;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;
import sonde.sys.SignalNames;

/** Functions that give a value. */
final class Functions {
    /** Of bpf_skb_output: the ring of the CPU that runs it (include/uapi/linux/bpf.h). */
    private static final long CURRENT_CPU = 0xffff_ffffL;

    private static final int MOST_JOINED = 16;
    private static final long ERRORS = -4095;

    private final Lowerer lowerer;
    private final TextFunctions texts;

    Functions(Lowerer lowerer) {
        this.lowerer = lowerer;
        this.texts = new TextFunctions(lowerer);
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    private static Expression first(Expression.Call c) {
        return c.arguments().getFirst();
    }

    private static String word(Expression.Call c) {
        if (c.arguments().isEmpty()) {
            return "";
        }
        return first(c) instanceof Expression.StringLiteral s
                ? s.bytes()
                : first(c) instanceof Expression.Name n ? n.name() : "";
    }

    /**
     * Where a symbol of the probed program lies. How far the program has been moved follows from
     * where the probe was hit; at returns that is not known.
     */
    private Value userAddress(String name) {
        Probe probe = lowerer.site().probe();
        String path =
                switch (probe) {
                    case Probe.User u -> u.path();
                    case Probe.Usdt u -> u.path();
                    default -> "";
                };
        long place =
                switch (probe) {
                    case Probe.User u when u.kind() == Kind.UPROBE -> u.fileOffset();
                    case Probe.Usdt u when u.locations().size() == 1 ->
                            u.locations().getFirst().fileOffset();
                    default -> -1;
                };
        Addresses addresses = lowerer.site().addresses();
        UserVariable found = addresses.user(path, name);
        long stated = found == null || place < 0 ? -1 : addresses.stated(path, place);
        if (found == null || found.fixed() || stated < 0) {
            return Value.of(found == null ? 0 : found.address());
        }
        Vreg here =
                emit().load(
                                Width.U64,
                                false,
                                lowerer.body().context(),
                                Registers.instructionPointer());
        return Value.of(emit().alu(AluOperation.ADD, here, found.address() - stated));
    }

    Value value(Expression.Call c) {
        Type type = lowerer.type(c);
        if (!Memory.isNumber(type) && !(type instanceof Type.Aggregate)) {
            return placed(c, type);
        }
        return switch (c.function()) {
            case "ksym", "kptr", "uptr", "strerror" ->
                    new Value.Number(lowerer.number(first(c), number(first(c))));
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
                    lowerer.context().builtin(new Expression.Name(c.span(), c.function()), Int.U32);
            case "bswap" -> swap(c);
            case "is_err" -> isError(c);
            case "socket_cookie" ->
                    Value.of(
                            emit().call(
                                            KernelFunction.GET_SOCKET_COOKIE,
                                            lowerer.number(first(c))));
            case "write_user" -> write(c);
            case "percpu_kaddr" -> perCpu(c);
            case "skboutput" -> packet(c);
            case "getopt" -> lowerer.portable().named(new Reference.Option(word(c)));
            case "default_str_length" -> Value.of(lowerer.site().addresses().maxText());
            default -> texts.value(c);
        };
    }

    private Value symbol(String name) {
        return lowerer.portable().isWanted()
                ? lowerer.portable().named(new Reference.Symbol(name))
                : Value.of(lowerer.site().addresses().kernel(name));
    }

    private Value controlGroup(String path) {
        return lowerer.portable().isWanted()
                ? lowerer.portable().named(new Reference.ControlGroup(path))
                : Value.of(lowerer.site().addresses().cgroup(path));
    }

    private Type number(Expression e) {
        Type type = lowerer.type(e);
        return Memory.isNumber(type) ? type : Int.U64;
    }

    private Place placed(Expression.Call c, Type type) {
        if ((c.function().equals("kptr") || c.function().equals("uptr"))
                && lowerer.value(first(c)) instanceof Place place) {
            return place;
        }
        Place own = lowerer.memory().own(type);
        if (!into(c, type, type, own)) {
            throw new IllegalStateException(c.span() + ": " + c.function());
        }
        return own;
    }

    /** Writes what is too large for a register; false for what is none of these. */
    boolean into(Expression.Call c, Type from, Type type, Place to) {
        switch (c.function()) {
            case "buf" -> buffer(c, (Type.Bytes) from, to);
            case "usym" -> symbol(c, to);
            case "ntop" -> address(c, to);
            case "pton" -> {
                byte[] bytes = InternetAddress.parse(word(c));
                for (int i = 0; bytes != null && i < bytes.length; i++) {
                    emit().store(Width.U8, to.base(), to.offset() + i, Operand.of(bytes[i]));
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
                pair(pattern, lowerer.number(first(c), Int.U64), to);
            }
            case "strftime" -> timestamp(c, to);
            case "kstack", "ustack", "dw_ustack" -> lowerer.context().stack((Type.Stack) from, to);
            case "path" -> path(c, type, to);
            case "comm", "pcomm", "leader_comm" -> {
                Expression.Name name = new Expression.Name(c.span(), c.function());
                return lowerer.context().into(name, from, type, to);
            }
            default -> {
                return texts.into(c, type, to);
            }
        }
        return true;
    }

    private void pair(String pattern, Operand number, Place to) {
        int action = lowerer.unit().action(new Action.Pattern(pattern));
        emit().store(Width.U64, to.base(), to.offset(), Operand.of(action));
        emit().store(Width.U64, to.base(), to.offset() + 8, number);
    }

    private void timestamp(Expression.Call c, Place to) {
        String format = word(c);
        Expression time = c.arguments().get(1);
        int clock = 0;
        if (time instanceof Expression.Call n
                && n.function().equals("nsecs")
                && !n.arguments().isEmpty()) {
            clock =
                    switch (word(n)) {
                        case "monotonic" -> 1;
                        case "tai", "sw_tai" -> 2;
                        default -> 0;
                    };
        }
        int action = lowerer.unit().action(new Action.Pattern(format));
        Operand nanos = lowerer.number(time, Int.U64);
        emit().store(Width.U32, to.base(), to.offset(), Operand.of(action));
        emit().store(Width.U32, to.base(), to.offset() + 4, Operand.of(clock));
        emit().store(Width.U64, to.base(), to.offset() + 8, nanos);
    }

    private void symbol(Expression.Call c, Place to) {
        Operand address = lowerer.number(first(c), Int.U64);
        emit().store(Width.U64, to.base(), to.offset(), address);
        emit().store(Width.U64, to.base(), to.offset() + 8, lowerer.context().process());
    }

    /** Copies bytes that a value consists of or points to. */
    private void bytes(Expression e, int size, Place to) {
        Type type = lowerer.type(e);
        Value value = lowerer.value(e);
        Place from =
                value instanceof Place place && !(type instanceof Type.Pointer)
                        ? place
                        : at(value, type, e);
        lowerer.memory().copy(from, size, to);
    }

    private Place at(Value value, Type type, Expression e) {
        Operand operand = lowerer.numbers().convert(value, type, Int.U64);
        return new Place(emit().register(operand), 0, where(type, e));
    }

    /** Whose memory an expression points to. */
    Where where(Type type, Expression e) {
        if (e instanceof Expression.Call c && c.function().equals("kptr")) {
            return Where.KERNEL;
        }
        if (e instanceof Expression.Call c && c.function().equals("uptr")) {
            return Where.USER;
        }
        Space space = type instanceof Type.Pointer p ? p.space() : lowerer.clause().site().space();
        return space == Space.USER ? Where.USER : Where.KERNEL;
    }

    private void buffer(Expression.Call c, Type.Bytes type, Place to) {
        Type of = lowerer.type(first(c));
        int most = type.capacity();
        Operand length = Operand.of(of.sizeBytes());
        if (c.arguments().size() > 1) {
            length = lowerer.number(c.arguments().get(1), Int.U64);
        }
        Vreg bounded = emit().copy(length);
        Block small = emit().block();
        emit().when(Condition.LESS_OR_EQUAL, bounded, most, small);
        emit().set(bounded, Operand.of(most));
        emit().start(small);
        lowerer.memory().zero(to, type.sizeBytes());
        emit().store(Width.U32, to.base(), to.offset(), bounded);
        Value value = lowerer.value(first(c));
        Place from =
                value instanceof Place place && !(of instanceof Type.Pointer)
                        ? place
                        : at(value, of, first(c));
        int helper =
                from.where() == Where.USER
                        ? KernelFunction.PROBE_READ_USER
                        : KernelFunction.PROBE_READ_KERNEL;
        Vreg result =
                emit().call(helper, emit().address(to.plus(4)), bounded, emit().address(from));
        lowerer.errors().check(result, helper);
    }

    private void address(Expression.Call c, Place to) {
        Expression e = c.arguments().getLast();
        Type type = lowerer.type(e);
        boolean six =
                !(type instanceof Int) && !(type instanceof Type.Pointer) && type.sizeBytes() == 16;
        lowerer.memory().zero(to, 20);
        Operand family =
                c.arguments().size() == 2
                        ? lowerer.number(first(c), Int.U32)
                        : Operand.of(six ? 10 : 2);
        emit().store(Width.U32, to.base(), to.offset(), family);
        if (type instanceof Int) {
            emit().store(Width.U32, to.base(), to.offset() + 4, lowerer.number(e, Int.U32));
        } else {
            bytes(e, type.sizeBytes() >= 16 ? 16 : 4, to.plus(4));
        }
    }

    private Value register(String name) {
        int offset = Registers.offset(name);
        return offset < 0
                ? Value.of(0)
                : Value.of(emit().load(Width.U64, false, lowerer.body().context(), offset));
    }

    private Value swap(Expression.Call c) {
        Type type = lowerer.type(c);
        Operand operand = lowerer.number(first(c), type);
        if (type.sizeBytes() == 1) {
            return new Value.Number(operand);
        }
        Vreg to = emit().function().scalar();
        emit().function()
                .add(new Operation.Swap(type.sizeBytes() * 8, to, emit().register(operand)));
        return Value.of(to);
    }

    private Value isError(Expression.Call c) {
        Operand operand = lowerer.number(first(c), Int.U64);
        Block done = emit().block();
        Vreg result = emit().copy(Operand.of(1));
        emit().when(Condition.GREATER_OR_EQUAL, emit().register(operand), Operand.of(ERRORS), done);
        emit().set(result, Operand.of(0));
        emit().start(done);
        return Value.of(result);
    }

    private Value perCpu(Expression.Call c) {
        boolean portable = lowerer.portable().isWanted();
        int id = portable ? 0 : lowerer.site().addresses().variable(word(c));
        if (id == 0 && !portable) {
            return Value.of(0);
        }
        Vreg variable =
                portable ? lowerer.portable().variable(word(c)) : emit().function().pointer();
        if (!portable) {
            emit().function().add(new Operation.KernelVariable(variable, id));
        }
        if (c.arguments().size() > 1) {
            Operand cpu = lowerer.number(c.arguments().get(1), Int.U32);
            return Value.of(emit().call(153, variable, cpu));
        }
        return Value.of(emit().call(154, variable));
    }

    /** {@code skboutput("file", skb, length, offset)}: a record of its own kind. */
    private Value packet(Expression.Call c) {
        int offset = (int) ((Expression.IntegerLiteral) c.arguments().get(3)).value();
        int action = lowerer.unit().action(new Action.Packet(word(c), offset));
        Operand length = lowerer.number(c.arguments().get(2), Int.U32);
        Place head = lowerer.memory().own(Action.Packet.HEAD_BYTES, 8);
        emit().store(Width.U64, head.base(), head.offset(), Operand.of(action));
        emit().store(
                        Width.U64,
                        head.base(),
                        head.offset() + 8,
                        emit().call(KernelFunction.KTIME_GET_BOOT_NS));
        emit().store(Width.U64, head.base(), head.offset() + 16, length);
        Vreg flags = emit().alu(AluOperation.SHIFT_LEFT, length, 32);
        flags = emit().alu(AluOperation.OR, flags, CURRENT_CPU);
        Vreg result =
                emit().call(
                                KernelFunction.SKB_OUTPUT,
                                lowerer.number(c.arguments().get(1)),
                                emit().map(Unit.PACKETS),
                                flags,
                                emit().address(head),
                                Operand.of(Action.Packet.HEAD_BYTES));
        lowerer.errors().check(result, KernelFunction.SKB_OUTPUT);
        return Value.of(result);
    }

    private void path(Expression.Call c, Type type, Place to) {
        lowerer.memory().zero(to, type.sizeBytes());
        Block nothing = emit().block();
        Vreg result =
                emit().call(
                                KernelFunction.D_PATH,
                                pathAddress(c, nothing),
                                emit().address(to),
                                Operand.of(type.sizeBytes()));
        lowerer.errors().check(result, KernelFunction.D_PATH);
        emit().start(nothing);
    }

    /** The address of a struct path; of the last object of an iterator there is none. */
    private Operand pathAddress(Expression.Call c, Block nothing) {
        if (lowerer.type(first(c)) instanceof Type.Pointer) {
            return lowerer.number(first(c));
        }
        Place followed = new Followed(lowerer, nothing).member(first(c));
        if (followed != null) {
            return emit().address(followed);
        }
        if (lowerer.value(first(c)) instanceof Place p) {
            lowerer.memory().skipNull(p, nothing);
            return emit().address(p);
        }
        return Operand.of(0);
    }

    /** What changes more than the trace. */
    void change(Expression.Call c) {
        switch (c.function()) {
            case "signal", "signal_thread" -> {
                int helper =
                        c.function().equals("signal")
                                ? KernelFunction.SEND_SIGNAL
                                : KernelFunction.SEND_SIGNAL_THREAD;
                Operand number =
                        first(c) instanceof Expression.StringLiteral s
                                ? Operand.of(signal(s.bytes()))
                                : lowerer.number(first(c), Int.U32);
                lowerer.errors().check(emit().call(helper, number), helper);
            }
            default -> {
                Operand value = lowerer.number(first(c), Int.U64);
                emit().run(KernelFunction.OVERRIDE_RETURN, lowerer.body().context(), value);
            }
        }
    }

    /** 9 for "SIGKILL" or "KILL"; 0 for none. */
    private static int signal(String name) {
        return SignalNames.numbered(name.startsWith("SIG") ? name : "SIG" + name);
    }

    /** {@code debugf(format, …)}: into the kernel's trace. */
    void debug(Expression.Call c) {
        String format = word(c);
        List<Operand> arguments = new ArrayList<>();
        Place text = lowerer.texts().literal(format);
        arguments.add(emit().address(text));
        arguments.add(Operand.of(format.length() + 1L));
        for (Expression e : c.arguments().subList(1, Math.min(4, c.arguments().size()))) {
            arguments.add(
                    lowerer.type(e) instanceof Type.Text
                            ? emit().address(lowerer.texts().near(e))
                            : lowerer.number(e));
        }
        emit().run(KernelFunction.TRACE_PRINTK, arguments.toArray(Operand[]::new));
    }

    /** {@code printf(format, …)} of a pinned iterator: into what its reader gets. */
    void printInto(Expression.Call c, String format) {
        String known = PrintFormat.inKernel(format).orElseThrow(); // the checker has looked
        List<Expression> rest = c.arguments().subList(1, c.arguments().size());
        StackObject values =
                lowerer.frame().object(emit().function(), Math.max(8, 8 * rest.size()), 8);
        for (int i = 0; i < rest.size(); i++) {
            Operand value =
                    Memory.isNumber(lowerer.type(rest.get(i)))
                            ? lowerer.number(rest.get(i))
                            : emit().address(lowerer.texts().near(rest.get(i)));
            emit().store(Width.U64, values, 8 * i, value);
        }
        // struct bpf_iter_meta *meta is the first member of every context, seq its first.
        Vreg meta = emit().load(Width.U64, false, lowerer.body().context(), 0);
        Vreg file = emit().load(Width.U64, false, meta, 0);
        emit().run(
                        KernelFunction.SEQ_PRINTF,
                        file,
                        emit().address(lowerer.texts().literal(known)),
                        Operand.of(known.length() + 1L),
                        emit().address(new Place(values, 0, Where.OWN)),
                        Operand.of(8L * rest.size()));
    }

    /** {@code write_user(to, from, length)}: whether it was written. */
    Value write(Expression.Call c) {
        Operand target = lowerer.number(first(c), Int.U64);
        Place source = lowerer.texts().near(c.arguments().get(1));
        Operand length = lowerer.number(c.arguments().get(2), Int.U32);
        Vreg result =
                emit().call(
                                KernelFunction.PROBE_WRITE_USER,
                                target,
                                emit().address(source),
                                length);
        lowerer.errors().check(result, KernelFunction.PROBE_WRITE_USER);
        return lowerer.operators().isZero(result);
    }

    /** {@code join(array, separator)}. */
    void join(Expression.Call c, String separator) {
        int size = lowerer.site().addresses().maxText();
        Type type = lowerer.type(first(c));
        Place array = at(lowerer.value(first(c)), type, first(c));
        List<Integer> slots = IntStream.range(0, MOST_JOINED).boxed().toList();
        int action = lowerer.unit().action(new Action.Join(separator, MOST_JOINED, size));
        lowerer.outputs()
                .record(
                        action,
                        MOST_JOINED * size,
                        at -> {
                            Block done = emit().block();
                            for (int slot : slots) {
                                emit().store(
                                                Width.U8,
                                                at.base(),
                                                at.offset() + slot * size,
                                                Operand.of(0));
                            }
                            for (int slot : slots) {
                                joined(array.plus(slot * 8), at.plus(slot * size), size, done);
                            }
                            emit().start(done);
                        });
    }

    private void joined(Place pointer, Place to, int size, Block done) {
        Vreg text = lowerer.memory().load(pointer, Int.U64);
        emit().when(Condition.EQUAL, text, 0, done);
        int helper =
                pointer.where() == Where.USER
                        ? KernelFunction.PROBE_READ_USER_STR
                        : KernelFunction.PROBE_READ_KERNEL_STR;
        emit().run(helper, emit().address(to), Operand.of(size), text);
    }

    /** {@code print(@map[key])} of an aggregate: the map's key and what it is together. */
    void printElement(Expression.MapElement m) {
        MapPlan plan = lowerer.maps().plan(m);
        Place key = lowerer.maps().key(m, plan);
        Value value = lowerer.aggregates().read(plan, key);
        int action =
                lowerer.unit()
                        .action(
                                new Action.PrintValue(
                                        new Int(8, Promotion.isSigned(plan.value()))));
        lowerer.outputs().number(action, lowerer.numbers().convert(value, Int.I64, Int.I64), 8);
    }

    /** How many keys a map has. */
    Value count(String map) {
        return lowerer.loops().count(map);
    }

    /** How many frames a stack has. */
    Value frames(Expression e) {
        Type type = lowerer.type(e);
        if (!(type instanceof Type.Stack stack) || !(lowerer.value(e) instanceof Place place)) {
            return Value.of(0);
        }
        Vreg count = emit().copy(Operand.of(0));
        Block done = emit().block();
        int head = stack.user() ? 8 : 0;
        int step = stack.mode() == Type.StackMode.BUILD_ID ? 32 : 8;
        for (int frame = 0; frame < stack.frames(); frame++) {
            Vreg word =
                    emit().load(
                                    Width.U64,
                                    false,
                                    place.base(),
                                    place.offset() + head + frame * step);
            emit().when(Condition.EQUAL, word, 0, done);
            emit().set(count, Operand.of(frame + 1));
        }
        emit().start(done);
        return Value.of(count);
    }
}
