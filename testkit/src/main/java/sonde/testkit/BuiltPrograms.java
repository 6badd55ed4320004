package sonde.testkit;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Programs that tests compile, kept in {@code target/programs} of the module under a name that
 * depends on their source and on how they were compiled. Only for programs whose tests do not care
 * in which folder the compiler ran.
 */
public final class BuiltPrograms {
    private BuiltPrograms() {}

    /** Compiles a source in a folder; leaves the program at the path given. */
    @FunctionalInterface
    public interface Compiler {
        void compile(Path program) throws Exception;
    }

    /**
     * Copies a program to a path, compiled now or earlier.
     *
     * @param source its text
     * @param command how it is compiled
     */
    public static Path copy(Path to, String source, List<String> command, Compiler compiler)
            throws Exception {
        CRC32C sum = new CRC32C();
        sum.update((command + "\n" + source).getBytes(StandardCharsets.UTF_8));
        String name = to.getFileName() + "-" + Long.toHexString(sum.getValue());
        Path folder = Files.createDirectories(Path.of("target/programs").toAbsolutePath());
        Path kept = folder.resolve(name);
        if (Files.notExists(kept)) {
            Path fresh = Files.createTempDirectory(folder, "new").resolve(name);
            compiler.compile(fresh);
            try {
                Files.move(fresh, kept, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.delete(fresh.getParent());
            }
        }
        return Files.copy(kept, to, StandardCopyOption.COPY_ATTRIBUTES);
    }
}
