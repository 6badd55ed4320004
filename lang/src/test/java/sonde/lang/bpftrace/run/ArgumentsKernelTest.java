package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;
import sonde.testkit.CallPrograms;
import sonde.testkit.CallPrograms.Kind;
import sonde.testkit.Shard;

/** {@code args} of uprobes beside what the programs themselves say that they were called with. */
@Tag("kernel")
@Tag("long")
final class ArgumentsKernelTest {
    private static final String C =
            """
            #include <stdio.h>
            #define CALLED __attribute__((noinline, used))
            struct large { long a, b, c; };
            struct two { int x, y; };
            struct pair { long x; const char *s; };
            struct mixed { double d; long n; };
            CALLED void floats(double d, float f, int k) { printf("floats %d\\n", k); }
            CALLED void large(struct large p, int k) { printf("large %ld %ld %d\\n", p.a, p.c, k); }
            CALLED void two(struct two t, int k) { printf("two %d %d %d\\n", t.x, t.y, k); }
            CALLED void pair(int a, struct pair p, int k) {
                printf("pair %d %ld %s %d\\n", a, p.x, p.s, k);
            }
            CALLED void mixed(struct mixed m, int k) { printf("mixed %d\\n", k); }
            CALLED struct large many(int a, int b, int c, int d, int e, int f, short g,
                    const char *h, struct pair p) {
                printf("many %d %d %d %s %ld %s\\n", a, f, g, h, p.x, p.s);
                return (struct large) {a + b, c + d, e};
            }
            CALLED void wide(__int128 w, long double l, _Bool b, int k) {
                printf("wide %d %d\\n", b, k);
            }
            CALLED void split(int a, int b, int c, int d, int e, struct pair p, int k) {
                printf("split %d %ld %d\\n", e, p.x, k);
            }
            CALLED static void hidden(int a, int b, int c) { printf("hidden %d\\n", c); }
            CALLED int less(int a) { return a - 10; }
            CALLED _Bool odd(int a) { return a % 2; }
            int main(int count, char **words) {
                struct pair p = {77 * count, words[0] ? "text" : ""};
                floats(1, 2, 4 * count);
                large((struct large) {101 * count, 2, 103}, 9 * count);
                two((struct two) {-5 * count, 6}, 3);
                pair(count, p, 2);
                mixed((struct mixed) {1.5, 8}, 5);
                many(1, 2, 3, 4, 5, 6 * count, -7, "eight", p);
                wide(12, 1, count, 13);
                split(1, 2, 3, 4, 5 * count, p, 6 * count);
                hidden(count, 2, 8 * count);
                printf("less %ld\\n", (long)less(count));
                printf("odd %d\\n", odd(count));
            }
            """;

    private static final String C_SCRIPT =
            """
            uprobe:BIN:floats { printf("floats %d\\n", args.k); }
            uprobe:BIN:large { printf("large %d %d %d\\n", args.p.a, args.p.c, args.k); }
            uprobe:BIN:two { printf("two %d %d %d\\n", args.t.x, args.t.y, args.k); }
            uprobe:BIN:pair {
                printf("pair %d %d %s %d\\n", args.a, args.p.x, str(args.p.s), args.k);
            }
            uprobe:BIN:mixed { printf("mixed %d\\n", args.k); }
            uprobe:BIN:many {
                printf("many %d %d %d ", args.a, args.f, args.g);
                printf("%s %d %s\\n", str(args.h), args.p.x, str(args.p.s));
            }
            uprobe:BIN:wide { printf("wide %d %d\\n", args.b, args.k); }
            uprobe:BIN:split { printf("split %d %d %d\\n", args.e, args.p.x, args.k); }
            uprobe:BIN:hidden { printf("hidden %d\\n", args.c); }
            uretprobe:BIN:less { printf("less %ld\\n", retval); }
            uretprobe:BIN:odd { printf("odd %d\\n", retval); }
            """;

    private static final String CPP =
            """
            #include <cstdio>
            #define CALLED __attribute__((noinline, used))
            struct Held {
                int a;
                Held(int a) : a(a) {}
                Held(const Held &other) : a(other.a) {}
                ~Held() { a = 0; }
            };
            struct Holder { Held inner; long more; };
            struct Empty {};
            struct Shop {
                int id;
                virtual ~Shop() {}
                CALLED void sell(Held h, int n) { printf("sell %d %d %d\\n", id, h.a, n); }
                CALLED Held make(int n) { printf("make %d %d\\n", id, n); return Held(n); }
            };
            CALLED void holds(Holder h, int k) { printf("holds %d %ld %d\\n", h.inner.a, h.more, k); }
            CALLED void empty(Empty, int k) { printf("empty %d\\n", k); }
            CALLED void refers(const Shop &shop, int k) { printf("refers %d %d\\n", shop.id, k); }
            int main(int count, char **) {
                Shop shop;
                shop.id = 40 * count;
                shop.sell(Held(7 * count), 3);
                shop.make(5 * count);
                holds(Holder{Held(6 * count), 8}, 9);
                empty(Empty(), 6 * count);
                refers(shop, 10);
            }
            """;

