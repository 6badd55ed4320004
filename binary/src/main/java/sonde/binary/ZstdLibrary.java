package sonde.binary;

import io.airlift.compress.v3.zstd.ZstdNativeDecompressor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import sonde.sys.NativeLibrary;
import sonde.sys.Zstd;

/** Finds a libzstd. */
public final class ZstdLibrary {
    private static @Nullable Zstd found;

    private ZstdLibrary() {}

    /**
     * The system's library, else the one that sonde has with it.
     *
     * @throws IOException when there is none for this machine
     */
    public static synchronized Zstd get() throws IOException {
        Zstd known = found;
        if (known == null) {
            known = find();
            found = known;
        }
        return known;
    }

    /** Whether {@link #get} finds one. */
    public static boolean isThere() {
        try {
            get();
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static Zstd find() throws IOException {
        try {
            return new Zstd(NativeLibrary.open("libzstd.so.1"));
        } catch (IOException e) {
            return bundled();
        }
    }

    /**
     * The library of the image; where there is no image (tests) that of aircompressor's jar, which
     * is unpacked for a moment.
     */
    public static Zstd bundled() throws IOException {
        String home = System.getProperty("sonde.home");
        if (home != null) {
            return new Zstd(NativeLibrary.open(Path.of(home, "app", "libzstd.so")));
        }
        boolean arm = System.getProperty("os.arch", "").equals("aarch64");
        String name = "/aircompressor/linux-" + (arm ? "aarch64" : "amd64") + "/libzstd.so";
        try (InputStream in = ZstdNativeDecompressor.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("no libzstd.so.1 on this system, none in " + name);
            }
            Path folder = Files.createTempDirectory("sonde-zstd"); // mode 0700
            Path library = folder.resolve("libzstd.so");
            try {
                Files.copy(in, library);
                return new Zstd(NativeLibrary.open(library));
            } finally {
                Files.deleteIfExists(library);
                Files.delete(folder);
            }
        }
    }
}
