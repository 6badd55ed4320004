package sonde.tools.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.event.result.Unit;

/** Collects a table. */
final class Rows {
    private final String title;
    private final List<Column> columns = new ArrayList<>();
    private final List<List<@Nullable Object>> rows = new ArrayList<>();

    Rows(String title) {
        this.title = title;
    }

    Rows column(String name, Unit unit) {
        columns.add(new Column(name, unit));
        return this;
    }

    void add(@Nullable Object... values) {
        rows.add(Arrays.asList(values));
    }

    int size() {
        return rows.size();
    }

    @SuppressWarnings("NullAway") // a record's constructor lacks the annotations of type arguments
    Table table() {
        return new Table(title, columns, rows);
    }
}
