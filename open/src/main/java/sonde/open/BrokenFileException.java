package sonde.open;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sonde.binary.MalformedInputException;

/** A file that is not a recording, or a damaged one, by the name that the user gave. */
public final class BrokenFileException extends IOException {
    private static final long serialVersionUID = 1L;

    private static final String BUNDLE = "bundle: ";
    private static final String SHRUNK = "file: size: it became shorter";
    private static final String NO_EVENTS = "text: kind: ";
    private static final String IN_BUNDLE = BUNDLE + "meta.json: ";

    public BrokenFileException(Path file, MalformedInputException cause) {
        super(file + ": " + reason(file, cause), cause);
    }

    /** What is said of one of these files; the cause itself when nobody knows which it is. */
    public static IOException of(List<Path> files, MalformedInputException cause) {
        String message = String.valueOf(cause.getMessage());
        for (Path file : files) {
            if (files.size() == 1 || message.startsWith(file + ": ") || isEmpty(file)) {
                return new BrokenFileException(file, cause);
            }
        }
        return cause;
    }

    private static boolean isEmpty(Path file) {
        try {
            return Files.isRegularFile(file) && Files.size(file) == 0;
        } catch (IOException e) {
            return false; // it has gone meanwhile
        }
    }

    private static String reason(Path file, MalformedInputException cause) {
        String found = String.valueOf(cause.getMessage());
        if (found.startsWith(file + ": ")) {
            found = "trace.dat: " + cause.reason();
        }
        if (found.startsWith(IN_BUNDLE)) {
            return found.substring(BUNDLE.length()).replaceFirst(": ", " ");
        }
        if (isEmpty(file)) {
            return "is empty; nothing was recorded into it";
        }
        if (found.startsWith(SHRUNK)) {
            return found.substring("file: size: it ".length());
        }
        if (found.startsWith(NO_EVENTS)) {
            return found.substring(NO_EVENTS.length());
        }
        boolean unknown = found.contains(": magic ") || found.startsWith("file: kind: ");
        return unknown
                ? "is not a recording that sonde can read; README.md lists the formats"
                : "is damaged; " + found;
    }
}
