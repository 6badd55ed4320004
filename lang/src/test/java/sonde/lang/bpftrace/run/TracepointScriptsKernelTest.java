package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Scripts at tracepoints and iterators. */
@Tag("kernel")
final class TracepointScriptsKernelTest {
    private static String cat(String script) throws Exception {
        return Traced.run(script, "sh", "-c", "cat /proc/self/comm >/dev/null");
    }

    @Test
    void argumentsAreCopiedWithoutTheHeadThatIsClosed() throws Exception {
        String printed =
                cat(
                        "t:syscalls:sys_enter_openat /comm == \"cat\"/ { print(args);"
                                + " printf(\"<%s>\\n\", args); }"
                                + " t:sched:sched_process_exec /comm == \"cat\"/ { @e = args;"
                                + " print(args); printf(\"<%s>\\n\", args); }");
        assertThat(printed)
                .containsPattern("(?m)^\\{ \\.__syscall_nr = 257, \\.dfd = -100, \\.filename = ")
                .contains("<{ .__syscall_nr = 257, .dfd = -100, ")
                .containsPattern("(?m)^\\{ \\.filename = /\\S+/cat, \\.pid = ")
                .containsPattern("<\\{ \\.filename = /\\S+/cat, \\.pid = ")
                .containsPattern("@e: \\{ \\.filename = \\d+, \\.pid = ")
                .doesNotContain("common_");
    }

    @Test
    void integersOfSystemCallsHaveTheirSign() throws Exception {
        assertThat(
                        cat(
                                "t:syscalls:sys_enter_openat"
                                        + " /comm == \"cat\" && args.dfd == -100/"
                                        + " { @least = min(args.dfd); }"))
                .contains("@least: -100");
    }

    @Test
    void pathsBehindPointersOfTheKernel() throws Exception {
        try (Traced traced = Traced.attach("iter:task { @[path(ctx.task.fs.root)] = count(); }")) {
            traced.iterate();
            assertThat(traced.end()).contains("@[/]: ");
        }
    }

    @Test
    void iteratorsEndWithNothing() throws Exception {
        try (Traced traced =
                Traced.attach("iter:task_file { @[path(ctx.file.f_path)] = count(); }")) {
            assertThat(traced.end()).isNotNull();
        }
    }
}
