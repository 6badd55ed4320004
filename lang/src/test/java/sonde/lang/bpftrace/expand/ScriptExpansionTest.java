package sonde.lang.bpftrace.expand;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.lang.bpftrace.expand.ScriptExpansion.ExpandedScript;
import sonde.lang.bpftrace.expand.WatchedFilter.WatchedProcesses;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/** Macros, parameters and options. */
final class ScriptExpansionTest {
    private static ExpandedScript expanded(
            String text, CompilerDiagnostics diagnostics, String... words) {
        Script script = ScriptParser.parse(new SourceText("stdin", text), diagnostics);
        assertThat(diagnostics.all()).as(text).isEmpty();
        ScriptParameters parameters = ScriptParameters.of(List.of(words));
        return ScriptExpansion.expandWithUses(script, parameters, ImportPath.NONE, diagnostics);
    }

    /** The body of the last item, on one line. */
    private static String body(String text, String... words) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script = expanded(text, diagnostics, words).script();
        assertThat(diagnostics.hasErrors()).as(diagnostics.all().toString()).isFalse();
        String tree = TreeText.of(script);
        return tree.substring(tree.lastIndexOf("probe begin") + "probe begin".length())
                .replaceAll("\\s+", " ")
                .strip();
    }

    private static List<String> errors(String text) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        expanded(text, diagnostics);
        return diagnostics.all().stream().map(SourceDiagnostic::message).toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "macro one() { 1 } begin { f(one(), one); } ## (f() {1} {1})",
                "macro inc($x) { $x += 1; $x } begin { inc($a); } ## { += $a 1 => $a }",
                "macro add(x) { $y = x + 1; $y } begin { $y = add($y); } ##"
                        + " = $y { = $y·1 (+ {$y} 1) => $y·1 }",
                "macro m(x) { let $z: typeof(x) = x; $z } begin { m(2); m(3); } ##"
                        + " { let $z·1: typeof(2) 2 => $z·1 } { let $z·2: typeof(3) 3 => $z·2 }",
                "macro set(@x) { @x[1] = 2; } begin { set(@a); } ## { = (@a [] 1) 2 }",
                "macro first(@x) { let $r; for ($k : @x) { $r = $k.0; } $r } begin { first(@a); }"
                        + " ## { let $r·1 for $k·1 @a { = $r·1 (. $k·1 0) } => $r·1 }",
                "macro twice(x) { x; x; } begin { twice({ f() }); } ## { {(f())} {(f())} }",
                "macro a(x) { x + 1 } macro b(x) { a(x) + 1 } begin { b(1); } ##"
                        + " {(+ {(+ 1 1)} 1)}",
                "macro none() { 2 } macro own(none) { none } begin { own(1); } ## {1}",
                "macro m() { f($x) } begin { $x = 1; m; } ## = $x 1 {(f() $x·1)}",
                "macro s(a, b) { sizeof(a[2]) + sizeof(b*) } begin"
                        + " { s(typeof(uint64*), typeof(struct Foo)); } ##"
                        + " {(+ (sizeof uint64*[2]) (sizeof struct Foo*))}",
                "macro c(t) { (t*)-1 } begin { c(typeof(uint8)); } ##" + " {(cast uint8* (- 1))}",
                "macro c(t) { let $x: struct t = 0; } begin { c(typeof(foo)); } ##"
                        + " { let $x·1: struct foo 0 }",
                "macro o(t, f) { offsetof(t, f) } begin { o(typeof(struct a), b.c); } ##"
                        + " {(offsetof struct a b.c)}",
                "macro add($x) { 1 } macro add(@x) { 2 } macro add(x) { 3 }"
                        + " begin { add($a); add(@a); add(4); } ## {1} {2} {3}",
                "macro cpu() { 1 } begin { cpu(); __builtin_cpu; cpu(5); } ##"
                        + " {1} cpu (cpu() 5)",
                "begin { f(cpu(), __builtin_comm(), pid(init), config().x); } ##"
                        + " (f() cpu comm (pid() init) (. config x))",
                "macro exit() { 1 } begin { assert(0, \"no\"); } ##"
                        + " {(if (! 0) { (errorf() \"assert failed: %s\" \"no\") (exit() 1) })}",
            })
    void macros(String text, String tree) {
        assertThat(body(text)).isEqualTo(tree);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "macro s($x) { $x } begin { s($a, 1); } ## The closest definition of s() has a"
                        + " different number of arguments. Expected: 1 but got 2",
                "macro s($x) { 1 } begin { s; } ## The closest definition of s() has a"
                        + " different number of arguments. Expected: 1 but got 0",
                "macro s($x, $x) { 1 } begin { } ## Variable for macro argument has already been"
                        + " used: $x",
                "macro s(@x, @x) { 1 } begin { } ## Map for macro argument has already been used:"
                        + " @x",
                "macro s(x, x) { 1 } begin { } ## Ident for macro argument has already been used:"
                        + " x",
                "macro s($x) { 1 } macro s($x) { 2 } begin { } ## Redefinition of macro: s",
                "macro a(x) { c(x) } macro b(x) { a(x) } macro c(x) { b(x) } begin { c(1); } ##"
                        + " Recursive macro call detected. Call chain: c > b > a > c",
                "macro s($x) { 1 } begin { s(@a); } ## Mismatched arg. s() expects a variable for"
                        + " arg $x but got a map.",
                "macro s(@x) { 1 } begin { s(1); } ## Mismatched arg. s() expects a map for arg @x"
                        + " but got an expression.",
                "macro s($x) { let $x; } begin { s($a); } ## Variable declaration shadows macro"
                        + " arg $x",
                "macro s() { @x[1] } begin { s(); } ## Unhygienic access to map: @x. Maps must be"
                        + " passed into the macro as arguments.",
                "macro s(pid) { } begin { } ## syntax: builtin 'pid' can't be used as a macro"
                        + " argument",
                "macro m(x) { x + 1 } begin { m(typeof(uint64*)); } ## When used as a call argument,"
                        + " `typeof` builtin only valid for macro calls that are expecting a type"
                        + " parameter",
                "macro m(t) { sizeof(struct t) } begin { m(typeof(uint64*)); } ## Invalid"
                        + " replacement for macro 'm' type parameter 't' which makes up the type"
                        + " 'struct t'",
                "macro o(t, f) { offsetof(t, f) } begin { o(typeof(struct F), g().b); } ##"
                        + " FieldAccess expressions must be made up entirely of idents (e.g."
                        + " a.b.c) to replace the second argument in `offsetof`",
                "begin { getopt(10); } ## First argument to 'getopt' must be a string literal.",
                "begin { getopt(\"a\", $a); } ## Second argument to 'getopt' must be a string"
                        + " literal, integer literal, or a boolean literal.",
                "begin { getopt(\"a\", 1); getopt(\"a\", \"b\"); } ## Command line option 'a' needs"
                        + " to have the same default value in all places it is used. Previous"
                        + " default value: 1",
            })
    void errorsOfMacros(String text, String message) {
        assertThat(errors(text)).contains(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "f($1, $2, $3, $#) ## (f() 1 \"b\" 31 3)",
                "f(str($1), str($2 + 1)) ## (f() (str() \"1\") (str() (+ \"b\" 1)))",
                "f($9, str($9)) ## (f() 0 (str() \"\"))",
            })
    void positional(String text, String tree) {
        assertThat(body("begin { " + text + " }", "1", "--", "b", "0x1f")).isEqualTo(tree);
    }

    @Test
    void parametersInAttachPoints() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script =
                expanded("i:ms:$1 { } BEG$2 /$# == 2/ { } $3 { }", diagnostics, "10", "IN", "end")
                        .script();
        assertThat(TreeText.of(script))
                .isEqualTo("probe i:ms:10\nprobe BEGIN\n  when (== 3 2)\nprobe end\n");
    }

    @Test
    void options() {
        String text =
                "macro v(n) { getopt(n, true, \"shown\") } begin { f(getopt(\"a\", 1),"
                        + " getopt(\"b\", -1), v(\"c\"), getopt(\"d\"), getopt(\"e\", \"x\")) }";
        assertThat(body(text)).isEqualTo("(f() 1 (- 1) {true} false \"x\")");
        assertThat(body(text, "--", "--a=0xffffffffffffffff", "--b=-5", "--c=No", "--d", "--e=y z"))
                .isEqualTo("(f() 18446744073709551615 (- 5) {false} true \"y z\")");
        ExpandedScript expanded = expanded(text, new CompilerDiagnostics());
        assertThat(expanded.options())
                .containsExactly(
                        new ScriptOption("a", ScriptOption.Kind.UNSIGNED, "1", ""),
                        new ScriptOption("b", ScriptOption.Kind.SIGNED, "-1", ""),
                        new ScriptOption("c", ScriptOption.Kind.BOOLEAN, "true", "shown"),
                        new ScriptOption("d", ScriptOption.Kind.BOOLEAN, "false", ""),
                        new ScriptOption("e", ScriptOption.Kind.STRING, "x", ""));
        assertThat(problem(expanded, "--a=False"))
                .isEqualTo("program command line option --a invalid integer (value: False)");
        assertThat(problem(expanded, "--a=-1")).contains("invalid integer (value: -1)");
        assertThat(problem(expanded, "--b=9223372036854775808")).contains("value is out of range");
        assertThat(problem(expanded, "--a")).contains("expects an integer (value: true)");
        assertThat(problem(expanded, "--c=2")).contains("expects a boolean (e.g. 'true')");
        assertThat(problem(expanded, "--z"))
                .isEqualTo("unexpected program command line options: --z");
        assertThat(ScriptParameters.NONE.problem(expanded.options())).isEmpty();
    }

    private static String problem(ExpandedScript expanded, String option) {
        ScriptParameters parameters = ScriptParameters.of(List.of("--", option));
        return parameters.problem(expanded.options()).orElseThrow().message();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | 0 | 0 | true",
                "0 | 0 | 7 | (!= (cast uint32 pid) 7)",
                "0 | 8 | 7 | (|| (== (cast uint32 pid) 8) (has_key() @watched· (cast uint32 pid)))",
                "9 | 0 | 7 | (== (cast uint32 pid) 9)",
            })
    void watchedIsACondition(int process, int command, int hidden, String condition) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script =
                ScriptParser.parse(new SourceText("t", "f:a /watched(pid)/ { }"), diagnostics);
        Script made =
                WatchedFilter.expand(
                        script, new WatchedProcesses(process, command, hidden), diagnostics);
        assertThat(diagnostics.all()).isEmpty();
        String text = TreeText.of(made);
        assertThat(text.replaceAll("\\s+", " ")).contains(condition);
        assertThat(text.contains("task_newtask")).isEqualTo(command != 0);
    }

    @Test
    void whomAScriptWatchesIsNotKnownAheadOfTime() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script =
                ScriptParser.parse(new SourceText("t", "f:a /watched(pid)/ { }"), diagnostics);
        WatchedFilter.expand(script, null, diagnostics);
        assertThat(diagnostics.all().getFirst().message()).contains("not when it is compiled");
    }

    @Test
    void helpListsOptions() {
        Script script =
                ScriptParser.parse(
                        new SourceText("s", "begin { f(getopt(\"a\", 1, \"A\"), getopt(\"b\")) }"),
                        new CompilerDiagnostics());
        List<ScriptOption> options = ScriptParameters.options(script);
        ScriptParameters help = ScriptParameters.of(List.of("--", "--help"));
        assertThat(help.problem(options))
                .contains(
                        new ScriptParameters.Problem("", "expected program options:\n--a: A\n--b"));
        ScriptParameters unknown = new ScriptParameters(List.of(), Map.of("x", "1"));
        assertThat(unknown.problem(options).orElseThrow().hint())
                .isEqualTo("expected program options: --a, --b");
    }

    @Test
    void whereAMacroIsCalledIsKnown() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        ExpandedScript expanded = expanded("macro m(x) { x + bad } begin { m(1); }", diagnostics);
        SourceSpan bad = new SourceSpan(expanded.script().source(), 17, 20);
        assertThat(bad.text()).isEqualTo("bad");
        assertThat(expanded.hint(bad)).isEqualTo("expanded from stdin:1:32-36");
        assertThat(expanded.hint(new SourceSpan(bad.source(), 32, 33))).isEmpty();
        assertThat(ScriptExpansion.shown("$x\u00b712")).isEqualTo("$x");
    }

    /** Nothing of the library's text is shown: who calls it cannot see it. */
    @Test
    void theLibraryHasThePlaceOfTheCall() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script =
                expanded(
                                "begin { find(@m, pid, $v); ppid; container_of($p, struct_a, b); }",
                                diagnostics)
                        .script();
        assertThat(diagnostics.all()).isEmpty();
        new TreeRewriter() {
            @Override
            protected SourceSpan span(SourceSpan span) {
                assertThat(span.source()).isEqualTo(script.source());
                return span;
            }
        }.script(script);
        assertThat(TreeText.of(script))
                .contains("(. (. curtask real_parent) tgid)", "= $v (@m [] $key·1)");
    }

    @Test
    void macrosThatExplodeAreAnError() {
        StringBuilder text = new StringBuilder("macro m0(x) { x + x } ");
        for (int i = 1; i < 64; i++) {
            text.append("macro m%d(x) { m%d(x + x) } ".formatted(i, i - 1));
        }
        text.append("begin { m63(1); }");
        assertThat(errors(text.toString()))
                .anyMatch(error -> error.contains("more of this script"));
        StringBuilder chain = new StringBuilder("macro m0(x) { x } ");
        for (int i = 1; i < 5_000; i++) {
            chain.append("macro m%d(x) { m%d(x) } ".formatted(i, i - 1));
        }
        chain.append("begin { m4999(1); }");
        assertThat(errors(chain.toString()))
                .anyMatch(error -> error.contains("more of this script"));
    }
}
