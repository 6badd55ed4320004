package sonde.lang.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.CallImported;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrNegate;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrSwap;
import sonde.lang.ir.IrOperation.MapValue;

/**
 * Brings operations into the form of instructions: results where the left side was, arguments in R1
 * to R5, results of calls in R0.
 */
final class MachineForm {
    private final WorkingFunction body;
    private final @Nullable IrOperation[] definitions;
    private final BitSet alive = new BitSet();

    private MachineForm(WorkingFunction body) {
        this.body = body;
        definitions = body.definitions();
    }

    static void apply(WorkingFunction body) {
        new MachineForm(body).run();
    }

    private void run() {
        Liveness liveness = Liveness.of(body, LivenessSubjects.registers(body));
        int entries = body.predecessors()[body.entry().index()];
        for (BasicBlock block : body.layout()) {
            alive.clear();
            liveness.atEnd(block, alive::set);
            List<BlockStep> backwards = new ArrayList<>(2 * block.steps().size());
            for (BlockStep step : block.steps().reversed()) {
                List<IrOperation> now = formed(step.operation());
                now.reversed().forEach(one -> backwards.add(new BlockStep(one, step.span())));
                VirtualRegister to = OperationEffects.written(step.operation());
                if (to != null) {
                    alive.clear(to.index());
                }
                OperationEffects.reads(step.operation(), register -> alive.set(register.index()));
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
        List<BlockStep> moves = new ArrayList<>();
        List<VirtualRegister> parameters = body.parameters();
        for (int i = 0; i < parameters.size(); i++) {
            VirtualRegister parameter = parameters.get(i);
            if (wanted.get(parameter.index())) {
                moves.add(new BlockStep(new IrCopy(parameter, body.fixed(i + 1)), null));
            }
        }
        if (loop) {
            BasicBlock first = body.block();
            first.steps().addAll(moves);
            first.steps().add(new BlockStep(new IrGoto(body.entry()), null));
            body.layout().addFirst(first);
        } else {
            body.entry().steps().addAll(0, moves);
        }
    }

    private List<IrOperation> formed(IrOperation operation) {
        return switch (operation) {
            case IrAlu o -> o.operation() == AluOperation.MOVE ? List.of(o) : alu(o);
            case IrNegate o -> {
                IrNegate inPlace = new IrNegate(o.to(), o.to());
                yield o.to() == o.from()
                        ? List.of(o)
                        : List.of(new IrCopy(o.to(), o.from()), inPlace);
            }
            case IrSwap o -> {
                IrSwap inPlace = new IrSwap(o.bits(), o.to(), o.to());
                yield o.to() == o.from()
                        ? List.of(o)
                        : List.of(new IrCopy(o.to(), o.from()), inPlace);
            }
            case IrAtomic o -> atomic(o);
            case IrCall o -> {
                List<IrOperation> all = new ArrayList<>();
                IrCall call = new IrCall(result(o.to()), o.helper(), placed(o.arguments(), all));
                yield called(all, call, o.to());
            }
            case IrCallKernel o -> {
                List<IrOperation> all = new ArrayList<>();
                List<IrOperand> arguments = placed(o.arguments(), all);
                yield called(
                        all, new IrCallKernel(result(o.to()), o.function(), arguments), o.to());
            }
            case IrCallLocal o -> {
                List<IrOperation> all = new ArrayList<>();
                List<IrOperand> arguments = placed(o.arguments(), all);
                yield called(all, new IrCallLocal(result(o.to()), o.function(), arguments), o.to());
            }
            case CallImported o -> {
                List<IrOperation> all = new ArrayList<>();
                List<IrOperand> arguments = placed(o.arguments(), all);
                yield called(
                        all, new CallImported(result(o.to()), o.function(), arguments), o.to());
            }
            case IrReturn o -> {
                VirtualRegister r0 = body.fixed(0);
                yield List.of(moved(r0, o.value()), new IrReturn(r0));
            }
            default -> List.of(operation);
        };
    }

    private List<IrOperation> alu(IrAlu before) {
        IrAlu o = before;
        boolean commutative = ConstantArithmetic.isCommutative(o.operation());
        if (o.to() != o.left()
                && commutative
                && o.right() instanceof VirtualRegister right
                && (right == o.to() || !alive.get(right.index()) && alive.get(o.left().index()))) {
            o = new IrAlu(o.operation(), o.wide(), o.to(), right, o.left());
        }
        VirtualRegister to = o.to();
        if (to == o.left()) {
            return List.of(o);
        }
        if (o.right() == to) {
            VirtualRegister aside = body.register(to.kind(), to.name());
            return List.of(
                    new IrCopy(aside, o.left()),
                    new IrAlu(o.operation(), o.wide(), aside, aside, to),
                    new IrCopy(to, aside));
        }
        IrOperand right = o.right() == o.left() ? to : o.right();
        return List.of(new IrCopy(to, o.left()), new IrAlu(o.operation(), o.wide(), to, to, right));
    }

    /** The register that gives the new value takes the old one. */
    private List<IrOperation> atomic(IrAtomic o) {
        if (!o.operation().fetches()) {
            return List.of(o);
        }
        if (o.operation() == AtomicOperation.COMPARE_EXCHANGE) {
            VirtualRegister r0 = body.fixed(0);
            IrAtomic exchange =
                    new IrAtomic(o.operation(), o.width(), o.base(), o.offset(), o.from(), r0);
            return o.result() == null
                    ? List.of(new IrConstant(r0, 0), exchange)
                    : List.of(new IrCopy(r0, o.result()), exchange, new IrCopy(o.result(), r0));
        }
        VirtualRegister both = body.register(VirtualRegister.Kind.SCALAR, "");
        IrCopy before = new IrCopy(both, o.from());
        IrAtomic fetch = new IrAtomic(o.operation(), o.width(), o.base(), o.offset(), both, both);
        return o.result() == null
                ? List.of(before, fetch)
                : List.of(before, fetch, new IrCopy(o.result(), both));
    }

    private @Nullable VirtualRegister result(@Nullable VirtualRegister to) {
        return to == null ? null : body.fixed(0);
    }

    /** Moves to R1 and on: registers first, since numbers and addresses need none meanwhile. */
    private List<IrOperand> placed(List<IrOperand> arguments, List<IrOperation> moves) {
        List<IrOperand> places = new ArrayList<>(arguments.size());
        List<IrOperation> made = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            VirtualRegister place = body.fixed(i + 1);
            IrOperation move = moved(place, arguments.get(i));
            (move instanceof IrCopy ? moves : made).add(move);
            places.add(place);
        }
        moves.addAll(made);
        return places;
    }

    private IrOperation moved(VirtualRegister place, IrOperand from) {
        return switch (from) {
            case IrNumber(long value) -> new IrConstant(place, value);
            case VirtualRegister register -> {
                IrOperation definition = definitions[register.index()];
                // An address takes two instructions, a copy of what is wanted later one.
                boolean kept = definition instanceof MapValue && alive.get(register.index());
                yield definition != null && OperationEffects.isRepeatable(definition) && !kept
                        ? OperationEffects.withWritten(definition, _ -> place)
                        : new IrCopy(place, register);
            }
        };
    }

    private List<IrOperation> called(
            List<IrOperation> all, IrOperation call, @Nullable VirtualRegister to) {
        all.add(call);
        if (to != null) {
            all.add(new IrCopy(to, body.fixed(0)));
        }
        return all;
    }
}
