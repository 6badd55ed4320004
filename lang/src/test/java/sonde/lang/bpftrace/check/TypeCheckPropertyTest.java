package sonde.lang.bpftrace.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.StackCopying;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceOptions.ProbeSelection;
import sonde.lang.declare.IncludeFolders;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;
import sonde.symbol.files.GivenPlaces;

/** Scripts whose words were mixed up are compiled, or told what is wrong: nothing is thrown. */
class TypeCheckPropertyTest {
    private static final int ROUNDS = 1500;
    private static final TargetMachine MACHINE = new TargetMachine(4, 0, 0, 0, 0, 6, 12);

    private static final List<String> SCRIPTS =
            List.of(
                    "begin { $ x = ( 1 , \"a\" , true ) ; print ( $ x . 1 ) ; @ [ $ x . 0 ] = count"
                            + " ( ) ; }",
                    "begin { for ( $ i : 0 .. 10 ) { if ( $ i > 3 ) { break ; } @ a [ $ i ] = $ i *"
                            + " 2 ; } for ( $ kv : @ a ) { print ( $ kv . 1 ) ; } }",
                    "struct s { int a ; char b [ 4 ] ; } begin { $ p = ( struct s * ) 0 ; print ("
                            + " $ p . a ) ; print ( $ p . b ) ; print ( sizeof ( struct s ) ) ; }",
                    "macro m ( $ v , e ) { $ v += e ; } begin { $ x = ( uint64 ) 1 ; m ( $ x , 2 )"
                            + " ; printf ( \"%d %s\\n\" , $ x , comm ) ; }",
                    "begin { @ h = hist ( pid , 2 ) ; @ l = lhist ( pid , 0 , 10 , 1 ) ; @ s ="
                            + " stats ( nsecs ) ; print ( @ h , 1 ) ; clear ( @ l ) ; delete ( @ s"
                            + " ) ; }",
                    "begin / pid > 1 && comm == \"x\" / { let $ a : uint16 = 3 ; $ a ++ ; @ = $ a"
                            + " ? $ a : 5 ; unroll ( 3 ) { @ ++ ; } exit ( ) ; } end { @ -= 1 ; }",
                    "begin { $ r = ( a = 1 , b = \"t\" ) ; print ( $ r . b ) ; print ( strlen ( $ r"
                            + " . b ) ) ; print ( strcontains ( $ r . b , \"t\" ) ) ; @ k [ kstack"
                            + " ( 3 ) , $ r . a ] = sum ( - 1 ) ; }");

    @Test
    void nothingIsThrown() {
        Random random = new Random(20261121);
        int compiled = 0;
        for (int round = 0; round < ROUNDS; round++) {
            String script = mixed(random);
            CompilerDiagnostics diagnostics = new CompilerDiagnostics();
            Compilation done;
            try {
                done = Compilation.of(new SourceText("t", script), options(), MACHINE, diagnostics);
            } catch (RuntimeException | StackOverflowError e) {
                throw new AssertionError(script, e);
            }
            assertThat(done == null).as(script).isEqualTo(diagnostics.hasErrors());
            compiled += done == null ? 0 : 1;
        }
        assertThat(compiled).isGreaterThan(ROUNDS / 20);
    }

    private static String mixed(Random random) {
        List<String> words =
                new ArrayList<>(List.of(SCRIPTS.get(random.nextInt(SCRIPTS.size())).split(" ")));
        for (int change = random.nextInt(4); change > 0; change--) {
            int at = random.nextInt(words.size());
            String[] others = SCRIPTS.get(random.nextInt(SCRIPTS.size())).split(" ");
            switch (random.nextInt(4)) {
                case 0 -> words.remove(at);
                case 1 -> words.add(at, words.get(random.nextInt(words.size())));
                case 2 -> words.set(at, others[random.nextInt(others.length)]);
                default -> words.set(at, words.get(random.nextInt(words.size())));
            }
        }
        return String.join(" ", words).replace("$ ", "$").replace("@ ", "@");
    }

    private static TraceOptions options() {
        return new TraceOptions(
                ScriptParameters.NONE,
                OptionalInt.empty(),
                0,
                true,
                ProbeSelection.TRACE,
                true,
                IncludeFolders.NONE,
                Map.of(),
                Path.of("."),
                true,
                null,
                null,
                Set.of(),
                GivenPlaces.NONE,
                StackCopying.ALL,
                0);
    }
}
