package sonde.lang.bpftrace.expand;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;
import sonde.testkit.Property;

/**
 * Whatever a script is, it is expanded and folded, or there is an error; formatted it is the same.
 */
final class ScriptExpansionPropertyTest {
    private static final List<String> PARTS =
            List.of(
                    "$a",
                    "$1",
                    "$#",
                    "@m",
                    "@m[1, $a]",
                    "x",
                    "y",
                    "1",
                    "0x10",
                    "\"s\"",
                    "true",
                    "pid",
                    "one",
                    "add(%, 2)",
                    "inc($a)",
                    "put(@m)",
                    "twice(%)",
                    "(% + %)",
                    "(% - %)",
                    "(% / %)",
                    "(% << %)",
                    "(% && %)",
                    "(% == %)",
                    "-%",
                    "!(%)",
                    "(% ? % : %)",
                    "(%, %)",
                    "(%, %).0",
                    "{ % }",
                    "str(%)",
                    "str($1 + %)",
                    "size(typeof(struct s))",
                    "size(typeof(%))",
                    "if comptime (%) { % } else { % }",
                    "if (%) { % }",
                    "comptime (%)",
                    "getopt(\"n\", 3)",
                    "(uint8)(%)",
                    "sizeof(%)",
                    "{ let $b = %; $b }",
                    "container_of(%, t, m)",
                    "find(@m, %, $a)",
                    "(a=%, b=%).b");

    private static String part(RandomGenerator random, int depth) {
        String part = PARTS.get(random.nextInt(depth > 5 ? 13 : PARTS.size()));
        StringBuilder out = new StringBuilder();
        for (char c : part.toCharArray()) {
            out.append(c == '%' ? part(random, depth + 1) : Character.toString(c));
        }
        return out.toString();
    }

    private static String script(RandomGenerator random) {
        StringBuilder out = new StringBuilder("macro one() { 1 } macro inc($x) { $x++; $x }\n");
        out.append("macro put(@m) { @m[1] = 2; } macro size(t) { sizeof(t) }\n");
        out.append("macro add(x, y) { " + part(random, 4) + " }\n");
        out.append("macro twice(x) { $a = x; // once\n " + part(random, 3) + " }\n");
        out.append("kprobe:$1 /" + part(random, 3) + "/ {");
        for (int i = random.nextInt(6); i > 0; i--) {
            String value = part(random, 0);
            out.append(
                    switch (random.nextInt(6)) {
                        case 0 -> "$a = " + value + ";";
                        case 1 -> "@m[" + part(random, 3) + "] += " + value + "; // there\n";
                        case 2 -> "for ($i : 0..3) { _ = " + value + "; }";
                        case 3 -> "while (" + value + ") { /* here */ break; }";
                        case 4 -> "let $z" + i + " = " + value + ";\n\n\n";
                        default -> value + ";";
                    });
        }
        return out.append("}").toString();
    }

    @Test
    void madeScripts() {
        Property.forAll(
                7,
                1_000,
                random -> {
                    String text = script(random);
                    CompilerDiagnostics diagnostics = new CompilerDiagnostics();
                    Script script = ScriptParser.parse(new SourceText("s", text), diagnostics);
                    if (diagnostics.hasErrors()) {
                        return;
                    }
                    sameWhenFormatted(script);
                    ScriptParameters parameters = ScriptParameters.of(List.of("7"));
                    Script expanded =
                            ScriptExpansion.expand(
                                    script, parameters, ImportPath.NONE, diagnostics);
                    assertThat(expanded.items()).hasSize(1);
                    if (!diagnostics.hasErrors()) {
                        noneAreLeft(expanded);
                        Script folded = ConstantFolding.fold(expanded, diagnostics);
                        CompilerDiagnostics again = new CompilerDiagnostics();
                        assertThat(TreeText.of(ConstantFolding.fold(folded, again)))
                                .isEqualTo(TreeText.of(folded));
                    }
                });
    }

    private static void sameWhenFormatted(Script script) {
        String formatted = ScriptFormatter.format(script);
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script again = ScriptParser.parse(new SourceText("s", formatted), diagnostics);
        assertThat(diagnostics.all()).as(formatted).isEmpty();
        assertThat(TreeText.of(again)).as(formatted).isEqualTo(TreeText.of(script));
        assertThat(again.comments()).hasSameSizeAs(script.comments());
        assertThat(ScriptFormatter.format(again)).isEqualTo(formatted);
    }

    private static void noneAreLeft(Script script) {
        assertThat(TreeText.of(script))
                .doesNotContain(
                        "add()", "twice()", "put()", "inc()", "getopt", "(type ", "$1", "$#");
    }
}
