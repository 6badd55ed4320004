package sonde.lang.output;

import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.event.result.CsvCell;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;

/**
 * Maps as comma separated values (RFC 4180): the map's name, each part of the key, the value. Of a
 * histogram each bucket is a line (least, greatest value, count), of a series each interval (start
 * in UTC, value); of statistics the count, the average and the total are cells.
 */
final class CsvRows {
    private final ValueNames names;
    private final TextSink out;
    private final TextSink cell = TextSink.raw();

    CsvRows(ValueNames names, TextSink out) {
        this.names = names;
        this.out = out;
    }

    /** Writes rows. */
    void write(MapRows rows, List<MapRow> ordered, long divisor) {
        long latest = rows.value() instanceof SeriesType ? rows.latest() : 0;
        for (MapRow row : ordered) {
            for (List<String> value : values(rows.value(), row.value(), latest, divisor)) {
                cell.put(rows.name());
                end();
                if (!rows.scalar()) {
                    key(rows.key(), row.key());
                }
                for (String part : value) {
                    out.put(',');
                    cell(part, out);
                }
                out.put('\n');
            }
        }
    }

    private void key(ValueType type, byte[] bytes) {
        if (type instanceof TupleType tuple && !tuple.named()) {
            for (TypeField field : tuple.fields()) {
                part(field.type(), bytes, field.offsetBytes());
            }
        } else {
            part(type, bytes, 0);
        }
    }

    private void part(ValueType type, byte[] bytes, int at) {
        out.put(',');
        ValueText.write(type, bytes, at, names, cell);
        end();
    }

    /** The lines of a value, each with its cells. */
    private List<List<String>> values(ValueType type, byte[] bytes, long latest, long divisor) {
        return switch (type) {
            case SeriesType series -> SeriesTable.of(series, bytes, 0).rows(latest);
            case HistType hist ->
                    BucketHistogram.rows(BucketHistogram.of("", hist, bytes, 0, divisor));
            case LhistType lhist -> BucketHistogram.rows(BucketHistogram.of("", lhist, bytes, 0));
            case AverageType(boolean full, boolean signed) when full -> {
                ValueType number = signed ? IntType.I64 : IntType.U64;
                String average = text(new AverageType(false, signed), bytes, 0, divisor);
                yield List.of(
                        List.of(
                                text(IntType.U64, bytes, 8, 1),
                                average,
                                text(number, bytes, 0, 1)));
            }
            default -> List.of(List.of(text(type, bytes, 0, divisor)));
        };
    }

    private String text(ValueType type, byte[] bytes, int at, long divisor) {
        ValueText.write(type, bytes, at, names, cell, divisor);
        return taken();
    }

    private String taken() {
        String text = cell.toString();
        cell.clear();
        return text.startsWith("\n") ? text.strip() : text; // lines of a stack
    }

    private void end() {
        cell(taken(), out);
    }

    /** Writes a cell. Control characters are escaped; lines of a stack stay lines, in quotes. */
    static void cell(String text, TextSink out) {
        out.foreignLines(CsvCell.of(text).getBytes(StandardCharsets.UTF_8));
    }
}
