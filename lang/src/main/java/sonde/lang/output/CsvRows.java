package sonde.lang.output;

import java.util.List;
import sonde.lang.type.Field;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/**
 * Maps as comma separated values (RFC 4180): the map's name, each part of the key, the value.
 * Values of several numbers are as in JSON.
 */
final class CsvRows {
    private final Names names;
    private final TextSink out;
    private final TextSink cell = TextSink.forTerminal();

    CsvRows(Names names, TextSink out) {
        this.names = names;
        this.out = out;
    }

    /** Writes rows, a line each. */
    void write(MapRows rows, List<MapRows.Row> ordered, long divisor) {
        long latest = rows.value() instanceof Type.Series ? rows.latest() : 0;
        for (MapRows.Row row : ordered) {
            cell.put(rows.name());
            end();
            if (!rows.scalar()) {
                key(rows.key(), row.key());
            }
            out.put(',');
            value(rows.value(), row.value(), latest, divisor);
            end();
            out.put('\n');
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

    private void value(Type type, byte[] bytes, long latest, long divisor) {
        switch (type) {
            case Type.Series series -> SeriesTable.of(series, bytes, 0).writeJson(latest, cell);
            case Type.Hist _, Type.Lhist _, Type.Average _ ->
                    JsonText.write(type, bytes, 0, names, cell, divisor);
            default -> ValueText.write(type, bytes, 0, names, cell, divisor);
        }
    }

    private void end() {
        String text = cell.toString();
        if (text.startsWith("\n")) { // lines of a stack
            text = text.strip();
        }
        cell.clear();
        cell(text, out);
    }

    /** Puts a cell down, in quotes where it would be more than one. */
    static void cell(String text, TextSink out) {
        boolean quoted = text.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n');
        out.put(quoted ? '"' + text.replace("\"", "\"\"") + '"' : text);
    }
}
