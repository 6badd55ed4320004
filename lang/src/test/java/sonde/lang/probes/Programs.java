package sonde.lang.probes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Compiles small programs in C or C++ and runs them. */
final class Programs {
    private Programs() {}

    static Path compile(Path folder, String name, String source, String... flags)
            throws IOException, InterruptedException {
        boolean cxx = name.endsWith(".cc");
        Path file = folder.resolve(name + (cxx ? "" : ".c"));
        Path out = folder.resolve(name.replace(".cc", ""));
        Files.writeString(file, source);
        List<String> command = new ArrayList<>();
        command.add(cxx ? "g++" : "gcc");
        command.addAll(List.of(flags));
        command.addAll(List.of("-O0", "-o", out.toString(), file.toString()));
        assertThat(run(command)).isZero();
        return out;
    }

    static int run(List<String> command) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException(command + " does not end");
        }
        return process.exitValue();
    }
}
