package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Names of user code: of processes that have ended, of libraries, JIT code, other name spaces. At
 * the first instruction of a function kernels before 6.12 do not see its caller.
 */
@Tag("kernel")
final class UserCodeKernelTest {
    private static final String SHORT =
            """
            __attribute__((noinline)) void leaf(int *p) { *(volatile int *) p += 1; }
            __attribute__((noinline)) void middle(int *p) { leaf(p); __asm__ volatile(""); }
            int main() { int x = 0; middle(&x); return x - 1; }
            """;

    private static final String DEEP =
            """
            #include <unistd.h>
            __attribute__((noinline)) int leaf(int x) {
                __asm__ volatile("" : "+r"(x));
                return x + 1;
            }
            __attribute__((noinline)) int middle(int x) { return leaf(x) + 1; }
            __attribute__((noinline)) int outer(int x) { return middle(x) + 1; }
            int main() { return outer(getppid() & 0) - 3; }
            """;

    /** Calls getppid in a function, says so, waits for the end of its input. */
    private static final String WAITING =
            """
            #include <unistd.h>
            __attribute__((noinline)) void asks() {
                long number = 110;
                __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
            }
            int main() {
                asks();
                char byte = '!';
                write(1, &byte, 1);
                return read(0, &byte, 1) != 0;
            }
            """;

    private static final String LIBRARY =
            """
            __attribute__((noinline)) void deep(int *p) { *(volatile int *) p += 1; }
            void plugged(int *p) { deep(p); __asm__ volatile(""); }
            """;

    private static final String LOADER =
            """
            #include <dlfcn.h>
            int main(int count, char **words) {
                void *library = dlopen(words[1], RTLD_NOW);
                void (*plugged)(int *) = library ? dlsym(library, "plugged") : 0;
                int x = 0;
                if (!plugged) return 2;
                plugged(&x);
                return x - 1;
            }
            """;

    /** Writes push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret and lists it for perf. */
    private static final String JIT =
            """
            #include <stdio.h>
            #include <string.h>
            #include <sys/mman.h>
            #include <unistd.h>
            __attribute__((noinline)) void hit() { __asm__ volatile(""); }
            __attribute__((noinline)) void hop() { hit(); __asm__ volatile(""); }
            int main() {
                static const char code[] = "\\x55\\x48\\x89\\xe5\\xff\\xd7\\x5d\\xc3";
                char *page = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                memcpy(page, code, sizeof code);
                char name[64];
                sprintf(name, "/tmp/perf-%d.map", getpid());
                FILE *list = fopen(name, "w");
                fprintf(list, "%lx %x made_up\\n", (long) page, 8);
                fclose(list);
                ((void (*)(void (*)())) page)(hop);
                puts("!");
                fflush(stdout);
                return getchar() != EOF;
            }
            """;

    @TempDir Path folder;

    private static void assumeX86() {
        Assumptions.assumeTrue(System.getProperty("os.arch").equals("amd64"), "x86-64 code");
    }

    @Test
    void processesThatHaveEnded() throws Exception {
        Path moving = Traced.compile(folder, "moving", SHORT, "-pie", "-fPIE");
        Path fixed = Traced.compile(folder, "fixed", SHORT, "-no-pie");
        for (Path program : new Path[] {moving, fixed}) {
            String script =
                    "uprobe:%s:leaf { printf(\"%%s.%%s.\", func, usym(reg(\"ip\")));"
                            + " print(ustack(3)); @[ustack(perf, 2)] = count(); }";
            assertThat(Traced.run(script.formatted(program), program.toString()))
                    .containsPattern(
                            "leaf\\.leaf\\.\\s+leaf\\+\\d+\\s+(middle\\+\\d+\\s+)?main\\+\\d+\n")
                    .containsPattern(
                            "@\\[\n\t[0-9a-f]+ leaf\\+\\d+ \\(%s\\)\n\t[0-9a-f]+ m[a-z]+\\+\\d+ \\(%s\\)"
                                    .formatted(program, program));
        }
    }

