package sonde.lang.bpftrace.syntax;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;
import sonde.testkit.Property;

/** Whatever the text is, there is a tree, or an error with a place in the text. */
final class ScriptParserPropertyTest {
    private static final String SCRIPT =
            """
            #define N 10
            struct s { int a; };
            config = { stack_mode = perf; }
            let @m = hash(10);
            macro add($a, b) { let $c = b; $a + $c }
            kprobe:vfs_*, uprobe:/bin/sh:"x" /pid == 1 && comm != "a\\x41"/ {
                for ($kv : @m) { print(($kv.0, $kv.1.0)); }
                @m[tid, (struct s *)arg0] = hist($1 ? -1 : sizeof(int8[4]));
                if (@m[0] > 5ms) { unroll(N) { @c++ } } else { return 1 }
            }
            """;

    @Test
    void damagedScripts() {
        Property.forAll(1, 3_000, ScriptParserPropertyTest::damaged);
    }

    private static void damaged(RandomGenerator random) {
        StringBuilder text = new StringBuilder(SCRIPT);
        String alphabet = "{}()[]/\\\"'$@#*.,;=+-<>!?:&|~^%` \n\u0000\u00e9\ud83d0aex_";
        for (int i = random.nextInt(1, 8); i > 0; i--) {
            int at = random.nextInt(text.length());
            switch (random.nextInt(4)) {
                case 0 -> text.setCharAt(at, ' ');
                case 1 -> text.setLength(Math.max(1, at));
                case 2 -> text.insert(at, alphabet.charAt(random.nextInt(alphabet.length())));
                default -> text.insert(at, text.substring(0, random.nextInt(at + 1)));
            }
        }
        SourceText source = new SourceText("damaged", text.toString());
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script = ScriptParser.parse(source, diagnostics);
        for (SourceDiagnostic diagnostic : diagnostics.all()) {
            assertThat(diagnostic.span().from()).isBetween(0, source.text().length());
            assertThat(diagnostic.render()).startsWith("damaged:");
        }
        assertThat(Trees.show(script)).isNotNull();
    }
}
