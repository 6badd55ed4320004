package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.probe.dynamic.VariableView.ViewedVariable;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.SourceOptions;
import sonde.symbol.line.SourceSymbols;

/** Functions as each language writes them: what is listed can be probed. */
final class FunctionNamesTest {
    private static final String CPP =
            """
            #define KEPT __attribute__((noinline))
            namespace shop {
            KEPT long spin(long n) { asm volatile(""::"r"(n)); return n * 2; }
            KEPT int spin(char *n) { asm volatile(""::"r"(n)); return n[0]; }
            KEPT double half(double d) { asm volatile(""); return d / 2; }
            template <class T, int N> KEPT T scale(T v) { asm volatile(""); return v * N; }
            struct Cart {
              int n;
              KEPT int operator()(int k) { asm volatile(""); return n + k; }
              KEPT bool operator<(const Cart &o) const { asm volatile(""); return n < o.n; }
              KEPT ~Cart() { asm volatile(""); }
            };
            namespace {
            KEPT int hidden(int a) { asm volatile(""); return a * 7; }
            inline __attribute__((always_inline)) int inside(int q) { volatile int z = q; return z; }
            }
            }
            int main(int argc, char **argv) {
              shop::Cart cart{argc};
              auto lambda = [&](int z) KEPT { asm volatile(""); return z * argc; };
              return shop::spin(argc) + shop::spin(argv[0]) + shop::half(argc)
                  + shop::scale<int, 3>(argc) + cart(argc) + (cart < cart) + lambda(argc)
                  + shop::hidden(argc) + shop::inside(argc);
            }
            """;

    private static final String GO =
            """
            package main

            type Order struct {
            	ID    int
            	Price []int64
            }

            //go:noinline
            func (o *Order) Total(factor int64) int64 {
            	sum := int64(0)
            	for _, p := range o.Price {
            		sum += p * factor
            	}
            	return sum
            }

            //go:noinline
            func Map[T any](in []T, f func(T) T) T {
            	return f(in[0])
            }

            func small(a int) int { return a * 3 }

            func main() {
            	o := &Order{7, []int64{1, 2}}
            	println(o.Total(3), Map([]int{4}, func(x int) int { return x + 1 }), small(o.ID))
            }
            """;

    @TempDir Path folder;

    private static List<ProbeDefinition> made(ProbedObject program, String text)
            throws IOException {
        return new ProbeDefiner(program).define(PointSpec.parse(text));
    }

    private Path cpp(String compiler) throws Exception {
        Programs.Build build = Programs.Build.of(compiler + " -w -g -O2");
        Assumptions.assumeTrue(build.isThere(), compiler + " is not there");
        return Programs.build(folder, "shop.cpp", CPP, build);
    }

