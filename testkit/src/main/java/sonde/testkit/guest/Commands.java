package sonde.testkit.guest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs programs of the host with a time limit. */
final class Commands {
    private Commands() {}

    /** Runs to the end; its output is part of the failure's message. */
    static String run(int seconds, Path directory, String... command)
            throws IOException, InterruptedException {
        Path log = java.nio.file.Files.createTempFile("sonde-guest-", ".log");
        try {
            Process process =
                    new ProcessBuilder(command)
                            .directory(directory.toFile())
                            .redirectErrorStream(true)
                            .redirectOutput(log.toFile())
                            .start();
            process.outputWriter().close();
            boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly().waitFor();
            }
            String output = java.nio.file.Files.readString(log).strip();
            if (!ended || process.exitValue() != 0) {
                throw new IOException(
                        "%s %s: %s"
                                .formatted(
                                        List.of(command),
                                        ended
                                                ? "returned " + process.exitValue()
                                                : "took longer than " + seconds + " s",
                                        output));
            }
            return output;
        } finally {
            java.nio.file.Files.deleteIfExists(log);
        }
    }
}
