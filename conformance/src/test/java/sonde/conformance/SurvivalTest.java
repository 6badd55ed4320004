package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever ends a recorder: its bundle opens, and the kernel is as it was. */
@Tag("kernel")
@Tag("long")
class SurvivalTest {
    /** Something that says when it runs, makes events all the time, and ends by itself. */
    private static final String BUSY =
            "echo up; timeout 8 dd if=/dev/zero of=/dev/null bs=1 count=20000000";

    /** The same with fewer events, for what is read again and again. */
    private static final String LESS_BUSY =
            "echo up; timeout 8 dd if=/dev/zero of=/dev/null bs=1M count=2000000";

    @TempDir Path folder;

    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        assumeTrue(Files.isDirectory(KernelState.TRACEFS.resolve("instances")), "needs tracefs");
    }

    @AfterEach
    void endWhatWasStarted() throws Exception {
        for (Process process : started) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }

    private static String[] words(String name, String... rest) {
        List<String> words = new ArrayList<>(List.of("--no-summary", "-o", name));
        words.addAll(List.of(rest));
        return words.toArray(String[]::new);
    }

    private Process start(String name, String... rest) throws IOException {
        List<String> words = new ArrayList<>(List.of("record"));
        words.addAll(List.of(words(name, rest)));
        Process process =
                Sonde.in(folder)
                        .start(
                                folder.resolve(name + ".out"),
                                folder.resolve(name + ".err"),
                                words.toArray(String[]::new));
        started.add(process);
        return process;
    }

    /** A recording of what runs already. */
    private Process armed(String name, String... rest) throws Exception {
        Process process =
                Sonde.in(folder)
                        .startArmed(
                                folder.resolve(name + ".out"),
                                folder.resolve(name + ".err"),
                                words(name, rest));
        started.add(process);
        return process;
    }

    /** A recording whose command has said "up". */
    private Process running(String name, String script) throws Exception {
        Process recorder = start(name, "--", "/bin/sh", "-c", script);
        await(name, recorder, () -> Files.readString(folder.resolve(name + ".out")).contains("up"));
        return recorder;
    }

    private Process busy(String name) throws Exception {
        return running(name, BUSY);
    }

    private void await(String name, Process recorder, Callable<Boolean> seen) throws Exception {
        long end = System.nanoTime() + 30_000_000_000L;
        while (!seen.call()) {
            assertThat(recorder.isAlive()).as(() -> errors(name)).isTrue();
            assertThat(System.nanoTime()).as(() -> errors(name)).isLessThan(end);
            Thread.sleep(5);
        }
    }

    /** What the kernel wrote and the recorder took away already. */
    private long spooled(String name) throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve(name + ".sonde"))) {
            return files.filter(file -> file.getFileName().toString().startsWith("spool.task"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }

    private String errors(String name) {
        try {
            return Files.readString(folder.resolve(name + ".err"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static void signal(Process process, String name) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    }

    /** Ends the recorder and what it recorded. */
    private static void kill(Process recorder, String signal) throws Exception {
        List<ProcessHandle> children = recorder.descendants().toList();
        signal(recorder, signal);
        assertThat(recorder.waitFor(30, TimeUnit.SECONDS)).isTrue();
        children.forEach(ProcessHandle::destroyForcibly);
    }

    @Test
    void killedAtRandomMoments() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int opened = 0;
        for (int i = 0; i < 6; i++) {
            String name = "killed" + i;
            Process recorder = start(name, "--", "/bin/sh", "-c", LESS_BUSY);
            if (i % 2 != 0) {
                Path meta = folder.resolve(name + ".sonde/meta.json");
                await(name, recorder, () -> Files.exists(meta));
            }
            // Every other one from its start, the rest from when there is something to open.
            long millis = random.nextInt(i % 2 == 0 ? 1400 : 500);
            Thread.sleep(millis);
            kill(recorder, "KILL");
            Path bundle = folder.resolve(name + ".sonde");
            if (Files.notExists(bundle.resolve("meta.json"))) {
                continue;
            }
            List<String> command = new ArrayList<>(List.of("report", bundle.toString()));
            if (i % 3 == 0) {
                command.add("--json");
            }
            Sonde.Outcome report = Sonde.in(folder).run(command.toArray(String[]::new));
            assertThat(report.status())
                    .as("seed %d, after %d ms: %s", seed, millis, report)
                    .isZero();
            assertThat(report.out() + report.err())
                    .as("seed %d, after %d ms", seed, millis)
                    .containsIgnoringCase("killed");
            opened++;
        }
        assertThat(opened).as("seed %d", seed).isPositive();
    }

    /** A kill long after the start leaves the system calls until then readable. */
    @Test
    void killedRecordingKeepsWhatItHad() throws Exception {
        Process recorder = busy("late");
        await("late", recorder, () -> spooled("late") > 2 << 20);
        kill(recorder, "KILL");
        Recorded recorded = Recorded.of(folder.resolve("late.sonde"));
        List<Json> calls = Recorded.rows(recorded.report("--syscalls"), "system_calls");
        assertThat(Recorded.sum(calls, "count", row -> row.text("call").equals("write")))
                .isGreaterThan(1000);
        assertThat(recorded.meta().text("state")).isEqualTo("repaired");
        // Block I/O of the whole machine has a buffer of its own, which may come first.
        String head =
                "trace-cmd report -i "
                        + recorded.file("trace.dat")
                        + " | grep -v ^outside: | head -n 2000";
        assertThat(Recorded.counts(recorded.tool("sh", "-c", head)).get("sys_enter"))
                .isGreaterThan(100);
        assertThat(Recorded.rows(recorded.report("--threads"), "threads"))
                .extracting(row -> row.text("thread"))
                .contains("dd");
    }

    /** Ctrl-C goes to the whole process group; a shell that handles it goes on. */
    @Test
    void interruptIsTheCommandsToDecide() throws Exception {
        Process recorder = running("interrupted", "trap 'exit 9' INT; sleep 20 & echo up; wait");
        recorder.descendants().forEach(child -> signalQuietly(child, "INT"));
        signal(recorder, "INT");
        assertThat(recorder.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(recorder.exitValue()).as(() -> errors("interrupted")).isEqualTo(9);
        assertFinished("interrupted");
    }

    private static void signalQuietly(ProcessHandle process, String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void terminationIsPassedOn() throws Exception {
        Process recorder = running("terminated", "echo up; exec sleep 20");
        signal(recorder, "TERM");
        assertThat(recorder.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(recorder.exitValue()).as(() -> errors("terminated")).isEqualTo(143);
        assertFinished("terminated");
    }

    /** A daemon, which is nobody's child any more, ends no recording without a word. */
    @Test
    void processesThatOutliveTheCommandAreNamed() throws Exception {
        String script = "setsid sleep 9 & echo $! >pid; sleep 9 & echo $! >>pid";
        Recorded daemons = Recorded.record(folder, "daemons", "--", "/bin/sh", "-c", script);
        List<String> pids = Files.readAllLines(folder.resolve("pid"));
        pids.forEach(pid ->
                ProcessHandle.of(Long.parseLong(pid)).ifPresent(started -> started.destroy()));
        assertThat(daemons.meta().texts("notes"))
                .anySatisfy(note ->
                        assertThat(note)
                                .contains("2 processes that the command started still run")
                                .contains("sleep " + pids.getFirst(), "sleep " + pids.getLast())
                                .contains("sonde record -p " + pids.getFirst() + ","));
        Recorded alone = Recorded.record(folder, "alone", "--", "/bin/sh", "-c", "sleep 0.1; true");
        assertThat(alone.meta().texts("notes")).noneMatch(note -> note.contains("still run"));
    }

    private void assertFinished(String name) throws Exception {
        Recorded recorded = Recorded.of(folder.resolve(name + ".sonde"));
        assertThat(recorded.meta().text("state")).isEqualTo("finished");
        recorded.report();
    }

    /** With another tracer and a second sonde, each way out leaves the kernel as it was. */
    @Test
    void kernelIsAsBefore() throws Exception {
        // What trace-cmd start -B makes; itself it insists on writing the sysctl ftrace_enabled.
        Path other =
                KernelState.TRACEFS.resolve("instances/other-" + ProcessHandle.current().pid());
        Files.createDirectory(other);
        try {
            Files.writeString(other.resolve("set_event_pid"), "1");
            Files.writeString(other.resolve("events/sched/sched_switch/enable"), "1");
            // Unwinding tables are maps that a recorder adds while it runs.
            Process second =
                    armed(
                            "second",
                            "-a",
                            "--no-faults",
                            "--call-graph",
                            "fp",
                            "--duration",
                            "120s");
            List<String> mine = KernelState.instancesOf(second.pid());
            assertThat(mine).isNotEmpty();
            Map<String, String> before = KernelState.now();

            Process first = start("ends", "--", "true");
            assertThat(first.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertState(before, "end");
            for (String signal : List.of("INT", "TERM")) {
                Process recorder = running(signal, LESS_BUSY);
                recorder.descendants().forEach(child -> signalQuietly(child, signal));
                kill(recorder, signal);
                assertState(before, signal);
            }
            for (String signal : List.of("KILL", "SEGV")) {
                Process recorder = running(signal, LESS_BUSY);
                kill(recorder, signal);
                assertThat(KernelState.instancesOf(recorder.pid())).isNotEmpty();
                Process next = start("after" + signal, "--", "true");
                assertThat(next.waitFor(30, TimeUnit.SECONDS)).isTrue();
                assertState(before, signal + " and the next start");
                assertThat(
                                Recorded.of(folder.resolve("after" + signal + ".sonde"))
                                        .meta()
                                        .texts("notes"))
                        .anyMatch(note -> note.contains("left by a killed recorder"));
            }
            assertThat(KernelState.instancesOf(second.pid())).isEqualTo(mine);
            signal(second, "INT");
            assertThat(second.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertFinished("second");
        } finally {
            Files.delete(other);
        }
    }

    /** A BPF program that returns 0 would take the events of its tracepoint from all of perf. */
    @Test
    void otherPerfRecordingsMissNothing() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "needs perf");
        Process recorder = armed("beside", "-a", "--duration", "60s");
        String data = folder.resolve("other.data").toString();
        String events =
                "sched:sched_process_exec,syscalls:sys_enter_openat,syscalls:sys_exit_openat";
        Sonde.Outcome other =
                Sonde.in(folder)
                        .execute(
                                List.of(
                                        "perf",
                                        "record",
                                        "-q",
                                        "-e",
                                        events,
                                        "-o",
                                        data,
                                        "cat",
                                        "/dev/null"));
        assertThat(other.status()).as("%s", other).isZero();
        Sonde.Outcome script =
                Sonde.in(folder).execute(List.of("perf", "script", "-i", data, "-F", "event"));
        assertThat(script.out())
                .contains("sched_process_exec", "sys_enter_openat", "sys_exit_openat");
        kill(recorder, "INT");
    }

    private static void assertState(Map<String, String> before, String how) throws Exception {
        Set<Map.Entry<String, String>> was = new HashSet<>(before.entrySet());
        Set<Map.Entry<String, String>> is = new HashSet<>(KernelState.now().entrySet());
        was.removeAll(is);
        is.removeAll(before.entrySet());
        assertThat(is).as("after %s, what is not as before", how).isEqualTo(was);
    }
}
