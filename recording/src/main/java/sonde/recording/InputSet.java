package sonde.recording;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;

/**
 * Inputs with names, for formats of several files: the files below a folder, or the members of an
 * archive. Names are relative, with {@code /} between their parts. An input is opened when it is
 * asked for and closed with the set.
 */
public final class InputSet implements AutoCloseable {
    /** Folders deeper than this are not looked into. */
    private static final int MOST_DEPTH = 12;

    private static final int MOST_INPUTS = 1 << 16;

    private final SortedMap<String, InputOpener> openers;
    private final Map<String, Input> opened = new HashMap<>();

    /** Opens one input. */
    @FunctionalInterface
    public interface InputOpener {
        /** The input; called at most once. */
        Input open() throws IOException;
    }

    private InputSet(SortedMap<String, InputOpener> openers) {
        this.openers = openers;
    }

    /**
     * The regular files below a folder, links followed for the folder itself only.
     *
     * @throws MalformedInputException when there are too many
     */
    public static InputSet below(Path folder) throws IOException {
        Path real = folder.toRealPath();
        SortedMap<String, InputOpener> found = new TreeMap<>();
        var visitor =
                new SimpleFileVisitor<Path>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        if (attributes.isRegularFile() && found.size() <= MOST_INPUTS) {
                            String relative = real.relativize(file).toString();
                            found.put(relative.replace('\\', '/'), () -> Input.open(file));
                        }
                        return found.size() <= MOST_INPUTS
                                ? FileVisitResult.CONTINUE
                                : FileVisitResult.TERMINATE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException failure) {
                        return FileVisitResult.CONTINUE;
                    }
                };
        Files.walkFileTree(real, EnumSet.noneOf(FileVisitOption.class), MOST_DEPTH, visitor);
        if (found.size() > MOST_INPUTS) {
            throw new MalformedInputException(
                    "folder", folder.toString(), -1, "more than " + MOST_INPUTS + " files");
        }
        return new InputSet(found);
    }

    /** Inputs by name; they are closed with the set once they were asked for. */
    public static InputSet of(Map<String, InputOpener> openers) {
        return new InputSet(new TreeMap<>(openers));
    }

    /** What there is, in order. */
    public SortedSet<String> names() {
        return new TreeSet<>(openers.keySet());
    }

    /**
     * The input of that name.
     *
     * @throws NoSuchElementException when there is none
     */
    public Input open(String input) throws IOException {
        Input known = opened.get(input);
        if (known != null) {
            return known;
        }
        InputOpener opener = openers.get(input);
        if (opener == null) {
            throw new NoSuchElementException(input);
        }
        Input fresh = opener.open();
        opened.put(input, fresh);
        return fresh;
    }

    /** Closes what was opened. */
    @Override
    public void close() {
        opened.values().forEach(Input::close);
        opened.clear();
    }
}
