package sonde.lang.bpftrace.lower;

import java.util.List;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.ir.Anchor;
import sonde.lang.ir.Block;
import sonde.lang.ir.Function;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;

/** Writes operations by their effects. */
final class Emitter {
    private final Function function;

    Emitter(Function function) {
        this.function = function;
    }

    Function function() {
        return function;
    }

    Vreg constant(long value) {
        Vreg to = function.scalar();
        function.add(new Operation.Constant(to, value));
        return to;
    }

    /** In a register, whatever it is. */
    Vreg register(Operand operand) {
        return switch (operand) {
            case Vreg r -> r;
            case Operand.Number n -> constant(n.value());
        };
    }

    void set(Vreg to, Operand from) {
        switch (from) {
            case Vreg r -> function.add(new Operation.Copy(to, r));
            case Operand.Number n -> function.add(new Operation.Constant(to, n.value()));
        }
    }

    Vreg copy(Operand from) {
        Vreg to = function.scalar();
        set(to, from);
        return to;
    }

    Vreg alu(AluOperation operation, Operand left, Operand right) {
        Vreg from = register(left);
        Vreg to =
                from.kind() == Vreg.Kind.POINTER
                                && (operation == AluOperation.ADD
                                        || operation == AluOperation.SUBTRACT)
                        ? function.pointer()
                        : function.scalar();
        function.add(new Operation.Alu(operation, true, to, from, right));
        return to;
    }

    Vreg alu(AluOperation operation, Operand left, long right) {
        return alu(operation, left, Operand.of(right));
    }

    Vreg load(Width width, boolean signed, Anchor base, int offset) {
        Vreg to = function.scalar();
        function.add(new Operation.Load(width, signed, to, base, offset));
        return to;
    }

    void store(Width width, Anchor base, int offset, Operand from) {
        function.add(new Operation.Store(width, base, offset, from));
    }

    Vreg call(int helper, Operand... arguments) {
        Vreg to = function.scalar();
        function.add(new Operation.Call(to, helper, List.of(arguments)));
        return to;
    }

    /** Calls a helper that gives an address, or null. */
    Vreg find(int helper, Operand... arguments) {
        Vreg to = function.pointer();
        function.add(new Operation.Call(to, helper, List.of(arguments)));
        return to;
    }

    void run(int helper, Operand... arguments) {
        function.add(new Operation.Call(null, helper, List.of(arguments)));
    }

    Vreg map(String name) {
        Vreg to = function.pointer();
        function.add(new Operation.MapAddress(to, name));
        return to;
    }

    Vreg mapValue(String name, int offset) {
        Vreg to = function.pointer();
        function.add(new Operation.MapValue(to, name, offset));
        return to;
    }

    /** The address of a place, whosever memory it is. */
    Vreg address(Place place) {
        return switch (place.base()) {
            case StackObject object -> {
                Vreg to = function.pointer();
                function.add(new Operation.Address(to, object, place.offset()));
                yield to;
            }
            case Vreg base ->
                    place.offset() == 0 ? base : alu(AluOperation.ADD, base, place.offset());
        };
    }

    Block block() {
        return function.block();
    }

    void start(Block block) {
        function.start(block);
    }

    void go(Block target) {
        function.add(new Operation.Goto(target));
    }

    void leave(Operand value) {
        function.add(new Operation.Return(value));
    }

    /** Goes to {@code then} when the condition holds, and on writing in a new block otherwise. */
    void when(Condition condition, Vreg left, Operand right, Block then) {
        Block next = block();
        function.add(new Operation.Branch(condition, true, left, right, then, next));
        start(next);
    }

    void when(Condition condition, Vreg left, long right, Block then) {
        when(condition, left, Operand.of(right), then);
    }
}
