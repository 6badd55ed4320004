package sonde.conformance.guest;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import sonde.lang.bpftrace.ahead.FileWriter;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.PortabilityPass;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;

/** Scripts that are compiled on this machine's kernel, to be run on those of guests. */
final class CompiledScripts {
    /** Property of the guest's JVM: the folder that they are in. */
    static final String FOLDER = "sonde.compiled";

    private static final List<String> NAMES =
            List.of("fields", "events", "functions", "users", "missing");

    private CompiledScripts() {}

    /** Compiles all of them into a folder, which is returned. */
    static Path write(Path folder) throws IOException {
        Files.createDirectories(folder);
        for (String name : NAMES) {
            CompilerDiagnostics diagnostics = new CompilerDiagnostics();
            SourceText text = new SourceText(name + ".bt", text(name));
            Compilation compiled =
                    Compilation.portable(text, options(), TargetMachine.here(), diagnostics);
            if (compiled == null || !diagnostics.all().isEmpty()) {
                throw new IOException(
                        String.join(
                                "\n",
                                diagnostics.all().stream().map(SourceDiagnostic::render).toList()));
            }
            Files.write(
                    folder.resolve(name + ".sbt"),
                    FileWriter.bytes(PortabilityPass.file(compiled, text)));
        }
        return folder;
    }

    private static String text(String name) throws IOException {
        String resource = "compiled/" + name + ".bt";
        try (InputStream in =
                Objects.requireNonNull(CompiledScripts.class.getResourceAsStream(resource))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Without parameters, of all processes. */
    static TraceOptions options() {
        return TraceOptions.USUAL;
    }
}
