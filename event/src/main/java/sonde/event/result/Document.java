package sonde.event.result;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Nested values under keys of their own: what bpftool and readelf know of an object. Its JSON is
 * the values alone, without the title and kind that other results have.
 *
 * @param values what programs read
 * @param shown what people read: the same as a table or as lines
 * @param rowDepth depth of the JSON array whose elements begin a line each; 0 for all on one line
 */
public record Document(DocumentValues values, Result shown, int rowDepth) implements Result {
    /** Gives the values; called once for each time that the document is written. */
    @FunctionalInterface
    public interface DocumentValues {
        /** Writes one value. */
        void writeTo(ValueOutput out) throws IOException;
    }

    /** With its JSON on one line. */
    public Document(DocumentValues values, Result shown) {
        this(values, shown, 0);
    }

    /** A document of one value, as {@link ValueOutput#value(Object)} takes it. */
    public static Document of(@Nullable Object value, Result shown) {
        return new Document(out -> out.value(value), shown);
    }

    @Override
    public String title() {
        return shown.title();
    }
}
