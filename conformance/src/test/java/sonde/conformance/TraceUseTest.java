package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code sonde trace} and {@code sonde doctor} tell who asks before a script is run. */
@Tag("product")
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
}
