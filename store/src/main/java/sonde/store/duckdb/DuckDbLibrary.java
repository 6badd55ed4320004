package sonde.store.duckdb;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Where DuckDB's library lies: in the image beside our jars; where there is no image (tests) it is
 * unpacked from the driver's jar into the folder of temporary files and removed at the end.
 */
final class DuckDbLibrary {
    /** Of the image, by launcher/Build.java. */
    private static final String FILE = "libduckdb.so";

    private DuckDbLibrary() {}

    static Path file() throws IOException {
        String home = System.getProperty("sonde.home");
        if (home != null) {
            Path file = Path.of(home, "app", FILE);
            if (!Files.exists(file)) {
                throw new IOException(
                        "SQL needs DuckDB's library, which the package sonde-sql installs as "
                                + file);
            }
            return file;
        }
        String arch = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
        String resource = "/libduckdb_java.so_linux_" + arch;
        try (InputStream in = DuckDbLibrary.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IOException("duckdb_jdbc is not on the class path");
            }
            Path unpacked = Files.createTempFile("sonde-duckdb", ".so");
            unpacked.toFile().deleteOnExit();
            Files.copy(in, unpacked, StandardCopyOption.REPLACE_EXISTING);
            return unpacked;
        }
    }
}
