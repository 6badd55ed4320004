package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Programs that the scheduler takes the CPU from: on kernels that let it, mostly the guests'. */
@Tag("kernel")
final class PreemptionKernelTest {
    /** Words of kernel/sched/core.c, the present one in parentheses. */
    private static final Path PREEMPT = Path.of("/sys/kernel/debug/sched/preempt");

    /** Two processes on one CPU that say names of 200 letters, each its own. */
    private static final String TALK =
            "for letter in a b; do taskset -c 0 perl -e '$s = $ARGV[0] x 200;"
                    + " $end = time + 1; while (time < $end) { chdir $s for 1..200 }' $letter &"
                    + " done; wait";

    /** Runs with a kernel that preempts itself. */
    private static String preempting(String script) throws Exception {
        if (!Files.exists(PREEMPT)) {
            new ProcessBuilder("mount", "-t", "debugfs", "none", "/sys/kernel/debug")
                    .start()
                    .waitFor(10, TimeUnit.SECONDS);
        }
        String words = words();
        Assumptions.assumeTrue(words.contains("full"), "the kernel's preemption cannot be chosen");
        String before = words.replaceAll("(?s).*\\((\\w+)\\).*", "$1");
        Files.writeString(PREEMPT, "full");
        try {
            return Traced.run(script, "sh", "-c", TALK);
        } finally {
            Files.writeString(PREEMPT, before);
        }
    }

    /** Empty where a locked down kernel does not tell. */
    private static String words() {
        try {
            return Files.readString(PREEMPT);
        } catch (IOException e) {
            return "";
        }
    }

    @Test
    void textsOfTwoTasksDoNotMix() throws Exception {
        String printed =
                preempting(
                        "config = { max_strlen = 256 } uprobe:libc:chdir /comm == \"perl\"/ {"
                                + " $s = str(arg0); @at = strstr($s, \"z\");"
                                + " @[pid, $s] = count(); @hits = count(); }");
        assertThat(printed.lines().filter(line -> line.startsWith("@["))).hasSize(2);
    }
}
