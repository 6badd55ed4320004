package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;

/** Writes one file. */
@FunctionalInterface
interface ExportWriter {
    /** Writes all rows; the stream stays open. */
    void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException;
}
