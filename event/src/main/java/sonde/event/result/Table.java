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
    // Written out: type annotations do not reach a compact constructor's parameters.
    public Table(String title, List<Column> columns, List<List<@Nullable Object>> rows) {
        this.title = title;
        this.columns = List.copyOf(columns);
        this.rows = rows;
        for (List<@Nullable Object> row : rows) {
            if (row.size() != columns.size()) {
                throw new IllegalArgumentException(
                        title + ": " + row.size() + " values under " + columns.size() + " columns");
            }
        }
    }
}
