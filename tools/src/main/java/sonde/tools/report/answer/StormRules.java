package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sonde.tools.report.answer.Evidence.CallSum;
import sonde.tools.report.answer.Evidence.DescriptorSum;
import sonde.tools.report.answer.Evidence.FailureSum;
import sonde.tools.report.answer.Evidence.FaultSum;
import sonde.tools.report.answer.Evidence.SignalSum;
import sonde.tools.report.answer.Evidence.StartSum;

/** Judges what happened very often. */
final class StormRules {
    private static final long STARTS = 30;
    private static final double STARTS_PER_SECOND = 10;
    private static final double SIGNALS_PER_SECOND = 300;
    private static final double FAULTS_PER_SECOND = 10_000;
    private static final double FAULT_SHARE = 0.3;
    private static final long DESCRIPTORS = 100;
    private static final double FAILURES_PER_SECOND = 100;
    private static final long FAILURES = 1000;

    /** Libraries, locales and the path of its name: what a program looks for at its start. */
    private static final long AT_START = 100;

    private static final long LIMITS = 1;
    private static final long TRIED = 3;
    private static final double SLEPT = 0.2;
    private static final double TRIES_PER_SECOND = 500;
    private static final double LOCKED = 0.97;

    /** Calls that lock files, or say that another has. */
    static final Set<String> LOCKS = Set.of("fcntl", "flock");

    /** connect(2): why a peer was not reached. */
    private static final Map<String, String> UNREACHED =
            Map.of(
                    "ECONNREFUSED",
                    ": nobody listens there (ECONNREFUSED)",
                    "ETIMEDOUT",
                    ": it did not answer (ETIMEDOUT)",
                    "EHOSTUNREACH",
                    ": the host is not reachable (EHOSTUNREACH)",
                    "ENETUNREACH",
                    ": the network is not reachable (ENETUNREACH)",
                    FailureSum.SILENT,
                    " without waiting (EINPROGRESS) and moved no byte there: it was refused, not"
                            + " answered, or closed at once");

    private static final double UNREACHED_WEIGHT = 0.6;

    /** Calls that make processes and threads. */
    private static final Set<String> MAKING = Set.of("fork", "vfork", "clone", "clone3");

    private static final long PAGE = 4096;

    /** What a storm is worth whose part of the time is not known. */
    private static final double LIKELY = 0.5;

    /** Calls whose failures the recording names. */
    static final Set<String> NAMED =
            Set.of("open", "openat", "openat2", "execve", "connect", "bind");

    /** Tenths of the recording in which processes must be started: not only at its start. */
    private static final int SPREAD = 4;

    private StormRules() {}

    /** Many processes, or threads, were started. */
    static List<Finding> starts(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        started(evidence, steady(evidence.starts()), "processes", findings);
        started(evidence, steady(evidence.threadStarts()), "threads", findings);
        return findings;
    }

    private static void started(
            Evidence evidence, List<StartSum> steady, String what, List<Finding> findings) {
        if (!isStorm(evidence, steady)) {
            return;
        }
        long count = steady.stream().mapToLong(StartSum::count).sum();
        long lives = steady.stream().mapToLong(StartSum::nanos).sum();
        long cpu = steady.stream().mapToLong(StartSum::cpuNanos).sum();
        String names =
                steady.stream()
                        .limit(4)
                        .map(start -> start.name() + " ×" + AnswerWording.count(start.count()))
                        .collect(Collectors.joining(", "));
        String text =
                AnswerWording.count(count)
                        + " "
                        + what
                        + " were started in "
                        + AnswerWording.time(evidence.wallNanos())
                        + ": "
                        + names
                        + (steady.size() > 4 ? ", …" : "")
                        + ", most by "
                        + steady.getFirst().parent()
                        + starter(evidence, steady.getFirst().parent())
                        + "; they lived "
                        + AnswerWording.time(lives)
                        + " and used "
                        + AnswerWording.time(cpu)
                        + " of CPU.";
        double part = Math.min(1, lives / (double) Math.max(1, evidence.wallNanos()));
        findings.add(new Finding(Math.max(LIKELY, part), text));
    }

