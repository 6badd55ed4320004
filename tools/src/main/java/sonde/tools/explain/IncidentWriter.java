package sonde.tools.explain;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.FaultCode.CodeRow;
import sonde.tools.symbolize.SourceTree;
import sonde.tools.symbolize.SourceTree.TreeLine;
import sonde.view.TextEscape;
import sonde.view.WrappedText;

/** Writes incidents for people, or a JSON object per incident. */
final class IncidentWriter {
    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("EEE MMM d HH:mm:ss yyyy", Locale.ROOT);

    /** Details that the picture shows too. */
    private static final Pattern OWNER =
            Pattern.compile("(?:allocated|freed|last potentially|uninit was)\\b");

    private static final int WIDTH = 100;
    private static final int MOST_FRAMES = 12;
    private static final int AROUND = 3;

    /** Documentation/admin-guide/tainted-kernels.rst, of 6.16. */
    private static final Map<Character, String> TAINTS =
            Map.ofEntries(
                    Map.entry('P', "proprietary module"),
                    Map.entry('F', "module loaded by force"),
                    Map.entry('S', "out of specification"),
                    Map.entry('R', "module unloaded by force"),
                    Map.entry('M', "machine check"),
                    Map.entry('B', "bad page or KASAN report before"),
                    Map.entry('U', "set by user space"),
                    Map.entry('D', "died before"),
                    Map.entry('A', "ACPI table overridden"),
                    Map.entry('W', "warned before"),
                    Map.entry('C', "staging driver"),
                    Map.entry('I', "workaround for firmware"),
                    Map.entry('O', "module from outside of the tree"),
                    Map.entry('E', "unsigned module"),
                    Map.entry('L', "soft lockup before"),
                    Map.entry('K', "live patch"),
                    Map.entry('X', "auxiliary, set by the distribution"),
                    Map.entry('T', "structures laid out at random"),
                    Map.entry('N', "test ran in the kernel"),
                    Map.entry('J', "fwctl mutated debug state"));

    private final OutputStream out;
    private final ListingForm form;
    private final ExplainOptions options;
    private final String log;

    IncidentWriter(OutputStream out, ListingForm form, ExplainOptions options, String log) {
        this.out = out;
        this.form = form;
        this.options = options;
        this.log = log;
    }

    /** The name of the log where there are several; else empty. */
    String log() {
        return log;
    }

    void write(Incident incident) throws IOException {
        if (form == ListingForm.JSON_LINES) {
            json(values(incident));
        } else {
            out.write(text(incident).getBytes(StandardCharsets.UTF_8));
        }
        out.flush();
    }

    private void json(Map<String, @Nullable Object> values) throws IOException {
        try (JsonGenerator json = new JsonFactory().createGenerator(out)) {
            json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
            json.setPrettyPrinter(new MinimalPrettyPrinter());
            value(json, values);
        }
        out.write('\n');
    }

