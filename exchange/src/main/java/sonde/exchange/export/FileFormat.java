package sonde.exchange.export;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import sonde.event.Recording;

/**
 * A format whose files are no stream: they say at their start what comes, or are several. The rows
 * are read twice, with memory that does not grow with them.
 */
public enum FileFormat {
    /** trace.dat v7, for trace-cmd and KernelShark. */
    TRACEDAT("dat") {
        @Override
        public void write(
                List<Recording> recordings, ExportRows rows, Path target, ExportLosses losses)
                throws IOException {
            TraceDatExport.write(recordings, rows, target, losses);
        }
    },
    /** perf.data, for perf and hotspot. */
    PERFDATA("data") {
        @Override
        public void write(
                List<Recording> recordings, ExportRows rows, Path target, ExportLosses losses)
                throws IOException {
            PerfDataExport.write(recordings, rows, target, losses);
        }
    },
    /** CTF 2: metadata in JSON. */
    CTF("ctf") {
        @Override
        public void write(
                List<Recording> recordings, ExportRows rows, Path target, ExportLosses losses)
                throws IOException {
            CtfExport.write(recordings, rows, target, true, losses);
        }

        @Override
        public boolean isFolder() {
            return true;
        }
    },
    /** CTF 1.8: metadata in TSDL, for babeltrace2 before 2.1 and Trace Compass. */
    CTF1("ctf1") {
        @Override
        public void write(
                List<Recording> recordings, ExportRows rows, Path target, ExportLosses losses)
                throws IOException {
            CtfExport.write(recordings, rows, target, false, losses);
        }

        @Override
        public boolean isFolder() {
            return true;
        }
    };

    private final String ending;

    FileFormat(String ending) {
        this.ending = ending;
    }

    /** The format whose files end so. */
    public static Optional<FileFormat> ofFile(String fileName) {
        for (FileFormat format : values()) {
            if (fileName.endsWith("." + format.ending)) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }

    /** How users call it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it is a folder of several files. */
    public boolean isFolder() {
        return false;
    }

    /**
     * Writes all rows; what the format does not hold is counted.
     *
     * @param rows of the recordings, at their start
     * @param target a file to be made or replaced; for formats of several files an empty folder
     */
    public abstract void write(
            List<Recording> recordings, ExportRows rows, Path target, ExportLosses losses)
            throws IOException;
}
