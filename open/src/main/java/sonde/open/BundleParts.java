package sonde.open;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import sonde.binary.Input;
import sonde.recording.bundle.RecordingMeta;

/** Where the parts of a bundle lie. Names are plain: the reader of meta.json sees to that. */
sealed interface BundleParts {
    /** Whether there is a part of that name. */
    boolean has(String part);

    /** Its size; 0 when there is none. */
    long sizeBytes(String part) throws IOException;

    /** Opens a part. */
    Input open(String part) throws IOException;

    /** All bytes of a part. */
    byte[] bytes(String part) throws IOException;

    /** The folder that a bundle can be finished in; empty when it lies in an archive. */
    Optional<Path> folder();

    /** The parts in a folder. */
    static BundleParts in(Path folder) {
        return new InFolder(folder);
    }

    /** The parts among the files of an archive; empty unless it has one bundle. */
    static Optional<BundleParts> in(List<Input> files) {
        List<String> found =
                files.stream()
                        .map(Input::name)
                        .filter(name ->
                                name.equals(RecordingMeta.FILE)
                                        || name.endsWith("/" + RecordingMeta.FILE))
                        .toList();
        if (found.size() != 1) {
            return Optional.empty();
        }
        String folder =
                found.getFirst()
                        .substring(0, found.getFirst().length() - RecordingMeta.FILE.length());
        Map<String, Input> parts = new HashMap<>();
        for (Input file : files) {
            if (file.name().startsWith(folder)) {
                parts.put(file.name().substring(folder.length()), file);
            }
        }
        return Optional.of(new InArchive(parts));
    }

    /** Files of a folder. */
    record InFolder(Path path) implements BundleParts {
        private Path file(String part) {
            return path.resolve(Path.of(part).getFileName());
        }

        @Override
        public boolean has(String part) {
            return Files.isRegularFile(file(part));
        }

        @Override
        public long sizeBytes(String part) throws IOException {
            return has(part) ? Files.size(file(part)) : 0;
        }

        @Override
        public Input open(String part) throws IOException {
            return Input.open(file(part));
        }

        @Override
        public byte[] bytes(String part) throws IOException {
            return Files.readAllBytes(file(part));
        }

        @Override
        public Optional<Path> folder() {
            return Optional.of(path);
        }
    }

    /** Files of an archive, by their names in the bundle. */
    record InArchive(Map<String, Input> files) implements BundleParts {
        @Override
        public boolean has(String part) {
            return files.containsKey(part);
        }

        @Override
        public long sizeBytes(String part) {
            return has(part) ? open(part).sizeBytes() : 0;
        }

        @Override
        public Input open(String part) {
            Input file = files.get(part);
            if (file == null) {
                throw new NoSuchElementException(part);
            }
            return file;
        }

        @Override
        public byte[] bytes(String part) {
            return open(part).toArray();
        }

        @Override
        public Optional<Path> folder() {
            return Optional.empty();
        }
    }
}
