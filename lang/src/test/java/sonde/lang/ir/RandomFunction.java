package sonde.lang.ir;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrNegate;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrSignExtend;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.ir.IrOperation.IrSwap;

/** Functions that end, by a seed: arithmetic, memory, branches, loops that count down, calls. */
final class RandomFunction {
    /** bpf_get_current_uid_gid: what it gives does not change. */
    static final int HELPER = 15;

    private static final long[] SPECIAL = {
        0,
        1,
        -1,
        2,
        7,
        8,
        31,
        32,
        63,
        64,
        255,
        4096,
        Integer.MIN_VALUE,
        Integer.MAX_VALUE,
        0xffffffffL,
        0x80000000L,
        1L << 40,
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        -3,
        -64
    };
    private static final AluOperation[] OPERATIONS = AluOperation.values();

    private final Random random;
    private final IrFunction function;
    private final List<IrFunction> callees;
    private final List<VirtualRegister> variables = new ArrayList<>();
    private final List<VirtualRegister> values = new ArrayList<>();
    private final List<StackObject> scratches = new ArrayList<>();
    private final StackObject array;

    private RandomFunction(Random random, String name, int parameters, List<IrFunction> callees) {
        this.random = random;
        this.callees = callees;
        List<VirtualRegister.Kind> kinds = new ArrayList<>();
        for (int i = 0; i < parameters; i++) {
            kinds.add(VirtualRegister.Kind.SCALAR);
        }
        function = new IrFunction(name, kinds);
        array = function.object(32, 8);
    }

