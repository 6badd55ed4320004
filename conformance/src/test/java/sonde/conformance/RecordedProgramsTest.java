package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that say what they did, against what the report says they did. */
@Tag("kernel")
@Tag("long")
class RecordedProgramsTest {
    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    @Test
    void pipelineWithAllItsProcesses() throws Exception {
        Recorded recorded =
                Recorded.record(
                        folder,
                        "pipe",
                        "--",
                        "/bin/sh",
                        "-c",
                        "echo $$; seq 1 200000 | grep 7 | sort -r | tail -n 1; exit 3");
        assertThat(recorded.outcome.status()).isEqualTo(3);
        List<String> said = recorded.outcome.out().lines().toList();
        assertThat(said.get(1)).isEqualTo("100007");
        assertThat(recorded.meta().object("target").object("exit").number("status"))
                .isEqualTo(3 << 8);
        Json report = recorded.report("--threads", "--stats");
        List<Json> threads = Recorded.rows(report, "threads");
        assertThat(threads)
                .extracting(row -> row.text("thread"))
                .contains("sh", "seq", "grep", "sort", "tail");
        assertThat(threads)
                .filteredOn(row -> row.text("thread").equals("sh"))
                .extracting(row -> row.number("tid"))
                .contains(Long.valueOf(said.getFirst()));
        assertThat(threads).extracting(row -> row.text("thread")).doesNotContain("java");
        Map<String, Long> counts = recorded.traceCounts();
        assertThat(counts.get("sched_process_fork")).isEqualTo(4);
        assertThat(counts.get("sched_process_exec")).isEqualTo(5);
        assertThat(counts.get("sched_process_exit"))
                .as("sort may have threads")
                .isGreaterThanOrEqualTo(5);
    }

    /** A third of the CPU time each, and whole stacks. */
    @Test
    void threadsWithFramePointers() throws Exception {
        Path program = TargetProgram.compile(folder, "spin", "-O0", "-fno-omit-frame-pointer");
        Recorded recorded = Recorded.record(folder, "fp", "--", program.toString(), "400");
        Map<String, Long> said = TargetProgram.said(recorded.outcome.out());
        Json report = recorded.report("--threads", "--oncpu");
        Json tree = report.object("sections").object("on_cpu_stacks");
        long all = tree.object("root").number("total");
        for (String name : List.of("alpha", "beta", "gamma")) {
            long inner =
                    Recorded.selfUnder(tree, name, "run_" + name, "outer_" + name, "inner_" + name);
            assertThat(inner).as("%s of %d", name, all).isBetween(all / 4, all * 9 / 20);
            Json thread =
                    Recorded.rows(report, "threads").stream()
                            .filter(row -> row.text("thread").equals(name))
                            .findFirst()
                            .orElseThrow();
            assertWithin(thread.number("user") + thread.number("kernel"), said.get(name), 0.1);
            // cpu-clock's weight is time as well.
            assertWithin(inner, said.get(name), 0.2);
        }
    }

    @Test
    void threadsWithoutFramePointersAreMarkedCut() throws Exception {
        Path program = TargetProgram.compile(folder, "spin", "-O2", "-fomit-frame-pointer");
        Recorded recorded =
                Recorded.record(
                        folder, "cut", "--call-graph", "fp", "--", program.toString(), "300");
        Json report = recorded.report("--oncpu");
        assertThat(Recorded.rows(report, "on_cpu"))
                .extracting(row -> row.text("function"))
                .contains("inner_alpha", "inner_beta", "inner_gamma");
        assertThat(Recorded.rows(report, "cut_user_stacks")).isNotEmpty();
        assertThat(String.join("\n", report.texts("notes")))
                .contains("-fno-omit-frame-pointer", "--call-graph dwarf");
    }

