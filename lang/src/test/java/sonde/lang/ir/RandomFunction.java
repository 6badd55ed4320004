package sonde.lang.ir;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;

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
    private final Function function;
    private final List<Function> callees;
    private final List<Vreg> variables = new ArrayList<>();
    private final List<Vreg> values = new ArrayList<>();
    private final List<StackObject> scratches = new ArrayList<>();
    private final StackObject array;

    private RandomFunction(Random random, String name, int parameters, List<Function> callees) {
        this.random = random;
        this.callees = callees;
        List<Vreg.Kind> kinds = new ArrayList<>();
        for (int i = 0; i < parameters; i++) {
            kinds.add(Vreg.Kind.SCALAR);
        }
        function = new Function(name, kinds);
        array = function.object(32, 8);
    }

    /** A main function without parameters, and up to two that it may call. */
    static Function of(long seed, int size) {
        Random random = new Random(seed);
        List<Function> callees = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            callees.add(
                    new RandomFunction(random, "f" + i, random.nextInt(6), List.copyOf(callees))
                            .written(size / 4 + 1));
        }
        return new RandomFunction(random, "main", 0, callees).written(size);
    }

    private Function written(int size) {
        for (int at = 0; at < 32; at += 8) {
            function.add(new Operation.Store(Width.U64, array, at, Operand.of(number())));
        }
        int count = 1 + random.nextInt(14);
        for (int i = 0; i < count; i++) {
            // Some are never written before they are read.
            variables.add(function.register(Vreg.Kind.SCALAR, "$x" + i));
            if (random.nextInt(8) != 0) {
                function.add(new Operation.Constant(variables.get(i), number()));
            }
        }
        values.addAll(function.parameters());
        statements(size, 0);
        Vreg sum = function.scalar();
        function.add(new Operation.Constant(sum, 0));
        List<Vreg> all = new ArrayList<>(variables);
        all.addAll(values);
        for (int at = 0; at < 32; at += 8) {
            Vreg word = function.scalar();
            function.add(new Operation.Load(Width.U64, false, word, array, at));
            all.add(word);
        }
        for (Vreg one : all) {
            function.add(new Operation.Alu(AluOperation.MULTIPLY, true, sum, sum, Operand.of(31)));
            function.add(new Operation.Alu(AluOperation.ADD, true, sum, sum, one));
        }
        function.add(new Operation.Return(sum));
        return function;
    }

    private long number() {
        return random.nextInt(3) == 0
                ? SPECIAL[random.nextInt(SPECIAL.length)]
                : random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(2000) - 1000;
    }

    private Vreg any() {
        int at = random.nextInt(variables.size() + values.size());
        return at < variables.size() ? variables.get(at) : values.get(at - variables.size());
    }

    private Operand operand() {
        return random.nextInt(3) == 0 ? Operand.of(number()) : any();
    }

    /** Where a result goes: a variable, or a new value that is read only in what follows. */
    private Vreg target(int depth) {
        if (depth > 0 || random.nextInt(2) == 0) {
            return variables.get(random.nextInt(variables.size()));
        }
        Vreg fresh = function.scalar();
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
                Vreg from = any();
                function.add(new Operation.Copy(target(depth), from));
            } else {
                other(depth);
            }
        }
    }

    private void arithmetic(int depth) {
        AluOperation operation = OPERATIONS[random.nextInt(OPERATIONS.length)];
        Vreg left = any();
        Operand right = operand();
        boolean wide = random.nextInt(3) != 0;
        function.add(new Operation.Alu(operation, wide, target(depth), left, right));
    }

    private void other(int depth) {
        Vreg from = any();
        switch (random.nextInt(4)) {
            case 0 -> function.add(new Operation.Negate(target(depth), from));
            case 1 ->
                    function.add(
                            new Operation.SignExtend(8 << random.nextInt(3), target(depth), from));
            case 2 ->
                    function.add(new Operation.Swap(16 << random.nextInt(3), target(depth), from));
            default -> {
                Operand other = operand();
                Condition[] all = Condition.values();
                Block then = function.block();
                Block otherwise = function.block();
                Vreg to = variables.get(random.nextInt(variables.size()));
                function.add(new Operation.Constant(to, 1));
                function.add(
                        new Operation.Branch(
                                all[random.nextInt(all.length)],
                                random.nextBoolean(),
                                from,
                                other,
                                then,
                                otherwise));
                function.start(otherwise);
                function.add(new Operation.Constant(to, 0));
                function.start(then);
            }
        }
    }

    private void memory(int depth) {
        int bytes = 1 << random.nextInt(4);
        int offset = random.nextInt(32 / bytes) * bytes;
        Anchor base = array;
        if (random.nextBoolean()) {
            Vreg address = function.pointer();
            int back = random.nextInt(8);
            function.add(new Operation.Address(address, array, back));
            offset -= back;
            if (random.nextBoolean()) {
                Vreg further = function.pointer();
                function.add(
                        new Operation.Alu(
                                AluOperation.ADD, true, further, address, Operand.of(16)));
                offset -= 16;
                address = further;
            }
            base = address;
        }
        Width width = Width.of(bytes);
        switch (random.nextInt(5)) {
            case 0, 1 ->
                    function.add(
                            new Operation.Load(
                                    width, random.nextBoolean(), target(depth), base, offset));
            case 2, 3 -> function.add(new Operation.Store(width, base, offset, operand()));
            default -> {
                int aligned =
                        bytes < 4 ? offset - Math.floorMod(offsetIn(base, offset), 4) : offset;
                AtomicOperation[] all = AtomicOperation.values();
                AtomicOperation operation = all[random.nextInt(all.length)];
                Vreg from = any();
                function.add(
                        new Operation.Atomic(
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
    private int offsetIn(Anchor base, int offset) {
        int sum = offset;
        if (base instanceof Vreg register) {
            for (Block.Step step : function.current().steps()) {
                if (step.operation() instanceof Operation.Address a && a.to() == register) {
                    sum += a.offset();
                }
                if (step.operation() instanceof Operation.Alu a && a.to() == register) {
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
        Anchor base = object;
        if (random.nextBoolean()) {
            Vreg address = function.pointer();
            function.add(new Operation.Address(address, object, 0));
            base = address;
        }
        if (!scratches.contains(object)) {
            function.add(new Operation.Store(width, base, 0, operand()));
        }
        if (depth == 0 && scratches.size() < 4 && !scratches.contains(object)) {
            scratches.add(object);
        }
        statements(random.nextInt(3), depth + 1);
        function.add(new Operation.Load(width, false, target(depth), base, 0));
        if (random.nextInt(3) == 0) {
            function.add(new Operation.Store(width, object, 0, operand()));
        }
    }

    private void call(int depth) {
        if (callees.isEmpty() || random.nextInt(3) == 0) {
            function.add(
                    new Operation.Call(
                            random.nextInt(4) == 0 ? null : target(depth), HELPER, List.of()));
            return;
        }
        Function callee = callees.get(random.nextInt(callees.size()));
        List<Operand> arguments = new ArrayList<>();
        for (int i = 0; i < callee.parameters().size(); i++) {
            arguments.add(operand());
        }
        function.add(
                new Operation.CallLocal(
                        random.nextInt(4) == 0 ? null : target(depth), callee, arguments));
    }

    private void branch(int depth) {
        Condition[] all = Condition.values();
        Block then = function.block();
        Block otherwise = function.block();
        Block after = function.block();
        function.add(
                new Operation.Branch(
                        all[random.nextInt(all.length)],
                        random.nextBoolean(),
                        any(),
                        operand(),
                        then,
                        random.nextBoolean() ? otherwise : after));
        function.start(then);
        statements(1 + random.nextInt(4), depth + 1);
        function.add(new Operation.Goto(after));
        function.start(otherwise);
        statements(1 + random.nextInt(3), depth + 1);
        if (random.nextInt(6) == 0) {
            function.add(new Operation.Return(operand()));
        }
        function.start(after);
    }

    private void loop(int depth) {
        Vreg left = function.scalar();
        Block head = function.block();
        Block body = function.block();
        Block after = function.block();
        function.add(new Operation.Constant(left, 1 + random.nextInt(5)));
        function.start(head);
        function.add(
                new Operation.Branch(
                        Condition.SIGNED_GREATER, true, left, Operand.of(0), body, after));
        function.start(body);
        statements(1 + random.nextInt(5), depth + 1);
        function.add(new Operation.Alu(AluOperation.SUBTRACT, true, left, left, Operand.of(1)));
        function.add(new Operation.Goto(head));
        function.start(after);
    }
}
