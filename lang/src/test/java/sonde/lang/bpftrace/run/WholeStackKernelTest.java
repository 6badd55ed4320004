package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** User stacks of programs and libraries without frame pointers. */
@Tag("kernel")
final class WholeStackKernelTest {
    private static final String SOURCE =
            """
            #define _GNU_SOURCE
            #include <stdlib.h>
            #include <unistd.h>
            #define OWN __attribute__((noinline, noclone))
            volatile long sink;
            OWN long inner(long n) {
                for (long i = 0; i < n * 1000; i++) sink += i * i;
                return syscall(110) + sink;
            }
            OWN int compare(const void *a, const void *b) {
                volatile char room[200];
                room[sink & 127] = 1;
                sink += inner(20) + room[3];
                return *(const int *) a - *(const int *) b;
            }
            OWN long outer(long n) {
                int numbers[2] = {2, 1};
                qsort(numbers, 2, sizeof *numbers, compare);
                return numbers[0] + n;
            }
            int main(int count, char **words) {
                for (int i = atoi(words[1]); i > 0; i--) sink += outer(i);
                return 0;
            }
            """;

    /** The program's functions lie around one of a library, and all of it in the C library. */
    private static final Pattern WHOLE =
            Pattern.compile(
                    "inner\\+\\d+\\s+compare\\+\\d+\\s+(\\S.*\\s+)+qsort_r\\+\\S+\\s+"
                            + "outer\\+\\d+\\s+main\\+\\d+\\s+(\\S.*\\s+)+_start\\+\\d+");

    private static final int LINES = 50;

    @TempDir Path folder;

    @BeforeEach
    void x86() {
        Assumptions.assumeTrue(System.getProperty("os.arch").equals("amd64"), "x86-64 only");
    }

    private Path program() throws Exception {
        return Traced.compile(folder, "omits", SOURCE, "-O2", "-fomit-frame-pointer");
    }

    @Test
    void asKeyOfMapsAtTracepoints() throws Exception {
        Path program = program();
        String printed =
                Traced.run(
                        "tracepoint:syscalls:sys_enter_getppid /comm == \"omits\"/ {"
                                + " @[ustack] = count(); } uprobe:%s:main { @main[ustack] = count(); }"
                                        .formatted(program),
                        program.toString(),
                        "50");
        assertThat(printed).containsPattern(WHOLE).contains("]: 50\n").doesNotContain("cut");
    }

    @Test
    void atUserProbesAndInLoops() throws Exception {
        Path program = program();
        String script =
                "uprobe:%s:inner { print(ustack); @[ustack(perf)] = count(); @n = max(len(ustack));"
                        + " $i = 0; while ($i < 2) { @loop[ustack(2)] = count(); $i++; } }";
        String printed = Traced.run(script.formatted(program), program.toString(), "3");
        assertThat(printed)
                .containsPattern(WHOLE)
                .containsPattern(
                        "@\\[\n\t[0-9a-f]+ inner\\+0 .*\n(\t.*\n)+\t[0-9a-f]+ _start\\+\\d+")
                .containsPattern("@loop\\[\n\\s+inner\\+0\n\\s+compare\\+\\d+\n\\]: 6\n")
                .containsPattern("@n: (8|9|10)\n");
    }

    @Test
    void atReturnsWhileOuterReturnsArePending() throws Exception {
        Path program = program();
        String script =
                "uretprobe:%1$s:inner { @[ustack] = count(); }"
                        + " uretprobe:%1$s:compare, uretprobe:%1$s:outer { @returns = count(); }"
                        + " uretprobe:libc:qsort_r /comm == \"omits\"/ {}";
        String printed = Traced.run(script.formatted(program), program.toString(), "3");
        assertThat(printed)
                .containsPattern(
                        "@\\[\n\\s+compare\\+\\d+\n(.*\n)+?\\s+outer\\+\\d+\n\\s+main\\+\\d+\n(.*\n)+?"
                                + "\\s+_start\\+\\d+\n\\]: 3\n")
                .contains("@returns: 6\n");
    }

