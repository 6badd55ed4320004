package sonde.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process that hangs in a way of its choice: see {@code stuck.c} for the words. */
public final class StuckProgram implements AutoCloseable {
    private static final long LIMIT_NANOS = 20_000_000_000L;

    private final Process process;

    private StuckProgram(Process process) {
        this.process = process;
    }

    /**
     * Starts it and waits until it sleeps where it hangs.
     *
     * @param folder for what it makes
     */
    public static StuckProgram start(Path folder, String mode) throws Exception {
        Path program = folder.resolve("stuck");
        if (Files.notExists(program)) {
            build(program);
        }
        Path said = folder.resolve("said-" + mode);
        Process process =
                new ProcessBuilder(program.toString(), mode, folder.resolve("for-" + mode) + "")
                        .redirectOutput(said.toFile())
                        .start();
        StuckProgram started = new StuckProgram(process);
        try {
            started.await(said, mode);
            return started;
        } catch (IOException | InterruptedException e) {
            started.close();
            throw e;
        }
    }

    private static void build(Path program) throws Exception {
        String source;
        try (InputStream text = StuckProgram.class.getResourceAsStream("stuck.c")) {
            source = new String(text.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<String> command = List.of("gcc", "-g", "-O1", "-w", "-x", "c", "-", "-pthread", "-o");
        BuiltPrograms.copy(
                program,
                source,
                command,
                to -> {
                    List<String> words = new java.util.ArrayList<>(command);
                    words.add(to.toString());
                    Process compiler =
                            new ProcessBuilder(words)
                                    .inheritIO()
                                    .redirectInput(ProcessBuilder.Redirect.PIPE)
                                    .start();
                    try (var in = compiler.getOutputStream()) {
                        in.write(source.getBytes(StandardCharsets.UTF_8));
                    }
                    if (compiler.waitFor() != 0) {
                        throw new IOException("gcc failed");
                    }
                });
    }

    private void await(Path said, String mode) throws IOException, InterruptedException {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (System.nanoTime() < end && process.isAlive()) {
            if (Files.readString(said).contains("ready") && isThere(mode)) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
        throw new IOException("stuck " + mode + " did not get stuck");
    }

    /** Whether each thread is where it stays: asleep or stopped, and not in a call with an end. */
    private boolean isThere(String mode) throws IOException {
        try (var tasks = Files.list(Path.of("/proc/" + pid() + "/task"))) {
            for (Path task : tasks.toList()) {
                String stat = Files.readString(task.resolve("stat"));
                char state = stat.charAt(stat.lastIndexOf(')') + 2);
                String call = Files.readString(task.resolve("syscall"));
                boolean naps = call.startsWith("230 ") || call.startsWith("35 "); // nanosleeps
                boolean moves = naps != mode.equals("exec") || "ST".indexOf(state) < 0;
                if (mode.equals("spin") ? state != 'R' : moves) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Its number. */
    public int pid() {
        return (int) process.pid();
    }

    /** Ends it, and with it its children. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(200, TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
