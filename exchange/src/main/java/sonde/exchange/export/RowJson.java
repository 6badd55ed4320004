package sonde.exchange.export;

import sonde.event.Field;
import sonde.recording.JsonString;

/** Fields of a row as a JSON object. */
final class RowJson {
    private RowJson() {}

    static void json(ExportRow row, StringBuilder out) {
        char before = '{';
        for (Field field : row.fields()) {
            JsonString.append(out.append(before), field.name()).append(':');
            value(row, field, out);
            before = ',';
        }
        out.append(before == '{' ? "{}" : "}");
    }

    /** Integers as numbers where a double holds them, all else as text. */
    static void value(ExportRow row, Field field, StringBuilder out) {
        if (ExportRow.isInteger(field) && Math.abs(row.integer(field)) < 1L << 53) {
            out.append(row.integer(field));
        } else if (ExportRow.isReal(field)) {
            JsonString.append(out, row.real(field));
        } else {
            JsonString.append(out, row.text(field));
        }
    }
}
