package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code sonde trace} and {@code sonde doctor} tell who asks before a script is run. */
@Tag("product")
@Tag("long")
@Timeout(120)
class TraceUseTest {
    @TempDir Path folder;

    /** The run itself is asked. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "kprobe:vfs_read",
                "kretprobe:vfs_read",
                "fentry:vfs_read",
                "fexit:vfs_read",
                "hardware:cycles:1000000",
                "software:cpu-clock:1000000",
                "tracepoint:sched:sched_switch",
                "rawtracepoint:sched_switch",
                "uprobe:libc:malloc"
            })
    @Tag("tracefs")
    void thePlanSaysWhatTheRunWillSay(String probe) throws Exception {
        Sonde sonde = Sonde.in(folder);
        String script = probe + " { @ = count(); }";
        Sonde.Outcome run = sonde.run("trace", "--dry-run", script);
        Sonde.Outcome plan = sonde.run("trace", "--plan", script);
        assertThat(plan.status()).as("%s", plan).isZero();
        assertThat(plan.out().contains("    will not attach: "))
                .as("%s%n%s", run, plan)
                .isEqualTo(run.status() != 0);
        if (run.status() != 0) {
            String why = plan.out().split("will not attach: ")[1].split("\n")[0];
            assertThat(run.err()).contains(why);
        }
    }

    /** The state after each interval and at the end, of the same maps. */
    @Test
    @Tag("tracefs")
    void mapsAreShownEveryInterval() throws Exception {
        String script =
                "tracepoint:syscalls:sys_enter_getpid,tracepoint:syscalls:sys_enter_read"
                        + " { @n = count(); @b = lhist(-5, 0, 10, 5); } END { printf(\"left out\"); }";
        Sonde sonde = Sonde.in(folder);
        Sonde.Outcome text =
                sonde.run("trace", "--maps-every", "200ms", "--duration", "500ms", script);
        assertThat(text.status()).as("%s", text).isZero();
        assertThat(text.out())
                .matches(
                        "(?s)(\\d\\d:\\d\\d:\\d\\d\\n\\n@b\\n .*\\n\\n@n\\n +value\\n +\\d+\\n\\n?){3}")
                .doesNotContain("left out");
        Sonde.Outcome json =
                sonde.run("trace", "--json", "--maps-every", "5s", "--duration", "300ms", script);
        assertThat(json.out().lines())
                .singleElement()
                .asString()
                .contains("\"kind\":\"histogram\"", "\"buckets\":[{\"from\":null,\"to\":0,");
        assertThat(sonde.run("trace", "-f", "csv", "--maps-every", "1s", script).status())
                .isEqualTo(2);
    }

    @Test
    void doctorAndTraceNameTheSameGaps() throws Exception {
        String doctor = Sonde.in(folder).run("doctor").out();
        String information = Sonde.in(folder).run("trace", "--info").out();
        for (String feature :
                List.of("kprobes, kretprobes", "fentry, fexit", "hardware counters")) {
            String answer = information.split("  " + feature + ": ")[1].split("[ \n]")[0];
            assertThat(doctor).as(feature).containsPattern(feature + " +(" + answer + "|unknown) ");
            if (answer.equals("no")) {
                assertThat(information).containsPattern(feature + ": no \\(.{10,}\\): .{10,}");
            }
        }
    }

