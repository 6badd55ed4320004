package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import sonde.recording.bundle.RecordingMeta.TargetReading;
import sonde.tools.report.answer.Evidence.ThreadGroup;
import sonde.tools.report.answer.Evidence.WaitSum;

/** Judges time off CPUs. */
final class WaitRules {
    private static final double WORTH_SAYING = 0.2;

    /** What looks like waiting for work counts for so much beside what does not. */
    private static final double IDLE = 0.3;

    /** Waits on a condition that ends hardly ever are those of a pool without work. */
    private static final double RARELY = 0.12;

    /** A second, of each thread. */
    private static final double RARE = 3;

    /** What polling by sleeping is worth at least: it costs in many ways. */
    private static final double POLLING = 0.6;

    /** A wait for a child is explained by what the child does. */
    private static final double CHILD = 0.6;

    /** A thread that sleeps by itself is less of a cause than one that waits for others. */
    private static final double ASLEEP = 0.5;

    /** A program under strace: nothing else it does is worth so much. */
    private static final double TRACED = 0.98;

    private static final int MOST_SLEEPERS = 2;

    /** A wait for a thread's end all the more. */
    private static final double END = 0.12;

    /** Threads that a JVM or Node starts for itself. */
    private static final Pattern RUNTIME_THREAD =
            Pattern.compile(
                    "(G1|GC|ZGC|C1|C2|VM|Shenandoah|Parallel|ParGC|Concurrent|DelayedTask|V8) .*"
                            + "|GC Thread.*|Sweeper thread|Finalizer|Reference Handl.*"
                            + "|Signal Dispatch.*|Common-Cleaner|Service Thread|Monitor Deflati.*"
                            + "|Notification Th.*|Attach Listener|V8Worker.*|libuv-worker.*"
                            + "|node-Worker.*|DelayedTaskSche.*|SignalInspector");

    /** What the holder of a lock does is half of a sentence about those that wait for it. */
    private static final double HELD = 0.4;

    private static final Set<String> FILE_LOCKS = Set.of("flock", "fcntl");
    private static final double ACTIVE = 0.05;
    private static final long OFTEN = 10;
    private static final double RUNTIME = 0.02;
    private static final double POLLS_PER_SECOND = 300;
    private static final long SHORT_NANOS = 3_000_000;

    private static final Set<String> SLEEPS = Set.of("nanosleep", "clock_nanosleep");
    private static final Set<String> POLLS = Set.of("poll", "ppoll", "select", "pselect6");
    private static final Set<String> CHILDREN = Set.of("wait4", "waitid");
    private static final Set<String> FOR_WORK =
            Set.of(
                    "epoll_wait",
                    "epoll_pwait",
                    "epoll_pwait2",
                    "accept",
                    "accept4",
                    "pause",
                    "rt_sigsuspend",
                    "rt_sigtimedwait",
                    "io_getevents",
                    "io_uring_enter");
    private static final Set<String> PEERS =
            Set.of(
                    "poll",
                    "ppoll",
                    "select",
                    "pselect6",
                    "recvfrom",
                    "recvmsg",
                    "read",
                    "connect",
                    "write",
                    "writev",
                    "sendto",
                    "sendmsg",
                    "readv",
                    "splice",
                    "semop",
                    "semtimedop",
                    "msgrcv",
                    "msgsnd",
                    "mq_timedreceive",
                    "mq_timedsend",
                    "epoll_wait",
                    "epoll_pwait",
                    "accept",
                    "accept4");

    private WaitRules() {}

    /** Whether a run time's compiler is at work there: it makes others fast, and ends soon. */
    static boolean isCompiler(ThreadGroup group) {
        return group.name().matches("C[12] Compiler.*");
    }

    /** Whether a call may stand between two tries. */
    static boolean isPause(String call) {
        return SLEEPS.contains(call) || POLLS.contains(call);
    }

    /** Whether a call is for waiting, so that many of them are polls. */
    static boolean waits(String call) {
        return SLEEPS.contains(call)
                || FOR_WORK.contains(call)
                || CHILDREN.contains(call)
                || call.equals("futex");
    }

