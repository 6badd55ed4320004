package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import sonde.tools.report.answer.Evidence.CallSum;
import sonde.tools.report.answer.Evidence.CpuUse;
import sonde.tools.report.answer.Evidence.ThreadGroup;

/** Judges time on CPUs. */
final class CpuRules {
    /** Fewer samples are chance. */
    private static final int SAMPLES = 20;

    private static final double BUSY = 0.3;
    private static final double WORTH_NAMING = 0.15;
    private static final double MAIN = 0.25;
    private static final int PLACES = 3;
    private static final int GROUPS = 2;

    /** Calls take so much of the CPU time that they are the cause. */
    private static final double IN_CALL = 0.3;

    private static final long SMALL_BYTES = 64;
    private static final long MANY = 2000;

    private CpuRules() {}

    private static boolean isTelling(Evidence evidence) {
        long wall = Math.max(1, evidence.wallNanos());
        double busy = (evidence.cpuNanos() + evidence.runnableNanos()) / (double) wall;
        return busy >= BUSY && evidence.cpu().stream().mapToLong(CpuUse::samples).sum() >= SAMPLES;
    }

    /** Which functions the CPU time went to, of threads that had much of it. */
    static List<Finding> functions(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        for (ThreadGroup group : isTelling(evidence) ? evidence.groups() : List.<ThreadGroup>of()) {
            double part = group.runningNanos() / (double) Math.max(1, evidence.cpuNanos());
            if (part >= WORTH_NAMING && findings.size() < GROUPS) {
                double wanted = Math.min(1, busyOfWall(evidence)) * part;
                functions(evidence, group, wanted).ifPresent(findings::add);
            }
        }
        return findings;
    }

    private static Optional<Finding> functions(
            Evidence evidence, ThreadGroup group, double wanted) {
        List<CpuUse> uses =
                evidence.cpu().stream().filter(use -> use.group().equals(group)).toList();
        double all = uses.stream().mapToDouble(CpuUse::share).sum();
        List<String> places = new ArrayList<>();
        double named = 0;
        for (CpuUse use : uses.subList(0, Math.min(PLACES, uses.size()))) {
            double share = use.share() / all;
            boolean inCall = use.kernelShare() > 0.5 && !use.calls().isEmpty();
            boolean isMuch = share >= (places.isEmpty() ? MAIN : WORTH_NAMING);
            if (isMuch && use.place().isNamed() && !inCall) {
                places.add(
                        AnswerWording.percent(share)
                                + (places.isEmpty() ? " of the CPU time in " : " in ")
                                + use.place().phrase()
                                + (use.place().own() ? "" : " of " + use.place().module()));
                named += share;
            }
        }
        if (places.isEmpty()) {
            named = runtime(uses, places) / Math.max(all, 1e-9);
        }
        if (places.isEmpty()) {
            return Optional.empty();
        }
        String text =
                group.shown()
                        + " ran "
                        + AnswerWording.time(group.runningNanos())
                        + (group.threads() == 1 ? " of " : " in ")
                        + AnswerWording.time(evidence.wallNanos())
                        + ": "
                        + String.join(", ", places)
                        + ".";
        return Optional.of(new Finding(wanted * named, text));
    }

    /** An interpreter whose script's functions have no names. */
    private static double runtime(List<CpuUse> uses, List<String> places) {
        Map<String, Double> shares = new TreeMap<>();
        uses.stream()
                .filter(use -> ProgramFrames.isInterpreter(use.place().module()))
                .forEach(use -> shares.merge(use.place().module(), use.share(), Double::sum));
        double all = uses.stream().mapToDouble(CpuUse::share).sum();
        for (Map.Entry<String, Double> one : shares.entrySet()) {
            if (one.getValue() > all / 2) {
                places.add(
                        AnswerWording.percent(one.getValue() / all)
                                + " of the CPU time in the interpreter "
                                + one.getKey()
                                + ", the script's functions have no names");
                return one.getValue();
            }
        }
        return 0;
    }

    private static double busyOfWall(Evidence evidence) {
        return (evidence.cpuNanos() + evidence.runnableNanos())
                / (double) Math.max(1, evidence.wallNanos());
    }

    /** System calls that are made so often that they cost the time. */
    static List<Finding> calls(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        for (CallSum call : evidence.calls()) {
            if (isWorthSaying(evidence, call)) {
                double part = Math.min(1, busyOfWall(evidence)) * call.cpuShare();
                findings.add(new Finding(part, text(evidence, call)));
            }
        }
        return findings;
    }

    private static String text(Evidence evidence, CallSum call) {
        StringBuilder text = new StringBuilder(call.group().shown());
        text.append(" made ")
                .append(AnswerWording.count(call.count()))
                .append(' ')
                .append(call.call());
        text.append(" calls");
        String object = call.object().isEmpty() ? failing(evidence, call) : call.object();
        text.append(object.isEmpty() ? "" : " on " + object);
        text.append(" (").append(AnswerWording.rate(evidence.rate(call.count())));
        long each = call.bytes() / Math.max(1, call.count());
        long failed = call.errors().values().stream().mapToLong(Long::longValue).sum();
        boolean mostFail = failed > call.count() / 2;
        if (call.bytes() > 0 && !mostFail) {
            text.append(", ").append(AnswerWording.bytes(Math.max(1, each))).append(" each");
        }
        text.append("), ")
                .append(AnswerWording.percent(call.cpuShare()))
                .append(" of the CPU time");
        if (call.place().own() && call.place().isNamed()) {
            text.append(", from ").append(call.place().chain());
        }
        if (mostFail) {
            Map.Entry<String, Long> most =
                    call.errors().entrySet().stream()
                            .max(Map.Entry.comparingByValue())
                            .orElseThrow();
            text.append("; ").append(AnswerWording.percent(failed / (double) call.count()));
            text.append(" failed with ").append(most.getKey());
            text.append(polls(most.getKey()) ? ": it polls without waiting" : "");
        } else if (call.call().equals("sched_yield")) {
            text.append(": it spins instead of waiting");
        } else if (call.bytes() > 0 && each <= SMALL_BYTES) {
            text.append("; a buffer would save most of them");
        }
        return text.append('.').toString();
    }

    /** The names on which most of the calls failed. */
    private static String failing(Evidence evidence, CallSum call) {
        return evidence.failures().stream()
                .filter(one -> call.errors().getOrDefault(one.error(), 0L) > call.count() / 2)
                .filter(one -> one.count() > call.count() / 2)
                .filter(one -> StormRules.NAMED.contains(call.call()))
                .map(Evidence.FailureSum::shown)
                .findFirst()
                .orElse("");
    }

    /** Whether a sentence of {@link #calls} tells of these failures. */
    static boolean tells(Evidence evidence, Evidence.FailureSum failure) {
        return evidence.calls().stream()
                .anyMatch(call ->
                        isWorthSaying(evidence, call)
                                && failing(evidence, call).equals(failure.shown()));
    }

    private static boolean isWorthSaying(Evidence evidence, CallSum call) {
        boolean costs = isTelling(evidence) && call.cpuShare() >= IN_CALL;
        boolean storm = evidence.rate(call.count()) >= MANY && call.cpuShare() >= WORTH_NAMING;
        return (costs || storm) && !WaitRules.waits(call.call());
    }

    private static boolean polls(String error) {
        return error.equals("EAGAIN") || error.equals("EBUSY");
    }
}