    /**
     * dd spends its time in calls of which nearly all are overwritten; samples tell all the same.
     */
    @Test
    void kernelTimeInSpiteOfLosses() throws Exception {
        Recorded recorded =
                Recorded.record(
                        folder,
                        "flight",
                        "--flight-recorder",
                        "--ring-memory=2",
                        "--",
                        "dd",
                        "if=/dev/zero",
                        "of=/dev/null",
                        "bs=1",
                        "count=300000");
        Json report = recorded.report("--threads", "--losses");
        assertThat(String.join("\n", report.texts("notes")))
                .contains("kernel time is estimated from samples");
        Json thread = Recorded.rows(report, "threads").getFirst();
        assertThat(thread.number("kernel")).isGreaterThan(thread.number("user"));
        assertThat(Recorded.rows(report, "losses"))
                .extracting(row -> row.text("what"))
                .contains("overwritten")
                .doesNotContain("lost");
    }

    /** The folder of the JDK's programs, when Grind.class lies in ours. */
    private Path compiledGrind() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin");
        Path source = TargetProgram.source("Grind.java");
        Sonde.Outcome compiled =
                Sonde.in(folder)
                        .execute(
                                List.of(
                                        java.resolve("javac").toString(),
                                        "-d",
                                        folder.toString(),
                                        source.toString()));
        assertThat(compiled.status()).as("%s", compiled).isZero();
        return java;
    }

    /** Its maps are fetched by the same way that jcmd takes. */
    @Test
    void aRecordedJvmAnswersJcmd() throws Exception {
        Path java = compiledGrind();
        String script =
                "\"$0/java\" -cp . Grind 5000 & until [ -e /tmp/hsperfdata_*/$! ]; do sleep 0.05;"
                        + " done; \"$0/jcmd\" $! VM.version; wait $!";
        Recorded recorded =
                Recorded.record(folder, "jcmd", "--", "sh", "-c", script, java.toString());
        assertThat(recorded.outcome.status()).as("%s", recorded.outcome).isZero();
        assertThat(recorded.outcome.out()).contains("JDK " + Runtime.version().feature());
        assertThat(recorded.meta().objects("jvmMaps")).isNotEmpty();
    }

    /** The map of compiled code is fetched while the program runs. */
    @Test
    void javaFramesByName() throws Exception {
        Path java = compiledGrind();
        Recorded recorded =
                Recorded.record(
                        folder,
                        "jit",
                        "--",
                        java.resolve("java").toString(),
                        "-XX:+PreserveFramePointer",
                        "-cp",
                        folder.toString(),
                        "Grind",
                        "6500");
        assertThat(recorded.outcome.status()).as("%s", recorded.outcome).isZero();
        assertThat(recorded.meta().objects("jvmMaps")).isNotEmpty();
        Json report = recorded.report("--oncpu");
        Json tree = report.object("sections").object("on_cpu_stacks");
        long[] grinding = {0};
        Recorded.walk(
                tree,
                (path, node) -> {
                    if (path.getLast().contains("Grind") && path.getLast().contains("grind")) {
                        grinding[0] += node.number("total");
                    }
                });
        // Less what the JVM itself needed, and the time until the method was compiled.
        assertThat(grinding[0]).isGreaterThan(tree.object("root").number("total") / 2);
    }

    @Test
    void waitingByCause() throws Exception {
        Path program = TargetProgram.compile(folder, "wait", "-O0", "-fno-omit-frame-pointer");
        Recorded recorded = Recorded.record(folder, "waits", "--", program.toString(), "wait.dat");
        assertThat(recorded.outcome.err()).doesNotContain("pwrite", "wait.dat");
        Map<String, Long> said = TargetProgram.said(recorded.outcome.out());
        Json report = recorded.report("--offcpu", "--syscalls", "--rows", "400");
        List<Json> causes = Recorded.rows(report, "off_cpu");
        assertWaited(causes, "lock", List.of("futex"), said);
        assertWaited(causes, "socket", List.of("recvfrom"), said);
        assertWaited(causes, "disk", List.of("fsync", "pwrite64"), said);
        List<Json> calls = Recorded.rows(report, "system_calls_by_thread");
        assertThat(count(calls, "disk", "fsync")).isEqualTo(said.get("disk-count"));
        assertThat(count(calls, "disk", "pwrite64")).isEqualTo(said.get("disk-count"));
        assertThat(count(calls, "socket", "recvfrom")).isEqualTo(said.get("socket-count"));
        Json tree = report.object("sections").object("off_cpu_stacks");
        // libc's own functions keep no frame pointers, which hides their caller take_lock.
        assertThat(namesUnder(tree, "lock")).contains("lock_waiter");
    }

    private static TreeSet<String> namesUnder(Json tree, String thread) {
        TreeSet<String> names = new TreeSet<>();
        Recorded.walk(
                tree,
                (path, node) -> {
                    if (path.contains(thread)) {
                        names.add(path.getLast());
                    }
                });
        return names;
    }

    private static long count(List<Json> calls, String thread, String call) {
        return Recorded.sum(
                calls,
                "count",
                row ->
                        row.text("thread").startsWith(thread + " ")
                                && row.text("call").equals(call));
    }

    /** What was asleep in those calls, and at most the wait for a CPU after it, was measured. */
    private static void assertWaited(
            List<Json> causes, String thread, List<String> calls, Map<String, Long> said) {
        Predicate<Json> here = row -> row.text("thread").equals(thread);
        long asleep =
                Recorded.sum(
                        causes,
                        "time",
                        here.and(row -> calls.stream().anyMatch(row.text("cause")::endsWith)));
        long queued =
                Recorded.sum(
                        causes,
                        "time",
                        here.and(row -> row.text("cause").matches("waiting for CPU|preempted")));
        long measured = said.get(thread);
        String table =
                causes.stream()
                        .filter(here)
                        .map(row -> row.text("cause") + " " + row.text("time"))
                        .collect(Collectors.joining("; "));
        assertThat(asleep).as("%s: %d, %s", thread, measured, table).isLessThan(measured * 23 / 20);
        assertThat(asleep + queued)
                .as("%s: %d, %s", thread, measured, table)
                .isGreaterThan(measured * 17 / 20);
    }

    /** A task-bound perf event would end at the exec. */
    @Test
    void setUidProgramOfAnotherUser() throws Exception {
        Path program = TargetProgram.compile(folder, "spin", "-O0", "-fno-omit-frame-pointer");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Sonde.Outcome mode = Sonde.in(folder).execute(List.of("chmod", "4755", program.toString()));
        assertThat(mode.status()).isZero();
        Recorded recorded =
                Recorded.record(
                        folder,
                        "suid",
                        "--",
                        "setpriv",
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        "/bin/sh",
                        "-c",
                        program + " 200; id -u");
        assertThat(recorded.outcome.out()).endsWith("65534\n");
        Map<String, Long> said = TargetProgram.said(recorded.outcome.out());
        Json report = recorded.report("--oncpu", "--syscalls", "--rows", "400");
        Json tree = report.object("sections").object("on_cpu_stacks");
        assertWithin(Recorded.selfUnder(tree, "alpha", "inner_alpha"), said.get("alpha"), 0.25);
        assertThat(count(Recorded.rows(report, "system_calls_by_thread"), "alpha", "clock_gettime"))
                .isPositive();
    }

    @Test
    void faultsByStackAndSignals() throws Exception {
        Path program = TargetProgram.compile(folder, "touch", "-O0", "-fno-omit-frame-pointer");
        Recorded recorded = Recorded.record(folder, "faults", "--", program.toString());
        Map<String, Long> said = TargetProgram.said(recorded.outcome.out());
        assertThat(said.get("handled")).isEqualTo(10);
        Json report = recorded.report("--faults", "--wakeups");
        Json tree = report.object("sections").object("page_faults");
        long touched = Recorded.selfUnder(tree, "main", "make_faults", "touch_pages");
        assertWithin(touched, said.get("faults"), 0.25);
        List<Json> signals =
                Recorded.rows(report, "signals").stream()
                        .filter(row -> row.text("signal").equals("SIGUSR1"))
                        .toList();
        assertThat(Recorded.sum(signals, "sent", row -> true)).isEqualTo(10);
        assertThat(Recorded.sum(signals, "delivered", row -> true)).isEqualTo(10);
    }

    private static void assertWithin(long found, long expected, double share) {
        assertThat((double) found)
                .as("%d against %d", found, expected)
                .isBetween(expected * (1 - share), expected * (1 + share));
    }
}
