package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import sonde.analysis.sched.OffCpu;
import sonde.analysis.sched.OffCpu.OffCpuCause;
import sonde.analysis.stack.CallTreeBuilder;
import sonde.analysis.stack.ChainEnds;
import sonde.analysis.stack.SampleTypes;
import sonde.analysis.stack.StackAggregate;
import sonde.event.result.CallTree;
import sonde.event.result.Frame;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;
import sonde.tools.report.StackOptions.StackOrder;

/** The samples of what ran, and what their call chains lack. */
final class OnCpuSection implements ReportSection {
    private static final AnalysisKey<ChainEnds> CHAIN_ENDS =
            new AnalysisKey<>(found -> found.add(new ChainEnds(found.threads(), found.window())));

    /** Costs of calls, where a profile has them instead of chains. */
    private static final AnalysisKey<StackAggregate> CALLS =
            new AnalysisKey<>(found -> {
                StackAggregate sums =
                        StackAggregate.ofType(
                                SampleTypes.CALL, found.threads(), found.stacks(), found.window());
                boolean has =
                        found.types().anyMatch(one -> one.qualifiedName().equals(SampleTypes.CALL));
                return has ? found.add(sums) : sums;
            });

    /** What the table of functions takes. */
    static final List<AnalysisKey<?>> NEEDS = List.of(CALLS);

    /** With a smaller share of cut user stacks only the table says so, not the notes. */
    private static final double WORTH_SAYING = 0.001;

    @Override
    public List<String> options() {
        return List.of("--oncpu");
    }

    @Override
    public String help() {
        return "show the time on CPUs by function, and as a call tree";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(OffCpuSection.OFF_CPU, CHAIN_ENDS, CALLS);
    }

    @Override
    public boolean showsChains() {
        return true;
    }

    @Override
    public boolean explainsSymbols() {
        return true;
    }

    @Override
    public List<Result> results(ReportOperators found) {
        return List.of(
                hottest(found, found.options().rows()),
                tree(found, "on-CPU stacks", found.weightUnit(), found.samples()),
                cutStacks(found));
    }

    /** Functions by what the samples in themselves weigh. */
    static Table hottest(ReportOperators found, int limit) {
        return new HotFunctions(found, found.samples())
                .with(found.of(CALLS))
                .table("on CPU", found.profiled(), limit);
    }

    /** Samples along their chains, by command name. */
    static CallTree tree(ReportOperators found, String title, Unit unit, StackAggregate sums) {
        CallTree tree = CallTreeBuilder.tree(title, unit);
        sums.forEach((thread, node, weight, count) -> {
            if (found.shown(thread)) {
                CallTreeBuilder.add(tree, inOrder(found, path(found, thread, node)), weight, count);
            }
        });
        return tree;
    }

    /** A thread's name and a chain, caller first. */
    static List<Frame> path(ReportOperators found, int thread, int node) {
        List<Frame> path = new ArrayList<>();
        path.add(Frame.label(found.comm(thread)));
        path.addAll(found.trees().chain(node));
        return path;
    }

    /** A path from the end of chains that the options put at the root. */
    static List<Frame> inOrder(ReportOperators found, List<Frame> path) {
        return found.options().stacks().order() == StackOrder.CALLEE ? path.reversed() : path;
    }

    /**
     * User stacks that do not reach the first function of their thread.
     *
     * @param all number of user stacks
     * @param modules number of those cut, by the module where unwinding ended; most first
     */
    private record CutStacks(long all, List<Map.Entry<String, Long>> modules) {
        /** Of samples and switches. */
        static CutStacks of(ReportOperators found) {
            Map<String, Long> modules = new TreeMap<>();
            long[] all = {0};
            found.samples()
                    .forEach((thread, node, weight, count) -> {
                        if (node >= 0 && found.shown(thread)) {
                            all[0] += add(found.trees(), modules, node, count);
                        }
                    });
            for (OffCpu.Entry entry : found.of(OffCpuSection.OFF_CPU).entries()) {
                OffCpuCause cause = entry.cause();
                if (cause.stack() >= 0 && found.shown(cause.thread())) {
                    all[0] += add(found.trees(), modules, cause.stack(), entry.sum().count());
                }
            }
            return new CutStacks(
                    all[0],
                    modules.entrySet().stream()
                            .sorted((one, other) -> Long.compare(other.getValue(), one.getValue()))
                            .limit(found.options().rows())
                            .toList());
        }

        private static long add(
                CallTreeBuilder trees, Map<String, Long> modules, int node, long count) {
            return switch (trees.completeness(node)) {
                case COMPLETE -> count;
                case CUT -> {
                    modules.merge(trees.cutIn(node), count, Long::sum);
                    yield count;
                }
                case NO_USER_PART -> 0;
            };
        }

        double share(Map.Entry<String, Long> module) {
            return (double) module.getValue() / all;
        }
    }

    private static Table cutStacks(ReportOperators found) {
        CutStacks cut = CutStacks.of(found);
        return new TableBuilder<Map.Entry<String, Long>>("cut user stacks")
                .text("unwinding ended in", Map.Entry::getKey)
                .share("share of user stacks", cut::share)
                .count("stacks", Map.Entry::getValue)
                .text("remedy", module -> remedy(module.getKey()))
                .table(cut.modules());
    }

    /** How the code of a module comes to keep frame pointers, or stacks do without. */
    private static String remedy(String module) {
        boolean java = module.equals("[jit]") || module.equals("[anon]");
        return java || module.startsWith("libjvm.so")
                ? "sonde record --call-graph bpf"
                : "cc -fno-omit-frame-pointer";
    }

    @Override
    public List<String> notes(ReportOperators found) {
        if (found.unwinds()) {
            return found.unwindingNotes(found.of(CHAIN_ENDS).counts(found::shown));
        }
        CutStacks cut = CutStacks.of(found);
        double share = cut.modules().stream().mapToDouble(cut::share).sum();
        if (share < WORTH_SAYING) {
            return List.of();
        }
        List<String> first = cut.modules().stream().limit(3).map(Map.Entry::getKey).toList();
        String modules = String.join(", ", first) + (cut.modules().size() > 3 ? ", …" : "");
        String remedy =
                " 'sonde record' unwinds native code and Java without frame pointers"
                        + " (--call-graph bpf); for other code compile with"
                        + " -fno-omit-frame-pointer, or record with --call-graph dwarf.";
        return List.of(
                String.format(
                        Locale.ROOT,
                        "%.1f %% of user stacks are cut in %s, where no frame pointer was found.%s",
                        100 * share,
                        modules,
                        remedy));
    }
}
