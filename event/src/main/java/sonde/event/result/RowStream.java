package sonde.event.result;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Rows too many to hold, as values.
 *
 * @param columns of {@link Unit#TEXT}, or another unit for numbers
 * @param source gives the rows
 */
public record RowStream(String title, List<Column> columns, RowSource source) implements Result {
    /** Where rows come from. */
    @FunctionalInterface
    public interface RowSource {
        /**
         * Goes through the rows from the first.
         *
         * @param isJson whether lists, structures and times are wanted as JSON, not as text
         */
        RowCursor open(boolean isJson) throws IOException;
    }

    /** Rows chunk by chunk. */
    public interface RowCursor extends AutoCloseable {
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

    /** Rows that are made at once when they are asked for. */
    public static RowStream of(
            String title, List<Column> columns, Supplier<List<List<@Nullable Object>>> rows) {
        return new RowStream(title, columns, _ -> new WholeCursor(rows.get()));
    }

    /** All rows as one chunk. */
    private static final class WholeCursor implements RowCursor {
        private final List<List<@Nullable Object>> rows;
        private boolean given;

        WholeCursor(List<List<@Nullable Object>> rows) {
            this.rows = rows;
        }

        @Override
        public int next() {
            int size = given ? 0 : rows.size();
            given = true;
            return size;
        }

        @Override
        public @Nullable Object value(int column, int row) {
            return rows.get(row).get(column);
        }

        @Override
        public boolean isJson() {
            return false;
        }

        @Override
        public void close() {
            // nothing is open
        }
    }
}