    /** A user of a tool reads of the tool, not lines of its script. */
    @Test
    void aToolThatCannotRunSaysWhy() throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run("tool", "funccount", "libc:no_such");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .isEqualTo(
                        """
                        sonde: funccount: there is no uprobe:libc:no_such
                               'sonde trace -l "uprobe:libc:*"' lists those there are
                        """);
    }

    @Test
    void aMarkerThatIsNotThereIsToldWithItsFile() throws Exception {
        Path library = Path.of("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
        assumeTrue(Files.exists(library), library + " is missing");
        Sonde.Outcome outcome =
                Sonde.in(folder).run("trace", "usdt:" + library + ":thro { print(1); }");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .contains("there is no marker thro among the 3 of " + library)
                .contains("did you mean 'throw'");
        assertThat(Sonde.in(folder).run("trace", "usdt:/bin/true:a { }").err())
                .contains("HINT: /bin/true has no markers");
    }

    /** Every command says what is like a word that it does not know, in the same way. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "trace --dry-rum x | unknown option --dry-rum; did you mean '--dry-run'?",
                "trace -d 1 | -d shows a pass, as --dump; a time is --duration 1",
                "trace --aot x | --compile FILE.bt -o FILE.sbt writes a compiled script",
                "trace c:malloc | HINT: a probe is not a program: 'sonde tool funccount c:malloc' counts",
                "tool opensnoop --faild | unknown option --faild; did you mean '--failed'?",
                "record --durration 3 | unknown option --durration; did you mean '--duration'?",
                "opensnoop | no command is called 'opensnoop'; did you mean 'tool opensnoop'?",
                "reord | no command is called 'reord'; did you mean 'record'?",
            })
    void wordsThatAreNotKnown(String line, String message) throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run(line.split(" "));
        assertThat(outcome.status()).isEqualTo(line.equals("trace c:malloc") ? 1 : 2);
        assertThat(outcome.err()).contains(message);
    }

    @Test
    void divisionByZeroIsCalledSo() throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run("trace", "begin { print(1/0); }");
        assertThat(outcome.err())
                .isEqualTo(
                        """
                        stdin:1:15-18: ERROR: division by zero
                        begin { print(1/0); }
                                      ~~~
                        """);
    }

    @Test
    void whatTheVerifierRefusesHasItsPlaceItsCauseAndWhatHelps() throws Exception {
        String script = "begin { $i = 0; while ($i < 100000000) { $i++; @[$i % 7] = $i; } }";
        Sonde.Outcome outcome = Sonde.in(folder).run("trace", script);
        assertThat(outcome.status()).isEqualTo(1);
        List<String> said = outcome.err().lines().toList();
        assertThat(said.getFirst()).matches("stdin:1:\\d+-\\d+: ERROR: .* given up: loops are .*");
        assertThat(said.get(2)).contains("~");
        assertThat(said.get(3)).startsWith("HINT: of a range loop");
        assertThat(said.get(4)).startsWith("verifier: The sequence of ");
    }

    /** As record and strace do: a script around the command sees how it ended. */
    @Test
    void theStatusIsThatOfTheCommand() throws Exception {
        Sonde sonde = Sonde.in(folder);
        assertThat(sonde.run("trace", "-c", "sh -c 'exit 3'", "begin { }").status()).isEqualTo(3);
        assertThat(sonde.run("trace", "-c", "sh -c 'kill -TERM $$'", "begin { }").status())
                .isEqualTo(128 + 15);
        assertThat(sonde.run("trace", "-c", "true", "begin { }").status()).isZero();
        String ends = "interval:ms:50 { exit(); }";
        assertThat(sonde.run("trace", "-c", "sleep 9", ends).status()).isZero();
        String fails = "interval:ms:50 { exit(7); }";
        assertThat(sonde.run("trace", "-c", "sleep 9", fails).status()).isEqualTo(7);
        String ignoring =
                "trap '' USR2 PIPE; exec "
                        + Sonde.ROOT
                        + "/sonde trace -q -c 'grep SigIgn /proc/self/status' 'begin { }'";
        Sonde.Outcome kept = sonde.execute(List.of("/bin/bash", "-c", ignoring));
        // signals 12 and 13
        assertThat(kept.out()).containsPattern("SigIgn:\t[0-9a-f]{12}1800\n");
    }

    @Test
    @Tag("tracefs")
    void tooFewDescriptorsNameTheLimit() throws Exception {
        String run =
                "ulimit -n 64; exec " + Sonde.ROOT + "/sonde trace 'tracepoint:syscalls:* { }'";
        Sonde.Outcome outcome = Sonde.in(folder).execute(List.of("/bin/bash", "-c", run));
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(1);
        assertThat(outcome.err()).contains("EMFILE", "raise 'ulimit -n'").doesNotContain("\tat ");
    }

    @Test
    void whatARecordingLacksIsToldWithoutASummary() throws Exception {
        Sonde sonde = Sonde.in(folder);
        boolean counters = !sonde.run("trace", "--info").out().contains("hardware counters: no");
        Sonde.Outcome outcome = sonde.run("record", "-e", "cycles", "--no-summary", "true");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(outcome.err().contains("no event cycles: "))
                .as("%s", outcome)
                .isEqualTo(!counters);
    }

    @Test
    @Tag("tracefs")
    void anUnknownNamedProbeSaysHowToMakeOne() throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run("record", "-e", "probe:nosuch", "true");
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("'sonde probe add'");
    }

    @Test
    @Tag("tracefs")
    void stacksOfToolsAreFoldedWithoutTheTracer() throws Exception {
        Sonde.Outcome outcome =
                Sonde.in(folder).run("tool", "offcputime", "--folded", "-c", "sleep 0.2");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(outcome.out()).doesNotContain("bpf_trace_run", "__traceiter_");
        assertThat(outcome.out().lines())
                .isNotEmpty()
                .allMatch(line -> line.matches(".+ [0-9]+"))
                .anyMatch(line -> line.startsWith("sleep;") && line.contains(";__schedule "));
    }
}
