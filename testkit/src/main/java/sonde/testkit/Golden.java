package sonde.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Files of expected text, beside the test that compares with them; {@code
 * -Dsonde.test.jvm=-Dsonde.golden=write} writes them anew.
 */
public final class Golden {
    private final Path folder;

    private Golden(Path folder) {
        this.folder = folder;
    }

    /** Those of a test's package, in the resources of a module. */
    public static Golden of(String module, Class<?> test) {
        Path root = Path.of(System.getProperty("sonde.root", ".."));
        String inPackage = test.getPackageName().replace('.', '/');
        return new Golden(root.resolve(module + "/src/test/resources").resolve(inPackage));
    }

    /**
     * Compares a text with the file of that name.
     *
     * @throws AssertionError with both when they differ
     */
    public void check(String name, String actual) throws IOException {
        Path file = folder.resolve(name);
        if ("write".equals(System.getProperty("sonde.golden"))) {
            Files.createDirectories(folder);
            Files.writeString(file, actual);
        }
        String expected = Files.readString(file);
        if (!expected.equals(actual)) {
            throw new AssertionError(
                    file + "\n--- expected\n" + expected + "\n--- but was\n" + actual);
        }
    }
}
