package sonde.open.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import sonde.binary.MalformedInputException;

/**
 * What Jazzer calls: one reader, named by the property {@code sonde.fuzz}. Any exception but the
 * typed one is a defect. {@code conformance/fuzz} starts it, {@link FuzzReplayTest} reads again
 * what was found.
 */
public final class FuzzTarget {
    private static final FuzzReader READER = reader(System.getProperty("sonde.fuzz", "trace-dat"));

    private FuzzTarget() {}

    private static FuzzReader reader(String label) {
        return FuzzReader.valueOf(label.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** Jazzer's entry. */
    public static void fuzzerTestOneInput(byte[] bytes) throws IOException {
        isRead(READER, bytes);
    }

    /** Whether it was read; false when it was refused as it should be. */
    static boolean isRead(FuzzReader reader, byte[] bytes) throws IOException {
        try {
            reader.read(bytes);
            return true;
        } catch (MalformedInputException e) {
            return false;
        }
    }

    /** Writes the seeds of every reader into folders of their names below the one given. */
    public static void main(String[] arguments) throws IOException {
        for (FuzzReader reader : FuzzReader.values()) {
            Path folder = Path.of(arguments[0], reader.label());
            Files.createDirectories(folder);
            int number = 0;
            for (byte[] seed : reader.seeds()) {
                Files.write(folder.resolve("seed-" + number++), seed);
            }
        }
    }
}
