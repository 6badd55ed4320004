package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.lang.source.CompilerDiagnostics;
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
}
