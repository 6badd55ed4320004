package sonde.tools.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sonde.format.Input;
import sonde.format.bundle.Meta;
import sonde.format.perfdata.PerfDataRecording;

/**
 * perf's directory mode: {@code data} and {@code data.0}, … of {@code perf record --threads}, and
 * {@code kcore_dir} with the kernel's functions of {@code perf record --kcore}.
 */
final class PerfFolder {
    /** More than perf makes: one for each CPU. */
    private static final int MOST_PARTS = 1 << 14;

    private static final long MOST_SYMBOLS = 256L << 20;

    private PerfFolder() {}

    /** Whether a folder is perf's and not a bundle. */
    static boolean isOne(Path folder) {
        return !Files.exists(folder.resolve(Meta.FILE))
                && Files.isRegularFile(folder.resolve("data"));
    }

    /** The text of {@code /proc/kallsyms} that was copied; empty when it was not. */
    static byte[] kallsyms(Path folder) throws IOException {
        Path file = folder.resolve("kcore_dir/kallsyms");
        boolean fits = Files.isRegularFile(file) && Files.size(file) <= MOST_SYMBOLS;
        return fits ? Files.readAllBytes(file) : new byte[0];
    }

    static PerfDataRecording open(Path folder) throws IOException {
        List<Input> parts = new ArrayList<>();
        Input data = Input.open(folder.resolve("data"));
        try {
            for (int i = 0; i < MOST_PARTS; i++) {
                Path part = folder.resolve("data." + i);
                if (!Files.isRegularFile(part)) {
                    break;
                }
                parts.add(Input.open(part));
            }
        } catch (IOException e) {
            data.close();
            parts.forEach(Input::close);
            throw e;
        }
        return PerfDataRecording.open(data, parts);
    }
}
