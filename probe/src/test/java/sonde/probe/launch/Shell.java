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
import sonde.sys.NativeSyscall;
import sonde.testkit.BuiltPrograms;

/** Scripts for the shell, C programs of the test resources, and the way to start LaunchMain. */
final class Shell {
    private Shell() {}

    record Outcome(int code, String output) {}

    static Outcome run(Path folder, String script) throws IOException, InterruptedException {
        return run(folder, List.of("/bin/sh", "-c", script));
    }

    static Outcome run(Path folder, List<String> command) throws IOException, InterruptedException {
        File output = folder.resolve("shell-output").toFile();
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectInput(new File("/dev/null"))
                        .redirectErrorStream(true)
                        .redirectOutput(output);
        // Of variables of sonde's own, which ./test sets, a started command sees none.
        builder.environment().keySet().removeIf(name -> name.startsWith("SONDE_"));
        Process process = builder.start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException("no end within 60 s: " + Files.readString(output.toPath()));
        }
        byte[] bytes = Files.readAllBytes(output.toPath());
        return new Outcome(process.exitValue(), new String(bytes, StandardCharsets.ISO_8859_1));
    }

    /** Compiles a C program of the resources into the folder. */
    static Path compile(Path folder, String name) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no gcc on this machine");
        String source;
        try (InputStream in =
                Objects.requireNonNull(Shell.class.getResourceAsStream(name + ".c"))) {
            source = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        return BuiltPrograms.copy(
                folder.resolve(name),
                source,
                List.of("gcc", "-O1"),
                program -> {
                    Path file = Files.writeString(folder.resolve(name + ".c"), source);
                    Outcome outcome =
                            run(folder, List.of("gcc", "-O1", "-o", program + "", file + ""));
                    if (outcome.code() != 0) {
                        throw new IOException(outcome.output());
                    }
                });
    }

    /** Where on the class path a file of a package lies. */
    private static String folder(Class<?> type, String file) {
        String path = Objects.requireNonNull(type.getResource(file)).getPath();
        return path.substring(0, path.indexOf("/" + type.getPackageName().replace('.', '/') + "/"));
    }

    /** The command line of a JVM that starts LaunchMain in that mode. */
    static String launch(String mode) {
        String path =
                Stream.of(
                                folder(NativeSyscall.class, "errno.txt"),
                                folder(NativeSyscall.class, "NativeSyscall.class"),
                                folder(CommandLauncher.class, "CommandLauncher.class"),
                                folder(LaunchMain.class, "LaunchMain.class"))
                        .distinct()
                        .collect(Collectors.joining(":"));
        return System.getProperty("java.home")
                + "/bin/java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-MaxFDLimit"
                + " --enable-native-access=ALL-UNNAMED -cp "
                + path
                + " sonde.probe.launch.LaunchMain "
                + mode;
    }
}
