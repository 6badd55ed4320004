package sonde.lang.output;

import java.util.List;
import sonde.lang.type.Field;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/**
 * Maps as comma separated values (RFC 4180): the map's name, each part of the key, the value. Of a
 * histogram each bucket is a line (least, greatest value, count), of a series each interval (start
 * in UTC, value); of statistics the count, the average and the total are cells.
 */
final class CsvRows {
    private final Names names;
    private final TextSink out;
    private final TextSink cell = TextSink.forTerminal();

    CsvRows(Names names, TextSink out) {
        this.names = names;
        this.out = out;
    }

    /** Writes rows. */
    void write(MapRows rows, List<MapRows.Row> ordered, long divisor) {
        long latest = rows.value() instanceof Type.Series ? rows.latest() : 0;
        for (MapRows.Row row : ordered) {
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

    private void key(Type type, byte[] bytes) {
        if (type instanceof Tuple tuple && !tuple.named()) {
            for (Field field : tuple.fields()) {
                part(field.type(), bytes, field.offsetBytes());
            }
        } else {
            part(type, bytes, 0);
        }
    }

    private void part(Type type, byte[] bytes, int at) {
        out.put(',');
        ValueText.write(type, bytes, at, names, cell);
        end();
    }

    /** The lines of a value, each with its cells. */
    private List<List<String>> values(Type type, byte[] bytes, long latest, long divisor) {
        return switch (type) {
            case Type.Series series -> SeriesTable.of(series, bytes, 0).rows(latest);
            case Type.Hist hist -> Histogram.of(hist, bytes, 0, divisor).rows();
            case Type.Lhist lhist -> Histogram.of(lhist, bytes, 0).rows();
            case Type.Average(boolean full, boolean signed) when full -> {
                Type number = signed ? Type.Int.I64 : Type.Int.U64;
                String average = text(new Type.Average(false, signed), bytes, 0, divisor);
                yield List.of(
                        List.of(
                                text(Type.Int.U64, bytes, 8, 1),
                                average,
                                text(number, bytes, 0, 1)));
            }
            default -> List.of(List.of(text(type, bytes, 0, divisor)));
        };
    }

    private String text(Type type, byte[] bytes, int at, long divisor) {
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

    /** Puts a cell down, in quotes where it would be more than one. */
    static void cell(String text, TextSink out) {
        boolean quoted = text.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n');
        out.put(quoted ? '"' + text.replace("\"", "\"\"") + '"' : text);
    }
}
