package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.tools.report.answer.Evidence.CpuUse;
import sonde.tools.report.answer.Evidence.StartSum;
import sonde.tools.report.answer.Evidence.ThreadGroup;
import sonde.tools.report.answer.Evidence.WaitSum;

/** Tables of a summary that begin with the program's functions. */
public final class SummaryTables {
    /** A share of samples in system calls that is worth naming them. */
    private static final double IN_CALLS = 0.1;

    /** Fewer samples beside little CPU time tell nothing. */
    private static final long FEW_SAMPLES = 20;

    /** What took a smaller part of the recording is left out, unless it is all there is. */
    private static final double LITTLE = 0.005;

    /** A thread that sleeps for so much of the time, nobody knows why, tells nothing. */
    private static final double ASLEEP = 0.9;

    private SummaryTables() {}

    /** Functions of programs by the CPU time in them and in what they called of others. */
    public static Table onCpu(Evidence evidence, int limit) {
        long samples = evidence.cpu().stream().mapToLong(CpuUse::samples).sum();
        boolean carries = samples >= FEW_SAMPLES || evidence.cpuNanos() > evidence.wallNanos() / 20;
        return new TableBuilder<CpuUse>("on CPU")
                .text("function", use -> use.place().chain())
                .text("module", use -> use.place().module())
                .text("in the kernel for", SummaryTables::calls)
                .share("share", CpuUse::share)
                .count("samples", CpuUse::samples)
                .table(carries ? evidence.cpu().stream() : Stream.of(), limit);
    }

    private static @Nullable String calls(CpuUse use) {
        if (use.kernelShare() < IN_CALLS) {
            return null;
        }
        String calls = String.join(", ", use.calls().subList(0, Math.min(2, use.calls().size())));
        return (AnswerWording.percent(use.kernelShare()) + " " + calls).strip();
    }

    private record OffRow(
            String thread,
            String cause,
            @Nullable String object,
            @Nullable String from,
            long nanos,
            @Nullable Long count,
            @Nullable Long longest) {}

    /** Waits of several groups that are one row. */
    private static final class Together {
        private final String cause;
        private final Set<ThreadGroup> groups = new HashSet<>();
        private long nanos;
        private long count;
        private long longest;

        Together(String cause) {
            this.cause = cause;
        }

        void add(WaitSum wait) {
            groups.add(wait.group());
            nanos += wait.nanos();
            count += wait.count();
            longest = Math.max(longest, wait.longest());
        }

        Stream<OffRow> rows() {
            int threads = groups.stream().mapToInt(ThreadGroup::threads).sum();
            String who = threads == 1 ? "1 thread" : threads + " threads";
            OffRow row = new OffRow(who, cause, null, null, nanos, count, longest);
            return threads == 0 ? Stream.of() : Stream.of(row);
        }
    }

    /** Why threads did not run, those that wait for work last and together. */
    public static Table offCpu(Evidence evidence, int limit) {
        List<OffRow> rows = new ArrayList<>();
        Together idle = new Together("waiting for work");
        Together unknown = new Together("sleeping nearly all the time, not recorded in what");
        for (WaitSum wait : evidence.waits()) {
            boolean untold = wait.call().isEmpty() && wait.reason().isEmpty();
            if (WaitRules.isIdle(evidence, wait) && hasOthers(evidence)) {
                idle.add(wait);
            } else if (untold && evidence.part(wait.group(), wait.nanos()) > ASLEEP) {
                unknown.add(wait);
            } else {
                rows.add(row(wait));
            }
        }
        for (ThreadGroup group : evidence.groups()) {
            if (group.runnableNanos() > 0) {
                rows.add(
                        new OffRow(
                                threads(group),
                                "waiting for CPU",
                                null,
                                null,
                                group.runnableNanos(),
                                null,
                                null));
            }
        }
        rows.sort(Comparator.comparingLong((OffRow row) -> -row.nanos()));
        long least = (long) (rows.isEmpty() ? 0 : LITTLE * rows.getFirst().nanos());
        Stream<OffRow> shown = rows.stream().filter(row -> row.nanos() >= least).limit(limit);
        shown = Stream.concat(shown, Stream.of(unknown, idle).flatMap(Together::rows));
        return new TableBuilder<OffRow>("off CPU")
                .text("thread", OffRow::thread)
                .text("cause", OffRow::cause)
                .text("for", OffRow::object)
                .text("called from", OffRow::from)
                .nanos("time", OffRow::nanos)
                .count("count", OffRow::count)
                .nanos("longest", OffRow::longest)
                .table(shown, Long.MAX_VALUE);
    }

    /** Where all wait for work, that is what there is to be told. */
    private static boolean hasOthers(Evidence evidence) {
        return evidence.waits().stream().anyMatch(wait -> !WaitRules.isIdle(evidence, wait))
                || evidence.cpuNanos() > evidence.wallNanos() / 10;
    }

    private static OffRow row(WaitSum wait) {
        StringBuilder cause = new StringBuilder(wait.state());
        if (wait.call().isEmpty() && wait.reason().isEmpty()) {
            cause.append(", not recorded in what");
        } else if (!wait.call().isEmpty()) {
            cause.append(" in ").append(wait.call());
        }
        String object = wait.object().isEmpty() ? wait.reason() : wait.object();
        boolean lock = WaitRules.isLock(wait) && !wait.meanwhile().isEmpty();
        object += lock ? ", held by " + wait.meanwhile() : "";
        return new OffRow(
                threads(wait.group()),
                cause.toString(),
                object.isEmpty() ? null : object,
                wait.place().function().isEmpty() ? null : wait.place().chain(),
                wait.nanos(),
                wait.count(),
                wait.longest());
    }

    private static String threads(ThreadGroup group) {
        return group.name() + (group.threads() == 1 ? " " + group.tid() : " ×" + group.threads());
    }

    /** Programs that were started, where that was done all the time. */
    public static Table starts(Evidence evidence, int limit) {
        return new TableBuilder<StartSum>("programs started")
                .text("program", StartSum::name)
                .count("count", StartSum::count)
                .nanos("lived", StartSum::nanos)
                .nanos("CPU", StartSum::cpuNanos)
                .text("mostly by", StartSum::parent)
                .table(
                        StormRules.isStartStorm(evidence)
                                ? evidence.starts().stream()
                                : Stream.of(),
                        limit);
    }
}
