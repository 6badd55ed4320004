package sonde.lang.probes;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.insn.ProgramCode;
import sonde.lang.probes.LoadNeeds.OpenTarget;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.TracerProbe;
import sonde.probe.plan.FunctionProbes;

/** Whether this kernel attaches programs to a group of probes: one that does nothing is tried. */
public final class TrialAttach {
    /** {@code r0 = 0; exit}. */
    private static final ProgramCode NOTHING = ProgramCode.of(new long[] {0xb7, 0x95});

    private TrialAttach() {}

    /**
     * Why programs cannot be attached to a group; empty when they can. Tries the first of its
     * probes for a moment. What is run by the tracer itself is not tried, nor is an iterator that
     * would be pinned.
     */
    public static Optional<String> refusal(ProbeGroup group, AttachOptions options) {
        Probe first = group.first();
        if (first instanceof TracerProbe
                || first instanceof IteratorProbe iterator && !iterator.pin().isEmpty()) {
            return Optional.empty();
        }
        ProbeGroup one =
                new ProbeGroup(List.of(first), group.shared(), group.multi(), group.session());
        LoadNeeds needs = LoadNeeds.of(one);
        ProgramSpec spec = needs.spec("sonde_trial", NOTHING).licensed("GPL");
        try (OpenTarget target = needs.target();
                Program program = Program.load(target.of(spec))) {
            ProbeAttacher.attach(one, program, options).close();
            return Optional.empty();
        } catch (AttachException e) {
            return Optional.of(e.reason().isEmpty() ? "" + e.getMessage() : e.reason());
        } catch (IOException e) {
            return Optional.of(loading(first, e));
        }
    }

    /** Why the kernel does not load a program for a probe. */
    public static String loading(Probe probe, IOException why) {
        boolean policy =
                why instanceof BpfRefusedException refused
                        && refused.barrier() == BpfRefusedException.Barrier.POLICY;
        return policy && probe instanceof FentryProbe fentry && !FunctionProbes.haveTracer()
                ? AlternativeHint.fentry(fentry.function())
                : String.valueOf(why.getMessage());
    }
}
