package sonde.symbol.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.symbol.files.Attempt.AttemptResult;

/**
 * The answer of a search.
 *
 * @param place where the file lies; null when nothing was found
 * @param kind how it was found
 * @param tried every place that was looked at, in order; the last one is the file
 */
public record DebugFile(@Nullable FilePlace place, Kind kind, List<Attempt> tried) {
    /** How a file was found. */
    public enum Kind {
        /** The binary itself has what is needed. */
        ITSELF("in the file itself"),
        /** By build-id, in a folder of the system or the user. */
        BUILD_ID("by build-id"),
        /** By the name in {@code .gnu_debuglink}, or the customary names beside a binary. */
        DEBUG_LINK("by debug link"),
        /** By its name in a folder that the user gave. */
        USER_FOLDER("in a folder given"),
        /** In the recording. */
        BUNDLE("in the recording"),
        /** Where kernels and their modules keep theirs. */
        KERNEL("with the kernel"),
        /** From a debuginfod server, or its cache. */
        SERVER("from a debuginfod server"),
        /** {@code .gnu_debugdata} in the binary: function names alone. */
        MINI("in the file's .gnu_debugdata"),
        /** Not at all. */
        NONE("nowhere");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        /** In words: "by build-id". */
        public String words() {
            return words;
        }
    }

    public DebugFile {
        tried = List.copyOf(tried);
    }

    static DebugFile none(List<Attempt> tried) {
        return new DebugFile(null, Kind.NONE, tried);
    }

    /** Whether there is one. */
    public boolean isFound() {
        return place != null;
    }

    /** Where it lies, as we see it. */
    public Optional<Path> path() {
        return Optional.ofNullable(place).map(found -> Path.of(found.shown()));
    }

    /** The attempts that met a file and could not use it. */
    public List<Attempt> refusals() {
        return tried.stream()
                .filter(a ->
                        a.outcome() != AttemptResult.FOUND && a.outcome() != AttemptResult.ABSENT)
                .toList();
    }

    /**
     * Opens it.
     *
     * @throws FileNotFoundException when nothing was found
     * @throws IOException when it has gone or changed since
     */
    public OpenElf open() throws IOException {
        FilePlace found = place;
        if (found == null) {
            throw new FileNotFoundException("no file was found");
        }
        return kind == Kind.MINI ? OpenElf.mini(found) : OpenElf.of(found);
    }
}
