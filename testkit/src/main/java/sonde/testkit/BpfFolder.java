package sonde.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A bpffs of its own, mounted in a temporary folder. */
public final class BpfFolder implements AutoCloseable {
    private final Path folder;

    public BpfFolder() throws IOException {
        folder = Files.createTempDirectory("sonde-bpffs-");
        run("mount", "-t", "bpf", "bpf", folder.toString());
    }

    /** A path in it. */
    public String path(String name) {
        return folder.resolve(name).toString();
    }

    private static void run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).inheritIO().start();
        if (process.onExit().join().exitValue() != 0) {
            throw new IOException(String.join(" ", command));
        }
    }

    @Override
    public void close() throws IOException {
        run("umount", folder.toString());
        Files.delete(folder);
    }
}
