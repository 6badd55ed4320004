package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import sonde.event.Field;
import sonde.event.result.CsvCell;
import sonde.event.result.Frame;

/** Comma-separated values (RFC 4180): time, CPU, process, thread, event, weight, fields, stack. */
final class CsvWriter implements ExportWriter {
    @Override
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        StringBuilder line = new StringBuilder("time,cpu,pid,tid,event,weight,fields,stack\r\n");
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            line.append(row.time()).append(',').append(row.cpu()).append(',');
            line.append(row.pid()).append(',').append(row.tid()).append(',');
            line.append(CsvCell.of(row.type.qualifiedName())).append(',');
            line.append(row.batch.weight(row.row)).append(',');
            StringBuilder fields = new StringBuilder();
            for (Field field : row.fields()) {
                fields.append(fields.isEmpty() ? "" : " ").append(field.name()).append('=');
                fields.append(row.text(field));
            }
            line.append(CsvCell.of(fields.toString())).append(',');
            StringBuilder stack = new StringBuilder();
            for (Frame frame : row.frames()) {
                stack.insert(0, stack.isEmpty() ? "" : ";").insert(0, frame.name());
            }
            line.append(CsvCell.of(stack.toString())).append("\r\n");
            if (line.length() > 1 << 16) {
                drain(line, out);
            }
        }
        drain(line, out);
    }

    private static void drain(StringBuilder line, OutputStream out) throws IOException {
        out.write(line.toString().getBytes(StandardCharsets.UTF_8));
        line.setLength(0);
    }
}
