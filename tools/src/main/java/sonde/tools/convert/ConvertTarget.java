package sonde.tools.convert;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.exchange.export.ExportFormat;
import sonde.exchange.export.FileFormat;

/** What a recording is converted to. */
public sealed interface ConvertTarget {
    /** A format that is written as a stream. */
    record Stream(ExportFormat format) implements ConvertTarget {
        @Override
        public String label() {
            return format.label();
        }
    }

    /** A format that is written into a file or folder of its own. */
    record Files(FileFormat format) implements ConvertTarget {
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
            case Files files -> files.format.isFolder();
            case Parquet parquet -> parquet.folder;
            case Stream stream -> false;
        };
    }

    /** All there are. */
    static List<ConvertTarget> all() {
        List<ConvertTarget> all = new ArrayList<>();
        for (FileFormat format : FileFormat.values()) {
            all.add(new Files(format));
        }
        all.add(new Parquet(false));
        all.add(new Parquet(true));
        for (ExportFormat format : ExportFormat.values()) {
            all.add(new Stream(format));
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
        Optional<ConvertTarget> stream = ExportFormat.ofFile(fileName).map(Stream::new);
        return stream.or(() -> FileFormat.ofFile(fileName).map(Files::new));
    }
}
