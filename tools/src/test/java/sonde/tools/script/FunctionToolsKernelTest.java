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
                "funccount | sys_enter_sync\\]: [1-9] | tracepoint:syscalls:sys_enter_sy*",
                "funccount | :malloc\\]: [1-9] | uprobe:libc:mall*",
                "funclatency | @all: .*count = [1-9] | libc:malloc",
                "stackcount | , sync\\]: [1-9] | tracepoint:syscalls:sys_enter_sync",
                "argdist | @values\\[4321\\]: [3-9] | tracepoint:syscalls:sys_exit_read --of=ret --exact",
                "argdist | @hist:\\n\\[ | uprobe:libc:malloc",
                "memleak | (?s)@bytes\\[\\s.*\\]: \\d{4,} | --top=100",
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
