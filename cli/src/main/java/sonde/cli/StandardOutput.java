package sonde.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** Standard output, unbuffered. What fails says that it was here, and is kept for the exit code. */
final class StandardOutput extends OutputStream {
    private final OutputStream out = new FileOutputStream(FileDescriptor.out);
    private @Nullable IOException failure;

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        try {
            out.write(bytes, offset, length);
        } catch (IOException e) {
            failure = new IOException("standard output: " + e.getMessage(), e);
            throw failure;
        }
    }

    /** Why the last write failed; null when all went well, or nobody reads any more. */
    @Nullable IOException failure() {
        return failure != null && FailureMessages.isBrokenPipe(failure) ? null : failure;
    }
}
