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

/** Wherever a comment stands, it is there afterwards, and the script is the same. */
final class ScriptFormatterPropertyTest {
    private static final String SCRIPT =
            """
            config = { stack_mode = perf ; max_map_keys = 2 }
            import "a.bt" ;
            let @m = hash ( 10 ) ;
            macro add ( $a , b ) { let $c = b ; if ( $a ) { 1 } else { $c } }
            fn f ( $x : int8 ) : int8 { return $x ; }
            kprobe:a , kprobe:b / pid == 1 && $x / {
             for ( $kv : @m ) { print ( ( $kv.0 , $kv.1 ) ) ; }
             if ( $a ) { f ( 1 , 2 ) ; } else if ( $b ) { } else { $z = { let $q = 1 ; $q } ; }
             while ( $i < 5 ) { $i++ ; if ( $i ) { break ; } }
             unroll ( 3 ) { @c++ }
             $r = if ( $a ) { 1 } else { 2 } ; { g ( ) }
             @[ 1 , comm ] = count ( ) ; let $y : int8 = ( int8 ) - 1 ;
            }
            """;

    @Test
    void commentsAnywhere() {
        Property.forAll(
                11,
                1_500,
                random -> {
                    String text = commented(random);
                    CompilerDiagnostics diagnostics = new CompilerDiagnostics();
                    Script script = ScriptParser.parse(new SourceText("s", text), diagnostics);
                    if (!diagnostics.hasErrors()) {
                        sameWhenFormatted(script);
                    }
                });
    }

    private static String commented(RandomGenerator random) {
        StringBuilder text = new StringBuilder(SCRIPT);
        for (int i = random.nextInt(1, 5); i > 0; i--) {
            int at = random.nextInt(text.length());
            while (text.charAt(at) != ' ' && text.charAt(at) != '\n') {
                at--;
                if (at < 0) {
                    return text.toString();
                }
            }
            text.insert(
                    at,
                    switch (random.nextInt(4)) {
                        case 0 -> " // line " + i + "\n";
                        case 1 -> " /* part " + i + " */";
                        case 2 -> "\n\n/* two\n   lines " + i + " */\n\n\n";
                        default -> "\n";
                    });
        }
        return text.toString();
    }

    private static void sameWhenFormatted(Script script) {
        String formatted = ScriptFormatter.format(script);
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script again = ScriptParser.parse(new SourceText("s", formatted), diagnostics);
        String both = script.source().text() + "\nbecomes\n" + formatted;
        assertThat(diagnostics.all()).as(both).isEmpty();
        assertThat(TreeText.of(again)).as(both).isEqualTo(TreeText.of(script));
        assertThat(comments(again)).as(both).isEqualTo(comments(script));
        assertThat(ScriptFormatter.format(again)).as(both).isEqualTo(formatted);
    }

    private static List<String> comments(Script script) {
        return script.comments().stream().map(span -> span.text().strip()).sorted().toList();
    }
}
