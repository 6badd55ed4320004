package sonde.tools.script;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tools for CPUs, waits and interrupts see what commands do. */
@Tag("kernel")
class SchedulerToolsKernelTest {
    private static final String SLEEPS = "for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "runqlat | @us_of\\[sleep\\]:\\n\\[ | --names --user-threads",
                "runqlat | @ms_by\\[\\d+, sleep\\]:\\n\\[ | -m -P",
                "runqlat | @us_in\\[\\d+\\]:\\n\\[ | --pidnss",
                "runqlen | (?s)@waiting_on\\[\\d\\]:.*@occupancy_on\\[\\d\\]: \\d+ | --cpus",
                "runqlen | ends\\.\\n@occupancy: \\d+ | -O",
                "runqslower | sleep +\\d+ +\\d+ +\\S+ | --min=1",
                "cpudist | @us_of\\[sleep\\]:\\n\\[ | --names",
                "cpudist | @us_by\\[\\d+, sleep\\]:\\n\\[ | -L -O",
                "offcputime | nanosleep\\n(    \\S.*\\n)*    - +sleep \\(\\d+\\)\\n        \\d{4,}\\n | --top=1000 --state S -u -M 1s",
                "offwaketime | waker: .* \\d+\\n(    .*\\n)*    -- +--\\n(    .*\\n)*    .*nanosleep\\n(    \\S.*\\n)*    target: +sleep \\d+\\n        \\d+\\n | --top=1000",
                "offwaketime | nanosleep\\n(    \\S.*\\n)*    target: +sleep \\d+\\n        \\d+\\n | --top=1000 -U",
                "softirqs | [a-z_]+ +[1-9]\\d* +\\d+\\n | ",
                "softirqs | @ns_hist\\[\\w+\\]:\\n\\[ | --histograms -N",
                "syscount | \\d sync +[1-9]\\d* +- *\\n | --top=0",
                "syscount | \\d +sync +[1-9]\\d* +[1-9]\\d* *\\n | -T 0 --processes --latency --syscall sync",
                "syscount | \\d [a-z]\\w+ +[1-9]\\d* +- *\\n | -T 0 -e ENOENT",
            })
    void toolsSeeTheCommands(String name, String pattern, @Nullable String options)
            throws Exception {
        see(name, pattern, options);
    }

    /** These also run in the guests. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "wakeuptime | target: +sleep\\n(    \\S.*\\n)+    waker: .*\\n        \\d{4,}\\n | --top=1000",
                "profile | \\n    - +sh \\(\\d+\\)\\n        [1-9]\\d*\\n | --top=1000 --kernel",
                "hardirqs | \\d+ +\\S+ +[1-9]\\d* +\\d+\\n | ",
            })
    void toolsSeeWakersSamplesAndInterrupts(String name, String pattern, @Nullable String options)
            throws Exception {
        see(name, pattern, options);
    }

    private static void see(String name, String pattern, @Nullable String options)
            throws Exception {
        ToolRun.see(
                name,
                pattern,
                () -> {
                    Workload.shell(SLEEPS);
                    Workload.shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sync");
                },
                options == null ? new String[0] : options.split(" "));
    }

    @org.junit.jupiter.api.Test
    void thePidIsThatOfWhoWasOnTheCpu() throws Exception {
        String pid = "" + ProcessHandle.current().pid();
        ToolRun.see("cpudist", "@us:\\s*\\[", () -> Thread.sleep(20), "-p", pid);
    }

    @org.junit.jupiter.api.Test
    void futexctnSeesAThreadWait() throws Exception {
        ToolRun.see(
                "futexctn",
                ProcessHandle.current().pid() + " +0x[0-9a-f]+ +[1-9]\\d* +\\d+ +\\d+\\n",
                () -> Thread.sleep(50));
    }
}
