package sonde.conformance;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs {@code ./sonde} of this checkout, as a user would, in a folder of the test's. */
final class Sonde {
    /** The checkout. */
    static final Path ROOT = Path.of(System.getProperty("sonde.root", "..")).toAbsolutePath();

    private static final long LIMIT_SECONDS = 120;

    private final Path folder;
    private final List<String> prefix;
    private final Map<String, String> environment;

    private Sonde(Path folder, List<String> prefix, Map<String, String> environment) {
        this.folder = folder;
        this.prefix = prefix;
        this.environment = environment;
    }

    /** With that working folder. */
    static Sonde in(Path folder) {
        return new Sonde(folder, List.of(), Map.of());
    }

    /** Behind another program: {@code setpriv …}. */
    Sonde behind(String... command) {
        return new Sonde(folder, List.of(command), environment);
    }

    /** With variables added to the environment. */
    Sonde with(Map<String, String> variables) {
        return new Sonde(folder, prefix, variables);
    }

    /** What a run left. */
    record Outcome(int status, String out, String err) {
        @Override
        public String toString() {
            return "status " + status + "\n--- out\n" + out + "\n--- err\n" + err;
        }
    }

    /** Runs {@code ./sonde args}. */
    Outcome run(String... args) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix);
        command.add(ROOT.resolve("sonde").toString());
        command.addAll(List.of(args));
        return execute(command);
    }

    /** Runs any other program the same way. */
    Outcome execute(List<String> command) throws IOException, InterruptedException {
        File out = Files.createTempFile("sonde-test", ".out").toFile();
        File err = Files.createTempFile("sonde-test", ".err").toFile();
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command)
                            .directory(folder.toFile())
                            .redirectInput(new File("/dev/null"))
                            .redirectOutput(out)
                            .redirectError(err);
            // Nothing is to run on behind a test.
            builder.environment().putIfAbsent("SONDE_TRAIN", "never");
            builder.environment().putAll(environment);
            Process process = builder.start();
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(
                        command + " still runs after " + LIMIT_SECONDS + " s; " + text(err));
            }
            return new Outcome(process.exitValue(), text(out), text(err));
        } finally {
            Files.delete(out.toPath());
            Files.delete(err.toPath());
        }
    }

    /** Starts {@code ./sonde args} and leaves it running; what it says is in the two files. */
    Process start(Path out, Path err, String... args) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(ROOT.resolve("sonde").toString());
        command.addAll(List.of(args));
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectInput(new File("/dev/null"))
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
        builder.environment().putIfAbsent("SONDE_TRAIN", "never");
        builder.environment().putAll(environment);
        return builder.start();
    }

    /**
     * Starts {@code ./sonde record args} and returns when it is armed, by {@code --ready-fd}: what
     * happens from now on is recorded.
     */
    Process startArmed(Path out, Path err, String... args) throws Exception {
        // The pipe to this process is descriptor 3.
        List<String> shell = List.of("/bin/sh", "-c", "exec \"$@\" 3>&1 >\"$0\"", out.toString());
        List<String> command = new ArrayList<>(shell);
        command.addAll(prefix);
        command.addAll(List.of(ROOT.resolve("sonde").toString(), "record", "--ready-fd", "3"));
        command.addAll(List.of(args));
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectInput(new File("/dev/null"))
                        .redirectError(err.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        CompletableFuture<String> said = new CompletableFuture<>();
        Thread.ofPlatform()
                .daemon()
                .start(() -> said.completeAsync(() -> firstLine(process), Runnable::run));
        if (!"ready".equals(said.completeOnTimeout("", LIMIT_SECONDS, TimeUnit.SECONDS).join())) {
            process.destroyForcibly().waitFor();
            throw new AssertionError(command + " did not get ready: " + text(err.toFile()));
        }
        return process;
    }

    private static String firstLine(Process process) {
        try {
            return String.valueOf(process.inputReader().readLine());
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static String text(File file) throws IOException {
        return new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
    }
}
