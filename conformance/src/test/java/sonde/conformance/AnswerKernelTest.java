package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.testkit.Shard;

/** Programs with one planted cause: the summary's answer says its class, function and object. */
@Tag("kernel")
@Tag("long")
final class AnswerKernelTest {
    /** Arguments of the program, then what the answer says: cause, function, object. */
    private static final String CAUSES =
            """
            hash    | of the CPU time in slow_hash           | slow_hash      | causes
            bytes   | write calls .* 1 B each                | emit_char      | /planted
            fsync   | fsync                                  | journal_commit | /planted
            yield   | sched_yield calls .* spins             | wait_ready     | causes
            nap     | loop of short sleeps                   | poll_flag      | causes
            hook    | for its child                          | run_hook       | child sh
            search  | failed with ENOENT                     | find_plugin    | /opt/plugins-planted/
            shared  | for a lock in shared memory .* held by causes | place_order | /planted
            semop   | in sem\\w+ on .*, woken by causes     | take_ticket    | the semaphore set
            queue   | in mq_timedreceive on .*, woken by causes | get_message | the message queue /planted-jobs
            spin    | of the CPU time in .* spins for a lock | update_stats  | causes
            atomic  | atomic lock \\w+ on .*2 threads change this variable | add_hits | total_hits
            sharing | what lies in this one cache line     | count_         | hit_counts+0x8
            bound   | may run on CPU 0 only                | slow_hash      | causes
            stat    | stat\\w* calls on /etc/hostname         | check_config   | /etc/hostname
            access  | access calls on .* failed with ENOENT  | find_job       | /opt/planted-spool/
            touch   | page faults                            | touch_buffer   | causes
            grow    | of memory of its own                   | cache_insert   | causes
            zombies | zombies                                |                | causes
            leak    | descriptors and had up to                 |                | /etc/hostname
            eagain  | failed with EAGAIN: it polls           | try_receive    | causes
            mutex   | for .*lock.* held by causes.*slept | look_up      | lock
            flock   | for the file lock                      | write_index    | /planted
            rwlock  | for the lock route_table .*held by .*slept | find_route | route_table
            twins   | causes .* waited .*file lock.*held by causes | append_entry | /planted
            trylock | tried .* times to lock .*was locked already   |      | /planted
            poll0   | poll calls .* it polls without waiting | check_queue | causes
            connect | in connect on .*connecting             | reach_backend | 127.0.0.1
            unclosed | up to 3.. of them open at once |             | causes
            turns   | openat calls on .*8 names              | open_shard  | /planted
            crash   | was killed by SIGSEGV                  | parse_header | causes
            limit   | was killed by SIGXFSZ                  | append_log  | /planted
            both    | write calls on .*planted .* 1 B each   | emit_both   | /planted
            refused | tried .* times to connect to .*nobody listens |      | 127.0.0.1
            calls   | system calls .*lseek ×             | reload_page  | causes
            msync   | msync                              | save_table   | /planted
            damage  | SIGABRT: the C library found its heap damaged | release_row | causes
            alarm   | was killed by SIGALRM              |              | causes
            ticks   | SIGALRM .* from timers                 |                | causes
            """;

    @TempDir static Path folder;

    @BeforeAll
    static void build() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "needs gcc");
        try (InputStream source = AnswerKernelTest.class.getResourceAsStream("causes.c")) {
            Files.write(folder.resolve("causes.c"), source.readAllBytes());
        }
        List<String> gcc = List.of("gcc", "-g", "-O1", "-pthread", "-o", "causes", "causes.c");
        Sonde.Outcome outcome = Sonde.in(folder).execute(gcc);
        assertThat(outcome.status()).as("%s", outcome).isZero();
    }

    private static String answer(String... command) throws Exception {
        String[] words = new String[command.length + 6];
        System.arraycopy(
                new String[] {"record", "--json", "--no-jvm", "-o", "r-" + command[1], "--"},
                0,
                words,
                0,
                6);
        System.arraycopy(command, 0, words, 6, command.length);
        Sonde.Outcome outcome = Sonde.in(folder).run(words);
        Object answer = Json.parse(outcome.out()).members().get("answer");
        return answer == null
                ? ""
                : String.join("\n", ((List<?>) answer).stream().map(String::valueOf).toList());
    }

    static List<Arguments> causes() {
        return Shard.of(CAUSES.lines().toList()).stream()
                .map(line -> Arguments.of((Object[]) line.split(" *\\| *", 4)))
                .toList();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("causes")
    void aPlantedCauseIsTold(String mode, String cause, String function, String object)
            throws Exception {
        String answer = answer("./causes", mode, "2", folder.resolve("planted").toString());
        boolean starved = answer.contains(" of CPU and got ");
        boolean told = Pattern.compile(cause).matcher(answer).find();
        assumeTrue(told || !starved, "other processes had the CPUs: " + answer);
        assertThat(answer).containsPattern(cause).contains(function).contains(object);
    }

    @Test
    void aScriptThatStartsProgramsIsTold() throws Exception {
        Files.writeString(
                folder.resolve("forky.sh"),
                "end=$(($(date +%s) + 2))\n"
                        + "while [ $(date +%s) -lt $end ]; do expr 1 + 1 > /dev/null; cut -c1 /dev/null; done\n");
        assertThat(answer("sh", "forky.sh"))
                .containsPattern("processes were started in .*expr ×.* by sh");
    }

    @Test
    void aProgramThatDoesNothingIsNotJudged() throws Exception {
        assertThat(answer("true", "x")).isEmpty();
    }
}
