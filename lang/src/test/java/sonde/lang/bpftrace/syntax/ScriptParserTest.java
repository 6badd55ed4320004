package sonde.lang.bpftrace.syntax;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.lang.bpftrace.syntax.Script.ScriptImport;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;

/** What scripts are taken for, and what is said of those that are none. */
final class ScriptParserTest {
    private static Script parse(String text) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script = ScriptParser.parse(new SourceText("stdin", text), diagnostics);
        assertThat(diagnostics.all()).as(text).isEmpty();
        return script;
    }

    private static List<String> errors(String text) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        ScriptParser.parse(new SourceText("stdin", text), diagnostics);
        return diagnostics.all().stream().map(SourceDiagnostic::render).toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "1 + 2 * 3 - 4 ## ((1 + (2 * 3)) - 4)",
                "1 << 2 + 3 & 4 == 5 ## ((1 << (2 + 3)) & (4 == 5))",
                "$a || $b && $c ## ($a || ($b && $c))",
                "-$x++ ## (-($x++))",
                "!$a.b->c[1].0.1 ## (!$a.b.c[1].0.1)",
                "*(int8 *)arg0 ## (*(cast int8* arg0))",
                "$a ? $b ?: 1 : 2 ## ($a ? ($b ? - : 1) : 2)",
                "@[pid, comm] ## (@ [] (tuple pid comm))",
                "@a[1] ## (@a [] 1)",
                "(1, \"a\\x41\\101\\n\") ## `(tuple 1 \"aAA\n\")`",
                "(1,) ## (tuple 1)",
                "() ## (tuple )",
                "(a=1, b=(2, 3)) ## (record a=1 b=(tuple 2 3))",
                "(struct task_struct *)curtask ## (cast STRUCT task_struct* curtask)",
                "(uint8[4])$x ## (cast uint8[4] $x)",
                "(pid_t)-1 ## (cast pid_t (-1))",
                "(nsecs) - 1 ## (nsecs - 1)",
                "(FOO)$x ## (cast FOO $x)",
                "(typeof($x))1 ## (cast typeof $x 1)",
                "sizeof(struct a) ## (sizeof STRUCT a)",
                "sizeof($x + 1) ## (sizeof typeof ($x + 1))",
                "offsetof(struct a, b.c) ## (offsetof STRUCT a b.c)",
                "f(typeof(uint8*), 1) ## (call f (type uint8*) 1)",
                "greet!() ## (call greet)",
                "{ let $b = 1; $b } ## {(let $b 1); => $b}",
                "if $x == 1 { 2 } else if ($y) { 3 } else { 4 } ## (if ($x == 1) {=> 2} (if $y {=> 3}"
                        + " {=> 4}))",
                "$1 + $# ## ($1 + $#)",
                "comptime if (true) { 1 } ## (comptime (if true {=> 1}))",
                "&@m ## (&@m)",
            })
    void expressions(String text, String tree) {
        Script script = parse("begin { _ = " + text + "; }");
        assertThat(Trees.show(script)).isEqualTo("(probe begin {(discard " + tree + ")})");
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            value = {
                "0x1F ## 31",
                "017 ## 15",
                "2e3 ## 2000",
                "1_000_000 ## 1000000",
                "12UL ## 12",
                "5ms ## 5000000",
                "1d ## 86400000000000",
                "18446744073709551615 ## 18446744073709551615",
            })
    void numbers(String text, String value) {
        assertThat(Trees.show(parse("begin { _ = " + text + "; }")))
                .isEqualTo("(probe begin {(discard " + value + ")})");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "$x = 1; $x += 2; @m[1] <<= 3;|(= $x 1); (+= $x 2); (<<= (@m [] 1) 3)",
                "@c = count()|(= @c (call count))",
                "let $x: struct a * = 0; let $y|(let $x:STRUCT a* 0); (let $y)",
                "for ($i : 0..$n) { print($i) }|(for $i 0..$n {(call print $i)})",
                "for $kv : @m { break; }|(for $kv @m {(BREAK)})",
                "while ($i < 5) { $i++ }|(while ($i < 5) {($i++)})",
                "unroll(3) { continue }|(unroll 3 {(CONTINUE)})",
                "if (1) { f() } ++$x;|(if 1 {=> (call f)}); (++$x)",
                "if (1) { f(); } (2, 3);|(if 1 {(call f)}); (tuple 2 3)",
                "return $x;|(RETURN $x)",
                "return|(RETURN)",
                "import \"a\";|(import a)",
            })
    void statements(String text, String tree) {
        assertThat(Trees.show(parse("begin {" + text + "}")))
                .isEqualTo("(probe begin {" + tree + "})");
    }

    @Test
    void attachPointsEndWherePredicatesBegin() {
        assertThat(Trees.show(parse("kprobe:vfs_* /pid == 1/ { }")))
                .isEqualTo("(probe kprobe:vfs_* when (pid == 1) {})");
        assertThat(Trees.show(parse("uprobe:/bin/a:f,\nBEGIN { }")))
                .isEqualTo("(probe uprobe:/bin/a:f BEGIN {})");
        assertThat(Trees.show(parse("uprobe:\"/a b/{\":f /@x[tid] / 2/ { }")))
                .isEqualTo("(probe uprobe:\"/a b/{\":f when ((@x [] tid) / 2) {})");
        assertThat(Trees.show(parse("BEGIN/1/{}END,{}")))
                .isEqualTo("(probe BEGIN when 1 {}) (probe END {})");
        assertThat(Trees.show(parse("t:a:b,t:c:d{}"))).isEqualTo("(probe t:a:b t:c:d {})");
    }

    @Test
    void aWholeScriptHasItsParts() {
        Script script =
                parse(
                        """
                        #!/usr/bin/env sonde
                        // what it is for
                        #include <linux/path.h>
                        #define A(x) \\
                            (x)
                        struct s { int a[4]; } __attribute__((packed));
                        enum e { X = 1, };
                        config = { stack_mode = perf; max_map_keys=2; missing_probes="warn" }
                        import "lib.bt";
                        let @m = lruhash(100);
                        macro add($a, b, @c) { $a + b }
                        macro none { 1 }
                        fn twice($x: int64): int64 { return $x * 2; }
                        interval:1s { /* nothing */ }
                        """);
        assertThat(script.header()).isEqualTo("#!/usr/bin/env sonde");
        assertThat(script.definitions())
                .extracting(span -> span.text().lines().findFirst().orElseThrow())
                .containsExactly(
                        "#include <linux/path.h>",
                        "#define A(x) \\",
                        "struct s { int a[4]; } __attribute__((packed));",
                        "enum e { X = 1, };");
        assertThat(script.config()).isNotNull();
        assertThat(script.config().settings())
                .extracting(one -> one.key() + "=" + one.value())
                .containsExactly("stack_mode=perf", "max_map_keys=2", "missing_probes=warn");
        assertThat(script.imports()).extracting(ScriptImport::path).containsExactly("lib.bt");
        assertThat(script.comments())
                .extracting(span -> span.text())
                .containsExactly("// what it is for", "/* nothing */");
        assertThat(Trees.show(script))
                .isEqualTo(
                        "(map @m lruhash 100) (macro add $a b @c {=> ($a + b)})"
                                + " (macro none {=> 1})"
                                + " (fn twice $x:int64 int64 {(RETURN ($x * 2))})"
                                + " (probe interval:1s {})");
    }

    @Test
    void anErrorIsShownWhereItIs() {
        assertThat(errors("begin { $x = ; }"))
                .containsExactly(
                        """
                        stdin:1:14-15: ERROR: expected an expression but found ';'
                        begin { $x = ; }
                                     ~\
                        """);
        assertThat(errors("begin { $x.a = 1; }").getFirst())
                .contains("1:9-13", "nothing can be assigned to this", "HINT: tuples and records");
        assertThat(errors("kprobe:f pid == 1 { }").getFirst())
                .contains("expected '{' but found 'pid'");
        assertThat(errors("begin { print(1)"))
                .singleElement()
                .asString()
                .contains("'}' is missing");
        assertThat(errors("begin { _ = 1x; }").getFirst()).contains("no number ends with 'x'");
        assertThat(errors("begin { _ = 089; }").getFirst()).contains("not an octal number");
        assertThat(errors("begin { _ = 18446744073709551616; }").getFirst())
                .contains("more than 64 bits");
        assertThat(errors("begin { _ = \"\\q\"; }").getFirst()).contains("no such escape");
        assertThat(errors("begin { _ = \"abc; }").getFirst()).contains("has no end");
        assertThat(errors("begin { } struct a { int b; };").getFirst())
                .contains("C definitions stand before everything else");
        assertThat(errors("begin { for ($a : $b) { } }").getFirst())
                .contains("'for' goes over a map or a range");
    }

    @Test
    void anErrorCostsItsStatement() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script =
                ScriptParser.parse(
                        new SourceText(
                                "stdin",
                                "begin { $a = ; $b = 2; if (1) { ) } $c = 3; }"
                                        + " end { ] } i:s:1 { f() }"),
                        diagnostics);
        assertThat(diagnostics.all()).hasSize(3);
        assertThat(Trees.show(script))
                .contains("(= $b 2)", "(= $c 3)", "(probe end", "(probe i:s:1 {(call f)})");
    }

    @Test
    void oneExpression() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        SourceText right = new SourceText("FLAG", "(1 << 3) | OTHER // bits");
        assertThat(Trees.show(ScriptParser.parseExpression(right, diagnostics)))
                .isEqualTo("((1 << 3) | OTHER)");
        assertThat(diagnostics.all()).isEmpty();
        SourceText wrong = new SourceText("LIST", "1, 2");
        assertThat(ScriptParser.parseExpression(wrong, diagnostics)).isNull();
        assertThat(diagnostics.all().toString()).contains("LIST:1:2-3", "expected the end");
        assertThat(ScriptParser.parseExpression(new SourceText("E", ""), diagnostics)).isNull();
    }

    @Test
    void nestingHasAnEnd() {
        assertThat(errors("begin { _ = " + "(".repeat(10_000) + " }").getFirst())
                .contains("nested too deeply");
        assertThat(errors("begin { _ = " + "-".repeat(9_999) + "1; }").getFirst())
                .contains("nested too deeply");
        assertThat(errors("begin { _ = 1" + " + 1".repeat(9_999) + "; }").getFirst())
                .contains("nested too deeply");
        assertThat(errors("begin { _ = $a" + ".b".repeat(9_999) + "; }").getFirst())
                .contains("nested too deeply");
        String chain = " + 1".repeat(60) + ")";
        assertThat(errors("begin { _ = " + "(".repeat(90) + "1" + chain.repeat(90) + "; }"))
                .anyMatch(error -> error.contains("nested too deeply"));
        parse("begin { _ = " + "(".repeat(100) + "1" + " + 1)".repeat(100) + "; f(1, 2); }");
        parse("begin { _ = 1" + " && $a.b[1]".repeat(250) + "; }");
        assertThat(errors("begin " + "{".repeat(10_000)).getFirst()).contains("nested too deeply");
        assertThat(errors("begin { " + "if (1) { } else ".repeat(3_000)).getFirst())
                .contains("nested too deeply");
    }
}
