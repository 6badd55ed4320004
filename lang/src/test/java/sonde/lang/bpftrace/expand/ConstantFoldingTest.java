package sonde.lang.bpftrace.expand;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;

/** What is worked out before a script runs, and what is left. */
final class ConstantFoldingTest {
    private static String folded(String statements, CompilerDiagnostics diagnostics) {
        SourceText text = new SourceText("stdin", "begin { " + statements + " }");
        Script script = ScriptParser.parse(text, diagnostics);
        assertThat(diagnostics.all()).as(statements).isEmpty();
        return TreeText.of(ConstantFolding.fold(script, diagnostics))
                .substring("probe begin".length())
                .replaceAll("\\s+", " ")
                .strip();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "9223372036854775807 + 1 ## 9223372036854775808",
                "0x7fffffffffffffff + (-1) ## 9223372036854775806",
                "1 - 2 ## (- 1)",
                "0 - 0x8000000000000000 ## (- 9223372036854775808)",
                "0xffffffffffffffff - 1 ## 18446744073709551614",
                "-5 * -10 ## 50",
                "-10 / 3 ## (- 3)",
                "-10 % 3 ## (- 1)",
                "10 % -3 ## 1",
                "-1 & 1 ## 1",
                "-10 ^ 0x0f ## (- 7)",
                "0xffffffff ^ -0xf ## (- 4294967282)",
                "1 << 63 ## 9223372036854775808",
                "-1 << 63 ## (- 9223372036854775808)",
                "0x8000000000000000 << 1 ## 0",
                "0x8000000000000000 >> 63 ## 1",
                "-8 >> 2 ## (- 2)",
                "0xffffffffffffffff > 0 ## true",
                "-1 < 0 ## true",
                "1 && -1 ## true",
                "~(-1) ## 0",
                "~0 ## 18446744073709551615",
                "!-1 ## false",
                "-(-0x8000000000000000) ## 9223372036854775808",
                "-0 ## 0",
                "true - true ## false",
                "true << false ## false",
                "\"foo\" + \"bar\" ## \"foobar\"",
                "\"hello\" + 3 ## \"lo\"",
                "\"a\" < \"b\" ## true",
                "\"foo\" && true ## true",
                "\"foo\" == 1 ## (== \"foo\" 1)",
                "\"foo\"[1] ## 111",
                "(1, (2, \"a\")) == (1, (2, \"a\")) ## true",
                "(1, -1) == (1, -1, true) ## false",
                "($x, -1) == ($x, -1) ## (== (tuple $x (- 1)) (tuple $x (- 1)))",
                "(a=1, b=2) == (b=2, a=1) ## true",
                "\"\" ? 1 : 2 ## 2",
                "5 ? $x : 2 ## (? true $x 2)",
                "str(12) ## \"12\"",
                "str(\"hello\", 2) ## \"he\"",
                "str($x) ## (str() $x)",
                "comptime (1, 1 + 1).1 ## 2",
                "comptime ($x, 1).0 ## (comptime (. (tuple $x 1) 0))",
                "(a=1, b=2).b ## 2",
                "sizeof(1 + 1) ## (sizeof typeof(2))",
            })
    void values(String expression, String expected) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        assertThat(folded("_ = " + expression + ";", diagnostics)).isEqualTo("discard " + expected);
        assertThat(diagnostics.all()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "if (comptime 1) { f(); } else { g(); } ## (f())",
                "if comptime (1 == 2) { f(); } else { g(); } ## (g())",
                "if comptime (false) { f(); } h(); ## (h())",
                "if (1) { f(); } else { g(); } ## (if true { (f()) } else { (g()) })",
                "if comptime ($x) { f(); } ## (if (comptime $x) { (f()) })",
                "if comptime 0 { f() } else if $y { g() } ## (if $y {(g())})",
                "unroll (2 + 1) { f(); } ## unroll 3 { (f()) }",
                "{ { 1 } } ## 1",
            })
    void statements(String text, String expected) {
        assertThat(folded(text, new CompilerDiagnostics())).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            value = {
                "0xffffffffffffffff + 1 ## unable to fold literals due to overflow or underflow",
                "0x8000000000000000 + (-1) ## unable to fold",
                "0x7fffffffffffffff - (-1) ## unable to fold",
                "0 - 0x8000000000000001 ## unable to fold",
                "0x8000000000000000 * 2 ## unable to fold",
                "123 / 0 ## division by zero",
                "5 % 0 ## division by zero",
                "true % false ## division by zero",
                "1 << 64 ## unable to fold",
                "-1 & 0xffffffffffffffff ## unable to fold",
                "-0x8000000000000001 ## negative value will underflow",
                "\"a\" * \"b\" ## illegal literal operation with strings",
                "\"hello\" + 8 ## literal string will always be empty",
            })
    void errors(String expression, String message) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        folded("_ = " + expression + ";", diagnostics);
        assertThat(diagnostics.all()).singleElement().asString().contains(message);
    }

    @Test
    void parametersAreFoldedToo() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        SourceText text = new SourceText("stdin", "begin { f(str($1 + 1), $2 * 2) }");
        Script script =
                ScriptExpansion.expand(
                        ScriptParser.parse(text, diagnostics),
                        ScriptParameters.of(List.of("hello", "-4")),
                        ImportPath.NONE,
                        diagnostics);
        assertThat(TreeText.of(ConstantFolding.fold(script, diagnostics)))
                .isEqualTo("probe begin\n  (f() \"ello\" (- 8))\n");
    }
}
