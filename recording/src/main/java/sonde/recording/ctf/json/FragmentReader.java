package sonde.recording.ctf.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.EventClass;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.StreamClass;
import sonde.recording.ctf.schema.TraceClass;

/** Reads the fragments of a CTF 2 metadata stream (CTF2-SPEC-2.0, section 5). */
public final class FragmentReader {
    private static final char RECORD_SEPARATOR = 0x1e;
    private static final int MOST_DEPTH = 128;
    private static final JsonFactory JSON =
            JsonFactory.builder()
                    .streamReadConstraints(
                            StreamReadConstraints.builder().maxNestingDepth(MOST_DEPTH).build())
                    .build();

    private final TraceClass trace = new TraceClass(2);
    private final ClassReader classes = new ClassReader();
    private boolean hasPreamble;
    private boolean hasTraceClass;

    private FragmentReader() {}

    /**
     * Reads metadata.
     *
     * @throws MalformedInputException when a fragment is no JSON or breaks a rule of the format, or
     *     when an extension is declared: it may change the format in any way (section 5.1)
     */
    public static TraceClass read(String source) throws MalformedInputException {
        FragmentReader reader = new FragmentReader();
        int at = 0;
        while (at < source.length()) {
            int next = source.indexOf(RECORD_SEPARATOR, at);
            int end = next < 0 ? source.length() : next;
            String text = source.substring(at, end);
            if (!text.isBlank()) {
                reader.fragment(JsonFragment.of(parse(text, at), at));
            }
            at = end + 1;
        }
        if (!reader.hasPreamble) {
            throw new MalformedInputException("ctf", "metadata", 0, "no preamble");
        }
        return reader.trace;
    }

    private static @Nullable Object parse(String text, int at) throws MalformedInputException {
        try (JsonParser parser = JSON.createParser(text)) {
            parser.nextToken();
            Object value = value(parser);
            if (parser.nextToken() != null) {
                throw new MalformedInputException("ctf", "metadata", at, "two texts in a fragment");
            }
            return value;
        } catch (JsonProcessingException e) {
            throw new MalformedInputException("ctf", "metadata", at, e.getOriginalMessage());
        } catch (MalformedInputException e) {
            throw e;
        } catch (IOException e) {
            throw new MalformedInputException("ctf", "metadata", at, String.valueOf(e));
        }
    }

