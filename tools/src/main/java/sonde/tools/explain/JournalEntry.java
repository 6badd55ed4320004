package sonde.tools.explain;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Entries of the journal: {@code journalctl -o json} and {@code -o export}. */
final class JournalEntry {
    private static final JsonFactory JSON = new JsonFactory();

    private static final String MESSAGE = "MESSAGE=";

    private static final Pattern FIELD = Pattern.compile("_{0,2}[A-Z][A-Z0-9_]{2,63}=");

    private JournalEntry() {}

    /** Whether it is a field of an entry of the export format that is not the message. */
    static boolean isField(String text) {
        return text.indexOf('=') > 0 && FIELD.matcher(text).lookingAt();
    }

    /** The kernel's line in an entry; null for other text. */
    static @Nullable LogLine line(String text, long number) {
        if (text.startsWith(MESSAGE)) {
            return LogLine.of(text.substring(MESSAGE.length()), number);
        }
        if (!text.startsWith("{") || !text.contains("\"MESSAGE\"")) {
            return null;
        }
        String message = null;
        String host = "";
        double seconds = Double.NaN;
        try (JsonParser parser = JSON.createParser(text)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                JsonToken value = parser.nextToken();
                switch (name) {
                    case "MESSAGE" -> message = message(parser);
                    case "_HOSTNAME" -> host = parser.getText();
                    case "_SOURCE_MONOTONIC_TIMESTAMP" ->
                            seconds = Long.parseLong(parser.getText()) / 1e6;
                    default -> {
                        if (value.isStructStart()) {
                            parser.skipChildren();
                        }
                    }
                }
            }
        } catch (IOException | NumberFormatException e) {
            return null; // cut short: the text stands for itself
        }
        if (message == null) {
            return null;
        }
        LogLine inner = LogLine.of(message, number);
        String context = inner.context();
        return new LogLine(
                number,
                Double.isNaN(seconds) ? inner.seconds() : seconds,
                host.isEmpty() ? context : host + "/" + context,
                inner.text());
    }

    /** A text, or the bytes of one that is not UTF-8. */
    private static String message(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            return parser.getText();
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT) {
                bytes.write(parser.getIntValue());
            } else {
                parser.skipChildren();
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
