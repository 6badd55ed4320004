package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;

final class CompilerPassTest {
    private final Map<CompilerPass, String> made = new EnumMap<>(CompilerPass.class);

    private boolean compile(String script) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Compilation.of(
                new SourceText("t", script),
                TraceOptions.USUAL,
                new TargetMachine(4, 0, 0, 0, 0, 6, 12),
                diagnostics,
                (pass, text) -> assertThat(made.put(pass, text.get())).as("once").isNull());
        return !diagnostics.hasErrors();
    }

    @Test
    void everyPassShowsWhatItMade() {
        boolean compiled =
                compile(
                        """
                        macro twice(x) { x * 2 }
                        begin { @n[pid] = count(); $x = twice(21); printf("%d %s\\n", $x, comm); }
                        """);
        assertThat(compiled).isTrue();
        assertThat(made).containsOnlyKeys(CompilerPass.values());
        assertThat(made.get(CompilerPass.PARSE)).contains("macro twice x", "(twice() 21)");
        assertThat(made.get(CompilerPass.EXPAND)).contains("= $x 42").doesNotContain("macro");
        assertThat(made.get(CompilerPass.PROBES)).isEqualTo("program 1: begin\n  begin\n");
        assertThat(made.get(CompilerPass.TYPES))
                .contains("@n[uint32]: count_t", "pid:uint32", "$x:int8");
        assertThat(made.get(CompilerPass.IR)).contains("begin_1(p0)", "bpf_get_current_pid_tgid()");
        assertThat(made.get(CompilerPass.RESOURCES))
                .contains("@n: per_cpu_hash, keys of 4 bytes, values of 8, room for 4096")
                .contains("event 0: printf \"%d %s\\n\" (int8,string[16])");
        assertThat(made.get(CompilerPass.CODE)).contains("(95) exit");
    }

    @Test
    void declarationsOfImportedHeadersAreSeen(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve("pair.h"), "struct pair { int a; char b[4]; };\n");
        String script = "import \"%s/pair.h\"; begin { @x = sizeof(struct pair); }";
        assertThat(compile(script.formatted(folder))).isTrue();
        assertThat(made.get(CompilerPass.OPTIMISED)).contains("= 8");
    }

    @Test
    void passesBeforeTheOneThatFailsShowThemselves() {
        assertThat(compile("begin { @x = 1; @x = \"a\"; }")).isFalse();
        assertThat(made)
                .containsOnlyKeys(
                        CompilerPass.PARSE,
                        CompilerPass.EXPAND,
                        CompilerPass.PROBES,
                        CompilerPass.TYPES);
        assertThat(made.get(CompilerPass.TYPES)).contains("@x: int8");
    }

    /** What the kernel would answer with EINVAL, 0 or nothing is said at its place. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "begin { print(cgroupid('/no/such/group')); } | for path: '/no/such/group'",
                "begin { print(reg('ip')); } | t:1:15-24: ERROR: reg can not be used with",
                "profile:hz:9 { print(reg('zz')); } | t:1:22-31: ERROR: 'zz' is not a valid register",
                "profile:hz:9 { print(reg('ip')); } | -",
                "begin { print(str(5, 'a')); } | t:1:22-25: ERROR: str() only supports integer",
                "begin { printf('%5q %d\\n', 1, 2); } | 1 expected; %5q is not a conversion",
                "begin { printf('%d\\n', 1, 2); } | (2 supplied, 1 expected)",
                "begin { for ($i : 0..8388609) { @ = $i; } } | t:1:9-42: ERROR: a for loop has at most"
                        + " 8388608 rounds",
                "begin { for ($i : 1..8388609) { @ = $i; } } | -",
                "interval:s:$1 { exit(); } | Positional parameter $1 is empty or not provided",
                "interval:s:$1 { exit(); } | a number is missing",
                "tracepoint:sched:sched_\0x { } | a probe's name has no control characters (\\x00)",
            })
    void whatCannotBeMeantIsSaid(String script, String message) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Compilation.of(
                new SourceText("t", script.replace('\'', '"').replace("\\0", "\0")),
                TraceOptions.USUAL,
                new TargetMachine(4, 0, 0, 0, 0, 6, 12),
                diagnostics,
                (_, _) -> {});
        String said =
                diagnostics.all().stream()
                        .map(SourceDiagnostic::render)
                        .collect(Collectors.joining("\n"));
        if (message.equals("-")) {
            assertThat(diagnostics.hasErrors()).as(said).isFalse();
        } else {
            assertThat(said.replace('"', '\'')).contains(message);
        }
    }
}