    /** What threads waited for, where it took much of their time. */
    static List<Finding> longest(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        Set<String> holders = holders(evidence);
        List<WaitSum> sleepers = new ArrayList<>();
        double slept = 0;
        for (WaitSum wait : evidence.waits()) {
            double part = evidence.part(wait.group(), wait.nanos());
            boolean polls = polls(evidence, wait);
            if (evidence.machine() && !polls && isForWorkOfMachine(evidence, wait)) {
                continue;
            }
            if ((part >= WORTH_SAYING || polls) && !(wait.call() + wait.reason()).isEmpty()) {
                double weighed = polls ? Math.max(part, POLLING) : part * weight(evidence, wait);
                weighed = isTraced(evidence, wait) ? Math.max(weighed, TRACED) : weighed;
                weighed *= holders.contains(wait.group().name()) && !isHeld(wait) ? HELD : 1;
                if (SLEEPS.contains(wait.call()) && !polls) {
                    sleepers.add(wait);
                    slept = Math.max(slept, weighed * ASLEEP);
                } else {
                    findings.add(new Finding(weighed, text(evidence, wait)));
                }
            }
        }
        if (!sleepers.isEmpty()) {
            findings.add(new Finding(slept, sleepers(evidence, sleepers)));
        }
        return findings;
    }

    /** Each system call stops it: what it does costs many times what it would. */
    private static boolean isTraced(Evidence evidence, WaitSum wait) {
        return wait.reason().equals(KernelReasons.TRACER)
                && evidence.rate(wait.count()) >= POLLS_PER_SECOND;
    }

    /** Who sleeps by itself is said in one sentence, after those that wait for others. */
    private static String sleepers(Evidence evidence, List<WaitSum> sleepers) {
        String first = text(evidence, sleepers.getFirst());
        String others =
                sleepers.stream()
                        .map(wait -> wait.group().shown())
                        .filter(name -> !name.equals(sleepers.getFirst().group().shown()))
                        .distinct()
                        .limit(MOST_SLEEPERS)
                        .collect(Collectors.joining(", "));
        return others.isEmpty()
                ? first
                : first.substring(0, first.length() - 1) + "; " + others + " slept too.";
    }

    /** Most threads of a machine wait for work, and nobody asked why. */
    private static boolean isForWorkOfMachine(Evidence evidence, WaitSum wait) {
        boolean polls = POLLS.contains(wait.call()) || SLEEPS.contains(wait.call());
        return polls || isIdle(evidence, wait);
    }

    /** Who holds up others: what these threads do is said there. */
    private static Set<String> holders(Evidence evidence) {
        return evidence.waits().stream()
                .filter(wait -> isHeld(wait) && evidence.part(wait.group(), wait.nanos()) >= 0.2)
                .map(wait -> wait.meanwhile().replaceFirst("( \\d+)?, which .*", ""))
                .collect(Collectors.toSet());
    }

    private static boolean isHeld(WaitSum wait) {
        return !wait.meanwhile().isEmpty() && (isLock(wait) || FILE_LOCKS.contains(wait.call()));
    }

    private static boolean polls(Evidence evidence, WaitSum wait) {
        return SLEEPS.contains(wait.call())
                && evidence.rate(wait.count()) >= POLLS_PER_SECOND
                && wait.nanos() / Math.max(1, wait.count()) < SHORT_NANOS;
    }

    private static boolean othersAct(Evidence evidence, WaitSum wait) {
        boolean runs =
                evidence.groups().stream()
                        .filter(group -> !group.equals(wait.group()))
                        .anyMatch(group -> group.runningNanos() > evidence.wallNanos() * ACTIVE);
        return runs
                || evidence.waits().stream()
                        .filter(other -> !other.group().equals(wait.group()))
                        .anyMatch(other -> other.count() > OFTEN && !isForWork(other));
    }

