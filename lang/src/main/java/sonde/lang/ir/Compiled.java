package sonde.lang.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Register;
import sonde.lang.ir.Block.Step;
import sonde.lang.source.Span;

/** One function with registers and a frame, and its text after each pass. */
final class Compiled {
    private static final int ROUNDS = 8;
    private static final int TRIES = 40;

    private final Function source;
    private final Body body;
    private final Allocation allocation;
    private final Frame frame;
    private final String optimised;
    private final List<Step> steps = new ArrayList<>();

    private Compiled(Body body, Sharing sharing, Allocation allocation, String optimised) {
        this.source = body.source();
        this.body = body;
        this.allocation = allocation;
        this.optimised = optimised;
        this.frame = Frame.of(body, sharing);
        body.layout().forEach(block -> steps.addAll(block.steps()));
    }

    static Compiled of(Function function, Assembly.Target target) {
        Body body = Body.of(function);
        optimise(body);
        String optimised = body.toString();
        Legalisation.apply(body, target.isa4());
        ControlFlow.shareReturns(body);
        Sharing sharing = Sharing.of(body);
        MachineForm.apply(body);
        DeadSteps.remove(body);
        return new Compiled(body, sharing, allocate(body), optimised);
    }

    private static void optimise(Body body) {
        ControlFlow.removeUnreachable(body);
        Entry.initialise(body);
        boolean changed = true;
        for (int i = 0; changed && i < ROUNDS; i++) {
            changed = ControlFlow.simplify(body);
            changed |= Copies.remove(body);
            changed |= Propagation.apply(body);
            changed |= DeadSteps.remove(body);
        }
        ControlFlow.simplify(body);
    }

    private static Allocation allocate(Body body) {
        BitSet tiny = new BitSet();
        for (int i = 0; i < TRIES; i++) {
            Allocation allocation = Allocation.of(body, tiny);
            if (allocation.spilled().isEmpty()) {
                return allocation;
            }
            Spilling.apply(body, allocation.spilled(), tiny);
        }
        throw new IllegalStateException(body.source().name() + ": registers do not suffice");
    }

    Function source() {
        return source;
    }

    Body body() {
        return body;
    }

    Frame frame() {
        return frame;
    }

    String optimised() {
        return optimised;
    }

    /** The register of the machine that stands for one of the function. */
    Register register(Vreg register) {
        return Register.of(allocation.given(register));
    }

    /** The functions that this one calls or gives to helpers, in the order of their first use. */
    Set<Function> callees() {
        Set<Function> found = new LinkedHashSet<>();
        for (Step step : steps) {
            switch (step.operation()) {
                case Operation.CallLocal o -> found.add(o.function());
                case Operation.FunctionAddress o -> found.add(o.function());
                default -> {}
            }
        }
        return found;
    }

    /** All steps, in the order of their positions. */
    List<Step> steps() {
        return steps;
    }

    /** Where a function is named first. */
    @Nullable Span useOf(Function callee) {
        for (Step step : steps) {
            if (step.operation() instanceof Operation.CallLocal o && o.function() == callee
                    || step.operation() instanceof Operation.FunctionAddress a
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
        Vreg holder = allocation.holder(register, 2 * step);
        if (holder == null) {
            return null;
        }
        return holder.fixed() >= 0 ? copied(step, holder) : name(holder);
    }

    private static @Nullable String name(Vreg register) {
        return register.name().isEmpty() ? null : register.name();
    }

    /** What was last copied to an argument's register. */
    private @Nullable String copied(int step, Vreg fixed) {
        for (int i = step - 1; i >= 0; i--) {
            Operation operation = steps.get(i).operation();
            if (Effects.written(operation) == fixed) {
                return operation instanceof Operation.Copy copy ? name(copy.from()) : null;
            }
        }
        return null;
    }

    /** The text with the registers of the machine. */
    String allocated() {
        StringBuilder out = new StringBuilder(1024);
        out.append(source.name()).append(": ").append(frame.sizeBytes()).append(" bytes\n");
        Vreg[] machine = new Vreg[10];
        for (int i = 0; i < machine.length; i++) {
            machine[i] = Vreg.fixed(i, i);
        }
        IrText.blocks(
                body.layout(),
                operation ->
                        Effects.withWritten(
                                Effects.withReads(operation, r -> machine[allocation.given(r)]),
                                r -> machine[allocation.given(r)]),
                out);
        return out.toString();
    }
}
