package sonde.tools.trace;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import sonde.bpf.AttachType;
import sonde.bpf.ProgramType;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.PreparedProgram;
import sonde.lang.bpftrace.run.PreparedScript;
import sonde.lang.probes.AttachOptions;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.LoadNeeds;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.Probe.PerfEventProbe;
import sonde.lang.probes.Probe.TimerProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.probes.Probe.TracerProbe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.probes.Probe.WatchpointProbe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.probes.TrialAttach;

/** {@code --plan}: the programs of a script, how each is attached, and why so. */
final class TracePlan {
    private static final int MOST_NAMES = 10;

    /**
     * A program of a script.
     *
     * @param kind its type, and the type of its attachment where there is one
     * @param way how it is attached, or why that will fail
     */
    private record Planned(int number, String kind, int slots, String way, ProbeGroup group) {}

    private TracePlan() {}

    /**
     * A row for each program.
     *
     * @param options how the script would be attached
     */
    static Result of(PreparedScript compiled, AttachOptions options) {
        List<Planned> programs =
                compiled.ranked().stream()
                        .map(alternatives -> planned(alternatives.getFirst(), options))
                        .toList();
        List<String> passedOver =
                compiled instanceof AheadScript ahead ? ahead.passedOver() : List.of();
        Table table =
                new TableBuilder<Planned>("programs")
                        .id("program", one -> one.number)
                        .text("type", Planned::kind)
                        .count("instructions", one -> (long) one.slots)
                        .text("attached by", Planned::way)
                        .count("probes", one -> (long) one.group.probes().size())
                        .text("first probe", one -> one.group.first().name())
                        .table(programs);
        return new TextLayout(
                table,
                out -> {
                    programs.forEach(one -> print(one, out));
                    passedOver.forEach(one -> out.println("not taken: " + one));
                });
    }

    private static Planned planned(PreparedProgram program, AttachOptions options) {
        LoadNeeds needs = LoadNeeds.of(program.group());
        AttachType expected = needs.expected();
        String kind =
                needs.type().name().toLowerCase(Locale.ROOT)
                        + (expected == null ? "" : ", " + expected.name().toLowerCase(Locale.ROOT));
        String way =
                TrialAttach.refusal(program.group(), options)
                        .map(refusal -> "will not attach: " + refusal)
                        .orElseGet(() -> way(program.group(), needs));
        return new Planned(program.number() + 1, kind, program.slots(), way, program.group());
    }

    private static void print(Planned one, PrintWriter out) {
        out.print("program " + one.number + ": " + one.kind + ", ");
        out.println(one.slots + " instructions");
        out.println("    " + one.way);
        List<Probe> probes = one.group.probes();
        probes.stream().limit(MOST_NAMES).forEach(probe -> out.println("    " + probe.name()));
        int more = probes.size() - MOST_NAMES;
        if (more > 0) {
            out.println("    and " + more + " more");
        }
    }

    private static String way(ProbeGroup group, LoadNeeds needs) {
        int count = group.probes().size();
        return switch (group.first()) {
            case TracerProbe _ -> "run by sonde itself, through BPF_PROG_RUN";
            case TimerProbe timer ->
                    timer.kind() == Kind.PROFILE
                            ? "a perf clock event on each CPU"
                            : "a perf clock event on one CPU";
            case PerfEventProbe _ -> "a perf event on each CPU, or of the process given by -p";
            case TracepointProbe _ -> "a perf event of the tracepoint, whose record has the fields";
            case Probe.RawTracepoint _ ->
                    needs.type() == ProgramType.RAW_TRACEPOINT
                            ? "a raw tracepoint: several share the program, or BTF lacks its types"
                            : "a raw tracepoint with the types of BTF: its arguments are read"
                                    + " without a helper";
            case KernelProbe _ ->
                    group.session()
                            ? "one kprobe_session link for begin and return of "
                                    + count
                                    + (count == 1 ? " function" : " functions")
                            : group.multi()
                                    ? "one kprobe_multi link for " + count + " functions"
                                    : "a kprobe for each function: one function, an offset in it, or no"
                                            + " kprobe_multi here";
            case UserProbe _, UsdtProbe _ ->
                    group.multi()
                            ? "one uprobe_multi link for " + count + " places"
                            : "a uprobe for each place: one place, or no uprobe_multi here";
            case FentryProbe _ -> "a trampoline in the function's entry: cheaper than a kprobe";
            case WatchpointProbe _ -> "a hardware breakpoint";
            case IteratorProbe _ -> "an iterator, read by sonde once, or pinned";
        };
    }
}