    private static double weight(Evidence evidence, WaitSum wait) {
        if (CHILDREN.contains(wait.call())) {
            return CHILD;
        }
        if (wait.object().startsWith(END_OF)) {
            return END;
        }
        boolean pool = wait.reason().equals(FutexReasons.RUNTIME_WORK);
        if (pool || RUNTIME_THREAD.matcher(wait.group().name()).matches()) {
            return RUNTIME;
        }
        // One wait from beginning to end, beside threads that do something.
        if (wait.count() <= 2
                && evidence.part(wait.group(), wait.nanos()) > 0.9
                && othersAct(evidence, wait)) {
            return IDLE;
        }
        // Who is woken by its like waits for what they hold, not for work.
        boolean contended = wait.call().equals("futex") && wait.amongThemselves();
        if (!isForWork(wait) || contended) {
            return 1;
        }
        boolean rare = evidence.rate(wait.count()) < RARE * wait.group().threads();
        return wait.call().equals("futex") && rare ? RARELY : IDLE;
    }

    /** Whether the wait looks like that of a thread that has nothing to do. */
    static boolean isIdle(Evidence evidence, WaitSum wait) {
        return weight(evidence, wait) <= IDLE;
    }

    /** Whether the wait is one of a pool's or a run time's threads that has nothing to do. */
    static boolean isForWork(WaitSum wait) {
        boolean condition = wait.call().equals("futex") && !isLock(wait);
        return FOR_WORK.contains(wait.call()) || condition && !isStop(wait);
    }

    /** Whether the futex is that of a lock, as glibc's functions tell. */
    static boolean isLock(WaitSum wait) {
        return wait.reason().startsWith(LOCK)
                || wait.reason().startsWith("a Java monitor")
                || wait.object().startsWith(LOCKED);
    }

    /** Whether a run time keeps the thread from running. */
    private static boolean isStop(WaitSum wait) {
        return wait.reason().contains("a stop of all") || wait.reason().startsWith("the GIL");
    }

    /** Begin of the name of a child that is waited for. */
    static final String CHILD_NAMED = "child ";

    private static final String END_OF = "end of ";

    /** Begin of the names of locks whose owner is known. */
    static final String LOCKED = "lock ";

    /** Reason of a wait for a mutex of user space. */
    static final String LOCK = "a lock";

    /** Begin of the name of memory that processes share. */
    private static final String SHARED = "shared memory ";

    /** The variable of a lock or condition whose owner is not known. */
    private static String variable(WaitSum wait, String otherwise) {
        if (wait.object().startsWith(SHARED)) {
            return otherwise + " in " + wait.object();
        }
        return wait.object().startsWith(FUTEX)
                ? "the variable " + wait.object().substring(FUTEX.length())
                : otherwise;
    }

    private static final String FUTEX = "futex ";

    private static String text(Evidence evidence, WaitSum wait) {
        ThreadGroup group = wait.group();
        StringBuilder text = new StringBuilder(group.shown());
        boolean polls = polls(evidence, wait);
        text.append(SLEEPS.contains(wait.call()) ? " slept " : " waited ");
        text.append(AnswerWording.time(wait.nanos())).append(" of ");
        if (group.threads() > 1 && group.wallNanos() > 1.5 * evidence.wallNanos()) {
            text.append(group.threads()).append(" × ");
            text.append(AnswerWording.time(group.wallNanos() / group.threads()));
        } else {
            text.append(AnswerWording.time(Math.max(evidence.wallNanos(), group.wallNanos())));
        }
        text.append(what(evidence, wait));
        if (polls) {
            text.append(", ").append(AnswerWording.count(wait.count())).append(" times for ");
            text.append(AnswerWording.time(wait.nanos() / Math.max(1, wait.count())));
        } else if (wait.count() > 1 && !SLEEPS.contains(wait.call())) {
            text.append(" (")
                    .append(AnswerWording.count(wait.count()))
                    .append(" times, the longest ");
            text.append(AnswerWording.time(wait.longest())).append(')');
        }
        boolean library = !wait.place().module().equals(group.name());
        if (wait.place().own() && !wait.place().named().isEmpty()) {
            text.append(wait.meanwhile().isEmpty() ? ", called from " : "; the call comes from ");
            text.append(wait.place().named());
        } else if (wait.place().own() && library && !wait.place().module().startsWith("[")) {
            text.append(", called from code of ").append(wait.place().module());
            text.append(", of which no symbols were found");
        }
        text.append(polls ? ": a loop of short sleeps" : "");
        return text.append('.').toString();
    }

