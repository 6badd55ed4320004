package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scripts at functions of the kernel: on kernels with kprobes, mostly the guests'. */
@Tag("kernel")
final class FunctionScriptsKernelTest {
    @BeforeEach
    void needsKprobes() {
        Assumptions.assumeTrue(
                Files.exists(Path.of("/sys/bus/event_source/devices/kprobe")),
                "this kernel has no kprobes");
    }

    /** Runs a script while {@code cat} opens and reads a file. */
    private static String cat(String script) throws Exception {
        return Traced.run(script, "sh", "-c", "cat /proc/self/comm >/dev/null");
    }

    @Test
    void argumentsAndResults() throws Exception {
        assertThat(
                        cat(
                                "k:do_sys_openat2 /comm == \"cat\"/ { @names[str(uptr(arg1))] = 1;"
                                        + " printf(\"%s %s\\n\", probe, func); }"
                                        + " kr:do_sys_openat2 /comm == \"cat\"/"
                                        + " { @opened[(int32)retval >= 0] = count(); }"))
                .contains("@names[/proc/self/comm]: 1")
                .contains("kprobe:do_sys_openat2 do_sys_openat2\n")
                .contains("@opened[true]: ");
    }

    @Test
    void argumentsWithTypes() throws Exception {
        assertThat(
                        cat(
                                "fentry:vfs_open /comm == \"cat\"/ {"
                                        + " @[str(args.path.dentry.d_name.name)] = 1; }"
                                        + " fexit:vfs_open /comm == \"cat\"/"
                                        + " { @open[retval] = count(); @func[func] = 1; }"))
                .contains("@[comm]: 1")
                .contains("@open[0]: ")
                .contains("@func[vfs_open]: 1");
    }

    @Test
    void stacksOfTheKernel() throws Exception {
        assertThat(cat("k:vfs_open /comm == \"cat\"/ { @[kstack(3)] = count(); }"))
                .containsPattern("vfs_open\\+\\d+\n\\s+\\w+(\\.\\w+)*\\+\\d+\n");
        assertThat(cat("fentry:vfs_open /comm == \"cat\"/ { @[kstack] = count(); }"))
                .containsPattern("do_sys_openat2\\+\\d+\n");
    }

    @Test
    void manyFunctionsShareAProgram() throws Exception {
        assertThat(cat("k:vfs_* /comm == \"cat\"/ { @[func] = count(); }"))
                .contains("@[vfs_open]: ")
                .contains("@[vfs_read]: ");
        assertThat(cat("k:vfs_open,k:vfs_read /comm == \"cat\"/ { @[probe] = count(); }"))
                .contains("@[kprobe:vfs_open]: ")
                .contains("@[kprobe:vfs_read]: ");
        assertThat(cat("kr:vfs_rea* /comm == \"cat\"/ { @[func] = count(); }"))
                .contains("@[vfs_read]: ");
    }

    @Test
    void instructionsWithinAFunction() throws Exception {
        assertThat(cat("k:vfs_open+0 /comm == \"cat\"/ { @ = count(); }"))
                .containsPattern("@: [1-9]");
    }

    @Test
    void pathsOfFiles() throws Exception {
        assertThat(
                        cat(
                                "fentry:filp_close /comm == \"cat\"/"
                                        + " { @[path(args.filp.f_path)] = 1; }"))
                .contains("@[/dev/null]: 1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }",
                "tracepoint:syscalls:sys_enter_openat { @[comm, str(args.filename)] = count(); }",
                "tracepoint:syscalls:sys_exit_read /args.ret > 0/ { @ = hist(args.ret); }",
                "kretprobe:vfs_read { @ = lhist((int64)retval, 0, 2000, 200); }",
                "kprobe:vfs_read { @start[tid] = nsecs; }"
                        + " kretprobe:vfs_read /@start[tid]/"
                        + " { @ns[comm] = hist(nsecs - @start[tid]); delete(@start, tid); }",
                "tracepoint:sched:sched_switch { @[kstack(4)] = count(); }",
                "tracepoint:sched:sched_process_fork { @[args.parent_pid, args.child_pid] = 1; }",
                "fentry:vfs_read { @[comm] = sum(args.count); @most = max(args.count); }",
                "rawtracepoint:sys_enter { @[cpu] = count(); @t = (pid, comm); }",
                "kprobe:do_nanosleep { @nap = 1; } tracepoint:syscalls:sys_enter_close"
                        + " { $t = curtask; @[$t.pid, $t.comm, $t.real_parent.comm] = count(); }",
                "tracepoint:syscalls:sys_enter_execve { join(args.argv); @ = avg(elapsed); }",
                "t:syscalls:sys_enter_openat { for ($i : 0..3) { @[$i] = stats($i); }"
                        + " unroll (2) { @n = sum(2); } if (strncmp(comm, \"ca\", 2) == 0)"
                        + " { @c = strftime(\"%H\", nsecs); } }",
            })
    void oneLiners(String script) throws Exception {
        assertThat(cat(script)).contains("@");
    }
}
