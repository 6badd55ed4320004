package sonde.testkit.guest;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Properties;

/**
 * A kernel that guests run, pinned in {@code kernels.properties}.
 *
 * @param series {@code "6.1"}
 * @param debianPackage {@code "linux-image-6.1.0-56-amd64"}
 * @param version of the package
 * @param sha256 of the .deb, hexadecimal
 */
public record GuestKernel(String series, String debianPackage, String version, String sha256) {
    /** The pinned kernel of a series. */
    public static GuestKernel of(String series) throws IOException {
        Properties pins = new Properties();
        try (InputStream in =
                        Objects.requireNonNull(
                                GuestKernel.class.getResourceAsStream("kernels.properties"));
                Reader text = new InputStreamReader(in, StandardCharsets.UTF_8)) {
            pins.load(text);
        }
        return new GuestKernel(
                series,
                pin(pins, series + ".package"),
                pin(pins, series + ".version"),
                pin(pins, series + ".sha256"));
    }

    private static String pin(Properties pins, String key) {
        String value = pins.getProperty(key);
        if (value == null) {
            throw new IllegalArgumentException("kernels.properties has no " + key);
        }
        return value;
    }

    /** What {@code uname -r} says there. */
    public String release() {
        return debianPackage.substring("linux-image-".length());
    }
}
