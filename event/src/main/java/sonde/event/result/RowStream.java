package sonde.event.result;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rows too many to hold, as values.
 *
 * @param columns of {@link Unit#TEXT}, or another unit for numbers
 * @param source gives the rows
 */
public record RowStream(String title, List<Column> columns, Source source) implements Result {
    /** Where rows come from. */
    @FunctionalInterface
    public interface Source {
        /**
         * Goes through the rows from the first.
         *
         * @param isJson whether lists, structures and times are wanted as JSON, not as text
         */
        Cursor open(boolean isJson) throws IOException;
    }

    /** Rows chunk by chunk. */
    public interface Cursor extends AutoCloseable {
        /** Goes to the next chunk; its count of rows, 0 at the end. */
        int next() throws IOException;

        /** A value of the chunk: Boolean, Number or text; null for none. */
        @Nullable Object value(int column, int row);

        /** Whether texts are JSON already. */
        boolean isJson();

        @Override
        void close();
    }

    public RowStream {
        columns = List.copyOf(columns);
    }
}
