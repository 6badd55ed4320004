package sonde.tools.convert;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.exchange.export.ExportFormat;
import sonde.exchange.export.FileFormat;

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
}
