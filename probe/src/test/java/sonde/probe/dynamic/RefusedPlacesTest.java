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

    @TempDir static Path folder;

    private static @Nullable Subject program;

    @BeforeAll
    static void build() throws Exception {
        Programs.Build build =
                Programs.Build.of("gcc -w -g -O2 -ffunction-sections -Wl,--gc-sections");
        Assumptions.assumeTrue(build.isThere(), "gcc is not there");
        Path file = Programs.build(folder, "refused.c", SOURCE, build);
        program = Subject.program(file.toString(), List.of());
    }

    @AfterAll
    static void close() {
        if (program != null) {
            program.close();
        }
    }

    private static List<Definition> made(String text) throws Exception {
        return new Definer(Objects.requireNonNull(program)).define(PointSpec.parse(text));
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

    @Test
    void functionsThatWereInlined() throws Exception {
        assertThat(made("half"))
                .extracting(Definition::note)
                .containsExactlyInAnyOrder("inlined in work", "inlined in work", "inlined in main");
        assertThat(made("half")).extracting(Definition::name).containsOnly("half");
        assertThatThrownBy(() -> made("half%return"))
                .hasMessageContaining("half is inlined everywhere: it has no return of its own");
    }
}
