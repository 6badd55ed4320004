package sonde.tools.convert;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.format.export.ExportFormat;
import sonde.format.export.FileFormat;

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

    /** How users call it. */
    String label();

    /** Whether it makes a folder. */
    default boolean isFolder() {
        return this instanceof Files files && files.format.isFolder();
    }

    /** All there are. */
    static List<ConvertTarget> all() {
        List<ConvertTarget> all = new ArrayList<>();
        for (FileFormat format : FileFormat.values()) {
            all.add(new Files(format));
        }
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
        Optional<ConvertTarget> stream = ExportFormat.ofFile(fileName).map(Stream::new);
        return stream.or(() -> FileFormat.ofFile(fileName).map(Files::new));
    }
}
