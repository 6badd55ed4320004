package sonde.tools.convert;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.exchange.export.ExportFormat;
import sonde.exchange.export.FileFormat;
import sonde.probe.launch.PrivateOutput;
import sonde.tools.option.OptionException;

/** What a recording is converted to. */
public sealed interface ConvertTarget {
    /** A format that is written as a stream. */
    record StreamTarget(ExportFormat format) implements ConvertTarget {
        @Override
        public String label() {
            return format.label();
        }
    }

    /** A format that is written into a file or folder of its own. */
    record FileTarget(FileFormat format) implements ConvertTarget {
        @Override
        public String label() {
            return format.label();
        }
    }

    /**
     * Parquet.
     *
     * @param folder whether each event type gets a file of its own
     */
    record Parquet(boolean folder) implements ConvertTarget {
        @Override
        public String label() {
            return folder ? "parquet-folder" : "parquet";
        }
    }

    /** How users call it. */
    String label();

    /** Whether it makes a folder. */
    default boolean isFolder() {
        return switch (this) {
            case FileTarget files -> files.format.isFolder();
            case Parquet parquet -> parquet.folder;
            case StreamTarget stream -> false;
        };
    }

    /** All there are. */
    static List<ConvertTarget> all() {
        List<ConvertTarget> all = new ArrayList<>();
        for (FileFormat format : FileFormat.values()) {
            all.add(new FileTarget(format));
        }
        all.add(new Parquet(false));
        all.add(new Parquet(true));
        for (ExportFormat format : ExportFormat.values()) {
            all.add(new StreamTarget(format));
        }
        return all;
    }

    /** The one of that name. */
    static Optional<ConvertTarget> named(String name) {
        return all().stream().filter(target -> target.label().equals(name)).findFirst();
    }

    /** The one whose files end so; the longest ending wins. */
    static Optional<ConvertTarget> ofFile(String fileName) {
        if (fileName.endsWith(".parquet")) {
            return Optional.of(new Parquet(false));
        }
        Optional<ConvertTarget> stream = ExportFormat.ofFile(fileName).map(StreamTarget::new);
        return stream.or(() -> FileFormat.ofFile(fileName).map(FileTarget::new));
    }

    /**
     * The format that a word or a target names.
     *
     * @param wanted by {@code --to}; null for the ending of the target
     * @throws OptionException when neither names one
     */
    static ConvertTarget of(@Nullable String wanted, Path target) {
        String file = target.toString();
        boolean folder = Files.isDirectory(target);
        ConvertTarget found =
                (wanted == null ? ofFile(folder ? "folder.ctf" : file) : named(wanted))
                        .orElseThrow(() ->
                                new OptionException(
                                        (wanted == null
                                                        ? "the ending of "
                                                                + file
                                                                + " names no format"
                                                        : "no format is called " + wanted)
                                                + "; --to takes "
                                                + all().stream()
                                                        .map(ConvertTarget::label)
                                                        .collect(Collectors.joining(", "))));
        // In a folder that exists, each event type gets a file.
        return folder && found instanceof Parquet ? new Parquet(true) : found;
    }

    /**
     * Checks that a target can be written.
     *
     * @param force whether a file that exists is replaced
     * @throws OptionException when it is in use or of the wrong kind
     */
    default void checkFree(Path from, Path target, boolean force) throws IOException {
        if (Files.exists(target) && Files.exists(from) && Files.isSameFile(from, target)) {
            throw new OptionException(target + " is the recording itself");
        }
        if (isFolder() && isFilled(target)) {
            throw new OptionException(
                    target + " exists; " + label() + " wants a new or empty folder");
        }
        if (!isFolder() && !force && Files.exists(target) && !PrivateOutput.isSpecial(target)) {
            throw new OptionException(target + " exists; --force replaces it");
        }
        if (!isFolder() && Files.isDirectory(target)) {
            throw new OptionException(target + " is a folder");
        }
    }

    private static boolean isFilled(Path target) throws IOException {
        if (!Files.isDirectory(target)) {
            return Files.exists(target);
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(target)) {
            return entries.iterator().hasNext();
        }
    }
}
