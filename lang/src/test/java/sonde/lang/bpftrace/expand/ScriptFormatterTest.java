package sonde.lang.bpftrace.expand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;

/** Scripts in the one layout: the same tree, the same comments, the same text the second time. */
final class ScriptFormatterTest {
    private static final String EVERYTHING =
            """
            #!/usr/bin/env sonde
            // What it is for
            #include <linux/path.h>
            struct s { int a; /* kept */ };


            config = { stack_mode=perf; max_map_keys = 2 }
            import "lib.bt";
            let @m=lruhash(100);
            macro add($a,b,@c){$a+b}
            fn twice($x:int64):int64{return $x*2;}
            kprobe:a,kprobe:b // both
            /pid==1&&comm!="x\\t"/{ // begins
              @m[pid,5ms]=count();   // counted
              /* before */
              if($x>0x1F){print(1);}else if($y){exit();}else{$z=1}


              for($kv:@m){print($kv.0,/* in */2);if($kv.1){break}}
              for($i:0..$n){@[$i]++}
              while($i<5){$i++}
              unroll(3){continue;}
              $r = if $a { 1 } else { 2 };
              // at the end
            }
            interval:1s{}
            // last
            """;

    private static final String EVERYTHING_FORMATTED =
            """
            #!/usr/bin/env sonde
            // What it is for
            #include <linux/path.h>
            struct s { int a; /* kept */ };

            config = {
              stack_mode = perf;
              max_map_keys = 2;
            }
            import "lib.bt";

            let @m = lruhash(100);

            macro add($a, b, @c)
            {
              $a + b
            }

            fn twice($x: int64): int64
            {
              return $x * 2;
            }

            kprobe:a,
            kprobe:b
            // both
            /pid == 1 && comm != "x\\t"/
            {
              // begins
              @m[pid, 5ms] = count(); // counted
              /* before */
              if ($x > 0x1F) {
                print(1);
              } else if ($y) {
                exit();
              } else {
                $z = 1;
              }

              for ($kv : @m) {
                print($kv.0,/* in */2);
                if ($kv.1) {
                  break;
                }
              }
              for ($i : 0..$n) {
                @[$i]++;
              }
              while ($i < 5) {
                $i++;
              }
              unroll (3) {
                continue;
              }
              $r = if ($a) { 1 } else { 2 };
              // at the end
            }

            interval:1s
            {
            }
            // last
            """;

    @Test
    void aScriptOfEverything() {
        assertThat(formatted(EVERYTHING)).isEqualTo(EVERYTHING_FORMATTED);
    }

    private static Script parse(String text) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script = ScriptParser.parse(new SourceText("script.bt", text), diagnostics);
        assertThat(diagnostics.hasErrors()).as(text).isFalse();
        return script;
    }

    private static List<String> comments(Script script) {
        return script.comments().stream().map(span -> span.text().strip()).sorted().toList();
    }

    private static String formatted(String text) {
        Script script = parse(text);
        String formatted = ScriptFormatter.format(script);
        Script again = parse(formatted);
        assertThat(TreeText.of(again)).as(formatted).isEqualTo(TreeText.of(script));
        assertThat(comments(again)).as(formatted).isEqualTo(comments(script));
        assertThat(ScriptFormatter.format(again)).isEqualTo(formatted);
        return formatted;
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "(1+2)*3-(4-5) ## (1 + 2) * 3 - (4 - 5)",
                "((1)) ## 1",
                "-(-$x) ## -(-$x)",
                "!(!$x) ## !!$x",
                "*(int8 *)arg0 ## *(int8*)arg0",
                "((struct a *)arg0)->b.c ## ((struct a*)arg0).b.c",
                "(FOO)(-1) ## (FOO)(-1)",
                "(uint8)(-1) ## (uint8)-1",
                "($a ? 1 : 2) + 3 ## ($a ? 1 : 2) + 3",
                "$a ? 1 : $b ? 2 : 3 ## $a ? 1 : $b ? 2 : 3",
                "($a ?: 1) ? 2 : 3 ## ($a ?: 1) ? 2 : 3",
                "@a[(1,2)] ## @a[1, 2]",
                "@a[(1,)] ## @a[(1,)]",
                "(@a)[1] ## (@a)[1]",
                "(a=1,b=(2,)) ## (a=1, b=(2,))",
                "sizeof(struct a*) ## sizeof(struct a*)",
                "(typeof($x))1 ## (typeof($x))1",
                "f(typeof(uint8[4]),1) ## f(typeof(uint8[4]), 1)",
                "offsetof(struct a,b.c) ## offsetof(struct a, b.c)",
                "comptime (1+2) ## comptime (1 + 2)",
                "\"a\\x41\\101\" ## \"a\\x41\\101\"",
                "{ let $b=1; $b } ## `{\n    let $b = 1;\n    $b\n  }`",
            })
    void expressions(String text, String expected) {
        assertThat(formatted("begin { _ = " + text + " }"))
                .isEqualTo("begin\n{\n  _ = " + expected + ";\n}\n");
    }

    @Test
    void longCallsAndConditionsTakeSeveralLines() {
        String call = "printf(\"" + "x".repeat(40) + "\", $first_value, $second_value, 3, 4, 5)";
        assertThat(
                        formatted(
                                "begin /"
                                        + "has_key(@start, tid) && ".repeat(4)
                                        + "1/ {"
                                        + call
                                        + "}"))
                .isEqualTo(
                        """
                        begin
                        /has_key(@start, tid) &&
                         has_key(@start, tid) &&
                         has_key(@start, tid) &&
                         has_key(@start, tid) &&
                         1/
                        {
                          printf("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", $first_value,
                                 $second_value, 3, 4, 5);
                        }
                        """);
    }

    @Test
    void whatHasNoValueStaysWithoutOne() {
        formatted("macro m() { if (1) { f(); }; } begin { if (1) { if (2) { f() } } { g() } }");
        formatted("begin { $x = { if (1) { f(); }; }; while (1) { { g(); } } }");
        formatted("fn a(): int8 { if (1) { return 1; } } end { if (1) { } else { } }");
    }

    /** A checkout of bpftrace is named by {@code SONDE_BPFTRACE}, more programs by another. */
    @Test
    void publishedScripts() throws IOException {
        String checkout = told("sonde.bpftrace", "SONDE_BPFTRACE");
        String programs = told("sonde.bpftrace.programs", "SONDE_BPFTRACE_PROGRAMS");
        assumeTrue(!checkout.isEmpty(), "no checkout of bpftrace: SONDE_BPFTRACE");
        int seen = scripts(Path.of(checkout, "tools"));
        seen += programs.isEmpty() ? 0 : scripts(Path.of(programs));
        assertThat(seen).isGreaterThan(30);
    }

    private static String told(String property, String variable) {
        String told = System.getProperty(property, System.getenv(variable));
        return told == null ? "" : told;
    }

    private static int scripts(Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(directory)) {
            files = all.filter(file -> file.toString().endsWith(".bt")).sorted().toList();
        }
        int seen = 0;
        for (Path file : files) {
            String text = Files.readString(file, StandardCharsets.UTF_8);
            CompilerDiagnostics diagnostics = new CompilerDiagnostics();
            ScriptParser.parse(new SourceText(file.toString(), text), diagnostics);
            if (!diagnostics.hasErrors()) {
                formatted(text);
                seen++;
            }
        }
        return seen;
    }
}
