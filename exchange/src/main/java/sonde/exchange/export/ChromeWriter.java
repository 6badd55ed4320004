package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import sonde.event.result.Frame;
import sonde.recording.JsonString;

/**
 * Chrome's trace JSON (the "Trace Event Format" document) as an object. Rows that are no slices are
 * moments with their fields as arguments. Times are microseconds with three decimals; those that a
 * double would round count from {@code otherData.base_nanos}.
 */
final class ChromeWriter implements ExportWriter {
    /** Up to here a double holds microseconds with three decimals. */
    private static final long EXACT_NANOS = 1L << 53;

    private final StringBuilder text = new StringBuilder();
    private final StringBuilder samples = new StringBuilder();
    private final StackNumbers<Frame> stacks = new StackNumbers<>();
    private long base;
    private boolean hasEvent;

    @Override
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        Map<Integer, String> unnamed = new HashMap<>(rows.comms());
        ExportRow row = rows.next();
        if (row != null && Math.abs(row.time()) >= EXACT_NANOS) {
            base = row.time();
        }
        text.append("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"base_nanos\":\"");
        text.append(base).append("\"},\n\"traceEvents\":[\n");
        for (; row != null; row = rows.next()) {
            String comm = unnamed.remove(row.tid());
            if (comm != null && !row.is("perf_record", "comm")) {
                begin("M", row, "thread_name", "");
                JsonString.append(text.append(",\"args\":{\"name\":"), comm).append("}}");
            }
            if (row.isSample()) {
                sample(row);
            } else {
                event(row);
            }
            if (text.length() > 1 << 16) {
                JsonLinesWriter.drain(text, out);
            }
        }
        text.append("],\n\"stackFrames\":{");
        for (int i = 0; i < stacks.nodes.size(); i++) {
            StackNumbers.Node node = stacks.nodes.get(i);
            Frame frame = stacks.frames.get(node.frame());
            text.append(i == 0 ? "\n\"" : ",\n\"").append(i + 1).append("\":{\"name\":");
            JsonString.append(text, frame.name());
            JsonString.append(text.append(",\"category\":"), frame.module());
            if (node.prefix() >= 0) {
                text.append(",\"parent\":\"").append(node.prefix() + 1).append('"');
            }
            text.append('}');
        }
        text.append("},\n\"samples\":[").append(samples).append("]}\n");
        out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private void micros(StringBuilder to, long nanos) {
        long whole = Math.floorDiv(nanos, 1000);
        to.append(whole).append('.');
        to.append(String.format("%03d", Math.floorMod(nanos, 1000)));
    }

    private void sample(ExportRow row) {
        samples.append(samples.isEmpty() ? "\n" : ",\n").append("{\"ts\":");
        micros(samples, row.time() - base);
        number(samples, ",\"cpu\":", row.cpu());
        number(samples, ",\"pid\":", row.pid());
        number(samples, ",\"tid\":", row.tid());
        JsonString.append(samples.append(",\"name\":"), row.type.name());
        int node = stacks.node(row.frames());
        if (node >= 0) {
            samples.append(",\"sf\":").append(node + 1);
        }
        samples.append(",\"weight\":").append(row.batch.weight(row.row)).append('}');
    }

    private static void number(StringBuilder to, String key, int value) {
        if (value >= 0) {
            to.append(key).append(value);
        }
    }

    private void begin(String phase, ExportRow row, String name, String category) {
        text.append(hasEvent ? ",\n" : "").append("{\"ph\":\"").append(phase).append('"');
        hasEvent = true;
        text.append(",\"ts\":");
        micros(text, row.time() - base);
        number(text, ",\"pid\":", row.pid());
        number(text, ",\"tid\":", row.tid());
        JsonString.append(text.append(",\"name\":"), name);
        if (!category.isEmpty()) {
            JsonString.append(text.append(",\"cat\":"), category);
        }
    }

    private void event(ExportRow row) {
        String kind = row.type.system().equals("slice") ? row.type.name() : "";
        switch (kind) {
            case "begin" -> slice(row, row.text("id").isEmpty() ? "B" : "b");
            case "end" -> slice(row, row.text("id").isEmpty() ? "E" : "e");
            case "complete" -> slice(row, "X");
            case "instant" -> slice(row, row.text("id").isEmpty() ? "i" : "n");
            case "flow" -> slice(row, String.valueOf((char) row.integer("phase", 's')));
            default -> other(row);
        }
    }

    private void slice(ExportRow row, String phase) {
        begin(phase, row, row.text("name"), row.text("category"));
        String id = row.text("id");
        if (!id.isEmpty()) {
            JsonString.append(text.append(",\"id\":"), id);
        }
        if (phase.equals("X")) {
            text.append(",\"dur\":");
            micros(text, row.integer("dur", 0));
        }
        if (phase.equals("i")) {
            text.append(",\"s\":\"t\"");
            stack(row);
        }
        String args = row.text("args");
        text.append(args.isEmpty() ? "" : ",\"args\":" + args).append('}');
    }

    private void stack(ExportRow row) {
        int node = stacks.node(row.frames());
        if (node >= 0) {
            text.append(",\"sf\":").append(node + 1);
        }
    }

    private void other(ExportRow row) {
        if (row.is("counter", "value")) {
            begin("C", row, row.text("name"), "");
            JsonString.append(text.append(",\"args\":{\"value\":"), row.real("value"));
            text.append("}}");
        } else if (row.is("perf_record", "comm") || row.is("trace", "process")) {
            boolean thread = row.is("perf_record", "comm");
            begin("M", row, thread ? "thread_name" : "process_name", "");
            String name = row.text(thread ? "comm" : "name");
            JsonString.append(text.append(",\"args\":{\"name\":"), name).append("}}");
        } else {
            begin("i", row, row.type.name(), row.type.system());
            text.append(",\"s\":\"t\"");
            stack(row);
            text.append(",\"args\":");
            int start = text.length();
            RowJson.json(row, text);
            if (row.cpu() >= 0) {
                boolean none = text.length() == start + 2;
                text.setLength(text.length() - 1);
                text.append(none ? "" : ",").append("\"cpu\":").append(row.cpu()).append('}');
            }
            text.append('}');
        }
    }
}
