package sonde.open.format;

import java.io.IOException;
import java.util.Optional;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Recording;
import sonde.recording.InputSet;
import sonde.recording.ctf.CtfRecording;
import sonde.recording.perfdata.PerfDataReader;

/** A format whose recordings are several files, in a folder or an archive. */
public enum FolderFormat {
    /** perf's directory mode. */
    PERFDATA {
        @Override
        boolean matches(InputSet inputs) throws IOException {
            return PerfDataReader.isPerfFolder(inputs);
        }

        @Override
        public Recording open(InputSet inputs) throws IOException {
            return PerfDataReader.open(inputs);
        }
    },
    /** Common Trace Format: a trace, or a tree of them. */
    CTF {
        @Override
        boolean matches(InputSet inputs) throws IOException {
            return CtfRecording.isCtf(inputs);
        }

        @Override
        public Recording open(InputSet inputs) throws IOException {
            return CtfRecording.open(inputs);
        }
    };

    abstract boolean matches(InputSet inputs) throws IOException;

    /**
     * Reads what the files say of themselves.
     *
     * @param inputs closed with the recording, and when this fails
     * @throws MalformedInputException when they are not of this format
     */
    public abstract Recording open(InputSet inputs) throws IOException;

    /** The format of several files, by their names and contents. */
    public static Optional<FolderFormat> of(InputSet inputs) throws IOException {
        for (FolderFormat format : values()) {
            if (format.matches(inputs)) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }

    /** Whether a file describes a trace whose events lie in the files beside it. */
    public static boolean isMetadata(Input input) {
        return CtfRecording.isMetadata(input);
    }
}
