package sonde.event.result;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Where the rows of a {@link Listing} go when every byte is looked at before a terminal gets it.
 */
public abstract class RowOutput extends OutputStream {
    /** For subclasses. */
    protected RowOutput() {}

    /**
     * Writes bytes that pass unchanged: the caller has made foreign text in them harmless, or the
     * user asked for a copy byte for byte.
     */
    public abstract void writePlain(byte[] bytes, int offset, int length) throws IOException;

    /** A stream whose bytes all pass unchanged to {@code out}; closing it closes {@code out}. */
    public static OutputStream unchanged(OutputStream out) {
        if (!(out instanceof RowOutput rows)) {
            return out;
        }
        return new FilterOutputStream(rows) {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                rows.writePlain(bytes, offset, length);
            }
        };
    }
}
