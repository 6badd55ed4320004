package sonde.event.result;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rows under columns, in the order to be shown.
 *
 * @param rows each with one value per column (see {@link Column#unit}); null where there is none
 */
public record Table(String title, List<Column> columns, List<List<@Nullable Object>> rows)
        implements Result {
    public Table {
        columns = List.copyOf(columns);
        for (List<@Nullable Object> row : rows) {
            if (row.size() != columns.size()) {
                throw new IllegalArgumentException(
                        title + ": " + row.size() + " values under " + columns.size() + " columns");
            }
        }
    }
}
