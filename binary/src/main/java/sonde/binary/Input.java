package sonde.binary;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Bytes to be read at random: a mapped file or memory. The size is that of the moment it was
 * opened; what a growing file gets later is not seen.
 */
public final class Input implements AutoCloseable {
    private final String name;
    private final MemorySegment segment;
    private final Runnable release;
    private boolean closed;

    private Input(String name, MemorySegment segment, Runnable release) {
        this.name = name;
        this.segment = segment;
        this.release = release;
    }

    /**
     * Maps a file that the user named.
     *
     * @throws NoSuchFileException when there is none
     * @throws MalformedInputException when it is no regular file
     */
    public static Input open(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            if (!Files.exists(path)) {
                throw new NoSuchFileException(path.toString());
            }
            throw new MalformedInputException("file", path.toString(), -1, "not a regular file");
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            return of(path.toString(), channel);
        }
    }

    /** Maps an open file; the channel may be closed then. */
    public static Input of(String name, FileChannel channel) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment mapped = channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
            MappedMemoryLimit.add(mapped);
            Runnable release =
                    () -> {
                        MappedMemoryLimit.remove(mapped);
                        arena.close();
                    };
            return new Input(name, mapped, release);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** An input of bytes in memory, which belong to it from now on. */
    public static Input of(String name, byte[] bytes) {
        return of(name, MemorySegment.ofArray(bytes));
    }

    /** Memory that somebody else owns. */
    public static Input of(String name, MemorySegment segment) {
        return new Input(name, segment.asReadOnly(), () -> {});
    }

    /** The same bytes under another name; closing either closes both. */
    public Input named(String other) {
        return new Input(other, segment, this::close);
    }

    /** For messages: the path. */
    public String name() {
        return name;
    }

    /** Bytes there are. */
    public long sizeBytes() {
        return segment.byteSize();
    }

    /** All of it, read only. */
    public MemorySegment segment() {
        return segment;
    }

    /** Whether the content begins with these characters of ASCII. */
    public boolean begins(String magic) {
        boolean same = sizeBytes() >= magic.length();
        for (int i = 0; same && i < magic.length(); i++) {
            same = segment.get(ValueLayout.JAVA_BYTE, i) == magic.charAt(i);
        }
        return same;
    }

    /** A copy of all bytes, for files that are known to be small. */
    public byte[] toArray() {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }

    /** Unmaps, once; segments taken from it must not be used afterwards. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            release.run();
        }
    }
}
