package sonde.lang.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.BpfRegister;
import sonde.lang.ir.Assembly.InstructionSet;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.source.SourceSpan;

/** One function with registers and a frame, and its text after each pass. */
final class CompiledFunction {
    private static final int ROUNDS = 8;
    private static final int TRIES = 40;

    private final IrFunction source;
    private final WorkingFunction body;
    private final RegisterAllocation allocation;
    private final FrameLayout frame;
    private final String optimised;
    private final List<BlockStep> steps = new ArrayList<>();

    private CompiledFunction(
            WorkingFunction body,
            SlotSharing sharing,
            RegisterAllocation allocation,
            String optimised) {
        this.source = body.source();
        this.body = body;
        this.allocation = allocation;
        this.optimised = optimised;
        this.frame = FrameLayout.of(body, sharing);
        body.layout().forEach(block -> steps.addAll(block.steps()));
    }

    static CompiledFunction of(IrFunction function, InstructionSet target) {
        WorkingFunction body = WorkingFunction.of(function);
        optimise(body);
        String optimised = body.toString();
        Legalisation.apply(body, target.isa4());
        ControlFlow.shareReturns(body);
        SlotSharing sharing = SlotSharing.of(body);
        MachineForm.apply(body);
        DeadSteps.remove(body);
        return new CompiledFunction(body, sharing, allocate(body), optimised);
    }

    private static void optimise(WorkingFunction body) {
        ControlFlow.removeUnreachable(body);
        EntryInitialisation.initialise(body);
        boolean changed = true;
        for (int i = 0; changed && i < ROUNDS; i++) {
            changed = ControlFlow.simplify(body);
            changed |= CopyCoalescing.remove(body);
            changed |= ConstantPropagation.apply(body);
            changed |= DeadSteps.remove(body);
        }
        ControlFlow.simplify(body);
    }

    private static RegisterAllocation allocate(WorkingFunction body) {
        BitSet tiny = new BitSet();
        for (int i = 0; i < TRIES; i++) {
            RegisterAllocation allocation = RegisterAllocation.of(body, tiny);
            if (allocation.spilled().isEmpty()) {
                return allocation;
            }
            RegisterSpilling.apply(body, allocation.spilled(), tiny);
        }
        throw new IllegalStateException(body.source().name() + ": registers do not suffice");
    }

    IrFunction source() {
        return source;
    }

    WorkingFunction body() {
        return body;
    }

    FrameLayout frame() {
        return frame;
    }

    String optimised() {
        return optimised;
    }

    /** The register of the machine that stands for one of the function. */
    BpfRegister register(VirtualRegister register) {
        return BpfRegister.of(allocation.given(register));
    }

    /** The functions that this one calls or gives to helpers, in the order of their first use. */
    Set<IrFunction> callees() {
        Set<IrFunction> found = new LinkedHashSet<>();
        for (BlockStep step : steps) {
            switch (step.operation()) {
                case IrCallLocal o -> found.add(o.function());
                case IrOperation.FunctionAddress o -> found.add(o.function());
                default -> {}
            }
        }
        return found;
    }

    /** All steps, in the order of their positions. */
    List<BlockStep> steps() {
        return steps;
    }

    /** Where a function is named first. */
    @Nullable SourceSpan useOf(IrFunction callee) {
        for (BlockStep step : steps) {
            if (step.operation() instanceof IrCallLocal o && o.function() == callee
                    || step.operation() instanceof IrOperation.FunctionAddress a
                            && a.function() == callee) {
                return step.span();
            }
        }
        return null;
    }

    /** The name of the variable that a register holds when a step reads; null for none. */
    @Nullable String variable(int step, int register) {
        if (register < 0 || register > 9) {
            return null;
        }
        VirtualRegister holder = allocation.holder(register, 2 * step);
        if (holder == null) {
            return null;
        }
        return holder.fixed() >= 0 ? copied(step, holder) : name(holder);
    }

    private static @Nullable String name(VirtualRegister register) {
        return register.name().isEmpty() ? null : register.name();
    }

    /** What was last copied to an argument's register. */
    private @Nullable String copied(int step, VirtualRegister fixed) {
        for (int i = step - 1; i >= 0; i--) {
            IrOperation operation = steps.get(i).operation();
            if (OperationEffects.written(operation) == fixed) {
                return operation instanceof IrCopy copy ? name(copy.from()) : null;
            }
        }
        return null;
    }

    /** The text with the registers of the machine. */
    String allocated() {
        StringBuilder out = new StringBuilder(1024);
        out.append(source.name()).append(": ").append(frame.sizeBytes()).append(" bytes\n");
        VirtualRegister[] machine = new VirtualRegister[10];
        for (int i = 0; i < machine.length; i++) {
            machine[i] = VirtualRegister.fixed(i, i);
        }
        IrText.blocks(
                body.layout(),
                operation ->
                        OperationEffects.withWritten(
                                OperationEffects.withReads(
                                        operation, r -> machine[allocation.given(r)]),
                                r -> machine[allocation.given(r)]),
                out);
        return out.toString();
    }
}
