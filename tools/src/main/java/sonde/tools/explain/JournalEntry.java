package sonde.tools.explain;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Entries of the journal as lines of syslog: of {@code journalctl -o json} and its relatives. */
final class JournalEntry {
    private static final JsonFactory JSON = new JsonFactory();

    /** One field of {@code journalctl -o json-pretty} or of {@code dmesg --json} in a line. */
    private static final Pattern PRETTY =
            Pattern.compile("^\\s*\"(?:MESSAGE|msg)\" ?: *(?<value>\".*\"),?$");

    private static final Pattern HOST = Pattern.compile("[\\w.:-]{1,64}");

    private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

    private JournalEntry() {}

    /**
     * The entry as a line with date, host and the kernel's time; null for one without a message, or
     * of a program.
     */
    static @Nullable String line(Map<String, String> fields) {
        String message = fields.get("MESSAGE");
        if (message == null || !fields.getOrDefault("_TRANSPORT", "kernel").equals("kernel")) {
            return null;
        }
        StringBuilder head = new StringBuilder();
        long priority =
                number(fields, "SYSLOG_FACILITY", 0) << 3 | number(fields, "PRIORITY", 0) & 7;
        if (fields.containsKey("PRIORITY") && priority < 1000) {
            head.append('<').append(priority).append('>');
        }
        long real = number(fields, "__REALTIME_TIMESTAMP", 0);
        head.append(Instant.ofEpochSecond(real / 1_000_000, real % 1_000_000 * 1000));
        String host = fields.getOrDefault("_HOSTNAME", "");
        head.append(HOST.matcher(host).matches() ? " " + host : "").append(" kernel: ");
        long micros = number(fields, "_SOURCE_MONOTONIC_TIMESTAMP", -1);
        micros = micros < 0 ? number(fields, "_SOURCE_BOOTTIME_TIMESTAMP", -1) : micros;
        if (micros >= 0) {
            head.append("[%5d.%06d] ".formatted(micros / 1_000_000, micros % 1_000_000));
        }
        return message.lines().map(line -> head + line).collect(Collectors.joining("\n"));
    }

    private static long number(Map<String, String> fields, String name, long otherwise) {
        String value = fields.getOrDefault(name, "");
        return NUMBER.matcher(value).matches() ? Long.parseLong(value) : otherwise;
    }

    /** The line of an entry in JSON; the text itself where it is none. */
    static String plain(String text) {
        int begin = text.startsWith("data: {") ? 6 : text.startsWith("\u001e{") ? 1 : 0;
        boolean isObject = text.startsWith("{", begin);
        if (isObject && text.contains("\"MESSAGE\"")) {
            Map<String, String> fields = fields(text.substring(begin));
            String line = fields == null ? text : line(fields);
            return line == null ? "" : line;
        }
        Matcher pretty = isObject || text.indexOf('"') < 0 ? null : PRETTY.matcher(text);
        return pretty != null && pretty.matches() ? string(pretty.group("value"), text) : text;
    }

    private static String string(String value, String otherwise) {
        try (JsonParser parser = JSON.createParser(value)) {
            parser.nextToken();
            return parser.getText();
        } catch (IOException e) {
            return otherwise;
        }
    }

    /** All fields that are texts, numbers or bytes; null for an object that was cut short. */
    private static @Nullable Map<String, String> fields(String text) {
        Map<String, String> fields = new HashMap<>();
        try (JsonParser parser = JSON.createParser(text)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                JsonToken value = parser.nextToken();
                if (value == JsonToken.START_ARRAY) {
                    fields.putIfAbsent(name, bytes(parser));
                } else if (value.isStructStart()) {
                    parser.skipChildren();
                } else {
                    fields.putIfAbsent(name, parser.getText());
                }
            }
        } catch (IOException e) {
            return null;
        }
        return fields;
    }

    /** The bytes of a text that is not UTF-8. */
    private static String bytes(JsonParser parser) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        JsonToken token = parser.nextToken();
        while (token != null && token != JsonToken.END_ARRAY) {
            if (token == JsonToken.VALUE_NUMBER_INT) {
                bytes.write(parser.getIntValue());
            } else {
                parser.skipChildren();
            }
            token = parser.nextToken();
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
