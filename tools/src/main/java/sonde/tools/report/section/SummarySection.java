package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.WaitCauses;
import sonde.event.Glob;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.KernelTime;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;
import sonde.tools.report.answer.Evidence;
import sonde.tools.report.answer.EvidenceMaker;
import sonde.tools.report.answer.Judgement;
import sonde.tools.report.answer.LazyEvidence;
import sonde.tools.report.answer.SummaryTables;

/** A screenful of everything: the first rows of other sections, where they have rows. */
final class SummarySection implements ReportSection {
    private static final int TOP = 5;

    /** What takes a smaller part of the time is left out. */
    private static final int LITTLE = 200;

    private static final AnalysisKey<LazyEvidence> EVIDENCE =
            new AnalysisKey<>(ignored -> new LazyEvidence());

    private static final AnalysisKey<WaitCauses> CAUSES =
            new AnalysisKey<>(found ->
                    found.addStates(
                            new WaitCauses(
                                    Stream.of("futex", "flock", "fcntl")
                                            .map(found.callNames()::numberOf)
                                            .collect(Collectors.toSet()))));

    /** The groups that sonde probe and perf probe put theirs into. */
    private static final List<Glob> NAMED_PROBES =
            List.of(Glob.shell("probe:*"), Glob.shell("probe_*:*"));

    @Override
    public List<String> options() {
        return List.of();
    }

    @Override
    public String help() {
        return "";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        List<AnalysisKey<?>> needs = new ArrayList<>(OutlineTables.NEEDS);
        needs.addAll(OnCpuSection.NEEDS);
        needs.addAll(
                List.of(
                        SyscallsSection.CALLS,
                        FilesSection.FILES,
                        FunctionsSection.CALLS,
                        WakeUpsSection.SIGNALS,
                        WakeUpsSection.DEATHS,
                        ReportOperators.FAULTS,
                        ReportOperators.INCIDENTS,
                        CAUSES,
                        EVIDENCE,
                        BlockIoSection.REQUESTS));
        needs.addAll(OffCpuSection.NEEDS);
        return needs;
    }

    @Override
    public boolean showsChains() {
        return true;
    }

    @Override
    public List<String> answer(ReportOperators found) {
        List<String> answer = new ArrayList<>(new IncidentsSection().answer(found));
        answer.addAll(new ThreadsNowSection().notes(found)); // deadlocks
        answer.addAll(new FunctionsSection().answer(found));
        answer.addAll(judges(found) ? Judgement.sentences(evidence(found)) : List.of());
        return answer;
    }

    /** Whether it is known when threads ran. */
    private static boolean judges(ReportOperators found) {
        return found.hasNanos() && found.knowsStates();
    }

    private static Evidence evidence(ReportOperators found) {
        return found.of(EVIDENCE)
                .of(() ->
                        new EvidenceMaker(
                                        found,
                                        found.of(OffCpuSection.OFF_CPU),
                                        found.of(SyscallsSection.CALLS),
                                        found.of(FilesSection.FILES),
                                        found.of(WakeUpsSection.SIGNALS),
                                        found.of(WakeUpsSection.DEATHS),
                                        found.of(ReportOperators.FAULTS),
                                        found.of(CAUSES),
                                        found.of(OffCpuSection.WAITS),
                                        found.of(ThreadsNowSection.LOOKS))
                                .evidence());
    }

