package sonde.lang.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.lang.ir.Block.Step;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Atomic;
import sonde.lang.ir.Operation.Call;
import sonde.lang.ir.Operation.CallImported;
import sonde.lang.ir.Operation.CallKernel;
import sonde.lang.ir.Operation.CallLocal;
import sonde.lang.ir.Operation.Constant;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Goto;
import sonde.lang.ir.Operation.MapValue;
import sonde.lang.ir.Operation.Negate;
import sonde.lang.ir.Operation.Return;
import sonde.lang.ir.Operation.Swap;

/**
 * Brings operations into the form of instructions: results where the left side was, arguments in R1
 * to R5, results of calls in R0.
 */
final class MachineForm {
    private final Body body;
    private final @Nullable Operation[] definitions;
    private final BitSet alive = new BitSet();

    private MachineForm(Body body) {
        this.body = body;
        definitions = body.definitions();
    }

    static void apply(Body body) {
        new MachineForm(body).run();
    }

    private void run() {
        Liveness liveness = Liveness.of(body, Subjects.registers(body));
        int entries = body.predecessors()[body.entry().index()];
        for (Block block : body.layout()) {
            alive.clear();
            liveness.atEnd(block, alive::set);
            List<Step> backwards = new ArrayList<>(2 * block.steps().size());
            for (Step step : block.steps().reversed()) {
                List<Operation> now = formed(step.operation());
                now.reversed().forEach(one -> backwards.add(new Step(one, step.span())));
                Vreg to = Effects.written(step.operation());
                if (to != null) {
                    alive.clear(to.index());
                }
                Effects.reads(step.operation(), register -> alive.set(register.index()));
            }
            Collections.reverse(backwards);
            block.steps().clear();
            block.steps().addAll(backwards);
        }
        parameters(liveness, entries > 1);
    }

    private void parameters(Liveness liveness, boolean loop) {
        BitSet wanted = new BitSet();
        liveness.atStart(body.entry(), wanted::set);
        List<Step> moves = new ArrayList<>();
        List<Vreg> parameters = body.parameters();
        for (int i = 0; i < parameters.size(); i++) {
            Vreg parameter = parameters.get(i);
            if (wanted.get(parameter.index())) {
                moves.add(new Step(new Copy(parameter, body.fixed(i + 1)), null));
            }
        }
        if (loop) {
            Block first = body.block();
            first.steps().addAll(moves);
            first.steps().add(new Step(new Goto(body.entry()), null));
            body.layout().addFirst(first);
        } else {
            body.entry().steps().addAll(0, moves);
        }
    }

    private List<Operation> formed(Operation operation) {
        return switch (operation) {
            case Alu o -> o.operation() == AluOperation.MOVE ? List.of(o) : alu(o);
            case Negate o -> {
                Negate inPlace = new Negate(o.to(), o.to());
                yield o.to() == o.from()
                        ? List.of(o)
                        : List.of(new Copy(o.to(), o.from()), inPlace);
            }
            case Swap o -> {
                Swap inPlace = new Swap(o.bits(), o.to(), o.to());
                yield o.to() == o.from()
                        ? List.of(o)
                        : List.of(new Copy(o.to(), o.from()), inPlace);
            }
            case Atomic o -> atomic(o);
            case Call o -> {
                List<Operation> all = new ArrayList<>();
                Call call = new Call(result(o.to()), o.helper(), placed(o.arguments(), all));
                yield called(all, call, o.to());
            }
            case CallKernel o -> {
                List<Operation> all = new ArrayList<>();
                List<Operand> arguments = placed(o.arguments(), all);
                yield called(all, new CallKernel(result(o.to()), o.function(), arguments), o.to());
            }
            case CallLocal o -> {
                List<Operation> all = new ArrayList<>();
                List<Operand> arguments = placed(o.arguments(), all);
                yield called(all, new CallLocal(result(o.to()), o.function(), arguments), o.to());
            }
            case CallImported o -> {
                List<Operation> all = new ArrayList<>();
                List<Operand> arguments = placed(o.arguments(), all);
                yield called(
                        all, new CallImported(result(o.to()), o.function(), arguments), o.to());
            }
            case Return o -> {
                Vreg r0 = body.fixed(0);
                yield List.of(moved(r0, o.value()), new Return(r0));
            }
            default -> List.of(operation);
        };
    }

    private List<Operation> alu(Alu before) {
        Alu o = before;
        boolean commutative = Arithmetic.isCommutative(o.operation());
        if (o.to() != o.left()
                && commutative
                && o.right() instanceof Vreg right
                && (right == o.to() || !alive.get(right.index()) && alive.get(o.left().index()))) {
            o = new Alu(o.operation(), o.wide(), o.to(), right, o.left());
        }
        Vreg to = o.to();
        if (to == o.left()) {
            return List.of(o);
        }
        if (o.right() == to) {
            Vreg aside = body.register(to.kind(), to.name());
            return List.of(
                    new Copy(aside, o.left()),
                    new Alu(o.operation(), o.wide(), aside, aside, to),
                    new Copy(to, aside));
        }
        Operand right = o.right() == o.left() ? to : o.right();
        return List.of(new Copy(to, o.left()), new Alu(o.operation(), o.wide(), to, to, right));
    }

    /** The register that gives the new value takes the old one. */
    private List<Operation> atomic(Atomic o) {
        if (!o.operation().fetches()) {
            return List.of(o);
        }
        if (o.operation() == AtomicOperation.COMPARE_EXCHANGE) {
            Vreg r0 = body.fixed(0);
            Atomic exchange =
                    new Atomic(o.operation(), o.width(), o.base(), o.offset(), o.from(), r0);
            return o.result() == null
                    ? List.of(new Constant(r0, 0), exchange)
                    : List.of(new Copy(r0, o.result()), exchange, new Copy(o.result(), r0));
        }
        Vreg both = body.register(Vreg.Kind.SCALAR, "");
        Copy before = new Copy(both, o.from());
        Atomic fetch = new Atomic(o.operation(), o.width(), o.base(), o.offset(), both, both);
        return o.result() == null
                ? List.of(before, fetch)
                : List.of(before, fetch, new Copy(o.result(), both));
    }

    private @Nullable Vreg result(@Nullable Vreg to) {
        return to == null ? null : body.fixed(0);
    }

    /** Moves to R1 and on: registers first, since numbers and addresses need none meanwhile. */
    private List<Operand> placed(List<Operand> arguments, List<Operation> moves) {
        List<Operand> places = new ArrayList<>(arguments.size());
        List<Operation> made = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            Vreg place = body.fixed(i + 1);
            Operation move = moved(place, arguments.get(i));
            (move instanceof Copy ? moves : made).add(move);
            places.add(place);
        }
        moves.addAll(made);
        return places;
    }

    private Operation moved(Vreg place, Operand from) {
        return switch (from) {
            case Operand.Number(long value) -> new Constant(place, value);
            case Vreg register -> {
                Operation definition = definitions[register.index()];
                // An address takes two instructions, a copy of what is wanted later one.
                boolean kept = definition instanceof MapValue && alive.get(register.index());
                yield definition != null && Effects.isRepeatable(definition) && !kept
                        ? Effects.withWritten(definition, _ -> place)
                        : new Copy(place, register);
            }
        };
    }

    private List<Operation> called(List<Operation> all, Operation call, @Nullable Vreg to) {
        all.add(call);
        if (to != null) {
            all.add(new Copy(to, body.fixed(0)));
        }
        return all;
    }
}