    @Test
    void linesAndInlinedFunctions() throws Exception {
        assumeX86();
        Path program =
                Traced.compile(
                        folder,
                        "lines",
                        """
                        static inline __attribute__((always_inline)) void asks(void) {
                            long number = 110;
                            __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
                        }
                        __attribute__((noinline)) void outer(void) {
                            asks();
                            __asm__ volatile("");
                        }
                        int main() {
                            outer();
                            return 0;
                        }
                        """,
                        "-g");
        String getppid = "tracepoint:syscalls:sys_enter_getppid /comm == \"lines\"/ ";
        String both = getppid + "{ print(ustack(2)); print(ustack(perf, 2)); }";
        assertThat(Traced.run(both, program.toString()))
                .containsPattern(
                        "\\[inlined\\] asks@\\S+/lines\\.c:3\\s+outer\\+\\d+@\\S+/lines\\.c:6"
                                + "\\s+main\\+\\d+@\\S+/lines\\.c:10\n")
                .containsPattern("\t[0-9a-f]+ asks \\(inlined\\)\n\t[0-9a-f]+ outer\\+\\d+ \\(");
        String off = "config = { show_debug_info = false } " + both;
        assertThat(Traced.run(off, program.toString()))
                .containsPattern("\\s+outer\\+\\d+\\s+main\\+\\d+\n")
                .doesNotContain("lines.c", "inlined");
    }

    @Test
    void stacksByCallFrameInformation() throws Exception {
        assumeX86();
        Path program = Traced.compile(folder, "nofp", DEEP, "-fomit-frame-pointer");
        String whole = "leaf\\+0\\s+middle\\+\\d+\\s+outer\\+\\d+\\s+main\\+\\d+\\s+";
        String script =
                "config = { show_debug_info = false }"
                        + "uprobe:%s:leaf { printf(\"%%d %%s\\n\", pid, dw_ustack());"
                        + " $two = dw_ustack(raw, 2); print((1, $two)); @last = dw_ustack(perf, 9); }"
                        + "tracepoint:syscalls:sys_enter_getppid /comm == \"nofp\"/"
                        + " { print(dw_ustack(9)); }";
        assertThat(Traced.run(script.formatted(program), program.toString()))
                .containsPattern("[0-9]+ \\s+" + whole)
                .containsPattern("\\(1, \n[0-9a-f]+\n[0-9a-f]+\n\\)")
                .containsPattern("@last: \n\t[0-9a-f]+ leaf\\+0 \\(%s\\)\n".formatted(program))
                .containsPattern("getppid\\+\\d+\\s+main\\+\\d+\\s+")
                .doesNotContain("not whole");
    }

    @Test
    void stacksByCallFrameInformationInKeys() throws Exception {
        assumeX86();
        Path program = Traced.compile(folder, "nofp", DEEP, "-fomit-frame-pointer");
        String script =
                """
                config = { show_debug_info = false; max_map_keys = 2; }
                uprobe:%s:leaf, uprobe:%s:middle, uprobe:%s:outer {
                    @hits[comm, dw_ustack(2)] = count();
                    @same[pid > 0, dw_ustack(raw, 1), 7] = hist(3);
                }
                uprobe:%s:leaf {
                    @kept[dw_ustack(1)] = sum(5);
                    @kept[dw_ustack(1)] = sum(6);
                    @plain[dw_ustack(1)] = comm;
                    @gone[dw_ustack(1)] = count();
                    clear(@gone);
                }
                """
                        .formatted(program, program, program, program);
        assertThat(Traced.run(script, program.toString()))
                .containsPattern("@hits\\[nofp, \n\\s+middle\\+0\n\\s+outer\\+\\d+\n\\]: 1\n")
                .containsPattern("@kept\\[\n\\s+leaf\\+0\n\\]: 11\n")
                .containsPattern("@plain\\[\n\\s+leaf\\+0\n\\]: nofp\n")
                .containsPattern("@same\\[true, \n[0-9a-f]+\n, 7\\]:\\s*\n\\[2, 4\\) +1 ")
                .contains("Lost 1 events of @hits: map full")
                .doesNotContain("@gone", "not whole");
    }

    @Test
    void librariesThatAreLoadedLater() throws Exception {
        Path library = Traced.compile(folder, "libplug.so", LIBRARY, "-shared", "-fPIC");
        Path program = Traced.compile(folder, "loader", LOADER, "-ldl");
        String script = "uprobe:%s:deep { print(ustack(3)); }".formatted(library);
        assertThat(Traced.run(script, program.toString(), library.toString()))
                .containsPattern("deep\\+\\d+\\s+(plugged\\+\\d+\\s+)?main\\+\\d+\n");
    }

    /** What is traced while the process lives is printed when it has ended. */
    private static String whileItLives(String script, String... command) throws Exception {
        try (Traced traced = Traced.attach(script)) {
            Process process =
                    new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            assertThat(process.getInputStream().read()).isEqualTo('!');
            traced.drain();
            process.getOutputStream().close();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            try {
                return traced.end();
            } finally {
                Files.deleteIfExists(Path.of("/tmp/perf-" + process.pid() + ".map"));
            }
        }
    }