    /** {@code in fsync of /var/x/journal.log}, {@code for its child sleep}. */
    private static String what(Evidence evidence, WaitSum wait) {
        String waker = wait.waker();
        String of = wait.object().isEmpty() ? "" : " of " + wait.object();
        if (CHILDREN.contains(wait.call())) {
            String child = wait.object().startsWith("child") ? wait.object() : CHILD_NAMED + waker;
            boolean unknown = child.equals(CHILD_NAMED);
            String whose = wait.group().threads() > 1 ? " for their " : " for its ";
            return unknown ? " for a child in " + wait.call() : whose + child;
        }
        String held = wait.meanwhile();
        if (isLock(wait)) {
            String lock =
                    wait.object().startsWith(LOCKED)
                            ? "the " + wait.object()
                            : wait.reason()
                                    + (wait.object().startsWith(FUTEX)
                                            ? ", " + variable(wait, "")
                                            : wait.object().startsWith(SHARED)
                                                    ? " in " + wait.object()
                                                    : "");
            String released = waker.isEmpty() ? "" : ", released by " + waker;
            return " for " + lock + " (futex)" + (held.isEmpty() ? released : ", held by " + held);
        }
        String by =
                !held.isEmpty()
                        ? ", woken by " + held
                        : waker.isEmpty() ? "" : ", woken by " + waker;
        if (FILE_LOCKS.contains(wait.call())) {
            return " for the file lock"
                    + of
                    + " ("
                    + wait.call()
                    + ")"
                    + (held.isEmpty() ? "" : ", held by " + held);
        }
        if (wait.call().equals("futex")) {
            return wait.object().startsWith(END_OF)
                    ? " for the " + wait.object()
                    : (wait.reason().isEmpty()
                                    ? " on " + variable(wait, "a condition")
                                    : " for " + wait.reason())
                            + " (futex)"
                            + by;
        }
        if (wait.call().isEmpty() && wait.reason().startsWith(KernelReasons.FUNCTION)) {
            return " in " + wait.reason();
        }
        String server = server(evidence, wait);
        by = server.isEmpty() ? by : server;
        boolean dns = wait.object().endsWith(":53");
        String reason =
                dns ? " (a DNS server)" : wait.reason().isEmpty() ? "" : " for " + wait.reason();
        if (wait.call().isEmpty()) {
            return reason + (wait.reason().equals(KernelReasons.TRACER) ? by : "");
        }
        boolean ofFile = wait.call().contains("sync");
        of = ofFile || wait.object().isEmpty() ? of : AnswerWording.on(wait.object());
        return " in " + wait.call() + of + reason + (PEERS.contains(wait.call()) ? by : "");
    }

    /** {@code ", served by python3 4242, which …"}: which process is at the other end. */
    private static String server(Evidence evidence, WaitSum wait) {
        String peer = wait.object().replaceFirst(" \\(.*\\)$", "");
        for (TargetReading one : evidence.counters()) {
            String who = one.subject();
            String name = one.name().equals(TargetReading.SERVES) ? who : "";
            if (!peer.isEmpty() && name.endsWith(" " + one.last() + " " + peer)) {
                return ", served by "
                        + who.substring(0, who.length() - peer.length() - 1)
                        + serving(evidence, peer);
            }
        }
        return "";
    }

    /** What looks found the server in. */
    private static String serving(Evidence evidence, String peer) {
        return evidence.counters().stream()
                .filter(one -> one.name().equals(TargetReading.SERVING) && one.last() > 1)
                .filter(one -> one.subject().startsWith(peer + " "))
                .findFirst()
                .map(one -> {
                    String call = one.subject().substring(peer.length() + 1);
                    String did = SLEEPS.contains(call) ? "slept in " : "was in ";
                    return ", which "
                            + (call.equals("running") ? "ran" : did + call)
                            + " in "
                            + one.last()
                            + " of "
                            + one.most()
                            + " looks";
                })
                .orElse("");
    }
}
