package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.probe.dynamic.VariableView.ViewedVariable;
import sonde.symbol.files.GivenPlaces;

/** Parameters on the stack where a function is entered, against what the program prints of them. */
final class FunctionPrologueKernelTest {
    private static final String SOURCE =
            """
            #include <stdio.h>
            struct big { long v[4]; };
            struct pt { int x, y; };
            __attribute__((noinline)) int leaf(int a) { __asm__ volatile("" ::: "rbx","r12","r13"); return a * 3; }
            __attribute__((noinline)) long many(int a, int b, int c, int d, int e, int f, int g, int h)
            {
            	long r = leaf(a) + leaf(b);
            	r += leaf(c) * leaf(d);
            	r += leaf(e) - leaf(f);
            	printf("many g=%d h=%d r=%ld\\n", g, h, r);
            	return r + leaf(g) + leaf(h);
            }
            __attribute__((noinline)) long whole(struct big s, int k)
            {
            	long r = leaf(k) + s.v[0];
            	r += leaf((int) r);
            	printf("whole v=%ld k=%d r=%ld\\n", s.v[2], k, r);
            	return r + s.v[3];
            }
            __attribute__((noinline)) long stored(volatile int p, int q)
            {
            	long r = leaf(q);
            	printf("stored p=%d q=%d\\n", p, q);
            	return r + p;
            }
            __attribute__((noinline)) int point(struct pt p)
            {
            	printf("point x=%d y=%d\\n", p.x, p.y);
            	return p.x + leaf(p.y);
            }
            int main(int argc, char **argv)
            {
            	struct big b = {{10, 20, 30 + argc, 40}};
            	struct pt p = {argc + 6, -4 * argc};
            	return (many(1, 2, 3, 4, 5, 6, 70 + argc, 80 + argc) + whole(b, 5) + stored(argc + 8, 9) + point(p)) == -1;
            }
            """;

    private static final List<String> POINTS =
            List.of("many g h", "whole v=s.v[2] k", "stored p q");

    @TempDir Path folder;

