package sonde.lang.bpftrace.expand;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.SourceText;

/** Where imported files come from. */
public interface ImportPath {
    /** Nothing can be imported. */
    ImportPath NONE = (path, from) -> null;

    /**
     * One file.
     *
     * @param path as the script writes it
     * @param from the file that has the import
     * @return null when there is none; its name tells two files apart
     * @throws IOException whose message says why it is not read
     */
    @Nullable SourceText read(String path, SourceText from) throws IOException;

    /**
     * What a path stands for: one file, or the files of a directory that can be imported, in the
     * order of their names; empty when there is nothing.
     *
     * @throws IOException whose message says why it is not read
     */
    default List<SourceText> readAll(String path, SourceText from) throws IOException {
        SourceText text = read(path, from);
        return text == null ? List.of() : List.of(text);
    }

    /**
     * Functions in C that a path stands for: a source or an object, or those of a directory, in the
     * order of their names; paths that tell two files apart.
     *
     * @throws IOException whose message says why they are not taken
     */
    default List<String> code(String path, SourceText from) throws IOException {
        return List.of();
    }
}
