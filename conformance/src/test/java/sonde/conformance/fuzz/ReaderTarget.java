package sonde.conformance.fuzz;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.event.result.Listing.ListingForm;
import sonde.open.ReportSource;
import sonde.tools.report.NothingMatchesException;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;

/**
 * What a fuzzer calls: bytes are a file of whatever format, whose events are listed. Any exception
 * but the typed ones is a defect. {@code conformance/fuzz} lets Jazzer drive it.
 */
public final class ReaderTarget {
    // In memory: a file is written for each of thousands of inputs.
    private static final Path FILE =
            Path.of("/dev/shm/sonde-fuzz-" + ProcessHandle.current().pid());

    private ReaderTarget() {}

    /** Jazzer's entry. */
    public static void fuzzerTestOneInput(byte[] bytes) throws IOException {
        Files.write(FILE, bytes);
        try {
            list(FILE);
        } finally {
            Files.deleteIfExists(FILE);
        }
    }

    /** Lists the events of a file; false when it is none, or is damaged beyond reading. */
    static boolean list(Path file) throws IOException {
        ReportOptions all = ReportOptions.of(List.of());
        try (ReportSource source = ReportSource.open(file)) {
            new ReportRecipe(all)
                    .events(source)
                    .rows()
                    .writeTo(OutputStream.nullOutputStream(), ListingForm.TEXT);
            return true;
        } catch (MalformedInputException | NothingMatchesException e) {
            return false;
        }
    }
}
