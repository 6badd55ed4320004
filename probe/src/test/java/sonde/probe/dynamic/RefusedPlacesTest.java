package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.symbol.files.GivenPlaces;

/** What is said of places and variables that cannot be probed, and what there is instead. */
final class RefusedPlacesTest {
    private static final String SOURCE =
            """
            #include <stdio.h>
            static inline __attribute__((always_inline)) int half(int v)
            {
            	printf("half %d\\n", v);
            	return v / 2;
            }
            __attribute__((noinline)) int forgotten(int v) { return v + 1; }
            __attribute__((noinline)) int work(int first, int second)
            {
            	int gone = first * 3;
            	int sum = half(first);

            	/* nothing */
            	sum += half(second);
            	printf("sum %d\\n", sum);
            	return sum;
            }
            int main(int argc, char **argv)
            {
            	return work(argc, 2) == half(argc);
            }
            """;

    private static final String OFFERED =
            """
            #include <stdio.h>
            struct pt { int x, y; };
            __attribute__((noinline)) long bybig(struct pt p, int k)
            {
            	long sum = p.x;
            	printf("k %d\\n", k);
            	for (int i = 0; i < k; i++) {
            		int left = i * p.y;
            		sum += left;
            		printf("left %d\\n", left);
            	}
            	printf("sum %ld\\n", sum);
            	return sum;
            }
            int main(int argc, char **argv)
            {
            	struct pt p = {argc, argc + 2};
            	return bybig(p, argc) == 99;
            }
            """;

    @TempDir static Path folder;

    private static @Nullable ProbedObject program;

    @BeforeAll
    static void build() throws Exception {
        Programs.Build build =
                Programs.Build.of("gcc -w -g -O2 -ffunction-sections -Wl,--gc-sections");
        Assumptions.assumeTrue(build.isThere(), "gcc is not there");
        Path file = Programs.build(folder, "refused.c", SOURCE, build);
        program = ProbedObject.program(file.toString(), GivenPlaces.NONE);
    }

    @AfterAll
    static void close() {
        if (program != null) {
            program.close();
        }
    }

    private static List<ProbeDefinition> made(String text) throws Exception {
        return new ProbeDefiner(Objects.requireNonNull(program)).define(PointSpec.parse(text));
    }

    @Test
    void functionsThatAreNotThere() {
        assertThatThrownBy(() -> made("wrok"))
                .hasMessageContaining("there is no function wrok")
                .hasMessageContaining("did you mean work");
        assertThatThrownBy(() -> made("work@other.c"))
                .hasMessageContaining("not in other.c but in")
                .hasMessageContaining("refused.c");
        assertThatThrownBy(() -> made("forgotten"))
                .hasMessageContaining("forgotten was left out of");
    }

    @Test
    void linesWithoutCode() {
        assertThatThrownBy(() -> made("work:4"))
                .hasMessageContaining("work:4 has no code; line 3 and line 6 have");
        assertThatThrownBy(() -> made("refused.c:12"))
                .hasMessageContaining("refused.c:12 has no code; line 11 and line 14 have");
        assertThatThrownBy(() -> made("nothing.c:12"))
                .hasMessageContaining("no source file ends with nothing.c");
        assertThatThrownBy(() -> made("work+70000"))
                .hasMessageContaining("has no code at +70000: it is ");
        assertThatThrownBy(() -> made("0x10")).hasMessageContaining("0x10 is in no code of");
    }

    @Test
    void variablesThatAreNotThere() {
        assertThatThrownBy(() -> made("work gone"))
                .hasMessageContaining("'gone' is calculated ((%di * 3))");
        assertThatThrownBy(() -> made("work frist")).hasMessageContaining("did you mean first?");
        assertThatThrownBy(() -> made("work sum"))
                .hasMessageContaining("'sum' is optimised away here; it can be read at work:");
        assertThatThrownBy(() -> made("work%return first"))
                .hasMessageContaining("at a return only $retval is known");
        assertThatThrownBy(() -> made("work:3 $retval"))
                .hasMessageContaining("only at FUNCTION%return");
    }

    /** Where a message offers lines, the variable can be had there. */
    @ParameterizedTest
    @ValueSource(strings = {"gcc -g -O1", "gcc -g -O2", "clang -g -O1", "clang -g -O2"})
    void linesThatAreOfferedHaveTheVariable(String words) throws Exception {
        Programs.Build build = Programs.Build.of(words);
        Assumptions.assumeTrue(build.isThere(), build.compiler() + " is not there");
        Path file = Programs.build(folder, "offered.c", OFFERED, build);
        int offers = 0;
        try (ProbedObject offered = ProbedObject.program(file.toString(), GivenPlaces.NONE)) {
            ProbeDefiner definer = new ProbeDefiner(offered);
            for (String name : List.of("p.x", "k", "sum", "left", "i")) {
                for (int line = 0; line < 12; line++) {
                    String said = refusal(definer, "bybig:" + line + " " + name);
                    int at = said.indexOf("it can be read at ");
                    String places = at < 0 ? "" : said.substring(at + 18).lines().findFirst().get();
                    for (String place : places.isEmpty() ? new String[0] : places.split(" ")) {
                        assertThat(refusal(definer, place + " " + name)).as(said).isEmpty();
                        offers++;
                    }
                }
            }
        }
        assertThat(offers).isPositive();
    }

    private static String refusal(ProbeDefiner definer, String text) throws Exception {
        try {
            definer.define(PointSpec.parse(text));
            return "";
        } catch (ProbeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void functionsThatWereInlined() throws Exception {
        assertThat(made("half"))
                .extracting(ProbeDefinition::note)
                .containsExactlyInAnyOrder("inlined in work", "inlined in work", "inlined in main");
        assertThat(made("half")).extracting(ProbeDefinition::name).containsOnly("half");
        assertThatThrownBy(() -> made("half%return"))
                .hasMessageContaining("half is inlined everywhere: it has no return of its own");
    }
}
