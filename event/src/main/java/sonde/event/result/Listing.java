package sonde.event.result;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Rows too many to hold: made while they are written.
 *
 * @param columns what a row has, for headings and JSON
 * @param rows writes them all
 */
public record Listing(String title, List<Column> columns, ListingRows rows) implements Result {
    /** Writes rows as text; the pull is the back-pressure. */
    @FunctionalInterface
    public interface ListingRows {
        /** Writes every row to {@code out} in the given form. */
        void writeTo(OutputStream out, ListingForm form) throws IOException;
    }

    /** What a row becomes. */
    public enum ListingForm {
        /** A line for people. */
        TEXT,
        /** A JSON object per line. */
        JSON_LINES,
    }

    /** Writes lines for people. */
    @FunctionalInterface
    public interface ListingLines {
        /** Writes every line to {@code out}. */
        void writeTo(PrintWriter out) throws IOException;
    }

    /** Lines that have no columns and no other form: how a {@link Document} is shown, sources. */
    public static Listing ofLines(ListingLines lines) {
        return new Listing(
                "",
                List.of(),
                (out, form) -> {
                    PrintWriter text = new PrintWriter(out, false, StandardCharsets.UTF_8);
                    try {
                        lines.writeTo(text);
                    } finally {
                        text.flush();
                    }
                });
    }

    public Listing {
        columns = List.copyOf(columns);
    }
}