    @Tag("kernel")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -g -O0",
                "gcc -g -O1",
                "gcc -g -O2",
                "gcc -g -O3",
                "clang -g -O0",
                "clang -g -O1",
                "clang -g -O2",
                "clang -g -O2 -fno-omit-frame-pointer",
            })
    void parametersAreWhatTheProgramPrints(String words) throws Exception {
        Assumptions.assumeTrue(TraceText.isThere(), "probes of programs are not there");
        Programs.Build build = Programs.Build.of(words);
        Assumptions.assumeTrue(build.isThere(), build.compiler() + " is not there");
        check(Programs.build(folder, "entries.c", SOURCE, build), POINTS);
    }

    private static final String REGISTERS =
            """
            #include <stdio.h>
            #define N __attribute__((noinline))
            struct pt { int x, y; };
            struct big { long v[4]; };
            N long use(long a) { __asm__ volatile("" : "+r"(a) :: "memory"); return a * 3; }
            N long kept(int a, int b, int c)
            { long r = use(7); r += use(b + r) + use(a); for (int i = 0; i < c; i++) r += use(i * a + b); return r; }
            N long addressed(int d, int e) { if (use((long) &d) == 1) puts("x"); return use(e) + d; }
            N double floats(double x, int f, float y, long g) { long r = use(f); return x * r + y + use(g); }
            N struct big made(int h, int i) { struct big s = {{use(h), use(i), h, i}}; return s; }
            N long split(struct pt p, int k) { long r = use(k); return r + use(p.y) + use(p.x); }
            int main(int n, char **words)
            {
            	long r = kept(n + 1, n + 2, n + 3) + addressed(n + 4, n + 5) + floats(n, n + 6, n, n + 7);
            	r += made(n + 8, n + 9).v[2] + split((struct pt) {n, n}, n);
            	printf("a=%d b=%d c=%d d=%d e=%d f=%d g=%d h=%d i=%d k=%d\\n", n + 1, n + 2, n + 3, n + 4, n + 5,
            		n + 6, n + 7, n + 8, n + 9, n);
            	return r == -1;
            }
            """;

    /** Without following variables gcc says where one is behind the first instructions. */
    @Tag("kernel")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -g -O1 -fno-var-tracking",
                "gcc -g -O2 -fno-var-tracking",
                "gcc -g -O2 --param max-vartrack-size=1",
                "gcc -g -O2",
                "clang -g -O2",
            })
    void parametersInRegistersAreWhatTheProgramPrints(String words) throws Exception {
        Assumptions.assumeTrue(TraceText.isThere(), "probes of programs are not there");
        Programs.Build build = Programs.Build.of(words);
        Assumptions.assumeTrue(build.isThere(), build.compiler() + " is not there");
        check(
                Programs.build(folder, "registers.c", REGISTERS, build),
                List.of("kept a b c", "addressed d e", "floats f g", "made h i", "split k"));
    }

    @Test
    void atTheEntryTheCallingConventionTellsWhatGccDoesNot() throws Exception {
        Programs.Build build = Programs.Build.of("gcc -g -O2 -fno-var-tracking");
        Assumptions.assumeTrue(build.isThere(), "gcc is not there");
        Path program = Programs.build(folder, "registers.c", REGISTERS, build);
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            ProbeDefiner definer = new ProbeDefiner(subject);
            assertThat(definer.define(PointSpec.parse("split k")).getFirst().text())
                    .endsWith("k=%si:s32");
            assertThat(VariableView.of(subject, "split").getFirst().rows())
                    .filteredOn(ViewedVariable::isAvailable)
                    .extracting(ViewedVariable::name)
                    .containsExactly("k");
            assertThat(definer.define(PointSpec.parse("floats $arg1 $arg2")).getFirst().text())
                    .endsWith("arg1=%di:u64 arg2=%si:u64");
        }
    }

    private static void check(Path program, List<String> points) throws Exception {
        NamedProbes probes = NamedProbes.open();
        List<ProbeDefinition> made = new ArrayList<>();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE);
                TraceText trace = new TraceText("entries")) {
            ProbeDefiner definer = new ProbeDefiner(subject).avoiding(probes.events());
            for (String point : points) {
                made.addAll(definer.define(PointSpec.parse(point)));
            }
            probes.add(subject, made);
            for (ProbeDefinition one : made) {
                trace.enable(one.event(), true);
            }
            String out = Programs.run(List.of(program.toString()));
            Map<String, String> truth = new TreeMap<>();
            out.lines()
                    .filter(l -> !l.startsWith("point"))
                    .map(Programs::pairs)
                    .forEach(truth::putAll);
            truth.remove("r");
            Map<String, String> seen = new TreeMap<>();
            trace.lines().stream().map(Programs::pairs).forEach(seen::putAll);
            assertThat(seen).isEqualTo(truth);
        } finally {
            for (ProbeDefinition one : made) {
                probes.delete(one.event(), false);
            }
        }
    }

    /** Where the frame is complete an inlined call may begin. */
    @Test
    void variablesAreThoseOfTheFunctionThatIsEntered() throws Exception {
        String source =
                """
                static inline __attribute__((always_inline)) int inner(int dummy)
                {
                	volatile int kept = dummy;
                	return kept;
                }
                __attribute__((noinline)) int outer(int a, int b, int c, int d, int e, int f, int g)
                {
                	return inner(1) + a * b * c * d * e * f * g;
                }
                int main(int argc, char **argv) { return outer(1, 2, 3, 4, 5, 6, argc); }
                """;
        Programs.Build build = Programs.Build.of("clang -g -O1 -fno-omit-frame-pointer");
        Assumptions.assumeTrue(build.isThere(), "clang is not there");
        Path program = Programs.build(folder, "inner.c", source, build);
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            assertThat(new ProbeDefiner(subject).define(PointSpec.parse("outer g")))
                    .singleElement()
                    .satisfies(one -> assertThat(one.text()).endsWith("g=+16(%bp):s32"));
            assertThat(VariableView.of(subject, "outer").getFirst().rows())
                    .extracting(ViewedVariable::name)
                    .contains("a", "g");
        }
    }

    @Test
    void placesOnTheStackAreReadWhereTheFrameIsComplete() throws Exception {
        Programs.Build build = Programs.Build.of("clang -g -O2");
        Assumptions.assumeTrue(build.isThere(), "clang is not there");
        Path program = Programs.build(folder, "entries.c", SOURCE, build);
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            ProbeDefiner definer = new ProbeDefiner(subject);
            for (String point : List.of("many h", "many $vars", "whole s.v[1]", "stored p")) {
                assertThat(definer.define(PointSpec.parse(point)))
                        .as(point)
                        .singleElement()
                        .satisfies(one -> assertThat(one.note()).contains("frame is complete"));
            }
            assertThat(definer.define(PointSpec.parse("many a $arg2")).getFirst().note()).isEmpty();
            assertThat(VariableView.of(subject, "many").getFirst().note())
                    .contains("where the frame is complete");
        }
    }
}
