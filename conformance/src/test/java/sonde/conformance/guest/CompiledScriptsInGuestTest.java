package sonde.conformance.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.lang.bpftrace.ahead.AotReader;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.LoadedScript;
import sonde.lang.bpftrace.run.PreparedProgram;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.output.TextOutput;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;

/** Runs in guests: scripts that were compiled on the host's kernel do what they say here. */
@Tag("inguest")
final class CompiledScriptsInGuestTest {
    @BeforeEach
    void needsTheHostsFiles() {
        Assumptions.assumeTrue(
                System.getProperty(CompiledScripts.FOLDER) != null,
                "runs in a guest, with files that the host compiled");
    }

    private static AheadScript script(String name, CompilerDiagnostics diagnostics)
            throws Exception {
        Path file = Path.of(System.getProperty(CompiledScripts.FOLDER), name + ".sbt");
        return AheadScript.of(
                AotReader.read(name + ".sbt", Files.readAllBytes(file)),
                CompiledScripts.options(),
                TargetMachine.here(),
                diagnostics);
    }

    /** What a script prints while cat reads a file. */
    private static String traced(String name) throws Exception {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        AheadScript script = script(name, diagnostics);
        assertThat(diagnostics.all().stream().map(SourceDiagnostic::render)).isEmpty();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream err = new PrintStream(out, true, StandardCharsets.UTF_8);
        try (TraceSession session =
                TraceSession.open(
                        LoadedScript.load(script),
                        CompiledScripts.options(),
                        names -> new TextOutput(out, err, names))) {
            session.begin("sonde");
            session.attach();
            Process shell =
                    new ProcessBuilder(
                                    "/bin/sh",
                                    "-c",
                                    "cat /proc/self/comm; cat /proc/self/comm; sleep 0.1")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            assertThat(shell.waitFor()).isZero();
            session.drain();
            session.end();
            session.output().flush();
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void membersThatLieElsewhere() throws Exception {
        assertThat(traced("fields"))
                .contains("@same[true, true, true, true, true, true, 0]: 1")
                .contains("@files[true]: 1")
                .contains("@root[/]: 1")
                .doesNotContain("false");
    }

    @Test
    void fieldsOfTracepoints() throws Exception {
        assertThat(traced("events"))
                .contains("@[/proc/self/comm, 0]: 1")
                .containsPattern("@exec\\[(/usr)?/bin/cat\\]: 1")
                .containsPattern("@raw\\[(/usr)?/bin/cat\\]: 1")
                .containsPattern("@prio: \\d+");
    }

    @Test
    void functionsOfTheKernel() throws Exception {
        assertThat(traced("functions"))
                .contains("@k[/proc/self/comm]: 1")
                .contains("@[kprobe:do_sys_openat2]: 1")
                .contains("@kr[true]: 1")
                .contains("@f[comm]: 1")
                .contains("@fr[0]: 1")
                .contains("@read[comm]: 1")
                .contains("@many[vfs_read]: 1");
    }

    @Test
    void theBestAlternativeIsTaken() throws Exception {
        AheadScript script = script("functions", new CompilerDiagnostics());
        List<? extends PreparedProgram> entry = script.ranked().getFirst();
        assertThat(entry).hasSize(2);
        assertThat(entry.getFirst().group().first().name()).startsWith("fentry:");
        assertThat(entry.getLast().group().first().name()).isEqualTo("kprobe:do_sys_openat2");
        assertThat(script.passedOver()).isEmpty();
    }

    @Test
    void functionsOfPrograms() throws Exception {
        assertThat(traced("users"))
                .contains("@calls[sh]: 1")
                .contains("@at[getppid]: 1")
                .contains("@result[true]: ")
                .contains("@age: true")
                .contains("@cpus: 2");
    }

    @Test
    void aMissingMemberIsNamedAtItsPlace() throws Exception {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        script("missing", diagnostics);
        assertThat(diagnostics.all()).hasSize(1);
        assertThat(diagnostics.all().getFirst().render())
                .startsWith("missing.bt:3:")
                .contains("ERROR: this kernel has no struct vm_area_struct.vm_refcnt");
    }
}