    private static void assertAllCanBeGivenBack(ProbedObject program) throws IOException {
        List<String> names = FunctionNames.matching(program, "*");
        List<String> lost = new ArrayList<>();
        for (String name : names) {
            try {
                assertThat(made(program, name)).isNotEmpty();
            } catch (ProbeException e) {
                lost.add(name + ": " + e.getMessage());
            }
        }
        SourceOptions options = SourceOptions.USUAL.uncached();
        try (SourceSymbols symbols = SourceSymbols.open(Path.of(program.path()), options)) {
            for (String name : names) {
                assertThat(symbols.named(name)).as(name).isNotEmpty();
            }
        }
        assertThat(names).isNotEmpty();
        assertThat(lost).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"g++", "clang++"})
    void namesOfCpp(String compiler) throws Exception {
        try (ProbedObject program =
                ProbedObject.program(cpp(compiler).toString(), GivenPlaces.NONE)) {
            assertThat(FunctionNames.matching(program, "shop::*"))
                    .contains(
                            "shop::spin",
                            "shop::half",
                            "shop::scale<int, 3>",
                            "shop::Cart::operator()",
                            "shop::Cart::operator<",
                            "shop::Cart::~Cart",
                            "shop::(anonymous namespace)::hidden",
                            "shop::(anonymous namespace)::inside");
            assertThat(FunctionNames.matching(program, "main::*"))
                    .hasSize(1)
                    .allMatch(name -> name.endsWith("::operator()"));
            assertAllCanBeGivenBack(program);
            assertThat(made(program, "shop::spin")).hasSize(2);
            assertThat(made(program, "shop::spin(long) n"))
                    .singleElement()
                    .satisfies(one -> assertThat(one.text()).endsWith("n=%di:s64"));
            assertThat(made(program, "int shop::scale<int, 3>(int)".substring(4))).hasSize(1);
            assertThat(made(program, "shop::Cart::operator<(shop::Cart const&) const")).hasSize(1);
            assertThat(made(program, "shop::hidden a")).hasSize(1);
            assertThat(made(program, "shop::Cart::operator()%return $retval"))
                    .singleElement()
                    .satisfies(one -> assertThat(one.text()).endsWith("retval=$retval:s32"));
            assertThatThrownBy(() -> made(program, "shop::half%return $retval"))
                    .hasMessageContaining("half returns a double in a vector register");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"g++", "clang++"})
    void namesOfSymbolsHaveVariablesAndLines(String compiler) throws Exception {
        try (ProbedObject program =
                ProbedObject.program(cpp(compiler).toString(), GivenPlaces.NONE)) {
            String lambda = FunctionNames.matching(program, "main::*").getFirst();
            assertThat(made(program, lambda + " z"))
                    .singleElement()
                    .satisfies(one -> assertThat(one.text()).endsWith("z=%si:s32"));
            assertThat(VariableView.of(program, lambda).getFirst().rows())
                    .extracting(ViewedVariable::name)
                    .contains("z");
            assertThat(SourceView.of(program, lambda, List.of()).getFirst().base())
                    .isEqualTo(Programs.line(CPP, "auto lambda"));
            assertThatThrownBy(() -> made(program, "operator()@shop.cpp z"))
                    .hasMessageContaining("name one: ")
                    .hasMessageContaining("shop::Cart::operator()")
                    .hasMessageContaining(lambda);
            assertThat(made(program, "operator()")).hasSize(2);
        }
    }

    @Test
    void anAliasHasWhatItsFunctionHas() throws Exception {
        String source =
                """
                int real(int bytes) { return bytes + 1; }
                extern __typeof(real) other __attribute__((alias("real")));
                int main(int argc, char **argv) { return other(argc); }
                """;
        Programs.Build build = Programs.Build.of("gcc -g -O1 -fno-inline");
        Assumptions.assumeTrue(build.isThere(), "gcc is not there");
        Path file = Programs.build(folder, "alias.c", source, build);
        try (ProbedObject program = ProbedObject.program(file.toString(), GivenPlaces.NONE)) {
            assertThat(made(program, "other bytes"))
                    .singleElement()
                    .satisfies(one ->
                            assertThat(one.text())
                                    .endsWith(
                                            "/other "
                                                    + file
                                                    + one.place()
                                                            .substring(one.place().lastIndexOf(':'))
                                                    + " bytes=%di:s32"));
        }
    }

    private static final String CLONED =
            """
            #include <stdio.h>
            #define KEPT __attribute__((noinline))
            static KEPT int times(int a, int b) { return printf("%d\\n", a * b); }
            int g;
            static int part(int *p, int n) {
              if (!p) return 0;
              int s = 0;
              for (int i = 0; i < n; i++) { s += p[i] * g; printf("%d\\n", s); if (s > 9) puts("a"); }
              for (int i = 0; i < n; i++) { s += p[i] * g; printf("%d\\n", s); if (s > 8) puts("b"); }
              for (int i = 0; i < n; i++) { s += p[i] * g; printf("%d\\n", s); if (s > 7) puts("c"); }
              return s;
            }
            KEPT int one(int *p) { return part(p, 3) + 1; }
            KEPT int two(int *p) { return part(p, 3) + 2; }
            KEPT int three(int *p) { return part(p, 4) + 2; }
            KEPT int outer(int x) {
              int local = x * 2;
              KEPT int nested(int y) { return printf("%d\\n", y + local + x); }
              return nested(3) + nested(x);
            }
            int main(int argc, char **argv) {
              g = argc;
              int *p = argc > 1 ? 0 : &g;
              return times(argc, 7) + one(p) + two(p) + three(p) + outer(argc);
            }
            """;

    @Test
    void clonesAndNestedFunctionsAreFoundByTheirName() throws Exception {
        Programs.Build build = Programs.Build.of("gcc -w -g -O2");
        Assumptions.assumeTrue(build.isThere(), "gcc is not there");
        Path file = Programs.build(folder, "cloned.c", CLONED, build);
        try (ProbedObject program = ProbedObject.program(file.toString(), GivenPlaces.NONE)) {
            ProbeDefinition times = made(program, "times $params").getFirst();
            assertThat(times.note()).contains("clone times.constprop.0");
            assertThat(times.text()).endsWith(" a=%di:s32 b=\\7:s32");
            assertThat(made(program, "nested y").getFirst().text()).endsWith(" y=%di:s32");
            if (!FunctionNames.matching(program, "part.part.0").isEmpty()) {
                // What the inlined copies call is no entry of its own.
                assertThat(made(program, "part"))
                        .allMatch(one -> one.note().contains("inlined in"));
                assertThat(made(program, "part.part.0")).hasSize(1);
            }
        }
        Programs.run(List.of("strip", "-g", file.toString()));
        try (ProbedObject program = ProbedObject.program(file.toString(), GivenPlaces.NONE)) {
            assertThat(made(program, "times $arg1").getFirst().note())
                    .isEqualTo("clone times.constprop.0");
            assertThat(made(program, "nested")).hasSize(1);
        }
    }

    /** gcc puts both halves of a function that it split into the one caller that needs both. */
    @Test
    void aPartInsideTheCopyThatCallsItIsNoEntry() throws Exception {
        Programs.Build build = Programs.Build.of("gcc -w -g -O2");
        Assumptions.assumeTrue(build.isThere(), "gcc is not there");
        String source =
                CLONED.replace("return part(p, 3) + 2", "return part(0, 3) + 2")
                        .replace("return part(p, 4) + 2", "return part(0, 4) + 2");
        Path file = Programs.build(folder, "halves.c", source, build);
        String entries = Programs.run(List.of("readelf", "--debug-dump=info", file.toString()));
        Assumptions.assumeTrue(
                entries.contains("DW_AT_call_line   : " + Programs.line(source, "int part(")),
                "this gcc did not split it");
        try (ProbedObject program = ProbedObject.program(file.toString(), GivenPlaces.NONE)) {
            // Of the others nothing is left: they are given no pointer.
            assertThat(made(program, "part"))
                    .extracting(ProbeDefinition::note)
                    .containsExactly("inlined in one");
        }
    }

    private static final String RUST =
            """
            mod shop {
                pub struct Item { pub id: u32 }
                pub trait Show { fn show(&self) -> u32; }
                impl Item {
                    #[inline(never)]
                    pub fn cost(&self, count: u32) -> u32 { self.id * count }
                }
                impl Show for Item {
                    #[inline(never)]
                    fn show(&self) -> u32 { self.id + 1 }
                }
            }
            use shop::Show;
            #[no_mangle]
            pub extern "C" fn entry(n: u32) -> u32 {
                let i = shop::Item { id: n };
                i.cost(2) + i.show()
            }
            """;

    @Test
    void namesOfRust() throws Exception {
        Path rustc = Path.of(System.getProperty("user.home"), ".cargo/bin/rustc");
        String command = Files.isExecutable(rustc) ? rustc.toString() : "/usr/bin/rustc";
        Assumptions.assumeTrue(Files.isExecutable(Path.of(command)), "rustc is not there");
        Files.writeString(folder.resolve("shop.rs"), RUST);
        Process made =
                new ProcessBuilder(command, "-g", "--crate-type=cdylib", "-o", "shop.so", "shop.rs")
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(made.getInputStream().readAllBytes());
        Assumptions.assumeTrue(made.waitFor() == 0, "rustc does not build: " + said);
        Path file = folder.resolve("shop.so");
        try (ProbedObject program = ProbedObject.program(file.toString(), GivenPlaces.NONE);
                SourceSymbols symbols = SourceSymbols.open(file, SourceOptions.USUAL.uncached())) {
            List<String> names = FunctionNames.matching(program, "*shop::*");
            assertThat(names)
                    .contains(
                            "shop::shop::Item::cost",
                            "<shop::shop::Item as shop::shop::Show>::show");
            for (String name : names) {
                assertThat(made(program, name)).as(name).isNotEmpty();
                assertThat(symbols.named(name)).as(name).isNotEmpty();
            }
            assertThat(made(program, "shop::shop::Item::cost self->id count"))
                    .singleElement()
                    .satisfies(one -> {
                        assertThat(one.arguments()).hasSize(2);
                        assertThat(one.text()).contains(":u32 count=");
                    });
        }
    }

    @Test
    void symbolsAlone() throws Exception {
        Path file = cpp("g++");
        Programs.run(List.of("strip", "-g", file.toString()));
        try (ProbedObject program = ProbedObject.program(file.toString(), GivenPlaces.NONE)) {
            assertThat(made(program, "shop::spin(long)")).hasSize(1);
            assertThat(made(program, "shop::Cart::operator()")).hasSize(1);
            assertThatThrownBy(() -> made(program, "shop::spni"))
                    .hasMessageContaining("did you mean shop::spin?");
        }
    }

    @Test
    void namesOfGo() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/go")), "go is not there");
        Path source = Files.writeString(folder.resolve("main.go"), GO);
        Path file = folder.resolve("gop");
        Process go =
                new ProcessBuilder("go", "build", "-o", file.toString(), source.toString())
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(go.getInputStream().readAllBytes());
        Assumptions.assumeTrue(go.waitFor() == 0, "go does not build: " + said);
        try (ProbedObject program = ProbedObject.program(file.toString(), GivenPlaces.NONE)) {
            TreeSet<String> names = new TreeSet<>(FunctionNames.matching(program, "main.*"));
            assertThat(names).contains("main.(*Order).Total", "main.main", "main.small");
            for (String name : names) {
                assertThat(made(program, name)).as(name).isNotEmpty();
                assertThat(SourceView.of(program, name, List.of())).as(name).isNotEmpty();
            }
            SourceView view = SourceView.of(program, "main.(*Order).Total", List.of()).getFirst();
            assertThat(view.base()).isEqualTo(Programs.line(GO, "Total(factor"));
            assertThat(SourceView.of(program, "main.main", List.of()).getFirst().base())
                    .isEqualTo(Programs.line(GO, "func main"));
            assertThat(made(program, "main.(*Order).Total o->ID factor"))
                    .singleElement()
                    .satisfies(one -> {
                        assertThat(one.name()).isEqualTo("main_Order_Total");
                        assertThat(one.arguments()).hasSize(2);
                    });
            assertThat(made(program, "main.Map[...]")).isNotEmpty();
            assertThat(made(program, "main.main:1"))
                    .isEqualTo(made(program, "main.go:" + Programs.line(GO, "o := ")));
            assertThatThrownBy(() -> made(program, "main.(*Order).Total%return"))
                    .hasMessageContaining("would end the program");
        }
    }
}
