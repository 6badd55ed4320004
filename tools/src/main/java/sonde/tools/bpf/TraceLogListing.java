package sonde.tools.bpf;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.bpf.TraceLog;
import sonde.event.result.Column;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Result;
import sonde.view.JsonRenderer;
import sonde.view.TextEscape;

/** What programs write by bpf_trace_printk, as it comes. */
public final class TraceLogListing {
    private static final long LOOK_NANOS = 20_000_000;

    /** {@code " bash-17 [000] d..21 5.25: bpf_trace_printk: text"}. */
    private static final Pattern LINE =
            Pattern.compile(
                    "\\s*(.{1,16})-(\\d{1,9})\\s+\\[(\\d{1,6})]\\s+\\S+\\s+(\\d+\\.\\d+):"
                            + " bpf_trace_printk: (.*)");

    private TraceLogListing() {}

    /**
     * Lines until a time or a number of them.
     *
     * @param nanos from now on
     */
    public static Result of(long nanos, long count) {
        long end = System.nanoTime() + nanos;
        List<Column> columns =
                List.of(
                        Column.text("comm"),
                        Column.count("pid"),
                        Column.count("cpu"),
                        Column.text("time"),
                        Column.text("text"));
        return new Listing(
                "", columns, (out, form) -> write(out, form == ListingForm.JSON_LINES, end, count));
    }

    private static void write(OutputStream stream, boolean json, long end, long count)
            throws IOException {
        PrintWriter out = new PrintWriter(stream, false, StandardCharsets.UTF_8);
        long lines = 0;
        StringBuilder begun = new StringBuilder();
        try (TraceLog log = TraceLog.open()) {
            while (lines < count && System.nanoTime() - end < 0) {
                byte[] bytes = log.read();
                if (bytes.length == 0) {
                    MapRecipe.sleep(LOOK_NANOS);
                    continue;
                }
                begun.append(new String(bytes, StandardCharsets.UTF_8));
                int feed = begun.indexOf("\n");
                while (feed >= 0 && lines < count) {
                    String text = begun.substring(0, feed);
                    out.println(json ? JsonRenderer.text(tree(text)) : TextEscape.line(text));
                    begun.delete(0, feed + 1);
                    lines++;
                    feed = begun.indexOf("\n");
                }
                out.flush();
            }
        }
    }

    /** Parts of a line; one that has another form is only text. */
    private static Map<String, Object> tree(String line) {
        Map<String, Object> tree = new LinkedHashMap<>();
        Matcher matcher = LINE.matcher(line);
        if (matcher.matches()) {
            tree.put("comm", matcher.group(1));
            tree.put("pid", Long.parseLong(matcher.group(2)));
            tree.put("cpu", Long.parseLong(matcher.group(3)));
            tree.put("time", matcher.group(4));
            tree.put("text", matcher.group(5));
        } else {
            tree.put("text", line);
        }
        return tree;
    }
}
