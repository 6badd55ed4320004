package sonde.view;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Stays open when who was given it closes it: an encoder that ends, the rows of a listing. */
final class StaysOpen extends FilterOutputStream {
    StaysOpen(OutputStream out) {
        super(out);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
    }

    @Override
    public void close() throws IOException {
        flush();
    }
}
