package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

    /** A function or file stands for what lies in it and under it when that is so much. */
    private static final double INCLUSIVE = 0.5;

    /** Everything is under these. */
    private static final Set<String> OUTER = Set.of("main", "run", "[stack cut]");

    private static final int GROUPS = 2;

    /** What compiles code for others is a cause only where nothing else is. */
    private static final double COMPILER = 0.4;

    /** A caller is named that has so much of a function's time. */
    private static final double CALLER = 0.6;

    /** Of one function's calls one of a kind stands for all where it has so much of their time. */
    private static final double ONE_CALL = 0.5;

    private static final Pattern SPINNING =
            Pattern.compile(
                    "(?i).*spin_?(try|un)?_?lock.*|.*lock_?spin.*|.*spin_?(wait|loop)\\b.*");

    /** Who used the CPUs is half of an answer. */
    private static final double UNSAMPLED = 0.5;

    /** Calls take so much of the CPU time that they are the cause. */
    private static final double IN_CALL = 0.3;

    private static final double NEARLY_ALL = 0.9;
    private static final double FEW = 0.02;
    private static final int KINDS = 4;
    private static final long SMALL_BYTES = 64;
    private static final long MANY = 2000;

    /** Calls that wait unless they are told not to. */
    private static final Set<String> POLLS =
            Set.of("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait");

    /** A thread that was off the CPU in a call has not returned so soon. */
    private static final long AT_ONCE_NANOS = 5_000;

    private CpuRules() {}

    private static boolean isTelling(Evidence evidence) {
        long wall = Math.max(1, evidence.wallNanos());
        double busy = (evidence.cpuNanos() + evidence.runnableNanos()) / (double) wall;
        return busy >= BUSY && evidence.cpu().stream().mapToLong(CpuUse::samples).sum() >= SAMPLES;
    }

    /** Which functions the CPU time went to, of threads that had much of it. */
    static List<Finding> functions(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        if (evidence.cpu().isEmpty()) {
            unsampled(evidence).ifPresent(findings::add);
        }
        for (ThreadGroup group : isTelling(evidence) ? evidence.groups() : List.<ThreadGroup>of()) {
            double part = group.runningNanos() / (double) Math.max(1, evidence.cpuNanos());
            if (part >= WORTH_NAMING && findings.size() < GROUPS) {
                double wanted = Math.min(1, busyOfWall(evidence)) * part;
                wanted *= WaitRules.isCompiler(group) ? COMPILER : 1;
                functions(evidence, group, wanted).ifPresent(findings::add);
            }
        }
        return findings;
    }

    /** Who had most of the CPU time, where no sample tells in which functions. */
    private static Optional<Finding> unsampled(Evidence evidence) {
        long cpu = evidence.cpuNanos();
        double busy = Math.min(1, cpu / (double) Math.max(1, evidence.wallNanos()));
        return evidence.groups().stream()
                .findFirst()
                .filter(group -> busy >= BUSY && group.runningNanos() > INCLUSIVE * cpu)
                .map(group -> {
                    double share = group.runningNanos() / (double) cpu;
                    String text =
                            group.shown()
                                    + " ran "
                                    + AnswerWording.time(group.runningNanos())
                                    + " in "
                                    + AnswerWording.time(evidence.wallNanos())
                                    + ", "
                                    + AnswerWording.percent(share)
                                    + " of the CPU time; the recording has no samples that tell"
                                    + " in which functions.";
                    return new Finding(busy * share * UNSAMPLED, text);
                });
    }

    private static Optional<Finding> functions(
            Evidence evidence, ThreadGroup group, double wanted) {
        List<CpuUse> uses =
                byFunction(evidence.cpu().stream().filter(use -> use.group().equals(group)));
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
                                + (use.leaf().isEmpty() || use.kernelShare() > 0.5
                                        ? ""
                                        : " (most of it in " + use.leaf() + ")")
                                + (use.place().own() ? "" : " of " + use.place().module())
                                + (spins(use) ? ": it spins for a lock" : ""));
                named += share;
            }
        }
        if (places.isEmpty()) {
            named = modules(uses, places) / Math.max(all, 1e-9);
        }
        if (named < INCLUSIVE) {
            named = Math.max(named, under(uses, all, places));
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

    /** One function is one use, whoever called it; most first. */
    private static List<CpuUse> byFunction(Stream<CpuUse> uses) {
        Map<ProgramPlace, List<CpuUse>> functions =
                uses.collect(
                        Collectors.groupingBy(
                                use -> use.place().withoutCallers(),
                                LinkedHashMap::new,
                                Collectors.toList()));
        return functions.values().stream()
                .map(CpuRules::together)
                .sorted(Comparator.comparingDouble((CpuUse use) -> -use.share()))
                .toList();
    }

    private static CpuUse together(List<CpuUse> uses) {
        CpuUse most = uses.getFirst();
        double share = uses.stream().mapToDouble(CpuUse::share).sum();
        double kernel = uses.stream().mapToDouble(use -> use.share() * use.kernelShare()).sum();
        List<String> callers = most.place().callers();
        boolean one =
                uses.stream()
                        .allMatch(use ->
                                use.place().callers().stream()
                                        .findFirst()
                                        .equals(callers.stream().findFirst()));
        boolean alike =
                uses.stream()
                        .allMatch(use -> use.place().function().equals(most.place().function()));
        return new CpuUse(
                most.group(),
                most.place().of(alike, one || most.share() >= CALLER * share),
                share,
                uses.stream().mapToLong(CpuUse::samples).sum(),
                kernel / share,
                most.calls(),
                most.leaf());
    }

    /** Most of it was in a function for locks that do not sleep. */
    private static boolean spins(CpuUse use) {
        return use.kernelShare() <= 0.5
                && (SPINNING.matcher(use.leaf()).matches()
                        || SPINNING.matcher(use.place().function()).matches());
    }

    /** The file of code that took most of it, where no function did. */
    private static double modules(List<CpuUse> uses, List<String> places) {
        Map<String, Double> shares = new TreeMap<>();
        uses.stream()
                .filter(use -> use.kernelShare() <= 0.5)
                .forEach(use -> shares.merge(use.place().module(), use.share(), Double::sum));
        double all = uses.stream().mapToDouble(CpuUse::share).sum();
        return shares.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .filter(most -> most.getValue() >= INCLUSIVE * all)
                .map(most -> {
                    String share = AnswerWording.percent(most.getValue() / all);
                    places.add(share + " of the CPU time in " + module(most.getKey(), uses));
                    return most.getValue();
                })
                .orElse(0.0);
    }

    private static String module(String module, List<CpuUse> uses) {
        List<CpuUse> in = uses.stream().filter(use -> use.place().module().equals(module)).toList();
        boolean nameless = in.stream().noneMatch(use -> use.place().isNamed());
        if (module.startsWith("[anon")) {
            boolean node = uses.stream().anyMatch(use -> use.place().module().matches("node(js)?"));
            return "code that was compiled at run time and has no names"
                    + (node ? " (node --perf-basic-prof names it)" : "")
                    + in.stream()
                            .filter(use -> !use.leaf().isEmpty())
                            .findFirst()
                            .map(use -> ", most of it in " + use.leaf())
                            .orElse("");
        }
        if (ProgramFrames.isInterpreter(module)) {
            return "the interpreter " + module + ", the script's functions have no names";
        }
        return module
                + (nameless
                        ? ", of which no symbols were found"
                        : in.stream()
                                .map(CpuUse::place)
                                .filter(ProgramPlace::isNamed)
                                .map(ProgramPlace::function)
                                .distinct()
                                .limit(PLACES)
                                .collect(Collectors.joining(", ", " (", ", …)")));
    }

    /** The innermost function of the program under which most of it lies, and its share. */
    private static double under(List<CpuUse> uses, double all, List<String> places) {
        Map<String, Double> shares = new LinkedHashMap<>();
        Map<String, Integer> depths = new HashMap<>();
        for (CpuUse use : uses.stream().filter(one -> one.kernelShare() <= 0.5).toList()) {
            List<String> callers = use.place().callers();
            new LinkedHashSet<>(callers)
                    .forEach(name -> shares.merge(name, use.share(), Double::sum));
            callers.forEach(name ->
                    depths.merge(name, callers.size() - callers.lastIndexOf(name), Math::max));
        }
        return shares.entrySet().stream()
                .filter(one -> one.getValue() >= INCLUSIVE * all && !OUTER.contains(one.getKey()))
                .max(Comparator.comparingInt(one -> depths.getOrDefault(one.getKey(), 0)))
                .map(one -> {
                    String of = places.isEmpty() ? " of the CPU time in what " : " in what ";
                    String share = AnswerWording.percent(one.getValue() / all);
                    places.add(share + of + one.getKey() + " called");
                    return one.getValue() / all;
                })
                .orElse(0.0);
    }

    private static double busyOfWall(Evidence evidence) {
        return (evidence.cpuNanos() + evidence.runnableNanos())
                / (double) Math.max(1, evidence.wallNanos());
    }

    /** System calls that are made so often that they cost the time. */
    static List<Finding> calls(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        Set<CallSum> told = new HashSet<>();
        for (CallSum call : evidence.calls().stream().filter(CpuRules::isNamed).toList()) {
            List<CallSum> likes = likes(evidence, call);
            double share = share(likes);
            boolean many = share >= IN_CALL && call.cpuShare() < ONE_CALL * share;
            many &= likes.stream().filter(CpuRules::isNamed).findFirst().equals(Optional.of(call));
            if (many && isTelling(evidence)) {
                told.addAll(likes);
                double part = Math.min(1, busyOfWall(evidence)) * share;
                findings.add(new Finding(part, text(evidence, likes, share)));
            } else if (!told.contains(call) && isWorthSaying(evidence, call)) {
                double part = Math.min(1, busyOfWall(evidence)) * call.cpuShare();
                findings.add(new Finding(part, text(evidence, call)));
            }
        }
        return findings;
    }

    private static double share(List<CallSum> calls) {
        return calls.stream().mapToDouble(CallSum::cpuShare).sum();
    }

    private static boolean isNamed(CallSum call) {
        return !call.call().isEmpty();
    }

    /** What one function of a group calls, or the group where no function is known. */
    private static List<CallSum> likes(Evidence evidence, CallSum call) {
        List<CallSum> own =
                evidence.calls().stream()
                        .filter(one -> one.group().equals(call.group()))
                        .filter(one -> !WaitRules.waits(one.call()))
                        .toList();
        List<CallSum> placed =
                own.stream()
                        .filter(one -> one.cpuShare() > 0)
                        .filter(one -> one.place().function().equals(call.place().function()))
                        .toList();
        // Of short calls samples may meet none.
        boolean nearlyAll = share(placed) > NEARLY_ALL * share(own);
        Stream<CallSum> unmet = own.stream().filter(one -> nearlyAll && one.cpuShare() == 0);
        return Stream.concat(placed.stream(), unmet).toList();
    }

    /** Calls of several kinds, none of which has most of the time. */
    private static String text(Evidence evidence, List<CallSum> calls, double share) {
        CallSum most = calls.getFirst();
        long count = calls.stream().mapToLong(CallSum::count).sum();
        List<CallSum> known =
                calls.stream()
                        .filter(call -> isNamed(call) && call.count() >= FEW * count)
                        .sorted(Comparator.comparingLong((CallSum call) -> -call.count()))
                        .toList();
        String kinds =
                known.stream()
                        .limit(KINDS)
                        .map(call -> call.call() + " ×" + AnswerWording.count(call.count()))
                        .collect(Collectors.joining(", "));
        String object =
                known.stream()
                        .map(CallSum::object)
                        .filter(name -> !name.isEmpty())
                        .findFirst()
                        .orElse("");
        boolean placed = most.place().own() && !most.place().named().isEmpty();
        return most.group().shown()
                + " made "
                + AnswerWording.count(count)
                + " system calls ("
                + AnswerWording.rate(evidence.rate(count))
                + "), "
                + AnswerWording.percent(share)
                + " of the CPU time"
                + (placed ? ", from " + most.place().named() : "")
                + ": "
                + kinds
                + (known.size() > KINDS ? ", …" : "")
                + (object.isEmpty() ? "" : "; " + most(known, object) + AnswerWording.on(object))
                + ".";
    }

    /** Which of the calls the object is of. */
    private static String most(List<CallSum> calls, String object) {
        return calls.stream()
                .filter(call -> call.object().equals(object))
                .map(CallSum::call)
                .limit(KINDS)
                .collect(Collectors.joining(", "));
    }

    private static String text(Evidence evidence, CallSum call) {
        StringBuilder text = new StringBuilder(call.group().shown());
        text.append(" made ")
                .append(AnswerWording.count(call.count()))
                .append(' ')
                .append(call.call());
        text.append(" calls");
        String object = call.object().isEmpty() ? failing(evidence, call) : call.object();
        text.append(object.isEmpty() ? "" : AnswerWording.on(object));
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
        if (call.place().own() && !call.place().named().isEmpty()) {
            text.append(", from ").append(call.place().named());
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
        } else if (POLLS.contains(call.call()) && call.median() < AT_ONCE_NANOS) {
            text.append(": most return at once, it polls without waiting");
        } else if (call.bytes() > 0
                && each <= SMALL_BYTES
                && evidence.rate(call.count()) >= MANY
                && call.object().startsWith("/")) {
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
        boolean spins = POLLS.contains(call.call()) && call.median() < AT_ONCE_NANOS;
        return (costs || storm) && (spins || !WaitRules.waits(call.call()));
    }

    private static boolean polls(String error) {
        return error.equals("EAGAIN") || error.equals("EBUSY");
    }
}
