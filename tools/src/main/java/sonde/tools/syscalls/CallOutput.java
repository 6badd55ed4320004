package sonde.tools.syscalls;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.PrivateOutput;

/** Where lines go: a file, or the input of a shell command ({@code |COMMAND}). */
public record CallOutput(OutputStream stream, @Nullable Process command) implements AutoCloseable {
    private static final int BUFFER = 1 << 16;

    /** Opens a file, or starts a command of the shell. */
    public static CallOutput open(String name, boolean append) throws IOException {
        if (name.startsWith("|") || name.startsWith("!")) {
            Process command =
                    new ProcessBuilder("/bin/sh", "-c", name.substring(1))
                            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            return new CallOutput(new BufferedOutputStream(command.getOutputStream()), command);
        }
        Path file = Path.of(name);
        OutputStream out =
                append
                        ? Files.newOutputStream(
                                file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)
                        : PrivateOutput.open(file);
        return new CallOutput(new BufferedOutputStream(out, BUFFER), null);
    }

    @Override
    public void close() throws IOException {
        stream.close();
        try {
            if (command != null) {
                command.waitFor();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
