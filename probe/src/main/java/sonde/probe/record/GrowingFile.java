package sonde.probe.record;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import sonde.binary.Input;
import sonde.recording.bundle.RecordingMeta.BundlePart;

/**
 * A file of a bundle that a session still writes, opened a second time for a reader beside it. What
 * was opened can be read to its end when the session has ended and the file has lost its name.
 */
public final class GrowingFile implements AutoCloseable {
    private final BundlePart part;
    private final FileChannel channel;
    private final WrittenExtent written;

    /** How far a file holds nothing but events. */
    interface WrittenExtent {
        long endOffset(FileChannel channel) throws IOException;
    }

    GrowingFile(BundlePart part, FileChannel channel, WrittenExtent written) {
        this.part = part;
        this.channel = channel;
        this.written = written;
    }

    /** What the file is. */
    public BundlePart part() {
        return part;
    }

    /** Where the events end that are in the file now; grows only. By any thread. */
    public long endOffset() throws IOException {
        return written.endOffset(channel);
    }

    /** Fills an array with the bytes at an offset; they are there up to {@link #endOffset}. */
    public void read(byte[] into, long offset) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(into);
        while (left.hasRemaining()) {
            if (channel.read(left, offset + left.position()) <= 0) {
                throw new IOException(part.name() + " has become shorter");
            }
        }
    }

    /** The file as it is now. */
    public Input input() throws IOException {
        return Input.of(part.name(), channel);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new IllegalStateException("own descriptor", e);
        }
    }
}
