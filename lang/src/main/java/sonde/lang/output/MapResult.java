package sonde.lang.output;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;

/**
 * Maps as values for every renderer: a row for each key, a histogram or a series for each key.
 *
 * @param names what the numbers of this machine are called
 */
public record MapResult(ValueNames names) {
    /** What a map holds, titled with its name; keys in the order that bpftrace has. */
    public Result of(MapRows rows) {
        List<MapRow> ordered = rows.ordered(MapOrder.DEFAULT, 0);
        if (!rows.isTall()) {
            return table(rows).table(ordered);
        }
        long latest = rows.value() instanceof SeriesType ? rows.latest() : 0;
        if (rows.scalar() && ordered.size() == 1) {
            return tall(rows.name(), rows.value(), ordered.getFirst().value(), latest);
        }
        List<Result> parts = new ArrayList<>();
        for (MapRow row : ordered) {
            String title = rows.name() + "[" + text(rows.key(), row.key(), 0) + "]";
            parts.add(tall(title, rows.value(), row.value(), latest));
        }
        return new Report(rows.name(), List.of(), parts);
    }

    private Result tall(String title, ValueType type, byte[] value, long latest) {
        return switch (type) {
            case HistType hist -> BucketHistogram.of(title, hist, value, 0, 1);
            case LhistType lhist -> BucketHistogram.of(title, lhist, value, 0);
            case SeriesType series ->
                    new TableBuilder<List<String>>(title)
                            .text("start", List::getFirst)
                            .column("value", Unit.ID, row -> number(row.getLast()))
                            .table(SeriesTable.of(series, value, 0).rows(latest));
            default -> throw new IllegalArgumentException(type.toString());
        };
    }

    private TableBuilder<MapRow> table(MapRows rows) {
        TableBuilder<MapRow> table = new TableBuilder<>(rows.name());
        if (!rows.scalar()) {
            if (rows.key() instanceof TupleType tuple && !tuple.named()) {
                int count = 0;
                for (TypeField part : tuple.fields()) {
                    column(table, "key " + ++count, part.type(), part.offsetBytes(), MapRow::key);
                }
            } else {
                column(table, "key", rows.key(), 0, MapRow::key);
            }
        }
        if (rows.value() instanceof AverageType(boolean full, boolean signed) && full) {
            ValueType total = signed ? IntType.I64 : IntType.U64;
            column(table, "count", IntType.U64, 8, MapRow::value);
            column(table, "average", new AverageType(false, signed), 0, MapRow::value);
            column(table, "total", total, 0, MapRow::value);
        } else {
            column(table, "value", rows.value(), 0, MapRow::value);
        }
        return table;
    }

    private void column(
            TableBuilder<MapRow> table,
            String name,
            ValueType type,
            int at,
            Function<MapRow, byte[]> bytes) {
        boolean isNumber = type instanceof IntType || type instanceof AggregateType;
        table.column(
                name,
                isNumber ? Unit.ID : Unit.TEXT,
                row -> {
                    String text = text(type, bytes.apply(row), at);
                    return isNumber ? number(text) : text;
                });
    }

    /** Text where it is too large for a number. */
    private static @Nullable Object number(String text) {
        try {
            return Long.valueOf(text);
        } catch (NumberFormatException e) {
            return text;
        }
    }

    private String text(ValueType type, byte[] bytes, int at) {
        TextSink text = TextSink.raw();
        ValueText.write(type, bytes, at, names, text);
        return text.toString().strip();
    }
}
