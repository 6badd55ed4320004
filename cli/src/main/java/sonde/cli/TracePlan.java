package sonde.cli;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import sonde.bpf.AttachType;
import sonde.bpf.ProgramType;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.Prepared;
import sonde.lang.bpftrace.run.PreparedProgram;
import sonde.lang.probes.AttachOptions;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.LoadNeeds;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.probes.Trial;

/** {@code --plan}: the programs of a script, how each is attached, and why so. */
final class TracePlan {
    private static final int MOST_NAMES = 10;

    private TracePlan() {}

    /**
     * As text.
     *
     * @param options how the script would be attached
     */
    static String of(Prepared compiled, AttachOptions options) {
        StringBuilder out = new StringBuilder(1024);
        for (List<? extends PreparedProgram> alternatives : compiled.ranked()) {
            PreparedProgram program = alternatives.getFirst();
            LoadNeeds needs = LoadNeeds.of(program.group());
            AttachType expected = needs.expected();
            out.append("program ").append(program.number() + 1).append(": ");
            out.append(needs.type().name().toLowerCase(Locale.ROOT));
            out.append(expected == null ? "" : ", " + expected.name().toLowerCase(Locale.ROOT));
            out.append(", ").append(program.slots()).append(" instructions\n");
            Optional<String> refusal = Trial.refusal(program.group(), options);
            out.append("    ");
            out.append(refusal.isPresent() ? "will not attach: " : way(program.group(), needs));
            out.append(refusal.orElse("")).append('\n');
            probes(program.group(), out);
        }
        if (compiled instanceof AheadScript ahead) {
            ahead.passedOver().forEach(one -> out.append("not taken: ").append(one).append('\n'));
        }
        return out.toString();
    }

    private static void probes(ProbeGroup group, StringBuilder out) {
        group.probes().stream()
                .limit(MOST_NAMES)
                .forEach(probe -> out.append("    ").append(probe.name()).append('\n'));
        int more = group.probes().size() - MOST_NAMES;
        if (more > 0) {
            out.append("    and ").append(more).append(" more\n");
        }
    }

    private static String way(ProbeGroup group, LoadNeeds needs) {
        int count = group.probes().size();
        return switch (group.first()) {
            case Probe.Special _ -> "run by sonde itself, through BPF_PROG_RUN";
            case Probe.Timer timer ->
                    timer.kind() == Kind.PROFILE
                            ? "a perf clock event on each CPU"
                            : "a perf clock event on one CPU";
            case Probe.PerfEvent _ -> "a perf event on each CPU, or of the process given by -p";
            case Probe.Tracepoint _ ->
                    "a perf event of the tracepoint, whose record has the fields";
            case Probe.RawTracepoint _ ->
                    needs.type() == ProgramType.RAW_TRACEPOINT
                            ? "a raw tracepoint: several share the program, or BTF lacks its types"
                            : "a raw tracepoint with the types of BTF: its arguments are read"
                                    + " without a helper";
            case Probe.Kernel _ ->
                    group.session()
                            ? "one kprobe_session link for begin and return of "
                                    + count
                                    + (count == 1 ? " function" : " functions")
                            : group.multi()
                                    ? "one kprobe_multi link for " + count + " functions"
                                    : "a kprobe for each function: one function, an offset in it, or no"
                                            + " kprobe_multi here";
            case Probe.User _, Probe.Usdt _ ->
                    group.multi()
                            ? "one uprobe_multi link for " + count + " places"
                            : "a uprobe for each place: one place, or no uprobe_multi here";
            case Probe.Fentry _ -> "a trampoline in the function's entry: cheaper than a kprobe";
            case Probe.Watchpoint _ -> "a hardware breakpoint";
            case Probe.Iter _ -> "an iterator, read by sonde once, or pinned";
        };
    }
}
