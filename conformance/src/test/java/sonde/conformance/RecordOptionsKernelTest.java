package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whom and what {@code record} takes: {@code -a -- COMMAND}, {@code -f}, {@code -T}. */
@Tag("kernel")
@Tag("long")
class RecordOptionsKernelTest {
    private static final String QUIET = "--no-cpu --no-faults --no-names --no-jvm --no-summary";

    /** Calls getppid 50 times, getsid 3 times, from functions of their own. */
    private static final String PLANTED =
            """
            #include <sys/syscall.h>
            static volatile long sum;
            static inline long call(long number) {
                long result;
                __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(0)
                        : "rcx", "r11", "memory");
                return result;
            }
            __attribute__((noinline)) void planted_often(void) { sum += call(SYS_getppid) + 1; }
            __attribute__((noinline)) void planted_seldom(void) { sum += call(SYS_getsid) + 1; }
            int main(void) {
                for (int i = 0; i < 50; i++) { planted_often(); sum++; }
                for (int i = 0; i < 3; i++) { planted_seldom(); sum++; }
                return 0;
            }
            """;

    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    private Sonde.Outcome record(String options, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("record", "-o", "r"));
        words.addAll(List.of(options.split(" ")));
        words.addAll(List.of(more));
        return Sonde.in(folder).run(words.toArray(String[]::new));
    }

    private String sonde(String... words) throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run(words);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    private List<String> events(String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of("report", "r.sonde", "--events"));
        command.addAll(List.of(words));
        return Sonde.in(folder).run(command.toArray(String[]::new)).out().lines().toList();
    }

    private Path planted() throws Exception {
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "the program is for x86-64");
        return compiled("planted", PLANTED);
    }

    private Path compiled(String name, String text) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "needs gcc");
        Path source = Files.writeString(folder.resolve(name + ".c"), text);
        Path program = folder.resolve(name);
        String[] gcc = {"gcc", "-O1", "-fno-omit-frame-pointer", "-o", program.toString()};
        List<String> command = new ArrayList<>(List.of(gcc));
        command.add(source.toString());
        Sonde.Outcome outcome = Sonde.in(folder).execute(command);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return program;
    }

    @Test
    void aWholeMachineIsRecordedWhileTheCommandRuns() throws Exception {
        Path marker = Files.copy(Path.of("/bin/true"), folder.resolve("outsider"));
        Path err = folder.resolve("err");
        String wait = "while [ ! -e go ]; do sleep 0.05; done; exit 7";
        List<String> words = new ArrayList<>(List.of("-o", "r", "-a"));
        words.addAll(List.of(QUIET.split(" ")));
        words.addAll(List.of("-e", "timer:hrtimer_expire_entry", "--", "sh", "-c", wait));
        Process recorder =
                Sonde.in(folder)
                        .startArmed(folder.resolve("out"), err, words.toArray(String[]::new));
        String runs = "i=0; while [ $i -lt 200 ]; do " + marker + "; i=$((i+1)); done";
        assertThat(Sonde.in(folder).execute(List.of("sh", "-c", runs)).status()).isZero();
        assertThat(KernelState.instancesOf(recorder.pid())).hasSize(2);
        Files.createFile(folder.resolve("go"));
        assertThat(recorder.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(recorder.exitValue()).as(Files.readString(err)).isEqualTo(7);
        assertThat(KernelState.instancesOf(recorder.pid())).isEmpty();
        String exec = "sched:sched_process_exec";
        assertThat(events("--event", exec))
                .filteredOn(line -> line.contains("/outsider"))
                .hasSize(200);
        List<String> own = events("--own", "--event", exec);
        assertThat(own).noneMatch(line -> line.contains("/outsider"));
        assertThat(own).anyMatch(line -> line.contains("filename=/usr/bin/sleep"));
        // Timers expire in whatever runs, mostly in nobody of the command's tree.
        String timer = "timer:hrtimer_expire_entry";
        assertThat(events("--event", timer).size())
                .isGreaterThan(10 + events("--own", "--event", timer).size());
        assertThat(sonde("report", "r.sonde", "--own", "--threads").lines().skip(4))
                .noneMatch(line -> line.contains("outsider"));
    }

    @Test
    void whatDoesNotPassTheFilterCostsNoSpace() throws Exception {
        String[] flood = {"--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=20000"};
        List<Long> bytes = new ArrayList<>();
        for (String filter : List.of("id >= 0", "id == 9999")) {
            List<String> more = new ArrayList<>();
            for (String event : List.of("raw_syscalls:sys_enter", "raw_syscalls:sys_exit")) {
                more.addAll(List.of("-e", event, "-f", filter));
            }
            more.addAll(List.of(flood));
            Sonde.Outcome outcome = record(QUIET, more.toArray(String[]::new));
            assertThat(outcome.status()).as("%s", outcome).isZero();
            String name = bytes.isEmpty() ? "r.sonde" : "r-2.sonde";
            bytes.add(Files.size(folder.resolve(name).resolve("trace.dat")));
        }
        // 80,000 events of 24 and more bytes, against none.
        assertThat(bytes.getFirst() - bytes.getLast()).isGreaterThan(80_000 * 24);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "timer:hrtimer_start | function == hrtimer_wakeup | .* function=hrtimer_wakeup.*",
                "timer:hrtimer_start | function != hrtimer_wakeup | (?!.*hrtimer_wakeup).*",
                "irq:softirq_raise | vec == TIMER | .*\\[action=TIMER\\].*",
                "sched:sched_process_exec | filename ~ */sleep | .*filename=.*/sleep .*",
                "syscalls:sys_enter_exit_group | common_pid > 1 && error_code == 5 | .*0x00000005",
            })
    void namesAreValuesInFilters(String event, String filter, String line) throws Exception {
        String script = "for i in 1 2 3 4; do sleep 0.05; sh -c 'exit 5'; done";
        Sonde.Outcome outcome =
                record("-a " + QUIET, "-e", event, "-f", filter, "--", "sh", "-c", script);
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(5);
        List<String> events = events("--event", event);
        assertThat(events).isNotEmpty().allMatch(one -> one.matches(line));
    }

    /** An event that perf owns has its filter there, beside that of the recorder's own. */
    @Test
    void filtersOfPerfsEventsAreTheKernels() throws Exception {
        Path program = planted();
        Sonde.Outcome outcome =
                record(
                        QUIET + " -T",
                        "-e",
                        "syscalls:sys_enter_*",
                        "-f",
                        "pid == 0",
                        "-e",
                        "sched:sched_switch",
                        "-f",
                        "next_comm == planted",
                        "--",
                        program.toString());
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(events("--event", "sys_enter_getsid"))
                .filteredOn(line -> line.contains("sys_enter_getsid:"))
                .hasSize(3);
        assertThat(events("--event", "sys_enter_getppid")).isEmpty();
        assertThat(events("--event", "sched_switch"))
                .filteredOn(line -> line.contains("sched_switch:"))
                .allMatch(line -> line.contains("==> planted:"));
        String meta = Files.readString(folder.resolve("r.sonde/meta.json"));
        assertThat(meta).contains("\"filter\" : \"pid == 0\"");
        assertThat(meta).contains("does not fit their fields");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '@',
            value = {
                "sched:sched_switch @ foo == 1 && prev_pid @ Field not found; the event has @ 0",
                "sched:sched_switch @ prev_pid == nosuch @ is not a number, no symbol of this @ 13",
                "sched:sched_switch @ prev_pid == 1 && next_pid = 2 @ Invalid operator @ 27",
                "timer:hrtimer_start @ function == hrtimer_wakeup || now > x @ Field not @ 30",
            })
    void aRefusedFilterIsShownWithTheKernelsCaret(
            String event, String filter, String why, int place) throws Exception {
        Sonde.Outcome outcome = record("-e", event, "-f", filter, "--", "true");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(2);
        assertThat(outcome.err()).startsWith("sonde: the kernel refuses the filter of " + event);
        assertThat(outcome.err()).contains(why);
        List<String> lines = outcome.err().lines().toList();
        int text = lines.indexOf("         " + filter);
        assertThat(text).as("%s", outcome).isPositive();
        assertThat(lines.get(text + 1).indexOf('^') - 9).as("%s", outcome).isEqualTo(place);
        assertThat(folder.resolve("r.sonde")).doesNotExist();
    }

    @Test
    void aFilterNeedsAnEvent() throws Exception {
        assertThat(record("-f", "pid == 1", "--", "true").err()).contains("needs an -e EVENT");
        Sonde.Outcome plan =
                record(
                        "--plan",
                        "-e",
                        "timer:hrtimer_start",
                        "-f",
                        "softexpires > 5",
                        "--",
                        "true");
        assertThat(plan.out()).contains("only where softexpires > 5");
    }

    @Test
    void eventsHaveTheirStacksEverywhere() throws Exception {
        Path program = planted();
        String[] asked = {"--stacks=syscalls:sys_enter_getppid", "-e", "syscalls:sys_enter_getsid"};
        List<String> more = new ArrayList<>(List.of(asked));
        more.addAll(List.of("--", program.toString()));
        Sonde.Outcome outcome = record(QUIET, more.toArray(String[]::new));
        assertThat(outcome.status()).as("%s", outcome).isZero();
        String listing = String.join("\n", events("--event", "sys_enter_getppid"));
        String[] single = listing.split("(?m)^ .* sys_enter_getppid: ", -1);
        assertThat(single).hasSize(51);
        assertThat(List.of(single).subList(1, 51))
                .allMatch(one -> one.matches("(?s).*planted_often.*main.*"));
        assertThat(events("--event", "sys_enter_getsid")).hasSize(3); // one line each
        String sql =
                "SELECT count(*) AS n, sum(weight) AS w FROM sample WHERE event ="
                        + " 'syscalls:sys_enter_getppid' AND callstack_text(callsite_id) LIKE"
                        + " '%planted_often%'";
        assertThat(sonde("query", "r.sonde", "--format", "csv", sql)).contains("50,50");
        assertThat(sonde("report", "r.sonde", "--event-stacks"))
                .containsPattern("(?s)sys_enter_getppid stacks.* 50 .*planted_often");
        sonde("report", "r.sonde", "--html", "r.html");
        String page = Files.readString(folder.resolve("r.html"));
        String data = page.replaceFirst("(?s).*<script id=\"data\"[^>]*>([^<]*)<.*", "$1");
        byte[] packed = Base64.getMimeDecoder().decode(data.strip());
        try (GZIPInputStream plain = new GZIPInputStream(new ByteArrayInputStream(packed))) {
            assertThat(new String(plain.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("\"syscalls:sys_enter_getppid\"", "\"planted_often\"");
        }
    }

    /** Interrupts and kernel threads have stacks, too. */
    @Test
    void eventsOutsideOfTheTargetHaveTheirStacks() throws Exception {
        Sonde.Outcome outcome =
                record("-a " + QUIET + " -T -e timer:hrtimer_start", "--", "sleep", "0.1");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(String.join("\n", events("--own", "--event", "timer:hrtimer_start")))
                .contains("\t", "do_nanosleep+0x");
    }

    /**
     * Spins and sleeps for so many tenths of a second with a word on its stack; so does a child.
     */
    private static final String SECRET =
            """
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <time.h>
            #include <unistd.h>
            int main(int argc, char **argv) {
                char secret[64];
                pid_t child = fork();
                snprintf(secret, sizeof secret, "SECRET-%s-%s", argv[1], child ? "one" : "two");
                struct timespec nap = {0, 1000000};
                for (int i = 0; i < atoi(argv[2]) * 20; i++) {
                    for (volatile int k = 0; k < 1000000; k++) ;
                    nanosleep(&nap, 0);
                }
                return secret[0] == 'S' ? 0 : 1;
            }
            """;

    @ParameterizedTest
    @ValueSource(strings = {"", "--flight-recorder"})
    void stacksOfOtherProcessesAreNotCopied(String flight) throws Exception {
        Path program = compiled("secret", SECRET);
        Process other =
                new ProcessBuilder(program.toString(), "outside", "200")
                        .redirectErrorStream(true)
                        .start();
        try {
            String options = "--no-summary --call-graph dwarf " + flight;
            Sonde.Outcome outcome =
                    record(options.strip(), "--", "sh", "-c", program + " inside 5; exit 4");
            assertThat(outcome.status()).as("%s", outcome).isEqualTo(4);
        } finally {
            other.descendants().forEach(ProcessHandle::destroyForcibly);
            other.destroyForcibly().waitFor();
        }
        Path file = folder.resolve("r.sonde/perf.data");
        String bytes = Files.readString(file, StandardCharsets.ISO_8859_1);
        assertThat(bytes.contains("SECRET-inside-one")).isTrue();
        assertThat(bytes.contains("SECRET-inside-two")).isTrue();
        assertThat(bytes.contains("SECRET-outside")).isFalse();
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "needs perf");
        String[] perf = {"perf", "script", "-i", file.toString(), "-F", "pid,event,ip,sym"};
        Sonde.Outcome script = Sonde.in(folder).execute(List.of(perf));
        // perf reads the shortened records: switches of the others are still there.
        assertThat(script.status()).as("%s", script).isZero();
        assertThat(script.out()).containsPattern(other.pid() + " +sched:sched_switch");
        assertThat(sonde("report", "r.sonde", "--oncpu"))
                .containsPattern("(?s)secret.*__libc_start_call_main.*main");
    }

    @ParameterizedTest
    @CsvSource({"-o all.dat, all", "-o all --format trace.dat, all", "-a -o all.dat, all"})
    void oneTraceDatHasEverythingForTraceCmd(String options, String name) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/trace-cmd")), "needs trace-cmd");
        List<String> words = new ArrayList<>(List.of("record", "--no-summary"));
        words.addAll(List.of(options.split(" ")));
        words.addAll(List.of("-e", "syscalls:sys_enter_exit_group", "--"));
        words.addAll(List.of("sh", "-c", "for i in 1 2 3; do sleep 0.02; done; ls /; exit 3"));
        Sonde.Outcome outcome = Sonde.in(folder).run(words.toArray(String[]::new));
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(3);
        assertThat(folder.resolve("all.sonde")).doesNotExist();
        List<String> command = List.of("trace-cmd", "report", "-q", name + ".dat");
        Sonde.Outcome peer = Sonde.in(folder).execute(command);
        assertThat(peer.status()).as("%s", peer.err()).isZero();
        assertThat(peer.out())
                .containsPattern("sched_switch: +sleep:\\d+ \\[\\d+\\] S ==> ")
                .containsPattern("sched_wakeup: +sleep:\\d+ ")
                .containsPattern("sleep-\\d+ .* sys_enter_exit_group: ")
                .containsPattern("ls-\\d+ .* sys_enter: ");
        List<String> lines =
                peer.out().lines().skip(1).filter(line -> !line.startsWith("outside")).toList();
        // The kernel keeps 128 names: a busy machine drives some out, for trace-cmd, too.
        assertThat(lines.stream().filter(line -> line.contains("<...>")).count())
                .isLessThan(lines.size() / 2);
        Sonde.Outcome own = Sonde.in(folder).run("report", name + ".dat", "--events");
        assertThat(own.out().lines().count()).isEqualTo(peer.out().lines().skip(1).count());
        Sonde.Outcome stat =
                Sonde.in(folder).execute(List.of("trace-cmd", "report", "--stat", name + ".dat"));
        assertThat(stat.out()).containsPattern("read events: [1-9]");
        // The next one has a number, and no folder stays.
        assertThat(Sonde.in(folder).run(words.toArray(String[]::new)).status()).isEqualTo(3);
        assertThat(folder.resolve("all-2.dat")).exists();
    }

    /** Processes of a user that is there, and one that becomes the user's; nobody else's. */
    @Test
    void allProcessesOfAUserAreRecordedAlsoLaterOnes() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "needs setpriv");
        Path early = Files.copy(Path.of("/bin/true"), folder.resolve("early"));
        Path late = Files.copy(Path.of("/bin/true"), folder.resolve("late"));
        Path foreign = Files.copy(Path.of("/bin/true"), folder.resolve("foreign"));
        for (Path open : List.of(folder, early, late, foreign)) {
            Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        String[] user = {"setpriv", "--reuid=64999", "--clear-groups", "sh", "-c"};
        String wait = "while [ ! -e " + folder.resolve("go") + " ]; do sleep 0.05; done; ";
        String runs = "i=0; while [ $i -lt 20 ]; do %s; i=$((i+1)); done";
        List<String> first = new ArrayList<>(List.of(user));
        first.add(wait + runs.formatted(early));
        Process there = new ProcessBuilder(first).start();
        Path err = folder.resolve("err");
        List<String> words = new ArrayList<>(List.of("-u", "64999", "-o", "r"));
        words.addAll(List.of(QUIET.split(" ")));
        Process recorder =
                Sonde.in(folder)
                        .startArmed(folder.resolve("out"), err, words.toArray(String[]::new));
        List<String> second = new ArrayList<>(List.of(user));
        second.add(wait + runs.formatted(late));
        Process later = new ProcessBuilder(second).start();
        Path meta = folder.resolve("r.sonde/meta.json");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!Files.readString(meta).matches("(?s).*rootPids.*\\D" + later.pid() + "\\D.*")) {
            assertThat(System.nanoTime()).as(Files.readString(meta)).isLessThan(deadline);
            Thread.sleep(20);
        }
        Files.createFile(folder.resolve("go"));
        assertThat(there.waitFor() + later.waitFor()).isZero();
        Sonde.in(folder).execute(List.of("sh", "-c", runs.formatted(foreign)));
        recorder.destroy();
        assertThat(recorder.waitFor(60, TimeUnit.SECONDS)).isTrue();
        List<String> events = events("--event", "sched:sched_process_exec");
        assertThat(events).filteredOn(line -> line.contains("/early")).hasSize(20);
        assertThat(events).filteredOn(line -> line.contains("/late")).hasSize(20);
        assertThat(events).noneMatch(line -> line.contains("/foreign"));
        assertThat(record("-u no-such-user").err()).contains("no user 'no-such-user'");
    }

    @Test
    void onlyTheNamedCpusAreRecorded() throws Exception {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "needs two CPUs");
        String both =
                "for c in 0 1; do taskset -c $c dd if=/dev/zero of=/dev/null bs=1 count=2000; done";
        Sonde.Outcome outcome =
                record("-C 1 --no-summary --no-names", "--", "sh", "-c", both + " 2>/dev/null");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(events("--event", "raw_syscalls:sys_enter"))
                .hasSizeBetween(4000, 7000)
                .allMatch(line -> line.contains(" [001] "));
        assertThat(events("--event", "sched:sched_switch"))
                .allMatch(line -> line.contains(" [001] "));
        assertThat(record("-C 0,99", "--", "true").err()).contains("CPUs that are online are {0");
        assertThat(record("-C x", "--", "true").err()).contains("numbers of CPUs as in 0,2-3");
    }

    /** Setting up and finishing are no part of the time; a busy machine may be late once. */
    @Test
    void aDurationIsTheTimeThatIsRecorded() throws Exception {
        double least = Double.MAX_VALUE;
        for (int run = 1; run <= 3; run++) {
            String name = "d" + run;
            sonde("record", "-a", "--no-summary", "--duration", "1s", "-o", name);
            String meta = Files.readString(folder.resolve(name + ".sonde/meta.json"));
            double seconds = (nanos(meta, "endNanos") - nanos(meta, "startNanos")) / 1e9;
            assertThat(seconds).isGreaterThanOrEqualTo(1.0);
            least = Math.min(least, seconds);
        }
        assertThat(least).isLessThan(1.05);
    }

    private static long nanos(String meta, String name) {
        return Long.parseLong(meta.replaceFirst("(?s).*\"" + name + "\" : (\\d+).*", "$1"));
    }
}