    @Test
    void atSamples() throws Exception {
        Path program = program();
        String printed =
                Traced.run(
                        "profile:hz:997 /comm == \"omits\"/ { @[ustack] = count(); }"
                                + " uprobe:%s:main { @main[ustack] = count(); }".formatted(program),
                        program.toString(),
                        "10000");
        assertThat(printed).containsPattern(WHOLE);
    }

    @Test
    void sameFramesAsTheDebugger() throws Exception {
        Path gdb = Path.of("/usr/bin/gdb");
        Assumptions.assumeTrue(Files.isExecutable(gdb), "gdb is not there");
        for (String one : List.of("/usr/bin/sqlite3", "/usr/bin/python3", "/usr/bin/perl")) {
            if (!Files.isExecutable(Path.of(one))) {
                continue;
            }
            Process process = new ProcessBuilder(one).redirectErrorStream(true).start();
            try (Traced traced =
                    Traced.attach(
                            "tracepoint:syscalls:sys_enter_read /pid == %d && args.fd == 0/"
                                            .formatted(process.pid())
                                    + " { print(ustack(raw)); @ = count(); }")) {
                // The first stacks come before the tables of their files.
                OutputStream input = process.getOutputStream();
                for (int line = 0; line < LINES; line++) {
                    input.write("\n".getBytes(StandardCharsets.US_ASCII));
                    input.flush();
                    Thread.sleep(20);
                }
                waiting(process.pid());
                List<String> frames = debugger(gdb, process.pid());
                String printed = traced.end();
                assertThat(frames).as(printed).hasSizeGreaterThan(4);
                assertThat(last(printed)).isEqualTo(frames);
            } finally {
                process.destroyForcibly().waitFor();
            }
        }
    }

    @Test
    void functionsOfPythonAreNamed() throws Exception {
        Path python = Path.of("/usr/bin/python3");
        Assumptions.assumeTrue(Files.isExecutable(python), "Python is not there");
        String source =
                """
                import os, sys
                def ask():
                    os.getppid()
                def outer():
                    for line in sys.stdin:
                        ask()
                outer()
                """;
        Process process =
                new ProcessBuilder(python.toString(), "-c", source)
                        .redirectErrorStream(true)
                        .start();
        try (Traced traced =
                Traced.attach(
                        "tracepoint:syscalls:sys_enter_getppid /pid == %d/".formatted(process.pid())
                                + " { print(ustack); @ = count(); }")) {
            waiting(process.pid());
            OutputStream input = process.getOutputStream();
            for (int line = 0; line < LINES; line++) {
                input.write("\n".getBytes(StandardCharsets.US_ASCII));
                input.flush();
                Thread.sleep(20);
            }
            waiting(process.pid());
            assertThat(traced.end())
                    .containsPattern(
                            "ask@<string>:3\\s+outer@<string>:6\\s+<module>@<string>:7\\s+PyEval");
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static List<String> last(String printed) {
        String[] stacks = printed.substring(0, printed.indexOf('@')).strip().split("\n\n");
        return stacks[stacks.length - 1]
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
    }

    /** Addresses of the frames that are calls and not inlined. */
    private static List<String> debugger(Path gdb, long pid) throws Exception {
        String walk =
                """
                frame = gdb.newest_frame()
                while frame is not None:
                    if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                        print("pc", "%x" % frame.pc())
                    frame = frame.older()
                """;
        Path script = Files.createTempFile("frames", ".py");
        try {
            Files.writeString(script, walk);
            Process process =
                    new ProcessBuilder(
                                    gdb.toString(),
                                    "-batch",
                                    "-p",
                                    String.valueOf(pid),
                                    "-ex",
                                    "set backtrace past-main on",
                                    "-x",
                                    script.toString())
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start();
            String printed = new String(process.getInputStream().readAllBytes());
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            return printed.lines()
                    .filter(line -> line.startsWith("pc "))
                    .map(line -> line.substring(3))
                    .toList();
        } finally {
            Files.delete(script);
        }
    }

    /** Until it waits for its input. */
    private static void waiting(long pid) throws Exception {
        Path call = Path.of("/proc/" + pid + "/syscall");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!Files.readString(call).startsWith("0 0x0 ") && System.nanoTime() < end) {
            Thread.sleep(5);
        }
    }
}