    /** A main function without parameters, and up to two that it may call. */
    static IrFunction of(long seed, int size) {
        Random random = new Random(seed);
        List<IrFunction> callees = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            callees.add(
                    new RandomFunction(random, "f" + i, random.nextInt(6), List.copyOf(callees))
                            .written(size / 4 + 1));
        }
        return new RandomFunction(random, "main", 0, callees).written(size);
    }

    private IrFunction written(int size) {
        for (int at = 0; at < 32; at += 8) {
            function.add(new IrStore(Width.U64, array, at, IrOperand.of(number())));
        }
        int count = 1 + random.nextInt(14);
        for (int i = 0; i < count; i++) {
            // Some are never written before they are read.
            variables.add(function.register(VirtualRegister.Kind.SCALAR, "$x" + i));
            if (random.nextInt(8) != 0) {
                function.add(new IrConstant(variables.get(i), number()));
            }
        }
        values.addAll(function.parameters());
        statements(size, 0);
        VirtualRegister sum = function.scalar();
        function.add(new IrConstant(sum, 0));
        List<VirtualRegister> all = new ArrayList<>(variables);
        all.addAll(values);
        for (int at = 0; at < 32; at += 8) {
            VirtualRegister word = function.scalar();
            function.add(new IrLoad(Width.U64, false, word, array, at));
            all.add(word);
        }
        for (VirtualRegister one : all) {
            function.add(new IrAlu(AluOperation.MULTIPLY, true, sum, sum, IrOperand.of(31)));
            function.add(new IrAlu(AluOperation.ADD, true, sum, sum, one));
        }
        function.add(new IrReturn(sum));
        return function;
    }

    private long number() {
        return random.nextInt(3) == 0
                ? SPECIAL[random.nextInt(SPECIAL.length)]
                : random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(2000) - 1000;
    }

    private VirtualRegister any() {
        int at = random.nextInt(variables.size() + values.size());
        return at < variables.size() ? variables.get(at) : values.get(at - variables.size());
    }

    private IrOperand operand() {
        return random.nextInt(3) == 0 ? IrOperand.of(number()) : any();
    }

    /** Where a result goes: a variable, or a new value that is read only in what follows. */
    private VirtualRegister target(int depth) {
        if (depth > 0 || random.nextInt(2) == 0) {
            return variables.get(random.nextInt(variables.size()));
        }
        VirtualRegister fresh = function.scalar();
        if (values.size() < 24) {
            values.add(fresh);
        }
        return fresh;
    }

    private void statements(int count, int depth) {
        for (int i = 0; i < count; i++) {
            int kind = random.nextInt(20);
            if (kind < 9) {
                arithmetic(depth);
            } else if (kind < 12) {
                memory(depth);
            } else if (kind < 14) {
                call(depth);
            } else if (kind < 17 && depth < 3) {
                branch(depth);
            } else if (kind < 18 && depth < 2) {
                loop(depth);
            } else if (kind == 18 && depth < 3) {
                scratch(depth);
            } else if (random.nextBoolean()) {
                VirtualRegister from = any();
                function.add(new IrCopy(target(depth), from));
            } else {
                other(depth);
            }
        }
    }

    private void arithmetic(int depth) {
        AluOperation operation = OPERATIONS[random.nextInt(OPERATIONS.length)];
        VirtualRegister left = any();
        IrOperand right = operand();
        boolean wide = random.nextInt(3) != 0;
        function.add(new IrAlu(operation, wide, target(depth), left, right));
    }

    private void other(int depth) {
        VirtualRegister from = any();
        switch (random.nextInt(4)) {
            case 0 -> function.add(new IrNegate(target(depth), from));
            case 1 -> function.add(new IrSignExtend(8 << random.nextInt(3), target(depth), from));
            case 2 -> function.add(new IrSwap(16 << random.nextInt(3), target(depth), from));
            default -> {
                IrOperand other = operand();
                JumpCondition[] all = JumpCondition.values();
                BasicBlock then = function.block();
                BasicBlock otherwise = function.block();
                VirtualRegister to = variables.get(random.nextInt(variables.size()));
                function.add(new IrConstant(to, 1));
                function.add(
                        new IrBranch(
                                all[random.nextInt(all.length)],
                                random.nextBoolean(),
                                from,
                                other,
                                then,
                                otherwise));
                function.start(otherwise);
                function.add(new IrConstant(to, 0));
                function.start(then);
            }
        }
    }

    private void memory(int depth) {
        int bytes = 1 << random.nextInt(4);
        int offset = random.nextInt(32 / bytes) * bytes;
        AccessAnchor base = array;
        if (random.nextBoolean()) {
            VirtualRegister address = function.pointer();
            int back = random.nextInt(8);
            function.add(new IrAddress(address, array, back));
            offset -= back;
            if (random.nextBoolean()) {
                VirtualRegister further = function.pointer();
                function.add(new IrAlu(AluOperation.ADD, true, further, address, IrOperand.of(16)));
                offset -= 16;
                address = further;
            }
            base = address;
        }
        Width width = Width.of(bytes);
        switch (random.nextInt(5)) {
            case 0, 1 ->
                    function.add(
                            new IrLoad(width, random.nextBoolean(), target(depth), base, offset));
            case 2, 3 -> function.add(new IrStore(width, base, offset, operand()));
            default -> {
                int aligned =
                        bytes < 4 ? offset - Math.floorMod(offsetIn(base, offset), 4) : offset;
                AtomicOperation[] all = AtomicOperation.values();
                AtomicOperation operation = all[random.nextInt(all.length)];
                VirtualRegister from = any();
                function.add(
                        new IrAtomic(
                                operation,
                                bytes == 8 ? Width.U64 : Width.U32,
                                base,
                                aligned,
                                from,
                                operation.fetches()
                                        ? variables.get(random.nextInt(variables.size()))
                                        : null));
            }
        }
    }

    /** The offset from the array's beginning, from the operations that made the base. */
    private int offsetIn(AccessAnchor base, int offset) {
        int sum = offset;
        if (base instanceof VirtualRegister register) {
            for (BlockStep step : function.current().steps()) {
                if (step.operation() instanceof IrAddress a && a.to() == register) {
                    sum += a.offset();
                }
                if (step.operation() instanceof IrAlu a && a.to() == register) {
                    sum += 16 + offsetIn(a.left(), 0);
                }
            }
        }
        return sum;
    }

    /** An object of its own, filled and read again, now or in a loop. */
    private void scratch(int depth) {
        int bytes = 1 << random.nextInt(4);
        StackObject object =
                random.nextInt(3) > 0 || scratches.isEmpty()
                        ? function.object(bytes, bytes)
                        : scratches.get(random.nextInt(scratches.size()));
        Width width = Width.of(object.sizeBytes());
        AccessAnchor base = object;
        if (random.nextBoolean()) {
            VirtualRegister address = function.pointer();
            function.add(new IrAddress(address, object, 0));
            base = address;
        }
        if (!scratches.contains(object)) {
            function.add(new IrStore(width, base, 0, operand()));
        }
        if (depth == 0 && scratches.size() < 4 && !scratches.contains(object)) {
            scratches.add(object);
        }
        statements(random.nextInt(3), depth + 1);
        function.add(new IrLoad(width, false, target(depth), base, 0));
        if (random.nextInt(3) == 0) {
            function.add(new IrStore(width, object, 0, operand()));
        }
    }

    private void call(int depth) {
        if (callees.isEmpty() || random.nextInt(3) == 0) {
            function.add(
                    new IrCall(random.nextInt(4) == 0 ? null : target(depth), HELPER, List.of()));
            return;
        }
        IrFunction callee = callees.get(random.nextInt(callees.size()));
        List<IrOperand> arguments = new ArrayList<>();
        for (int i = 0; i < callee.parameters().size(); i++) {
            arguments.add(operand());
        }
        function.add(
                new IrCallLocal(random.nextInt(4) == 0 ? null : target(depth), callee, arguments));
    }

    private void branch(int depth) {
        JumpCondition[] all = JumpCondition.values();
        BasicBlock then = function.block();
        BasicBlock otherwise = function.block();
        BasicBlock after = function.block();
        function.add(
                new IrBranch(
                        all[random.nextInt(all.length)],
                        random.nextBoolean(),
                        any(),
                        operand(),
                        then,
                        random.nextBoolean() ? otherwise : after));
        function.start(then);
        statements(1 + random.nextInt(4), depth + 1);
        function.add(new IrGoto(after));
        function.start(otherwise);
        statements(1 + random.nextInt(3), depth + 1);
        if (random.nextInt(6) == 0) {
            function.add(new IrReturn(operand()));
        }
        function.start(after);
    }

    private void loop(int depth) {
        VirtualRegister left = function.scalar();
        BasicBlock head = function.block();
        BasicBlock body = function.block();
        BasicBlock after = function.block();
        function.add(new IrConstant(left, 1 + random.nextInt(5)));
        function.start(head);
        function.add(
                new IrBranch(
                        JumpCondition.SIGNED_GREATER, true, left, IrOperand.of(0), body, after));
        function.start(body);
        statements(1 + random.nextInt(5), depth + 1);
        function.add(new IrAlu(AluOperation.SUBTRACT, true, left, left, IrOperand.of(1)));
        function.add(new IrGoto(head));
        function.start(after);
    }
}