    private static final String CPP_SCRIPT =
            """
            uprobe:BIN:_ZN4Shop4sellE4Heldi {
                printf("sell %d %d %d\\n", args.this->id, args.h.a, args.n);
            }
            uprobe:BIN:_ZN4Shop4makeEi { printf("make %d %d\\n", args.this->id, args.n); }
            uprobe:BIN:_Z5holds6Holderi {
                printf("holds %d %d %d\\n", args.h.inner.a, args.h.more, args.k);
            }
            uprobe:BIN:_Z5empty5Emptyi { printf("empty %d\\n", args.k); }
            uprobe:BIN:_Z6refersRK4Shopi {
                printf("refers %d %d\\n", args.shop->id, args.k);
            }
            """;

    @TempDir Path folder;

    private Path compile(String source, String compiler, String... options) throws Exception {
        Path file = folder.resolve(compiler.endsWith("++") ? "program.cc" : "program.c");
        Files.writeString(file, source);
        Path program = folder.resolve("program");
        String flags = String.join(" ", options);
        String command = compiler + " -g -w " + flags + " -o " + program + " " + file;
        Process process = new ProcessBuilder(command.split(" +")).inheritIO().start();
        assertThat(process.waitFor()).isZero();
        return program;
    }

    private static void sameAsTold(String script, Path program) throws Exception {
        try (Traced traced = Traced.attach(script.replace("BIN", program.toString()))) {
            Process process = new ProcessBuilder(program.toString()).start();
            byte[] told = process.getInputStream().readAllBytes();
            assertThat(process.waitFor()).isZero();
            assertThat(told).isNotEmpty();
            assertThat(traced.end()).startsWith(new String(told, StandardCharsets.UTF_8));
        }
    }

    /** Compilers and their options, each written as one command. */
    private static List<Arguments> builds(String... commands) {
        return Shard.of(List.of(commands)).stream()
                .map(command -> Arguments.of((Object[]) command.split(" ", 2)))
                .toList();
    }

    static List<Arguments> buildsOfC() {
        return builds("gcc -O0", "gcc -O2", "clang -O0", "clang -O2", "gcc -O2 -gdwarf-4");
    }

    @ParameterizedTest
    @MethodSource("buildsOfC")
    void functionsOfC(String compiler, String options) throws Exception {
        sameAsTold(C_SCRIPT, compile(C, compiler, options.split(" ")));
    }

    static List<Arguments> buildsOfCpp() {
        return builds("g++ -O0", "g++ -O2", "clang++ -O0", "clang++ -O2");
    }

    @ParameterizedTest
    @MethodSource("buildsOfCpp")
    void functionsOfCpp(String compiler, String options) throws Exception {
        sameAsTold(CPP_SCRIPT, compile(CPP, compiler, options));
    }

    static List<Arguments> buildsOfEachKind() {
        return builds(
                "gcc -O0",
                "gcc -O2",
                "clang -O2",
                "gcc -O2 -fno-var-tracking",
                "g++ -O0",
                "g++ -O1",
                "g++ -O2",
                "clang++ -O0",
                "clang++ -O2");
    }

    /** Each kind of structure and class by value, with a number behind it. */
    @ParameterizedTest
    @MethodSource("buildsOfEachKind")
    void everyKindByValue(String compiler, String options) throws Exception {
        boolean isCpp = compiler.endsWith("++");
        List<Kind> kinds = isCpp ? CallPrograms.cpp() : CallPrograms.c();
        StringBuilder script = new StringBuilder();
        for (Kind kind : kinds) {
            for (String called : List.of("take_", "late_", "give_")) {
                StringBuilder format = new StringBuilder(called + kind.name() + " k=%d");
                StringBuilder values = new StringBuilder("args.k");
                for (String number : called.equals("give_") ? List.<String>of() : kind.numbers()) {
                    format.append(' ').append(number).append("=%ld");
                    values.append(", (int64)args.a.").append(number);
                }
                script.append(
                        "uprobe:BIN:%s%s { printf(\"%s\\n\", %s); }\n"
                                .formatted(called, kind.name(), format, values));
            }
        }
        String source = CallPrograms.source(kinds);
        String all = isCpp ? options + " -std=c++17" : options;
        sameAsTold(script.toString(), compile(source, compiler, all.split(" ")));
    }

    @ParameterizedTest
    @CsvSource({
        "floats, args.d, vector register",
        "mixed, args.m, vector register",
        "wide, args.w, 16 bytes",
        "wide, args.l, floating-point",
        "floats+1, args.k, where a function is entered",
    })
    void whatCannotBeRead(String function, String argument, String why) throws Exception {
        Path program = compile(C, "gcc", "-O0");
        String script = "uprobe:%s:%s { print(%s); }".formatted(program, function, argument);
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Compilation compilation =
                Compilation.of(
                        new SourceText("test", script),
                        Traced.options(),
                        TargetMachine.here(),
                        diagnostics);
        assertThat(Objects.isNull(compilation)).isTrue();
        assertThat(diagnostics.all().stream().map(SourceDiagnostic::render))
                .singleElement()
                .asString()
                .contains(why);
    }
}
