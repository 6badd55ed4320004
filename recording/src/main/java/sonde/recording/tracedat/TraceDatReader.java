package sonde.recording.tracedat;

import java.io.IOException;
import java.util.List;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Recording;

/** Opens a trace.dat. What it says of itself is its {@link TraceDatDescription}. */
public final class TraceDatReader {
    private TraceDatReader() {}

    /** Whether the input begins as a trace.dat. */
    public static boolean isTraceDat(Input input) {
        return TraceDatParser.hasMagic(input);
    }

    /**
     * Opens a file; the input is closed with the recording.
     *
     * @throws MalformedInputException when it is none, or its metadata is damaged; data that is cut
     *     or damaged gives {@link Recording#notes()} and {@code notice} rows
     */
    public static Recording open(Input input) throws IOException {
        return TraceDatRecording.of(input);
    }

    /** What a file says besides events; the input stays the caller's. */
    public static TraceDatMetadata metadata(Input input) throws IOException {
        return TraceDatParser.parse(input).metadata();
    }

    /**
     * Pages of one CPU in a file of their own.
     *
     * @param buffer name of the instance, empty for the top one
     * @param clock tracefs name of its clock
     * @param pageBytes size of a sub-buffer
     * @param input raw sub-buffers; a torn last one is read as far as it goes
     */
    public record SpoolFile(String buffer, String clock, int pageBytes, int cpu, Input input) {}

    /** A recording that was never put into one file; the inputs are closed with it. */
    public static Recording ofSpools(TraceDatMetadata metadata, List<SpoolFile> spools)
            throws IOException {
        return TraceDatRecording.ofSpools(metadata, spools);
    }
}
