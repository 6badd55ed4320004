package sonde.recording.perfdata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Recording;
import sonde.recording.InputSet;

/** Opens a perf.data. What it says of itself is its {@link PerfDescription}. */
public final class PerfDataReader {
    /** The file with the header in perf's directory mode; the others are {@code data.0}, …. */
    private static final String DATA = "data";

    /** Functions of the kernel that {@code perf record --kcore} copied. */
    private static final String KALLSYMS = "kcore_dir/kallsyms";

    /** More than perf makes: one for each CPU. */
    private static final int MOST_PARTS = 1 << 14;

    private static final long MOST_SYMBOLS = 256L << 20;

    private PerfDataReader() {}

    /** Whether it begins as a perf.data does. */
    public static boolean isPerfData(Input input) {
        return PerfHeader.isPerfData(input);
    }

    /**
     * Reads the header of a recording.
     *
     * @param input closed with the recording, and when this fails
     * @throws MalformedInputException when it is not a perf.data or its header is broken
     */
    public static Recording open(Input input) throws IOException {
        return PerfDataRecording.open(input, List.of());
    }

    /** Whether a folder is one of perf's directory mode. */
    public static boolean isPerfFolder(InputSet folder) throws IOException {
        return folder.names().contains(DATA) && isPerfData(folder.open(DATA));
    }

    /**
     * Reads the header of a recording in directory mode ({@code perf record --threads}).
     *
     * @param folder closed with the recording, and when this fails
     */
    public static Recording open(InputSet folder) throws IOException {
        try {
            SortedSet<String> names = folder.names();
            Input data = folder.open(DATA);
            List<Input> parts = new ArrayList<>();
            for (int i = 0; i < MOST_PARTS && names.contains(DATA + "." + i); i++) {
                parts.add(folder.open(DATA + "." + i));
            }
            PerfDataRecording opened = PerfDataRecording.open(data, parts);
            if (names.contains(KALLSYMS)) {
                Input symbols = folder.open(KALLSYMS);
                boolean fits = symbols.sizeBytes() <= MOST_SYMBOLS;
                opened.copied(fits ? symbols.toArray() : new byte[0]);
            }
            return opened;
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw e;
        }
    }
}
