package sonde.event.result;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes tables of one kind of row; each column says how it takes its value from a row.
 *
 * {@snippet :
 * Table calls = new TableBuilder<Call>("system calls")
 *     .text("call", Call::name)
 *     .nanos("total", Call::nanos)
 *     .table(all, 40);
 * }
 *
 * @param <T> what a row is made from
 */
public final class TableBuilder<T> {
    private final String title;
    private final List<Column> columns = new ArrayList<>();
    private final List<Function<? super T, ? extends @Nullable Object>> cells = new ArrayList<>();

    /** Tables of this title, without columns yet. */
    public TableBuilder(String title) {
        this.title = title;
    }

    /** A column of any unit; its values are as {@link Column#unit} says, or null. */
    public TableBuilder<T> column(
            String name, Unit unit, Function<? super T, ? extends @Nullable Object> value) {
        columns.add(new Column(name, unit));
        cells.add(value);
        return this;
    }

    /** A column of text. */
    public TableBuilder<T> text(String name, Function<? super T, @Nullable String> value) {
        return column(name, Unit.TEXT, value);
    }

    /** A column of numbers of things. */
    public TableBuilder<T> count(String name, Function<? super T, @Nullable Long> value) {
        return column(name, Unit.COUNT, value);
    }

    /** A column of times in nanoseconds. */
    public TableBuilder<T> nanos(String name, Function<? super T, @Nullable Long> value) {
        return column(name, Unit.NANOS, value);
    }

    /** A column of sizes. */
    public TableBuilder<T> bytes(String name, Function<? super T, @Nullable Long> value) {
        return column(name, Unit.BYTES, value);
    }

    /** A column of names that are numbers. */
    public TableBuilder<T> id(String name, Function<? super T, @Nullable Integer> value) {
        return column(
                name,
                Unit.ID,
                row -> {
                    Integer number = value.apply(row);
                    return number == null ? null : Long.valueOf(number);
                });
    }

    /** A column of shares, as fractions. */
    public TableBuilder<T> share(String name, Function<? super T, @Nullable Double> value) {
        return column(name, Unit.SHARE, value);
    }

    /** A table of all rows. */
    public Table table(Collection<? extends T> rows) {
        return table(rows.stream(), Long.MAX_VALUE);
    }

    /** A table of the first rows. */
    public Table table(Collection<? extends T> rows, long limit) {
        return table(rows.stream(), limit);
    }

    /** A table of the first rows. */
    @SuppressWarnings("NullAway") // a record's constructor lacks the annotations of type arguments
    public Table table(Stream<? extends T> rows, long limit) {
        List<List<@Nullable Object>> all = new ArrayList<>();
        rows.limit(limit)
                .forEach(row -> {
                    List<@Nullable Object> values = new ArrayList<>(cells.size());
                    cells.forEach(cell -> values.add(cell.apply(row)));
                    all.add(values);
                });
        return new Table(title, columns, all);
    }
}