    @Override
    public List<Result> results(ReportOperators found) {
        List<Result> results = new ArrayList<>();
        boolean other = found.meta() == null && !found.knowsStates();
        if (!other) {
            results.add(whereTimeWent(found));
        }
        List<Table> parts = new ArrayList<>();
        if (!found.isOfEverything()) {
            parts.addFirst(ThreadsNowSection.top(found, 2 * TOP));
        }
        boolean programs = judges(found) && found.profiled().isEmpty();
        parts.add(
                programs
                        ? SummaryTables.onCpu(evidence(found), TOP)
                        : OnCpuSection.hottest(found, TOP));
        if (found.hasNanos()) {
            parts.add(
                    judges(found)
                            ? SummaryTables.offCpu(evidence(found), TOP)
                            : OffCpuSection.userCauses(found, TOP));
            parts.add(JavaLocks.table(found, TOP));
            if (judges(found)) {
                parts.add(SummaryTables.starts(evidence(found), TOP));
            }
            long wall = judges(found) ? evidence(found).wallNanos() : 0;
            parts.add(SyscallsSection.top(found, TOP, wall / LITTLE));
            parts.add(FilesSection.top(found, TOP, wall / LITTLE));
            parts.add(BlockIoSection.top(found, TOP, wall / LITTLE));
        }
        parts.add(StatsSection.events(found, NAMED_PROBES));
        // No other section has these tables.
        boolean isAlone = found.options().sections().size() == 1;
        parts.addAll(OutlineTables.of(found, isAlone ? TOP : found.options().rows(), other));
        parts.add(LossesSection.table(found));
        parts.stream().filter(table -> !table.rows().isEmpty()).forEach(results::add);
        return results;
    }

    /**
     * What other sections say of the tables they share with this one, unless they are shown too.
     */
    @Override
    public List<String> notes(ReportOperators found) {
        List<String> notes = new ArrayList<>();
        if (found.options().sections().stream().noneMatch(ThreadsSection.class::isInstance)) {
            notes.addAll(ThreadsSection.stateNotes(found));
        }
        if (found.options().sections().stream().noneMatch(FilesSection.class::isInstance)) {
            notes.addAll(FilesSection.lossNotes(found));
        }
        if (found.options().sections().size() == 1 && judges(found)) {
            notes.add(
                    "More: --threads --oncpu --offcpu --syscalls --io --files --faults --wakeups"
                            + " --incidents --losses --stats.");
        }
        return notes;
    }

    private record Share(String state, long nanos, @Nullable String most) {}

    private static Table whereTimeWent(ReportOperators found) {
        long all = Stream.of(ThreadState.values()).mapToLong(found::total).sum();
        KernelTime inKernel = KernelTime.of(found);
        long kernel = inKernel.total();
        long running = found.total(ThreadState.RUNNING);
        List<Share> rows = new ArrayList<>();
        if (kernel == 0 && found.meta() == null) {
            rows.add(new Share("on CPU", running, inKernel.mostUser()));
        } else {
            rows.add(new Share("on CPU, user", running - kernel, inKernel.mostUser()));
            rows.add(new Share("on CPU, kernel", kernel, inKernel.mostKernel()));
        }
        for (ThreadState state : ThreadState.values()) {
            long nanos = found.total(state);
            if (state != ThreadState.RUNNING && nanos > 0) {
                rows.add(new Share(state.label(), nanos, top(found, state)));
            }
        }
        return new TableBuilder<Share>("where the time went")
                .text("state", Share::state)
                .nanos("time", Share::nanos)
                .share("share", row -> row.nanos / (double) Math.max(all, 1))
                .text("most of it", Share::most)
                .table(rows);
    }

    /** The thread with most of a state. */
    private static @Nullable String top(ReportOperators found, ThreadState state) {
        long most = 0;
        int best = -1;
        for (int thread : found.shownThreads()) {
            // Kernel threads sleep all the time, unless there is nobody else.
            boolean runs = state == ThreadState.RUNNING || state == ThreadState.BLOCKED;
            if (!runs && best >= 0 && found.threads().isKernel(thread)) {
                continue;
            }
            boolean better =
                    best >= 0 && !runs && found.threads().isKernel(best)
                            || found.totals().nanos(thread, state) > most;
            if (better && found.totals().nanos(thread, state) > 0) {
                most = found.totals().nanos(thread, state);
                best = thread;
            }
        }
        return best < 0 ? null : found.threadName(best);
    }
}
