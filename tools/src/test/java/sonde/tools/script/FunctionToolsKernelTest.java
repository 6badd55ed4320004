package sonde.tools.script;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tools for functions and events see the calls of commands. */
@Tag("kernel")
class FunctionToolsKernelTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "funccount | [1-9] tracepoint:syscalls:sys_enter_sync\\n | tracepoint:syscalls:sys_enter_sy*",
                "funccount | [1-9] \\S*:malloc\\n | uprobe:libc:mall* --top=5 --uid=root",
                "funclatency | @all: .*count = [1-9] | libc:malloc -N --max=1s",
                "stackcount | \\n    sync\\n    - +sync\\n        [1-9]\\d*\\n\\n | tracepoint:syscalls:sys_enter_sync",
                "stackcount | \\n    do_syscall_64\\n.*\\n    - +sync \\(\\d+\\)\\n        [1-9]\\d*\\n\\n | tracepoint:syscalls:sys_enter_sync -K -P",
                "argdist | @values\\[4321\\]: [3-9] | tracepoint:syscalls:sys_exit_read --of=ret --exact",
                "argdist | @hist:\\n\\[ | uprobe:libc:malloc",
                "memleak | \\n    \\S.*\\n        \\d{4,}\\n\\n | --top=100 -z 1000 -s 2",
            })
    void toolsSeeTheCalls(String name, String pattern, String options) throws Exception {
        ToolRun.see(
                name,
                pattern,
                () ->
                        Workload.shell(
                                "sync; dd if=/dev/zero of=/dev/null bs=4321 count=3;"
                                        + " seq 1000 | sort -S 8M"),
                options.split(" "));
    }
}
