package sonde.probe.launch;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sonde.sys.Native;

/** Scripts for the shell, C programs of the test resources, and the way to start LaunchMain. */
final class Shell {
    private Shell() {}

    record Outcome(int code, String output) {}

    static Outcome run(Path folder, String script) throws IOException, InterruptedException {
        return run(folder, List.of("/bin/sh", "-c", script));
    }

    static Outcome run(Path folder, List<String> command) throws IOException, InterruptedException {
        File output = folder.resolve("shell-output").toFile();
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectInput(new File("/dev/null"))
                        .redirectErrorStream(true)
                        .redirectOutput(output)
                        .start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException("no end within 60 s: " + Files.readString(output.toPath()));
        }
        byte[] bytes = Files.readAllBytes(output.toPath());
        return new Outcome(process.exitValue(), new String(bytes, StandardCharsets.ISO_8859_1));
    }

    /** Compiles a C program of the resources into the folder. */
    static Path compile(Path folder, String name) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no gcc on this machine");
        Path source = folder.resolve(name + ".c");
        try (InputStream in =
                Objects.requireNonNull(Shell.class.getResourceAsStream(name + ".c"))) {
            Files.copy(in, source);
        }
        Outcome outcome = run(folder, "gcc -O1 -o " + name + " " + name + ".c");
        if (outcome.code() != 0) {
            throw new IOException(outcome.output());
        }
        return folder.resolve(name);
    }

    /** The command line of a JVM that starts LaunchMain in that mode. */
    static String launch(String mode) {
        String path =
                Stream.of(Native.class, Launcher.class, LaunchMain.class)
                        .map(c -> c.getProtectionDomain().getCodeSource().getLocation().getPath())
                        .collect(Collectors.joining(":"));
        return System.getProperty("java.home")
                + "/bin/java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-MaxFDLimit"
                + " --enable-native-access=ALL-UNNAMED -cp "
                + path
                + " sonde.probe.launch.LaunchMain "
                + mode;
    }
}