    /** All incidents of one identity. */
    void group(Incident first, String where, int count) throws IOException {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        values.put("count", count);
        values.put("identity", first.identity());
        values.put("class", first.kind().name());
        values.put("severity", first.kind().severity().name().toLowerCase(Locale.ROOT));
        values.put("first_log", where.isEmpty() ? null : where);
        values.put("first_line", first.first().number());
        if (form == ListingForm.JSON_LINES) {
            json(values);
        } else {
            String line =
                    "%8d  %-8s  %s  (first: %sline %d)%n"
                            .formatted(
                                    count,
                                    values.get("severity"),
                                    TextEscape.line(first.identity()),
                                    where.isEmpty() ? "" : TextEscape.line(where) + " ",
                                    first.first().number());
            out.write(line.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void value(JsonGenerator json, @Nullable Object value) throws IOException {
        switch (value) {
            case null -> json.writeNull();
            case Map<?, ?> map -> {
                json.writeStartObject();
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    json.writeFieldName(String.valueOf(entry.getKey()));
                    value(json, entry.getValue());
                }
                json.writeEndObject();
            }
            case Iterable<?> list -> {
                json.writeStartArray();
                for (Object one : list) {
                    value(json, one);
                }
                json.writeEndArray();
            }
            case Boolean flag -> json.writeBoolean(flag);
            case Double number -> json.writeNumber(number);
            case Number number -> json.writeNumber(number.longValue());
            default -> json.writeString(value.toString());
        }
    }

    /** What programs read; the keys are documented in docs/explain.md. */
    Map<String, @Nullable Object> values(Incident incident) throws IOException {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        IncidentKind kind = incident.kind();
        LogLine first = incident.first();
        if (!log.isEmpty()) {
            values.put("log", log);
        }
        values.put("number", incident.number());
        values.put("identity", incident.identity());
        values.put("class", kind.name());
        values.put("type", incident.type().isEmpty() ? null : incident.type());
        values.put("severity", kind.severity().name().toLowerCase(Locale.ROOT));
        values.put("line", first.number());
        values.put("last_line", incident.lines().getLast().number());
        values.put("seconds", first.hasTime() ? first.seconds() : null);
        double epoch = incident.stamp().epoch();
        values.put(
                "time",
                Double.isNaN(epoch)
                        ? null
                        : Instant.ofEpochMilli(Math.round(epoch * 1e3)).toString());
        values.put("context", first.context().isEmpty() ? null : first.context());
        values.put("what", what(incident));
        values.put("corrupted", !incident.damage().isEmpty());
        values.put("damage", incident.damage());
        values.put("panicked", incident.panicked());
        values.put("after", incident.after() == 0 ? null : incident.after());
        LogFrame blamed = incident.blamed();
        values.put("frame", blamed == null ? null : frame(blamed));
        values.put("file", incident.guiltyFile());
        values.put("why", incident.why());
        values.put("details", incident.details());
        values.put("picture", incident.picture());
        List<Object> code = new ArrayList<>();
        for (CodeRow row : rows(incident)) {
            code.add(Map.of("at", row.at(), "text", row.text(), "fault", row.isFault()));
        }
        values.put("code", code);
        values.put("source", excerpt(blamed));
        values.put("fields", incident.fields());
        values.put("machine", incident.machine());
        List<Object> stacks = new ArrayList<>();
        for (LogStack stack : incident.stacks()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("heading", stack.heading());
            one.put("frames", stack.frames().stream().map(IncidentWriter::frame).toList());
            stacks.add(one);
        }
        values.put("stacks", stacks);
        values.put("means", kind.means());
        values.put("next", incident.next());
        return values;
    }

    /** Lines of the source around a place; empty where the tree does not have it. */
    List<String> excerpt(@Nullable LogFrame frame) throws IOException {
        Path tree = options.source();
        int wanted = frame == null ? 0 : frame.line();
        if (frame == null || tree == null || wanted == 0) {
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        for (TreeLine line : new SourceTree(tree).around(frame.file(), wanted, AROUND)) {
            String mark = line.number() == wanted ? ">" : " ";
            lines.add(
                    "%s %5d  %s".formatted(mark, line.number(), line.text().replace("\t", "    ")));
        }
        return lines;
    }

    /** Local time as dmesg -T has it; empty for a line without a date. */
    private static String date(LogStamp stamp) {
        return Double.isNaN(stamp.epoch())
                ? ""
                : DATE.format(
                        Instant.ofEpochMilli(Math.round(stamp.epoch() * 1e3))
                                .atZone(ZoneId.systemDefault()));
    }

    private static List<CodeRow> rows(Incident incident) {
        return incident.code() == null ? List.of() : incident.code().instructions();
    }

    static Map<String, Object> frame(LogFrame frame) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("function", frame.function());
        values.put("offset", frame.offset());
        values.put("module", frame.module());
        values.put("place", frame.place());
        values.put("reliable", frame.isSure());
        return values;
    }

    static String what(Incident incident) {
        String what = IncidentReader.fill(incident.kind().what(), incident.fields(), "");
        boolean isName = what.startsWith(incident.fields().getOrDefault("task", " "));
        return what.isEmpty() || isName
                ? what
                : Character.toUpperCase(what.charAt(0)) + what.substring(1);
    }

    private String text(Incident incident) throws IOException {
        StringBuilder text = new StringBuilder();
        LogLine first = incident.first();
        IncidentKind kind = incident.kind();
        text.append(log.isEmpty() ? "" : log + " ")
                .append('#')
                .append(incident.number())
                .append("  ")
                .append(TextEscape.line(incident.identity()))
                .append("\n    ")
                .append(kind.severity().name().toLowerCase(Locale.ROOT))
                .append(", ")
                .append(kind.name())
                .append("; line ")
                .append(first.number());
        String date = date(incident.stamp());
        if (first.hasTime() && !(options.dates() && !date.isEmpty())) {
            text.append(", ").append("%.6f".formatted(first.seconds())).append(" s");
        } else if (!date.isEmpty()) {
            text.append(", ").append(date);
        }
        if (!first.context().isEmpty()) {
            text.append(", printed by ").append(TextEscape.line(first.context()));
        }
        text.append(incident.panicked() ? "; the machine panicked\n" : "\n");
        for (String damage : incident.damage()) {
            line(text, "damaged", damage);
        }
        line(text, "what", what(incident));
        line(text, "where", where(incident));
        line(text, "who", who(incident));
        line(text, "machine", machine(incident));
        for (String one : incident.details()) {
            if (incident.picture().isEmpty() || !OWNER.matcher(one).lookingAt()) {
                line(text, "detail", one);
            }
        }
        if (incident.after() > 0) {
            String before = "incident #" + incident.after();
            line(text, "after", before + " of this boot, and may follow from it");
        }
        if (options.why()) {
            incident.why().forEach(rule -> line(text, "passed", rule));
        }
        if (options.all() && incident.code() != null) {
            text.append("    Code:\n");
        }
        for (CodeRow row : options.all() ? rows(incident) : List.<CodeRow>of()) {
            text.append(row.isFault() ? "      > " : "        ")
                    .append(TextEscape.line(row.at() + "  " + row.text()))
                    .append('\n');
        }
        for (String line : excerpt(incident.blamed())) {
            text.append("      ").append(TextEscape.line(line)).append('\n');
        }
        if (!incident.picture().isEmpty()) {
            text.append("    ").append(heading(kind, incident.picture().getFirst())).append(":\n");
        }
        for (String line : incident.picture()) {
            text.append("        ").append(TextEscape.line(line)).append('\n');
        }
        for (LogStack stack : incident.stacks()) {
            stack(text, stack, incident.blamed());
        }
        line(text, "means", kind.means());
        incident.next().forEach(next -> line(text, "next", next));
        return text.append('\n').toString();
    }

    /** What the picture shows. */
    private static String heading(IncidentKind kind, String first) {
        boolean isLock = kind.type().equals("LOCKDEP");
        return isLock
                ? first.startsWith("CPU 0") ? "How it blocks" : "Cycle of locks"
                : kind.name().equals("oom-kill") ? "Tasks by memory" : "Who touched it";
    }

    private static void line(StringBuilder text, String label, String value) {
        if (!value.isEmpty()) {
            String first = "    %-8s ".formatted(label);
            text.append(
                    WrappedText.of(
                            first, " ".repeat(first.length()), TextEscape.line(value), WIDTH));
        }
    }

    static String where(Incident incident) {
        LogFrame frame = incident.blamed();
        if (frame == null || incident.kind().name().equals("oom-kill")) {
            return "";
        }
        return frame.function()
                + (frame.offset().isEmpty() ? "" : "+" + frame.offset())
                + (frame.module().isEmpty() ? "" : " [" + frame.module() + "]")
                + (frame.place().isEmpty() ? "" : " at " + frame.place());
    }

    static String who(Incident incident) {
        Map<String, String> machine = incident.machine();
        String task = machine.getOrDefault("task", incident.fields().getOrDefault("task", ""));
        String pid = machine.getOrDefault("pid", incident.fields().getOrDefault("pid", ""));
        String cpu = machine.getOrDefault("cpu", "");
        String work = machine.getOrDefault("workqueue", "");
        return (task
                        + (pid.isEmpty() ? "" : " (pid " + pid + ")")
                        + (cpu.isEmpty() ? "" : " on CPU " + cpu)
                        + (work.isEmpty() ? "" : ", work " + work))
                .strip();
    }

    static String machine(Incident incident) {
        Map<String, String> machine = incident.machine();
        List<String> parts = new ArrayList<>();
        if (machine.containsKey("kernel")) {
            parts.add("kernel " + machine.get("kernel"));
        }
        String taint = machine.getOrDefault("taint", "");
        List<String> words = new ArrayList<>();
        int end = taint.startsWith("[") ? taint.indexOf(']') : taint.length();
        for (char letter : taint.substring(0, Math.max(end, 0)).toCharArray()) {
            String word = TAINTS.get(letter);
            if (word != null) {
                words.add(letter + " (" + word + ")");
            }
        }
        if (!words.isEmpty()) {
            parts.add("tainted: " + String.join(", ", words));
        }
        if (machine.containsKey("hardware")) {
            parts.add(machine.get("hardware"));
        }
        return String.join("; ", parts);
    }

    private void stack(StringBuilder text, LogStack stack, @Nullable LogFrame blamed) {
        List<LogFrame> frames = LogFrame.sure(stack.frames());
        if (frames.isEmpty()) {
            return;
        }
        String heading = stack.heading().isEmpty() ? "Stack" : stack.heading();
        text.append("    ").append(TextEscape.line(heading)).append(":\n");
        int most = options.all() ? frames.size() : MOST_FRAMES;
        for (int i = 0; i < Math.min(frames.size(), most); i++) {
            LogFrame frame = frames.get(i);
            boolean marked = blamed != null && frame.function().equals(blamed.function());
            text.append(marked ? "      > " : "        ")
                    .append(TextEscape.line(frame.function()))
                    .append(frame.offset().isEmpty() ? "" : "+" + frame.offset())
                    .append(frame.module().isEmpty() ? "" : " [" + frame.module() + "]")
                    .append(frame.place().isEmpty() ? "" : "  " + TextEscape.line(frame.place()))
                    .append('\n');
        }
        if (frames.size() > most) {
            text.append("        … ").append(frames.size() - most).append(" more, see --all\n");
        }
    }
}
