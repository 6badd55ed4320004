package sonde.tools.report.answer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sonde.event.result.Frame;
import sonde.recording.bundle.RecordingMeta.TargetReading;
import sonde.tools.report.answer.Evidence.CallSum;
import sonde.tools.report.answer.Evidence.CpuUse;
import sonde.tools.report.answer.Evidence.DeathSum;
import sonde.tools.report.answer.Evidence.DescriptorSum;
import sonde.tools.report.answer.Evidence.FailureSum;
import sonde.tools.report.answer.Evidence.FaultSum;
import sonde.tools.report.answer.Evidence.SharedSum;
import sonde.tools.report.answer.Evidence.SignalSum;
import sonde.tools.report.answer.Evidence.StartSum;
import sonde.tools.report.answer.Evidence.ThreadGroup;
import sonde.tools.report.answer.Evidence.WaitSum;

/** Each rule with evidence on which it speaks, and with evidence on which it must be silent. */
final class JudgementTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long WALL = 5 * SECOND;
    private static final ProgramPlace COMMIT =
            new ProgramPlace("journal_commit", "server", List.of("handle_request", "main"), true);
    private static final ProgramPlace MALLOC =
            new ProgramPlace("malloc", "libc.so.6", List.of(), false);

    private final List<ThreadGroup> groups = new ArrayList<>();
    private final List<CpuUse> cpu = new ArrayList<>();
    private final List<SharedSum> shared = new ArrayList<>();
    private final List<WaitSum> waits = new ArrayList<>();
    private final List<CallSum> calls = new ArrayList<>();
    private final List<StartSum> starts = new ArrayList<>();
    private final List<SignalSum> signals = new ArrayList<>();
    private final List<DeathSum> deaths = new ArrayList<>();
    private final List<FaultSum> faults = new ArrayList<>();
    private final List<DescriptorSum> descriptors = new ArrayList<>();
    private final List<FailureSum> failures = new ArrayList<>();
    private final List<TargetReading> counters = new ArrayList<>();
    private final List<StartSum> threadStarts = new ArrayList<>();
    private double faultShare;
    private boolean machine;

    private List<String> sentences() {
        return Judgement.sentences(
                new Evidence(
                        WALL,
                        groups,
                        cpu,
                        shared,
                        waits,
                        calls,
                        starts,
                        threadStarts,
                        signals,
                        deaths,
                        faults,
                        descriptors,
                        failures,
                        counters,
                        2,
                        faultShare,
                        machine));
    }

    private ThreadGroup group(String name, int threads, double running, double runnable) {
        ThreadGroup group =
                new ThreadGroup(
                        name,
                        threads == 1 ? 7 : 0,
                        threads,
                        1,
                        threads * WALL,
                        (long) (running * SECOND),
                        (long) (runnable * SECOND));
        groups.add(group);
        return group;
    }

    private void wait(ThreadGroup group, String call, String object, double seconds, long count) {
        wait(group, call, "", object, "", COMMIT, false, seconds, count);
    }

    private void wait(
            ThreadGroup group,
            String call,
            String reason,
            String object,
            String meanwhile,
            ProgramPlace place,
            boolean amongThemselves,
            double seconds,
            long count) {
        long nanos = (long) (seconds * SECOND);
        waits.add(
                new WaitSum(
                        group,
                        "sleeping",
                        call,
                        reason,
                        object,
                        place,
                        meanwhile,
                        Map.of(),
                        amongThemselves,
                        nanos,
                        count,
                        nanos / count));
    }

    private void call(
            ThreadGroup group, String call, long count, long bytes, String error, double share) {
        Map<String, Long> errors = error.isEmpty() ? Map.of() : Map.of(error, count);
        calls.add(
                new CallSum(
                        group,
                        call,
                        count,
                        SECOND,
                        1000,
                        errors,
                        "/tmp/out",
                        bytes,
                        share,
                        COMMIT));
    }

    @Test
    void memoryThatThreadsShareIsNamed() {
        ThreadGroup group = group("counter", 3, 8, 0);
        ProgramPlace add = new ProgramPlace("add_hit", "counter", List.of("run"), true);
        shared.add(new SharedSum(group, add, 3, 0.8, "lock addq", List.of("total_hits")));
        assertThat(sentences().getFirst())
                .contains(
                        "80 % of the CPU time in add_hit", "lock addq on total_hits", "3 threads");
        shared.set(0, new SharedSum(group, add, 2, 0.8, "", List.of("left", "right")));
        assertThat(sentences().getFirst()).contains("left and right", "one cache line");
        shared.set(0, new SharedSum(group, add, 3, 0.8, "lock addq", List.of()));
        assertThat(sentences()).anyMatch(text -> text.contains("addresses are not known"));
        shared.set(0, new SharedSum(group, add, 3, 0.1, "lock addq", List.of("total_hits")));
        assertThat(sentences()).noneMatch(text -> text.contains("total_hits"));
    }

    @Test
    void whoServesAPeerIsNamed() {
        wait(group("client", 1, 0.1, 0), "recvfrom", "127.0.0.1:80", 4, 20);
        counters.add(new TargetReading("serves", "my app 42 10.127.0.0.1:80", 42, 42, 42));
        assertThat(sentences().getFirst()).doesNotContain("served");
        counters.add(new TargetReading("serves", "my app 42 127.0.0.1:80", 42, 42, 42));
        counters.add(new TargetReading("serving", "127.0.0.1:80 clock_nanosleep", 0, 5, 6));
        assertThat(sentences().getFirst())
                .contains("on 127.0.0.1:80, served by my app 42, which slept in clock_nanosleep")
                .contains("in 5 of 6 looks");
    }

    @Test
    void threadsThatTakeTurnsDoNotContend() {
        ThreadGroup group = group("counter", 3, 4, 0);
        shared.add(new SharedSum(group, COMMIT, 3, 0.8, "lock addq", List.of("total_hits")));
        assertThat(sentences()).noneMatch(text -> text.contains("total_hits"));
    }

    @Test
    void nothingIsSaidOfNothing() {
        assertThat(sentences()).isEmpty();
        wait(group("server", 1, 0.01, 0), "epoll_wait", "", 0.5, 3);
        assertThat(sentences()).isEmpty();
    }

    @Test
    void aDeathBySignalIsToldWithPlaceSenderOrReason() {
        deaths.add(new DeathSum("server 7", "SIGSEGV", "", COMMIT, "", "", 1));
        deaths.add(new DeathSum("job 8", "SIGTERM", "timeout 9", ProgramPlace.UNKNOWN, "", "", 1));
        deaths.add(
                new DeathSum(
                        "job", "SIGKILL", "", MALLOC, "", "the machine had no memory left", 3));
        deaths.add(new DeathSum("log 5", "SIGXFSZ", "", COMMIT, "/var/log/x", "", 1));
        String in = ", in journal_commit ← handle_request ← main.";
        assertThat(sentences())
                .containsExactly(
                        "server 7 was killed by SIGSEGV: it used memory that it may not use" + in,
                        "3 processes job were killed by SIGKILL: the machine had no memory left,"
                                + " in malloc of libc.so.6.",
                        "log 5 was killed by SIGXFSZ: a file reached its limit of size (ulimit"
                                + " -f), /var/log/x"
                                + in,
                        "job 8 was killed by SIGTERM from timeout 9.");
    }

    @Test
    void aFunctionThatRunsIsNamedWithItsCaller() {
        ThreadGroup group = group("server", 1, 4.9, 0);
        cpu.add(new CpuUse(group, COMMIT, 0.97, 970, 0.01, List.of(), ""));
        cpu.add(new CpuUse(group, MALLOC, 0.03, 30, 0, List.of(), ""));
        assertThat(sentences())
                .containsExactly(
                        "server 7 ran 4.90 s of 5.00 s: 97 % of the CPU time in journal_commit,"
                                + " called from handle_request.");
    }

    @Test
    void withoutSamplesItIsToldWhoHadTheCpus() {
        group("worker", 8, 9, 0);
        group("loader", 1, 1, 0);
        assertThat(sentences())
                .containsExactly(
                        "the 8 worker threads ran 9.00 s in 5.00 s, 90 % of the CPU time; the"
                                + " recording has no samples that tell in which functions.");
        groups.clear();
        group("worker", 8, 1, 0);
        assertThat(sentences()).isEmpty();
    }

    @Test
    void fewSamplesOrScatteredOnesNameNoFunction() {
        ThreadGroup group = group("server", 1, 4.9, 0);
        cpu.add(new CpuUse(group, COMMIT, 1, 9, 0, List.of(), ""));
        assertThat(sentences()).isEmpty();
        cpu.clear();
        for (int i = 0; i < 10; i++) {
            ProgramPlace place = new ProgramPlace("f" + i, "m" + i, List.of(), true);
            cpu.add(new CpuUse(group, place, 0.1, 100, 0, List.of(), ""));
        }
        assertThat(sentences()).isEmpty();
    }

    @Test
    void aWaitIsToldWithObjectAndFunction() {
        wait(group("server", 1, 0.1, 0), "fsync", "/var/x/journal.log", 4.5, 300);
        assertThat(sentences())
                .containsExactly(
                        "server 7 waited 4.50 s of 5.00 s in fsync of /var/x/journal.log (300"
                                + " times, the longest 15.0 ms), called from journal_commit ←"
                                + " handle_request ← main.");
    }

    @Test
    void aWaitInCodeWithoutNamesIsToldByItsCallers() {
        ThreadGroup group = group("sqlite3", 1, 0.1, 0);
        String module = "libsqlite3.so.0";
        List<String> callers = List.of("busy", "begin", "step");
        ProgramPlace place =
                new ProgramPlace("[" + module + "] without symbols", module, callers, true);
        wait(group, "clock_nanosleep", "", "", "", place, false, 4.5, 40);
        assertThat(sentences().getFirst()).contains(", called from busy ← begin").endsWith(".");
    }

    @Test
    void aLockIsToldWithItsHolderBeforeWhatTheHolderDoes() {
        ThreadGroup workers = group("worker", 4, 0.1, 0);
        ThreadGroup holder = group("refresher", 1, 0.01, 0);
        wait(holder, "clock_nanosleep", "", 4.4, 150);
        String held = "refresher, which slept, called from refresh_cache";
        wait(workers, "futex", WaitRules.LOCK, "lock 0x40", held, COMMIT, false, 17, 600);
        assertThat(sentences().getFirst())
                .startsWith(
                        "the 4 worker threads waited 17.0 s of 4 × 5.00 s for the lock 0x40"
                                + " (futex), held by refresher, which slept, called from"
                                + " refresh_cache");
    }

    @Test
    void threadsThatWaitForWorkComeLast() {
        ThreadGroup main = group("server", 1, 4.5, 0);
        cpu.add(new CpuUse(main, COMMIT, 1, 1000, 0, List.of(), ""));
        ThreadGroup pool = group("pool", 8, 0, 0);
        wait(pool, "futex", "", "", "", MALLOC, false, 39, 16);
        ThreadGroup runtime = group("G1 Conc#", 2, 0, 0);
        wait(runtime, "futex", "", "", "", MALLOC, false, 10, 2);
        assertThat(sentences()).hasSize(1);
        assertThat(sentences().getFirst()).startsWith("server 7 ran");
        ThreadGroup fed = group("encoder", 3, 0, 0);
        wait(fed, "futex", "", "futex frames", "", MALLOC, false, 14, 500);
        assertThat(sentences()).hasSize(2);
        assertThat(sentences().get(1))
                .startsWith(
                        "the 3 encoder threads waited 14.0 s of 3 × 5.00 s on the variable"
                                + " frames (futex)");
    }

    @Test
    void callsThatCostAreCountedWithTheirSize() {
        ThreadGroup group = group("export", 1, 4.8, 0);
        cpu.add(new CpuUse(group, COMMIT, 1, 1000, 0.9, List.of("write"), ""));
        call(group, "write", 1_500_000, 1_500_000, "", 0.8);
        assertThat(sentences())
                .containsExactly(
                        "export 7 made 1,500,000 write calls on /tmp/out (300,000 a second, 1 B"
                                + " each), 80 % of the CPU time, from journal_commit ←"
                                + " handle_request ← main; a buffer would save most of them.");
        calls.clear();
        call(group, "write", 300, 300_000_000, "", 0.1);
        assertThat(sentences()).isEmpty();
    }

    @Test
    void readsThatFailAreAPollAndCallsForWaitingAreNot() {
        ThreadGroup group = group("loop", 1, 4.9, 0);
        cpu.add(new CpuUse(group, COMMIT, 1, 1000, 0.9, List.of("read"), ""));
        call(group, "read", 1_000_000, 832, "EAGAIN", 0.9);
        assertThat(sentences().getFirst())
                .contains("100 % failed with EAGAIN: it polls without waiting")
                .doesNotContain(" each");
        calls.clear();
        call(group, "futex", 1_000_000, 0, "", 0.9);
        assertThat(sentences()).isEmpty();
    }

    /** CPython before 3.13 makes its locks of semaphores; its own functions may have no names. */
    @Test
    void aLockOfPythonIsNoSemaphore() {
        List<String> chain = List.of("do_futex_wait", "__new_sem_wait_slow64");
        assertThat(FutexReasons.of(chain)).isEqualTo("a semaphore");
        List<String> python =
                Stream.concat(chain.stream(), Stream.of("PyThread_acquire_lock_timed")).toList();
        assertThat(FutexReasons.of(python)).isEqualTo("a Python lock, condition or queue");
    }

    @Test
    void aSocketThatListensIsNamedByWhereItIs() {
        wait(group("server", 1, 0.1, 0), "poll", "at 127.0.0.1:80", 4.9, 5);
        assertThat(sentences().getFirst()).contains("in poll on the socket at 127.0.0.1:80 (5");
    }

    @Test
    void shortSleepsAreALoop() {
        ThreadGroup group = group("poller", 1, 0.1, 0);
        wait(group, "clock_nanosleep", "", 0.4, 8000);
        assertThat(sentences().getFirst())
                .contains("8,000 times for 50.0 µs")
                .endsWith("a loop of short sleeps.");
        waits.clear();
        wait(group, "clock_nanosleep", "", 0.4, 4);
        assertThat(sentences()).isEmpty();
    }

    @Test
    void oneFunctionIsToldOnceWhoeverCalledIt() {
        ThreadGroup group = group("server", 1, 4.9, 0);
        for (String caller : List.of("depth", "top", "main")) {
            ProgramPlace place = new ProgramPlace("parse", "server", List.of(caller), true);
            String leaf = CpuEvidence.THROWING;
            cpu.add(new CpuUse(group, place, 0.3, 300, 0, List.of(), leaf));
        }
        assertThat(sentences())
                .containsExactly(
                        "server 7 ran 4.90 s of 5.00 s: 100 % of the CPU time in parse (most of it"
                                + " in throwing exceptions).");
    }

    @Test
    void aJavaMethodIsOneFunctionInterpretedOrCompiled() {
        ThreadGroup group = group("java", 1, 4.9, 0);
        for (String line : List.of(" (Throw.java:1)", " (Throw.java:7)", "")) {
            List<String> callers = List.of("Throw.depth");
            ProgramPlace place = new ProgramPlace("Throw.parse" + line, "[jit]", callers, true);
            cpu.add(new CpuUse(group, place, 0.33, 330, 0, List.of(), ""));
        }
        assertThat(sentences())
                .containsExactly(
                        "java 7 ran 4.90 s of 5.00 s: 100 % of the CPU time in Throw.parse, called"
                                + " from Throw.depth.");
    }

    @Test
    void aCompilerOfARunTimeComesAfterWhatItCompilesFor() {
        ThreadGroup compiler = group("C2 CompilerThre", 1, 3, 0);
        ThreadGroup main = group("java", 1, 2, 0);
        cpu.add(new CpuUse(compiler, MALLOC, 0.6, 600, 0, List.of(), ""));
        cpu.add(new CpuUse(main, COMMIT, 0.4, 400, 0, List.of(), ""));
        assertThat(sentences().getFirst()).startsWith("java 7 ran");
    }

    @Test
    void callsOfSeveralKindsAreToldTogetherOfTheFunctionThatMakesThem() {
        ThreadGroup group = group("server", 1, 4.9, 0);
        cpu.add(new CpuUse(group, COMMIT, 1, 1000, 0.9, List.of("fstat"), ""));
        call(group, "fstat", 400_000, 0, "", 0.25);
        call(group, "lseek", 400_000, 0, "", 0.2);
        call(group, "getpid", 300_000, 0, "", 0.2);
        call(group, "futex", 300_000, 0, "", 0.2);
        call(group, "umask", 100_000, 0, "", 0);
        assertThat(sentences())
                .containsExactly(
                        "server 7 made 1,200,000 system calls (240,000 a second), 65 % of the CPU"
                                + " time, from journal_commit ← handle_request ← main: fstat"
                                + " ×400,000, lseek ×400,000, getpid ×300,000, umask ×100,000;"
                                + " fstat, lseek, getpid, umask on /tmp/out.");
    }

    @Test
    void aPeerThatDoesNotTakeConnectionsIsNamed() {
        ThreadGroup group = group("client", 1, 0.1, 0);
        wait(group, "clock_nanosleep", "", 4.8, 20);
        call(group, "connect", 20, 0, "ECONNREFUSED", 0);
        failures.add(new FailureSum("10.0.0.7:5432", "ECONNREFUSED", 20, 1));
        assertThat(sentences().getFirst())
                .isEqualTo(
                        "client 7 tried 20 times to connect to 10.0.0.7:5432: nobody listens there"
                                + " (ECONNREFUSED); the calls come from journal_commit ←"
                                + " handle_request ← main.");
        failures.set(0, new FailureSum("10.0.0.7:5432", FailureSum.SILENT, 20, 1));
        assertThat(sentences().getFirst()).contains("slept");
        call(group, "connect", 20, 0, FailureSum.SILENT, 0);
        assertThat(sentences().getFirst())
                .contains("tried 20 times to connect to 10.0.0.7:5432 without waiting");
    }

    @Test
    void stopsOfATracedProcessAreNoStormOfSignals() {
        ThreadGroup traced = group("dd", 1, 1, 0);
        signals.add(new SignalSum("strace 8", "dd 7", "SIGCHLD", 100_000));
        assertThat(sentences().getFirst()).contains("100,000 SIGCHLD");
        wait(traced, "", KernelReasons.TRACER, "", "", COMMIT, false, 3, 100_000);
        assertThat(sentences()).hasSize(1).allMatch(one -> one.contains("for its tracer"));
        signals.set(0, new SignalSum("sh 8", "expr 9", "SIGCHLD", 100_000));
        assertThat(sentences()).hasSize(2);
    }

    @Test
    void startsAreAStormWhenTheyGoOn() {
        group("sh", 1, 0.5, 0);
        starts.add(new StartSum("expr", "forky.sh 7", 300, 2 * SECOND, SECOND, 300, 300, 10));
        starts.add(new StartSum("cut", "forky.sh 7", 200, SECOND, SECOND, 200, 200, 10));
        assertThat(sentences().getFirst())
                .startsWith(
                        "500 processes were started in 5.00 s: expr ×300, cut ×200, most by"
                                + " forky.sh 7;");
        starts.clear();
        starts.add(new StartSum("expr", "forky.sh 7", 500, SECOND, SECOND, 500, 500, 1));
        assertThat(sentences()).isEmpty();
        starts.clear();
        threadStarts.add(new StartSum("server", "server 7", 900, SECOND, 0, 900, 0, 10));
        assertThat(sentences())
                .containsExactly(
                        "900 threads were started in 5.00 s: server ×900, most by server 7; they"
                                + " lived 1.00 s and used 0 ns of CPU.");
    }

    @Test
    void sleepersAreOneSentenceBehindThoseThatWaitForOthers() {
        wait(group("ticker", 1, 0.01, 0), "clock_nanosleep", "", 4.9, 40);
        wait(group("main", 1, 0.01, 0), "clock_nanosleep", "", 4.8, 5);
        ThreadGroup group = group("worker", 3, 0.1, 0);
        wait(group, "fsync", "", "/journal", "", COMMIT, false, 12, 300);
        assertThat(sentences()).hasSize(2);
        assertThat(sentences().getFirst()).contains("fsync of /journal");
        assertThat(sentences().getLast())
                .startsWith("ticker 7 slept")
                .endsWith("main 7 slept too.");
    }

    @Test
    void threadsOfAMachineThatPollAreIdle() {
        wait(group("alsa-sink", 1, 0.1, 0), "ppoll", "unix:/run/pulse", 4.8, 300);
        assertThat(sentences()).hasSize(1);
        machine = true;
        assertThat(sentences()).isEmpty();
    }

    @Test
    void theFunctionThatStartsProgramsIsNamed() {
        ThreadGroup parent = group("server", 1, 0.5, 0);
        starts.add(new StartSum("uname", "server 7", 300, SECOND, SECOND, 300, 300, 10));
        call(parent, "vfork", 300, 0, "", 0.01);
        String by = "most by server 7 in journal_commit ← handle_request ← main; they lived";
        assertThat(sentences().getFirst()).contains(by);
        starts.set(0, new StartSum("uname", "sh 9", 300, SECOND, SECOND, 300, 300, 10));
        assertThat(sentences().getFirst()).contains("most by sh 9; they lived");
    }

    /** Each program looks for libraries and locales at its start. */
    @Test
    void whatStartedProgramsLookForInVainIsNoStorm() {
        group("server", 1, 0.5, 0);
        starts.add(new StartSum("uname", "server 7", 300, SECOND, SECOND, 300, 300, 10));
        failures.add(new FailureSum("/usr/lib/locale/…", "ENOENT", 5000, 67));
        assertThat(sentences()).singleElement().asString().startsWith("300 processes");
        failures.set(0, new FailureSum("/opt/plugins/…", "ENOENT", 90_000, 67));
        assertThat(sentences()).anyMatch(sentence -> sentence.startsWith("90,000 attempts"));
    }

    @Test
    void aTracerIsNamed() {
        ThreadGroup group = group("dd", 1, 0.1, 0);
        String tracer = KernelReasons.TRACER;
        long nanos = 4 * SECOND;
        Map<String, Long> wakers = Map.of("strace 5", nanos);
        waits.add(
                new WaitSum(
                        group, "stopped", "", tracer, "", COMMIT, "", wakers, false, nanos, 9, 1));
        assertThat(sentences().getFirst()).contains("for its tracer (ptrace), woken by strace 5");
    }

    @Test
    void theFunctionOfALibraryThatWasCalledIsItsEntry() {
        Frame search = new Frame("_Unwind_Find_FDE", "libgcc_s.so.1", Frame.Kind.USER);
        Frame thrown = new Frame("__cxa_throw", "libstdc++.so.6", Frame.Kind.USER);
        Frame parse = new Frame("parse_field", "server", Frame.Kind.USER);
        assertThat(ProgramFrames.entry(List.of(search, thrown, parse))).isEqualTo("__cxa_throw");
        assertThat(ProgramFrames.entry(List.of(parse))).isEmpty();
        assertThat(ProgramFrames.entry(List.of(search, thrown))).isEmpty();
    }

    @Test
    void theCallOperatorKeepsItsName() {
        Frame lambda = new Frame("Task::operator()(int)", "server", Frame.Kind.USER);
        assertThat(ProgramFrames.name(lambda)).isEqualTo("Task::operator()");
        Frame plain = new Frame("operator()", "server", Frame.Kind.USER);
        assertThat(ProgramFrames.name(plain)).isEqualTo("operator()");
    }

    @Test
    void childrenThatNobodyWaitsForAreZombies() {
        group("spawner", 1, 0.5, 0);
        starts.add(new StartSum("job", "spawner 7", 60, SECOND, 0, 60, 0, 3));
        assertThat(sentences().getFirst()).startsWith("60 children of spawner 7 ended, and it");
        starts.clear();
        starts.add(new StartSum("job", "spawner 7", 60, SECOND, 0, 60, 60, 3));
        assertThat(sentences()).isEmpty();
    }

    @Test
    void signalsDescriptorsAndLimitsAreCounted() {
        group("server", 1, 0.5, 0);
        signals.add(new SignalSum("server 7", "timers or itself", "SIGALRM", 5000));
        descriptors.add(new DescriptorSum("server 7", 900, 3, 897, List.of("/etc/hosts ×880")));
        failures.add(new FailureSum("/etc/hosts", "EMFILE", 40, 1));
        assertThat(sentences())
                .contains(
                        "server 7 got 5,000 SIGALRM (1,000 a second) from timers or itself.",
                        "server 7 opened 900 descriptors and had up to 897 of them open at once, 3"
                                + " were closed: /etc/hosts ×880.",
                        "40 attempts on /etc/hosts failed with EMFILE: the process has no"
                                + " descriptor left (ulimit -n).");
        signals.set(0, new SignalSum("server 7", "timers or itself", "SIGALRM", 50));
        descriptors.set(0, new DescriptorSum("server 7", 900, 880, 30, List.of()));
        failures.set(0, new FailureSum("/etc/hosts", "ENOENT", 40, 1));
        assertThat(sentences()).isEmpty();
    }

    @Test
    void pageFaultsCountWhereTheyCost() {
        ThreadGroup group = group("loader", 1, 4, 0);
        faults.add(new FaultSum(group, COMMIT, 500_000));
        faultShare = 0.6;
        assertThat(sentences().getFirst())
                .isEqualTo(
                        "500,000 page faults (1.91 GiB of pages), 100 % of them of"
                                + " loader 7 in journal_commit, called from handle_request.");
        faultShare = 0.05;
        assertThat(sentences()).noneMatch(text -> text.contains("page faults"));
    }

    @Test
    void threadsThatAreBoundToBusyCpusAreTold() {
        group("packer", 4, 5, 15);
        for (int tid = 21; tid < 25; tid++) {
            counters.add(new TargetReading("bound", "packer " + tid, 1, 1, 1));
        }
        counters.add(new TargetReading("bound", "other 9", 2, 2, 2));
        counters.add(new TargetReading("idle", "0", 0, SECOND, SECOND));
        counters.add(new TargetReading("idle", "1", 0, 4 * SECOND, 4 * SECOND));
        assertThat(sentences())
                .contains(
                        "4 threads wanted 20.0 s of CPU and got 5.00 s in 5.00 s: 4 threads may run"
                                + " on CPU 0 only (affinity or cpuset), while CPU 1 was idle for"
                                + " 4.00 s.");
        counters.removeIf(one -> one.name().equals("idle"));
        counters.add(new TargetReading("nice", "packer 21", 10, 10, 10));
        assertThat(sentences())
                .contains(
                        "4 threads wanted 20.0 s of CPU and got 5.00 s in 5.00 s: 4 threads may run"
                                + " on CPU 0 only (affinity or cpuset), and the CPUs were not free"
                                + " for 15.0 s; packer 21 has a nice value of 10.");
    }

    @Test
    void countersTellMemoryThrottlingAndOthers() {
        group("loader", 1, 1, 4);
        counters.add(new TargetReading("private", "loader 7", 1 << 20, 400 << 20, 400 << 20));
        counters.add(new TargetReading("cpu", "loader 7", 0, 4 * SECOND, 4 * SECOND));
        counters.add(new TargetReading("cpu", "stress-ng 99", 0, 4 * SECOND, 4 * SECOND));
        assertThat(sentences())
                .containsExactlyInAnyOrder(
                        "loader 7 wanted 5.00 s of CPU and got 1.00 s in 5.00 s: the CPUs were busy"
                                + " with stress-ng 99 (4.00 s).",
                        "loader 7 grew from 1.00 MiB to 400 MiB of memory of its own.");
        counters.add(new TargetReading("quota", "/job", SECOND / 5, SECOND / 5, SECOND / 5));
        counters.add(new TargetReading("throttled", "/job", 0, 4 * SECOND, 4 * SECOND));
        assertThat(sentences().getFirst())
                .isEqualTo(
                        "The cgroup /job may use 20 % of a CPU: it was throttled for 4.00 s of 5.00"
                                + " s.");
        assertThat(sentences()).noneMatch(text -> text.contains("wanted"));
        counters.clear();
        groups.clear();
        group("loader", 1, 1, 0.1);
        counters.add(new TargetReading("private", "loader 7", 300 << 20, 310 << 20, 310 << 20));
        counters.add(new TargetReading("throttled", "/job", SECOND, SECOND, SECOND));
        assertThat(sentences()).isEmpty();
        counters.clear();
        group("VM Thread", 1, 0.1, 0);
        counters.add(new TargetReading("private", "loader 7", 2 << 20, 60 << 20, 60 << 20));
        assertThat(sentences()).isEmpty(); // each JVM takes a heap
    }

    private static Frame frame(String name, String module, Frame.Kind kind) {
        return new Frame(name, module, kind);
    }

    @Test
    void theProgramsOwnFunctionIsBehindThoseOfItsRunTime() {
        ProgramPlace place =
                ProgramFrames.place(
                        List.of(
                                frame("schedule", "[kernel]", Frame.Kind.KERNEL),
                                frame("fsync", "libc.so.6", Frame.Kind.USER),
                                frame("std::invoke(int)", "server", Frame.Kind.USER),
                                frame("Journal::commit(char const*)", "server", Frame.Kind.USER),
                                frame("walk", "server", Frame.Kind.USER),
                                frame("walk", "server", Frame.Kind.USER),
                                frame("main", "server", Frame.Kind.USER),
                                frame("_start", "server", Frame.Kind.USER)));
        assertThat(place.chain()).isEqualTo("Journal::commit ← walk ← main");
        assertThat(place.own()).isTrue();
    }

    @Test
    void nativeCodeBelowAFunctionOfPythonIsALibrary() {
        ProgramPlace place =
                ProgramFrames.place(
                        List.of(
                                frame("sqlite3VdbeExec", "libsqlite3.so.0.8.6", Frame.Kind.USER),
                                frame("query", "_sqlite3.cpython-311.so", Frame.Kind.USER),
                                frame("loads", "python3.11", Frame.Kind.JIT),
                                frame("load_rows", "shop.py", Frame.Kind.JIT).at("/srv/shop.py", 3),
                                frame("PyEval_EvalCode", "python3.11", Frame.Kind.USER),
                                frame("<module>", "shop.py", Frame.Kind.JIT).at("/srv/shop.py", 1),
                                frame("main", "embedding", Frame.Kind.USER)));
        assertThat(place.chain()).isEqualTo("load_rows (shop.py:3) ← <module> (shop.py:1)");
    }

    @Test
    void codeWithoutNamesIsToldByItsFile() {
        ThreadGroup group = group("server", 1, 4, 0);
        ProgramPlace nameless =
                new ProgramPlace("[anon] without symbols", "[anon]", List.of(), true);
        cpu.add(new CpuUse(group, nameless, 0.9, 900, 0, List.of(), ""));
        cpu.add(new CpuUse(group, MALLOC, 0.1, 100, 0, List.of(), ""));
        assertThat(sentences().getFirst())
                .endsWith(
                        ": 90 % of the CPU time in code that was compiled at run time and has no"
                                + " names.");
    }

    @Test
    void aFlatProfileIsToldByTheFunctionAboveIt() {
        ThreadGroup group = group("server", 1, 4, 0);
        for (int i = 0; i < 8; i++) {
            List<String> callers = i < 6 ? List.of("render_page", "main") : List.of("main");
            ProgramPlace place = new ProgramPlace("f" + i, "m" + i, callers, true);
            cpu.add(new CpuUse(group, place, 0.125, 100, 0, List.of(), ""));
        }
        assertThat(sentences().getFirst())
                .endsWith(": 75 % of the CPU time in what render_page called.");
    }

    @Test
    void aLibraryFunctionThatTookTheTimeIsNamed() {
        ThreadGroup group = group("server", 1, 4, 0);
        cpu.add(new CpuUse(group, COMMIT, 1, 900, 0, List.of(), "pthread_spin_lock"));
        assertThat(sentences().getFirst())
                .contains(
                        "journal_commit, called from handle_request (most of it in"
                                + " pthread_spin_lock)");
    }

    @Test
    void locksOfRunTimesAreKnownByTheirFunctions() {
        assertThat(FutexReasons.of(List.of("syscall", "take_gil", "eval")))
                .isEqualTo("the GIL of Python");
        assertThat(
                        FutexReasons.of(
                                List.of(
                                        "syscall",
                                        "std::sys::sync::mutex::futex::Mutex::lock_contended",
                                        "shard::get")))
                .isEqualTo("a lock");
        assertThat(FutexReasons.of(List.of("__lll_lock_wait_private", "malloc", "grow")))
                .isEqualTo("a lock of malloc");
        assertThat(FutexReasons.of(List.of("__pthread_cond_wait", "take_frame"))).isEmpty();
        assertThat(FutexReasons.of(List.of("uv_cond_wait", "node::PlatformWorkerThread(void*)")))
                .isEqualTo(FutexReasons.RUNTIME_WORK);
    }

    @Test
    void aKernelLockIsToldByItsCaller() {
        String[] unlink = {"__schedule", "rwsem_down_write_slowpath", "down_write", "do_unlinkat"};
        assertThat(kernelReason("unlink", unlink)).isEqualTo("a kernel lock taken in do_unlinkat");
        assertThat(kernelReason("unlink", "do_unlinkat")).isEmpty();
    }

    @Test
    void waitsForTheDiskSayWhy() {
        String wait = "folio_wait_bit_common";
        assertThat(kernelReason("pread64", wait, "filemap_get_pages", "filemap_read"))
                .isEqualTo("the disk (not in the page cache)");
        assertThat(kernelReason("pread64", "__iomap_dio_rw", "iomap_dio_rw"))
                .isEqualTo("the disk (O_DIRECT)");
        assertThat(kernelReason("write", wait, "ext4_sync_file", "ext4_buffered_write_iter"))
                .isEqualTo("the disk (O_SYNC or O_DSYNC)");
        assertThat(kernelReason("fsync", wait, "ext4_sync_file", "do_fsync")).isEmpty();
        assertThat(kernelReason("read", "pipe_read", "vfs_read")).isEmpty();
    }

    private static String kernelReason(String call, String... chain) {
        return KernelReasons.reason(
                Stream.of(chain).map(name -> frame(name, "[kernel]", Frame.Kind.KERNEL)).toList(),
                call);
    }

    @Test
    void fileLocksTriedInVainAreCounted() {
        ThreadGroup group = group("server", 1, 0.1, 0);
        call(group, "fcntl", 40, 0, "EAGAIN", 0);
        assertThat(sentences()).isEmpty(); // in microseconds, as each JVM does
        wait(group, "clock_nanosleep", "", 2, 40);
        assertThat(sentences())
                .contains(
                        "server 7 tried 40 times to lock /tmp/out (fcntl), which was locked"
                                + " already.");
        calls.clear();
        call(group, "fcntl", 40, 0, "EBADF", 0);
        assertThat(sentences()).noneMatch(text -> text.contains("fcntl"));
    }

    @Test
    void namesOfScriptsAreThoseOfTheirAuthors() {
        assertThat(name("JS:*slowSort /srv/app.js:12:18")).isEqualTo("slowSort (app.js:12)");
        assertThat(name("py::parse_line:/srv/hot.py")).isEqualTo("parse_line (hot.py)");
        assertThat(name("double Contend.priceOrder(int)")).isEqualTo("Contend.priceOrder");
        assertThat(name("StubRoutines (initialstubs)")).isEqualTo("StubRoutines");
        assertThat(name("[anon+0x7f00]")).isEqualTo("[anon] without symbols");
        assertThat(name("[unknown+0x7f00]")).isEqualTo("[unknown]");
        assertThat(ProgramFrames.isProgram(frame("Builtins_MergeAt", "node", Frame.Kind.USER)))
                .isFalse();
        assertThat(ProgramFrames.isProgram(frame("main.worker", "server", Frame.Kind.USER)))
                .isTrue();
        assertThat(ProgramFrames.isProgram(frame("runtime.futex", "server", Frame.Kind.USER)))
                .isFalse();
    }

    private static String name(String function) {
        return ProgramFrames.name(frame(function, "[jit]", Frame.Kind.JIT));
    }
}
