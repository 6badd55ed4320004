package sonde.format;

import io.airlift.compress.v3.zstd.ZstdNativeDecompressor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import sonde.sys.ZstdStream;

/** Finds a libzstd for streams that go on from piece to piece. */
public final class ZstdLibrary {
    private ZstdLibrary() {}

    /** The system's library, else the one in aircompressor's jar. */
    public static ZstdStream open() throws IOException {
        try {
            return ZstdStream.open();
        } catch (IOException e) {
            return openBundled();
        }
    }

    /** By the library in aircompressor's jar, which offers whole frames only through its API. */
    public static ZstdStream openBundled() throws IOException {
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
                return ZstdStream.open(library);
            } finally {
                Files.deleteIfExists(library);
                Files.delete(folder);
            }
        }
    }
}
