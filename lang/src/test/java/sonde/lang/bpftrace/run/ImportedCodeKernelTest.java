package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;
import sonde.testkit.Clang;

/** Functions in C that scripts import. */
@Tag("kernel")
final class ImportedCodeKernelTest {
    /** Helpers by their numbers, as bpf_helper_defs.h has them; nothing else is included. */
    private static final String HELPERS =
            """
            #define SEC(name) __attribute__((section(name), used))
            static void *(*lookup)(void *map, const void *key) = (void *) 1;
            static long (*update)(void *map, const void *key, const void *value,
                                  unsigned long flags) = (void *) 2;
            static unsigned long (*current)(void) = (void *) 35;
            static long (*read_kernel)(void *to, unsigned int size, const void *from) =
                (void *) 113;
            static long (*loop)(unsigned int rounds, void *body, void *context,
                                unsigned long flags) = (void *) 181;
            """;

    @TempDir Path folder;

    @BeforeEach
    void needsClang() {
        Clang.lacks().ifPresent(Assumptions::abort);
    }

    private String source(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, HELPERS + text);
        return "import \"" + file + "\"; ";
    }

    private static String printed(String script) throws Exception {
        try (Traced traced = Traced.attach(script)) {
            return traced.end();
        }
    }

    private static String refused(String script) throws Exception {
        return refused(script, Map.of());
    }

    private static String refused(String script, Map<String, String> environment) throws Exception {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        SourceText text = new SourceText("test", script);
        assertThat(
                        Compilation.of(
                                text,
                                Traced.options(environment),
                                TargetMachine.here(),
                                diagnostics))
                .isNull();
        return String.join("\n", diagnostics.all().stream().map(SourceDiagnostic::render).toList());
    }

    @Test
    void numbersOfAllWidths() throws Exception {
        String functions =
                source(
                        "numbers.bpf.c",
                        """
                        signed char low(long x) { return x; }
                        unsigned char low_unsigned(long x) { return x; }
                        unsigned short half(unsigned int x) { return x / 2; }
                        int minus(short a, signed char b) { return a - b; }
                        unsigned int cut(unsigned long x) { return x; }
                        unsigned long up(unsigned long x) { return x << 40; }
                        _Bool odd(int x) { return x & 1; }
                        enum color { RED, GREEN = 5 };
                        enum color next(enum color c) { return c == RED ? GREEN : RED; }
                        long five(long a, int b, short c, signed char d, unsigned char e) {
                            return a + 10 * b + 100 * c + 1000 * d + 10000 * e;
                        }
                        void nothing(void) {}
                        """);
        assertThat(
                        printed(
                                functions
                                        + "begin { print((low(0x181), low_unsigned(0x181)));"
                                        + " print((half(-2), half(9)));"
                                        + " print((minus(-3, 4), minus(65535, 255)));"
                                        + " print((cut(-1), up(3))); print((odd(3), odd(4)));"
                                        + " print((next(0), (int32)next(0)));"
                                        + " print(five(1, 2, -3, 4, 300)); nothing();"
                                        + " $x = low(200) + 1; print($x);"
                                        + " @m[minus(2, 1)] = low(-1); }"))
                .isEqualToIgnoringWhitespace(
                        """
                        (-127, 129)
                        (65535, 4)
                        (-7, 0)
                        (4294967295, 3298534883328)
                        (true, false)
                        (GREEN, 5)
                        443721
                        -55
                        @m[1]: -1
                        """);
    }

    @Test
    void pointersToMemoryOfTheScriptAndOfTheKernel() throws Exception {
        String functions =
                source(
                        "pointers.bpf.c",
                        """
                        struct pair { int a; unsigned short b; long c; };
                        long sum(struct pair *p) { return p->a + p->b + p->c; }
                        void greet(char (*to)[16]) { __builtin_memcpy(*to, "hello", 6); }
                        int first(const char *text) { return text[0]; }
                        void change(long *to) { *to += 5; }
                        struct task_struct { int tgid; } __attribute__((preserve_access_index));
                        struct task_struct *me(void) { return (void *) current(); }
                        int group(struct task_struct *task) {
                            int tgid = 0;
                            read_kernel(&tgid, sizeof(tgid), &task->tgid);
                            return tgid;
                        }
                        int is_null(void *p) { return p == 0; }
                        """);
        assertThat(
                        printed(
                                functions
                                        + "begin { let $name: string[16] = \"\"; greet(&$name);"
                                        + " print($name); print(first(&$name));"
                                        + " let $n: int64 = 7; change(&$n); print($n);"
                                        + " print(group(me()) == pid); print(me()->tgid == pid);"
                                        + " print(group((struct task_struct *)curtask) == pid);"
                                        + " print((is_null(0), is_null(&$n))); }"))
                .isEqualToIgnoringWhitespace("hello 104 12 true true true (1, 0)");
    }

    @Test
    void mapsVariablesCallsAndCallbacks() throws Exception {
        String functions =
                source(
                        "state.bpf.c",
                        """
                        struct {
                            int (*type)[1];
                            int (*max_entries)[8];
                            unsigned int *key;
                            unsigned long *value;
                        } counts SEC(".maps");
                        const volatile int step = 3;
                        static unsigned long all;
                        unsigned long begun = 100;

                        static __attribute__((noinline)) unsigned long twice(unsigned long x) {
                            return 2 * x;
                        }
                        unsigned long counted(unsigned int key) {
                            unsigned long one = 1, *found = lookup(&counts, &key);
                            all += step;
                            if (!found) {
                                update(&counts, &key, &one, 0);
                                return 1;
                            }
                            return __sync_fetch_and_add(found, 1) + 1;
                        }
                        unsigned long total(void) { return twice(all) + begun; }
                        static int add(unsigned int i, void *to) {
                            *(unsigned long *) to += i;
                            return 0;
                        }
                        unsigned long gauss(unsigned int n) {
                            unsigned long sum = 0;
                            loop(n, add, &sum, 0);
                            return sum;
                        }
                        """);
        assertThat(
                        printed(
                                functions
                                        + "begin { counted(4); for ($i : 0..3) { @n = counted(4); }"
                                        + " print(counted(5)); print(total()); print(gauss(11)); }"
                                        + " end { print(total()); }"))
                .isEqualToIgnoringWhitespace("1 130 55 130 @n: 4");
    }

    @Test
    void severalFilesAndObjects() throws Exception {
        String first = source("one.bpf.c", "int two(int x); int one(int x) { return two(x) + 1; }");
        String second = source("two.bpf.c", "int two(int x) { return 2 * x; }");
        assertThat(printed(first + second + "begin { print(one(20)); }")).contains("41");
        Path object = Clang.object(folder.resolve("two.bpf.c"));
        String compiled = "import \"" + object + "\"; ";
        assertThat(printed(first + compiled + "begin { print((one(1), two(4))); }"))
                .contains("(3, 8)");
        Files.createDirectory(folder.resolve("all"));
        Files.copy(folder.resolve("one.bpf.c"), folder.resolve("all/one.bpf.c"));
        Files.copy(folder.resolve("two.bpf.c"), folder.resolve("all/two.bpf.c"));
        assertThat(printed("import \"" + folder + "/all\"; begin { print(one(3)); }"))
                .contains("7");
    }

    @Test
    void typesOfTheKernelAreIncluded() throws Exception {
        Path file = folder.resolve("kernel.bpf.c");
        Files.writeString(
                file,
                """
                #include "vmlinux.h"
                #include <bpf/bpf_helpers.h>
                #include <bpf/bpf_core_read.h>
                extern int bpf_strlen(const char *s) __ksym __weak;
                int parent(struct task_struct *task) { return BPF_CORE_READ(task, real_parent, tgid); }
                int length(const char *text) { return bpf_strlen ? bpf_strlen(text) : 3; }
                """);
        assertThat(
                        printed(
                                "import \""
                                        + file
                                        + "\"; begin { let $t: string[8] = \"abc\";"
                                        + " print(parent((struct task_struct *)curtask) == ppid);"
                                        + " print(length(&$t)); }"))
                .isEqualToIgnoringWhitespace("true 3");
        try (var left = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            assertThat(left.filter(one -> one.getFileName().toString().startsWith("sonde-clang")))
                    .isEmpty();
        }
    }

    @Test
    void theLibraryTellsWhetherItWorks() throws Exception {
        assertThat(printed("import \"stdlib/test\"; begin { print(__always_true()); }"))
                .contains("1");
    }

    @Test
    void whatDoesNotFit() throws Exception {
        String functions =
                source(
                        "fit.bpf.c",
                        """
                        struct pair { int a, b; };
                        int add(int left, int right) { return left + right; }
                        int of(struct pair *p) { return p->a; }
                        int count(int x) { return x; }
                        int whole(struct pair p) { return p.a; }
                        static __attribute__((noinline)) int hidden(int x) { return x * 3; }
                        int shown(int x) { return hidden(x); }
                        static long (*send)(unsigned int) = (void *) 109;
                        long end_it(void) { return send(9); }
                        """);
        assertThat(refused(functions + "begin { ad(1, 2); }"))
                .contains("Unknown function: 'ad'")
                .contains("add");
        assertThat(refused(functions + "begin { hidden(1); }"))
                .contains("hidden() is static in " + folder + "/fit.bpf.c")
                .contains("HINT: a script calls what is not: leave out 'static' there");
        assertThat(refused(functions + "begin { add(1); }"))
                .contains("add() requires 2 arguments (1 provided)");
        assertThat(refused(functions + "begin { add(1, 2, 3); }")).contains("(3 provided)");
        assertThat(refused(functions + "begin { add(1, \"x\"); }"))
                .contains("add() expects int for right, got string[2]");
        assertThat(refused(functions + "begin { of(5); }"))
                .contains("of() expects struct pair * for p, got")
                .contains("cast it: (struct pair *)");
        assertThat(refused(functions + "begin { whole(5); }"))
                .contains("whole() takes what a script cannot give: struct pair");
        assertThat(refused(functions + "begin { count(5); }"))
                .contains("count() is the language's; the function in C of that name is not seen");
        assertThat(refused(functions + "begin { end_it(); }"))
                .contains("end_it() calls bpf_send_signal, which is unsafe");
    }

    /** Clang leaves nothing of what it puts in where it is called, or what nothing calls. */
    @Test
    void staticFunctionsAreCalledSo() throws Exception {
        String functions =
                source(
                        "static.bpf.c",
                        """
                        static int twice(int x) { return 2 * x; }
                        static inline __attribute__((unused)) int unused(int x) { return x; }
                        int all(void) { return twice(4); }
                        """);
        assertThat(refused(functions + "begin { twice(1); }")).contains("twice() is static in ");
        assertThat(refused(functions + "begin { unused(1); }")).contains("unused() is static in ");
        assertThat(refused(functions + "begin { lookup(1); }"))
                .contains("Unknown function: 'lookup'");
        Path object = Clang.object(folder.resolve("static.bpf.c"));
        assertThat(refused("import \"" + object + "\"; begin { al(); }"))
                .contains("Unknown function: 'al'");
    }

    @Test
    void pointersPointToWhatIsExpected() throws Exception {
        String functions =
                source(
                        "pointed.bpf.c",
                        """
                        struct pair { int a, b; };
                        int number(int *p) { return *p; }
                        int constant(const int *p) { return *p; }
                        int whole(const struct pair *p) { return p->a + p->b; }
                        int both(int (*p)[2]) { return (*p)[1]; }
                        int text(char (*p)[16]) { return (*p)[0]; }
                        int byte(const unsigned char *p) { return *p; }
                        int any(void *p) { return p != 0; }
                        int inner(int **p) { return *p != 0; }
                        """);
        assertThat(refused(functions + "begin { $x = 5; number(&$x); }"))
                .contains("number() expects int * for p, got int8 *")
                .contains("HINT: declare it as what is looked at: let $x: int32");
        assertThat(refused(functions + "begin { $x = (int64)5; constant(&$x); }"))
                .contains("constant() expects const int * for p, got int64 *");
        assertThat(refused(functions + "begin { let $t: string[8] = \"\"; text(&$t); }"))
                .contains("text() expects char (*)[16] for p, got string[8] *")
                .contains("let $t: string[16]");
        assertThat(refused(functions + "begin { whole((struct task_struct *)curtask); }"))
                .contains("whole() expects const struct pair * for p, got struct task_struct *")
                .contains("cast it: (struct pair *)");
        assertThat(refused(functions + "begin { $r = (a=(int32)1, b=2); whole(&$r); }"))
                .contains("got (a=int32,b=int8) *");
        assertThat(refused(functions + "begin { $x = (int32)1; inner(&$x); }"))
                .contains("inner() expects int ** for p, got int32 *");
        assertThat(refused(functions + "begin { $a = (int8[8])(int64)1; both(&$a); }"))
                .contains("both() expects int (*)[2] for p, got int8[8] *");
        assertThat(
                        printed(
                                functions
                                        + "begin { let $x: uint32 = 5; print(number(&$x));"
                                        + " print(constant(&$x)); print(byte(&$x));"
                                        + " $r = (a=(int32)1, b=(int32)2); print(whole(&$r));"
                                        + " $a = (int32[2])(int64)0x300000000; print(both(&$a));"
                                        + " print(number(&$a)); print(any(&@m)); @m = 1;"
                                        + " $w = (int64)7; print(number((int32 *)&$w));"
                                        + " print(any(0)); clear(@m); }"))
                .isEqualToIgnoringWhitespace("5 5 5 3 3 0 1 7 0");
    }

    @Test
    void whatClangSaysIsShownEscaped() throws Exception {
        String functions = source("wrong.bpf.c", "int f(void) { return \u001b[31mx\"; }\n");
        assertThat(refused(functions + "begin { f(); }"))
                .contains("clang does not compile " + folder + "/wrong.bpf.c")
                .contains("HINT: ")
                .contains("error: ")
                .doesNotContain("\u001b");
        assertThat(refused("import \"" + folder + "/none.bpf.c\"; begin { }"))
                .contains("there is nothing to import");
        Files.writeString(folder.resolve("no.bpf.o"), "no object");
        assertThat(refused("import \"" + folder + "/no.bpf.o\"; begin { }"))
                .contains("no.bpf.o: not readable as ELF");
        String one = source("one.bpf.c", "int f(void) { return 1; }");
        assertThat(refused(one + "begin { f(); }", Map.of("PATH", "/nowhere")))
                .contains("functions in C need clang")
                .contains("apt-get install clang, or name one in SONDE_CLANG");
        String slow = folder.resolve("clang").toString();
        Files.writeString(Path.of(slow), "#!/bin/sh\necho no >&2\nexit 3\n");
        assertThat(Path.of(slow).toFile().setExecutable(true)).isTrue();
        assertThat(refused(one + "begin { f(); }", Map.of("SONDE_CLANG", slow)))
                .contains("HINT: no");
    }

    @Test
    void theVerifierLooksAtThem() throws Exception {
        String functions = source("bad.bpf.c", "int bad(long x) { return *(volatile int *) x; }\n");
        LoadException refusal =
                catchThrowableOfType(
                        LoadException.class,
                        () -> Traced.attach(functions + "begin { bad(8); }").close());
        assertThat(refusal.why()).hasMessageContaining("invalid mem access 'scalar'");
    }

    @Test
    void filesForOtherKernelsHaveNone() throws Exception {
        String one = source("one.bpf.c", "int f(void) { return 1; }");
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        SourceText text = new SourceText("test", one + "begin { f(); }");
        assertThat(Compilation.portable(text, Traced.options(), TargetMachine.here(), diagnostics))
                .isNull();
        assertThat(diagnostics.all().toString())
                .contains("a compiled script cannot have functions in C");
    }
}