    /** Where a parent makes most of its children, if it is known. */
    private static String starter(Evidence evidence, String parent) {
        return evidence.calls().stream()
                .filter(call -> MAKING.contains(call.call()))
                .filter(call -> call.group().shown().equals(parent))
                .max(Comparator.comparingLong(CallSum::count))
                .filter(call -> call.place().own() && !call.place().named().isEmpty())
                .map(call -> " in " + call.place().named())
                .orElse("");
    }

    /** Whether processes were started all the time. */
    static boolean isStartStorm(Evidence evidence) {
        return isStorm(evidence, steady(evidence.starts()));
    }

    private static boolean isStorm(Evidence evidence, List<StartSum> steady) {
        long count = steady.stream().mapToLong(StartSum::count).sum();
        return count >= STARTS && evidence.rate(count) >= STARTS_PER_SECOND;
    }

    /** Those that were started during all of it, not by a script at the start. */
    private static List<StartSum> steady(List<StartSum> starts) {
        return starts.stream().filter(start -> start.spread() >= SPREAD).toList();
    }

    /** Children ended and nobody waited for them. */
    static List<Finding> zombies(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        for (StartSum start : evidence.starts()) {
            if (start.ended() - start.reaped() >= STARTS && start.reaped() < start.ended() / 2) {
                String text =
                        AnswerWording.count(start.ended())
                                + " children of "
                                + start.parent()
                                + " ended, and its process waited for "
                                + AnswerWording.count(start.reaped())
                                + " children in all: the others stay as zombies, unless it ignores"
                                + " SIGCHLD.";
                findings.add(new Finding(1, text));
            }
        }
        return findings;
    }

    /** Signals came all the time. */
    static List<Finding> signals(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        boolean traced =
                evidence.waits().stream()
                        .anyMatch(wait -> wait.reason().equals(KernelReasons.TRACER));
        for (SignalSum signal : evidence.signals()) {
            // Each stop of a process that is traced sends one.
            boolean traces = traced && signal.signal().equals("SIGCHLD");
            if (!traces && evidence.rate(signal.count()) >= SIGNALS_PER_SECOND) {
                String text =
                        signal.receiver()
                                + " got "
                                + AnswerWording.count(signal.count())
                                + " "
                                + signal.signal()
                                + " ("
                                + AnswerWording.rate(evidence.rate(signal.count()))
                                + ") from "
                                + signal.sender()
                                + ".";
                findings.add(new Finding(0.9, text));
            }
        }
        return findings;
    }

    /** Memory was touched for the first time, again and again. */
    static List<Finding> faults(Evidence evidence) {
        long count = evidence.faults().stream().mapToLong(FaultSum::count).sum();
        boolean costly = evidence.faultShare() >= FAULT_SHARE;
        if (count < FAULTS_PER_SECOND / 2 || !costly) {
            return List.of();
        }
        FaultSum most = evidence.faults().getFirst();
        String text =
                AnswerWording.count(count)
                        + " page faults ("
                        + AnswerWording.bytes(count * PAGE)
                        + " of pages), "
                        + AnswerWording.percent(most.count() / (double) count)
                        + " of them of "
                        + most.group().shown()
                        + (most.place().function().isEmpty() ? "" : " in " + most.place().phrase())
                        + ".";
        double part = Math.min(1, evidence.cpuNanos() / (double) Math.max(1, evidence.wallNanos()));
        return List.of(new Finding(Math.max(LIKELY, part * evidence.faultShare()), text));
    }

    /** Descriptors are opened and not closed. */
    static List<Finding> descriptors(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        for (DescriptorSum one : evidence.descriptors()) {
            if (one.most() >= DESCRIPTORS && one.most() > one.opened() / 2) {
                String text =
                        one.process()
                                + " opened "
                                + AnswerWording.count(one.opened())
                                + " descriptors and had up to "
                                + AnswerWording.count(one.most())
                                + " of them open at once, "
                                + AnswerWording.count(one.closed())
                                + " were closed"
                                + (one.names().isEmpty()
                                        ? ""
                                        : ": " + String.join(", ", one.names()))
                                + ".";
                findings.add(new Finding(0.95, text));
            }
        }
        return findings;
    }