    private static @Nullable Object value(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        return switch (token) {
            case START_OBJECT -> {
                Map<String, @Nullable Object> object = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    object.put(name, value(parser));
                }
                yield object;
            }
            case START_ARRAY -> {
                List<@Nullable Object> array = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    array.add(value(parser));
                }
                yield array;
            }
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT -> parser.getBigIntegerValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_TRUE -> Boolean.TRUE;
            case VALUE_FALSE -> Boolean.FALSE;
            case VALUE_NULL -> null;
            case null, default ->
                    throw new MalformedInputException("ctf", "metadata", 0, "no JSON value");
        };
    }

    private void fragment(JsonFragment fragment) throws MalformedInputException {
        String type = fragment.text("type");
        if (!hasPreamble && !type.equals("preamble")) {
            throw fragment.malformed("the preamble comes first, not a " + type);
        }
        ClassReader.refuseExtensions(fragment);
        switch (type) {
            case "preamble" -> preamble(fragment);
            case "field-class-alias" -> classes.alias(fragment);
            case "trace-class" -> traceClass(fragment);
            case "clock-class" -> clockClass(fragment);
            case "data-stream-class" -> streamClass(fragment);
            case "event-record-class" -> eventClass(fragment);
            default -> throw fragment.malformed("a fragment of the type " + type);
        }
    }

    private void preamble(JsonFragment fragment) throws MalformedInputException {
        if (hasPreamble) {
            throw fragment.malformed("a second preamble");
        }
        hasPreamble = true;
        long version = fragment.integer("version", 0);
        if (version != 2) {
            throw fragment.malformed("version " + version + ", only 2 is known");
        }
        List<JsonFragment> uuid = fragment.list("uuid");
        if (!uuid.isEmpty()) {
            trace.uuid = uuid(fragment, uuid);
        }
    }

    private static byte[] uuid(JsonFragment fragment, List<JsonFragment> numbers)
            throws MalformedInputException {
        byte[] uuid = new byte[16];
        if (numbers.size() != 16) {
            throw fragment.malformed("a UUID of " + numbers.size() + " bytes");
        }
        for (int i = 0; i < 16; i++) {
            uuid[i] = (byte) numbers.get(i).integer();
        }
        return uuid;
    }

    private void traceClass(JsonFragment fragment) throws MalformedInputException {
        if (hasTraceClass || !trace.streams.isEmpty()) {
            throw fragment.malformed("a trace-class after another or after a data-stream-class");
        }
        hasTraceClass = true;
        JsonFragment environment = fragment.member("environment");
        if (environment != null) {
            trace.environment.putAll(environment.scalars());
        }
        trace.packetHeader = classes.structure(fragment, "packet-header-field-class");
    }

    private void clockClass(JsonFragment fragment) throws MalformedInputException {
        // The release candidates had a name where the specification has an id.
        String id = fragment.has("id") ? fragment.text("id") : fragment.text("name");
        long frequency = fragment.integer("frequency", 0);
        if (frequency <= 0) {
            throw fragment.malformed("a clock of " + frequency + " Hz");
        }
        long seconds = 0;
        long cycles = 0;
        // "offset" in the release candidates
        JsonFragment offset = fragment.member("offset-from-origin");
        offset = offset == null ? fragment.member("offset") : offset;
        if (offset != null) {
            seconds = offset.integer("seconds", 0);
            cycles = offset.integer("cycles", 0);
        }
        JsonFragment origin = fragment.member("origin");
        boolean epoch =
                origin != null ? "unix-epoch".equals(origin.value()) : seconds != 0 || cycles != 0;
        String name = fragment.has("name") ? fragment.text("name") : id;
        ClockClass clock = new ClockClass(name, frequency, seconds, cycles, epoch);
        if (trace.clocks.putIfAbsent(id, clock) != null) {
            throw fragment.malformed("a second clock-class " + id);
        }
    }

    private void streamClass(JsonFragment fragment) throws MalformedInputException {
        StreamClass stream = new StreamClass(fragment.integer("id", 0));
        String clock = null;
        if (fragment.has("default-clock-class-id")) {
            clock = fragment.text("default-clock-class-id");
        } else if (fragment.has("default-clock-class-name")) {
            clock = fragment.text("default-clock-class-name");
        }
        if (clock != null) {
            stream.clock = trace.clocks.get(clock);
            if (stream.clock == null) {
                throw fragment.malformed("no clock-class " + clock);
            }
        }
        stream.packetContext = classes.structure(fragment, "packet-context-field-class");
        stream.eventHeader = classes.structure(fragment, "event-record-header-field-class");
        stream.commonContext =
                classes.structure(fragment, "event-record-common-context-field-class");
        if (trace.streams.putIfAbsent(stream.id, stream) != null) {
            throw fragment.malformed("a second data-stream-class " + stream.id);
        }
    }

    private void eventClass(JsonFragment fragment) throws MalformedInputException {
        long id = fragment.integer("id", 0);
        StreamClass stream = trace.streams.get(fragment.integer("data-stream-class-id", 0));
        if (stream == null) {
            throw fragment.malformed("event-record-class " + id + " before its stream");
        }
        StructureClass context = classes.structure(fragment, "specific-context-field-class");
        StructureClass payload = classes.structure(fragment, "payload-field-class");
        String name = fragment.has("name") ? fragment.text("name") : null;
        if (stream.events.putIfAbsent(id, new EventClass(id, name, context, payload)) != null) {
            throw fragment.malformed("a second event-record-class " + id);
        }
    }
}
