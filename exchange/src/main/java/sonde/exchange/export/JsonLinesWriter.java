package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.event.result.Frame;
import sonde.recording.JsonString;

/** A JSON object in each line, the stack as an array, callee first. */
final class JsonLinesWriter implements ExportWriter {
    @Override
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        StringBuilder line = new StringBuilder();
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            line.append("{\"time\":").append(row.time()).append(",\"cpu\":").append(row.cpu());
            line.append(",\"pid\":").append(row.pid()).append(",\"tid\":").append(row.tid());
            JsonString.append(line.append(",\"event\":"), row.type.qualifiedName());
            if (row.batch.weight(row.row) != 1) {
                line.append(",\"weight\":").append(row.batch.weight(row.row));
            }
            line.append(",\"fields\":");
            RowJson.json(row, line);
            List<Frame> frames = row.frames();
            for (int i = 0; i < frames.size(); i++) {
                JsonString.append(line.append(i == 0 ? ",\"stack\":[" : ","), frames.get(i).name());
            }
            line.append(frames.isEmpty() ? "}\n" : "]}\n");
            if (line.length() > 1 << 16) {
                drain(line, out);
            }
        }
        drain(line, out);
    }

    static void drain(StringBuilder text, OutputStream out) throws IOException {
        out.write(text.toString().getBytes(StandardCharsets.UTF_8));
        text.setLength(0);
    }
}