    /** A file was locked by others when it was tried, and it is tried again and again. */
    static List<Finding> locks(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        for (CallSum call : evidence.calls()) {
            long busy =
                    Stream.of("EAGAIN", "EACCES")
                            .mapToLong(error -> call.errors().getOrDefault(error, 0L))
                            .sum();
            boolean tried = busy >= TRIED && losesTime(evidence, call, busy);
            if (LOCKS.contains(call.call()) && tried && !call.object().isEmpty()) {
                String others =
                        evidence.calls().stream()
                                .filter(one -> one.object().equals(call.object()))
                                .filter(one -> LOCKS.contains(one.call()))
                                .map(one -> one.group().shown())
                                .filter(name -> !name.equals(call.group().shown()))
                                .distinct()
                                .limit(2)
                                .collect(Collectors.joining(", "));
                String text =
                        call.group().shown()
                                + " tried "
                                + AnswerWording.count(busy)
                                + " times to lock "
                                + call.object()
                                + " ("
                                + call.call()
                                + "), which was locked already"
                                + (others.isEmpty() ? "" : "; " + others + " locks it too")
                                + ".";
                findings.add(new Finding(LOCKED, text));
            }
        }
        return findings;
    }

    /** It sleeps between the tries, or tries all the time; each JVM tries a few times at once. */
    private static boolean losesTime(Evidence evidence, CallSum call, long busy) {
        double slept =
                evidence.waits().stream()
                        .filter(wait -> wait.group().equals(call.group()))
                        .filter(wait -> WaitRules.isPause(wait.call()))
                        .mapToDouble(wait -> evidence.part(wait.group(), wait.nanos()))
                        .sum();
        return slept >= SLEPT || evidence.rate(busy) >= TRIES_PER_SECOND;
    }

    /** The same names fail again and again, or a limit is reached. */
    static List<Finding> failures(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        long started = evidence.starts().stream().mapToLong(StartSum::count).sum();
        for (FailureSum one : evidence.failures()) {
            if (UNREACHED.containsKey(one.error())) {
                unreached(evidence, one).ifPresent(findings::add);
                continue;
            }
            boolean limit = one.error().equals("EMFILE") || one.error().equals("ENFILE");
            limit |= one.error().equals("EADDRNOTAVAIL") || one.error().equals("ENOSPC");
            boolean storm =
                    evidence.rate(one.count()) >= FAILURES_PER_SECOND
                            && one.count() >= FAILURES
                            && one.name().length() > 3;
            storm &= !isStartStorm(evidence) || one.count() > AT_START * started;
            if ((storm || limit && one.count() >= LIMITS) && !CpuRules.tells(evidence, one)) {
                String text =
                        AnswerWording.count(one.count())
                                + " attempts on "
                                + one.shown()
                                + " failed with "
                                + one.error()
                                + meaning(one.error())
                                + ".";
                findings.add(new Finding(limit ? 0.95 : LIKELY, text));
            }
        }
        return findings;
    }

    /** A peer was asked again and again and did not take the connection. */
    private static Optional<Finding> unreached(Evidence evidence, FailureSum failure) {
        return evidence.calls().stream()
                .filter(call -> call.call().equals("connect"))
                .filter(call -> call.errors().getOrDefault(failure.error(), 0L) >= failure.count())
                .findFirst()
                .filter(_ -> failure.count() >= TRIED)
                .map(call -> {
                    ProgramPlace place = call.place();
                    boolean told = place.own() && !place.named().isEmpty();
                    String text =
                            call.group().shown()
                                    + " tried "
                                    + AnswerWording.count(failure.count())
                                    + " times to connect to "
                                    + failure.shown()
                                    + UNREACHED.get(failure.error())
                                    + (told ? "; the calls come from " + place.named() : "")
                                    + ".";
                    return new Finding(UNREACHED_WEIGHT, text);
                });
    }

    private static String meaning(String error) {
        return switch (error) {
            case "EMFILE" -> ": the process has no descriptor left (ulimit -n)";
            case "ENFILE" -> ": the machine has no file left";
            case "EADDRNOTAVAIL" -> ": no local port is left, or the address is not here";
            case "ENOSPC" -> ": the disk is full";
            default -> "";
        };
    }
}
