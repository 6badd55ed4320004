package sonde.lang.ir;

import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;
import sonde.bpf.insn.AluOperation;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operation.Address;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Atomic;
import sonde.lang.ir.Operation.Call;
import sonde.lang.ir.Operation.CallKernel;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.Store;

/**
 * Which operations touch which objects of the frame, themselves or by addresses in registers. An
 * object whose address goes anywhere else than into registers and to helpers, which keep none, may
 * be touched by whatever runs: it has escaped.
 */
final class Touches {
    private final BitSet[] behind;
    private final BitSet escaped = new BitSet();

    Touches(Body body) {
        behind = new BitSet[body.registers().size()];
        Arrays.setAll(behind, _ -> new BitSet());
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Block block : body.layout()) {
                for (Step step : block.steps()) {
                    changed |= follow(step.operation());
                }
            }
        }
        for (Block block : body.layout()) {
            block.steps().forEach(step -> escape(step.operation()));
        }
    }

    /** Objects that may be touched anywhere. */
    BitSet escaped() {
        return escaped;
    }

    /** The addresses that an operation makes of others; whether any is new. */
    private boolean follow(Operation operation) {
        return switch (operation) {
            case Address o -> add(o.to(), o.object().index());
            case Copy o -> add(o.to(), behind[o.from().index()]);
            case Alu o when isSum(o) -> {
                boolean left = add(o.to(), behind[o.left().index()]);
                yield left
                        | (o.right() instanceof Vreg right && add(o.to(), behind[right.index()]));
            }
            default -> false;
        };
    }

    private static boolean isSum(Alu o) {
        return o.operation() == AluOperation.ADD || o.operation() == AluOperation.SUBTRACT;
    }

    private boolean add(Vreg to, int object) {
        boolean known = behind[to.index()].get(object);
        behind[to.index()].set(object);
        return !known;
    }

    private boolean add(Vreg to, BitSet objects) {
        int before = behind[to.index()].cardinality();
        behind[to.index()].or(objects);
        return behind[to.index()].cardinality() != before;
    }

    private void escape(Operation operation) {
        switch (operation) {
            case Copy _, Load _, Call _, CallKernel _, Operation.Branch _ -> {}
            case Alu o when isSum(o) -> {}
            case Store o -> {
                if (o.from() instanceof Vreg from) {
                    escaped.or(behind[from.index()]);
                }
            }
            case Atomic o -> escaped.or(behind[o.from().index()]);
            default -> Effects.reads(operation, register -> escaped.or(behind[register.index()]));
        }
    }

    /** Tells the sets of objects that an operation may touch. */
    void of(Operation operation, Consumer<BitSet> touched) {
        switch (operation) {
            case Load o -> access(o.base(), touched);
            case Store o -> access(o.base(), touched);
            case Atomic o -> access(o.base(), touched);
            case Call _, CallKernel _ ->
                    Effects.reads(operation, register -> touched.accept(behind[register.index()]));
            default -> {}
        }
    }

    private void access(Anchor base, Consumer<BitSet> touched) {
        switch (base) {
            case StackObject object -> {
                BitSet one = new BitSet();
                one.set(object.index());
                touched.accept(one);
            }
            case Vreg register -> touched.accept(behind[register.index()]);
        }
    }

    /** The object that a store fills, whose bytes before do not matter; -1 for none. */
    static int filled(Operation operation) {
        return operation instanceof Store store
                        && store.base() instanceof StackObject object
                        && store.offset() == 0
                        && store.width().bytes() == object.sizeBytes()
                ? object.index()
                : -1;
    }
}
