package sonde.lang.bpftrace.expand;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.SourceText;

/**
 * Imports from files, relative to the directory of the script that imports them (of a script from
 * the command line: the current one). A directory that everybody may write to is refused, and so is
 * one that lies in such a directory when it is imported as a whole.
 */
public final class FileImports implements ImportPath {
    /** No library of macros is that long. */
    private static final long MAX_BYTES = 4 << 20;

    private static final int MAX_FILES = 1_000;

    private final Path directory;

    /**
     * @param directory where paths in scripts without a file begin
     */
    public FileImports(Path directory) {
        this.directory = directory;
    }

    @Override
    public @Nullable SourceText read(String path, SourceText from) throws IOException {
        Path file = resolve(path, from);
        if (file == null || !Files.isRegularFile(file)) {
            return null;
        }
        refuseShared(file.getParent());
        return text(file);
    }

    @Override
    public List<SourceText> readAll(String path, SourceText from) throws IOException {
        Path found = resolve(path, from);
        if (found == null || !Files.isDirectory(found)) {
            return ImportPath.super.readAll(path, from);
        }
        refuseShared(found.getParent());
        refuseShared(found);
        List<SourceText> texts = new ArrayList<>();
        for (Path file : files(found, FileImports::canBeImported)) {
            texts.add(text(file));
        }
        return texts;
    }

    @Override
    public List<String> code(String path, SourceText from) throws IOException {
        Path found = resolve(path, from);
        if (found == null || !Files.exists(found)) {
            return List.of();
        }
        refuseShared(found.getParent());
        if (!Files.isDirectory(found)) {
            return isCode(found) ? List.of(found.toString()) : List.of();
        }
        refuseShared(found);
        return files(found, FileImports::isCode).stream()
                .filter(file -> !isMade(file))
                .map(Path::toString)
                .toList();
    }

    /** Whether an object's source lies beside it. */
    private static boolean isMade(Path file) {
        String name = file.toString();
        return name.endsWith(CodeFile.OBJECT)
                && Files.exists(Path.of(name.substring(0, name.length() - 2) + ".c"));
    }

    private static boolean isCode(Path file) {
        return CodeFile.isCode(file.getFileName().toString()) && Files.isRegularFile(file);
    }

    private static List<Path> files(Path directory, Predicate<Path> wanted) throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            List<Path> files = all.filter(wanted).sorted().limit(MAX_FILES + 1L).toList();
            if (files.size() > MAX_FILES) {
                throw new IOException(
                        "more than " + MAX_FILES + " files to import in " + directory);
            }
            return files;
        }
    }

    private static boolean canBeImported(Path file) {
        String name = file.getFileName().toString();
        return (name.endsWith(".bt") || name.endsWith(".h")) && Files.isRegularFile(file);
    }

    private @Nullable Path resolve(String path, SourceText from) {
        try {
            Path parent = Path.of(from.name()).toAbsolutePath().getParent();
            boolean file = from.name().contains("/") || Files.isRegularFile(Path.of(from.name()));
            Path base = file && parent != null ? parent : directory.toAbsolutePath();
            return base.resolve(path).normalize();
        } catch (InvalidPathException e) {
            return null;
        }
    }

    private static void refuseShared(@Nullable Path directory) throws IOException {
        if (directory != null
                && Files.getPosixFilePermissions(directory)
                        .contains(PosixFilePermission.OTHERS_WRITE)) {
            throw new IOException(
                    "no import from a directory with global write permissions: " + directory);
        }
    }

    private static SourceText text(Path file) throws IOException {
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException("this file is too long to be imported: " + file);
        }
        byte[] bytes = Files.readAllBytes(file);
        return new SourceText(file.toString(), new String(bytes, StandardCharsets.UTF_8));
    }
}