    @Test
    void codeOfACompilerAtRunTime() throws Exception {
        assumeX86();
        Path program = Traced.compile(folder, "jit", JIT);
        String script = "uprobe:%s:hit { @[ustack(4)] = count(); }".formatted(program);
        assertThat(whileItLives(script, program.toString()))
                .containsPattern("hit\\+\\d+\\s+(hop\\+\\d+\\s+)?made_up\\+6\\s+main\\+\\d+\n");
    }

    @Test
    void otherNameSpaces() throws Exception {
        assumeX86();
        Path program = Traced.compile(folder, "hidden", WAITING);
        Path place = Files.createDirectory(folder.resolve("place"));
        String script =
                "tracepoint:syscalls:sys_enter_getppid /comm == \"hidden\"/"
                        + " { @[ustack(2)] = count(); }";
        String commands =
                "mount -t tmpfs none %s && cp %s %s && %s/hidden"
                        .formatted(place, program, place, place);
        assertThat(whileItLives(script, "unshare", "-m", "-p", "-f", "sh", "-c", commands))
                .containsPattern("asks\\+\\d+\\s+main\\+\\d+\n");
        assertThat(place).isEmptyDirectory();
    }

    @Test
    void namesOfCpp() throws Exception {
        Path program =
                Traced.compile(
                        folder,
                        "mangled",
                        """
                        void inner(int *p) __asm__("_ZN1a1bEi");
                        __attribute__((noinline)) void inner(int *p) { *(volatile int *) p += 1; }
                        int main() { int x = 0; inner(&x); return x - 1; }
                        """);
        String probe = "uprobe:%s:_ZN1a1bEi { print(func); }".formatted(program);
        assertThat(Traced.run(probe, program.toString())).contains("a::b(int)");
        assertThat(Traced.run("config = { cpp_demangle = 0 } " + probe, program.toString()))
                .contains("_ZN1a1bEi");
    }

    @Test
    void variablesOfAProgram() throws Exception {
        String source =
                """
                unsigned int wide = 0x55555555;
                unsigned char narrow[1] = {0x33};
                int leaf(int x) { return x; }
                int main() { return leaf(0); }
                """;
        for (String how : new String[] {"-pie", "-no-pie"}) {
            Path program = Traced.compile(folder, "variables" + how, source, how);
            String script =
                    "uprobe:%s:leaf { printf(\"%%x %%x\\n\", *uaddr(\"wide\"),"
                            + " *uaddr(\"narrow\")); }";
            assertThat(Traced.run(script.formatted(program), program.toString()))
                    .contains("55555555 33\n");
        }
    }

    @Test
    void addressesWithoutAName() throws Exception {
        assertThat(Traced.run("BEGIN { print(usym(1)); @[usym(2)] = 1; }", "true"))
                .contains("0x1\n")
                .contains("@[0x2]: 1\n");
    }

    @Test
    void groupsOfEachHierarchy() throws Exception {
        String printed =
                Traced.run(
                        "BEGIN { print(cgroup_path(cgroupid(\"/sys/fs/cgroup\"), \"uni*\"));"
                                + " print((1, cgroup_path(1, \"nothing*\"))); }",
                        "true");
        assertThat(printed).contains("(1, )");
        if (Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers"))) {
            assertThat(printed).contains("unified:/\n");
        }
    }

    /** Instructions with the prefix LOCK are refused; the kernel looks at them where they run. */
    @Test
    void whatCannotBeProbedIsLeftOutOfPatterns(@TempDir Path folder) throws Exception {
        String source =
                """
                #include <stdio.h>
                __asm__(".type place_a, @function\\nplace_a: lock decl (%rdi)\\nret\\n"
                        ".size place_a, . - place_a\\n"
                        ".type place_b, @function\\nplace_b: nop\\nret\\n"
                        ".size place_b, . - place_b\\n");
                void place_b(void);
                int main() { puts("r"); fflush(stdout); getchar(); place_b(); return 0; }
                """;
        String program = Traced.compile(folder, "places", source).toString();
        for (String key : new String[] {"func", "probe"}) {
            Process process = new ProcessBuilder(program).start();
            assertThat(process.getInputStream().read()).isEqualTo('r');
            String at = "uprobe:" + program + ":place_";
            try (Traced traced = Traced.attach(at + "* { @[" + key + "] = 1; }")) {
                assertThatThrownBy(() -> Traced.attach(at + "a { @ = 1; }").close())
                        .hasMessageContaining(program + ":place_a");
                assertThatThrownBy(() -> Traced.attach(at + "b," + at + "a { @ = 1; }").close())
                        .hasMessageContaining(program + ":place_a");
                process.getOutputStream().close();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(traced.end())
                        .containsPattern("@\\[.+]: 1")
                        .contains("WARNING: Unable to attach probe: " + at + "a");
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
