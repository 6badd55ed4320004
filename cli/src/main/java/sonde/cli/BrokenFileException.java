package sonde.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import sonde.format.MalformedInputException;

/** A file that is no recording, or a damaged one, by the name that the user gave. */
final class BrokenFileException extends IOException {
    private static final long serialVersionUID = 1L;

    private static final String BUNDLE = "bundle: ";
    private static final String IN_BUNDLE = BUNDLE + "meta.json: ";

    BrokenFileException(Path file, MalformedInputException cause) {
        super(file + ": " + reason(file, cause), cause);
    }

    private static String reason(Path file, MalformedInputException cause) {
        String found = String.valueOf(cause.getMessage());
        if (found.startsWith(file + ": ")) {
            found = "trace.dat: " + cause.reason();
        }
        if (found.startsWith(IN_BUNDLE)) {
            return found.substring(BUNDLE.length()).replaceFirst(": ", " ");
        }
        try {
            if (Files.isRegularFile(file) && Files.size(file) == 0) {
                return "is empty; nothing was recorded into it";
            }
        } catch (IOException e) {
            return found; // it has gone meanwhile
        }
        boolean unknown = found.contains(": magic ") || found.startsWith("file: kind: ");
        return unknown
                ? "is no recording that sonde can read (" + found + ")"
                : "is damaged; " + found;
    }
}
