package sonde.event.result;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Where the rows of a {@link Listing} go when every byte is looked at before a terminal gets it.
 */
public abstract class RowOutput extends OutputStream {
    /** For subclasses. */
    protected RowOutput() {}

    /**
     * Writes whole lines that the caller has looked at: printable ASCII, tabs and line feeds, no
     * other byte.
     */
    public abstract void writePlain(byte[] bytes, int offset, int length) throws IOException;
}
