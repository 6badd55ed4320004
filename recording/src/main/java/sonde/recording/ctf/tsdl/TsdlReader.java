package sonde.recording.ctf.tsdl;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.EventClass;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.StreamClass;
import sonde.recording.ctf.schema.TraceClass;
import sonde.recording.ctf.tsdl.TsdlLexer.Kind;
import sonde.recording.ctf.tsdl.TsdlLexer.TsdlToken;

/** Reads TSDL, the metadata of CTF 1.8 (CTF 1.8.3, section 7). */
public final class TsdlReader {
    private final TokenCursor tokens;
    private final TsdlTypeParser parser;
    private final TraceClass trace = new TraceClass(1);
    private final List<PendingEvent> events = new ArrayList<>();
    private boolean bigEndian;

    /** An event whose stream may come later. */
    private record PendingEvent(long stream, boolean saysStream, EventClass type, boolean saysId) {}

    /** Attributes and types of a block. */
    private static final class TsdlBlock {
        final Map<String, TsdlToken> values = new HashMap<>();
        final Map<String, Long> numbers = new HashMap<>();
        final Map<String, StructureClass> types = new HashMap<>();

        long number(String name, long otherwise) {
            return numbers.getOrDefault(name, otherwise);
        }

        @Nullable String text(String name) {
            TsdlToken token = values.get(name);
            return token == null ? null : token.text();
        }
    }

    private TsdlReader(List<TsdlToken> tokens) throws MalformedInputException {
        bigEndian = isBigEndian(tokens);
        this.tokens = new TokenCursor(tokens);
        this.parser = new TsdlTypeParser(this.tokens, bigEndian);
    }

    /**
     * Reads metadata.
     *
     * @throws MalformedInputException when it does not follow the grammar or names what is not
     *     there
     */
    public static TraceClass read(String source) throws MalformedInputException {
        TsdlReader reader = new TsdlReader(TsdlLexer.tokens(source));
        reader.declarations();
        reader.finish();
        return reader.trace;
    }

    /** The trace block says it, and types before it depend on it. */
    private static boolean isBigEndian(List<TsdlToken> tokens) throws MalformedInputException {
        for (int i = 0; i + 1 < tokens.size(); i++) {
            if (!tokens.get(i).isWord("trace") || !tokens.get(i + 1).is("{")) {
                continue;
            }
            int depth = 0;
            for (int j = i + 1; j + 2 < tokens.size(); j++) {
                depth += tokens.get(j).is("{") ? 1 : tokens.get(j).is("}") ? -1 : 0;
                if (depth == 0) {
                    break;
                }
                if (depth == 1 && tokens.get(j).isWord("byte_order")) {
                    return TsdlAttributes.order(
                            new TokenCursor(tokens.subList(j + 2, j + 3)), false);
                }
            }
        }
        return false;
    }

    private void declarations() throws MalformedInputException {
        while (tokens.peek().kind() != Kind.END) {
            if (tokens.accept(";") || parser.declaration()) {
                continue;
            }
            TsdlToken token = tokens.peek();
            switch (tokens.word("a declaration")) {
                case "trace" -> trace(block());
                case "stream" -> stream(block());
                case "event" -> event(block());
                case "clock" -> clock(token, block());
                case "env" -> environment(block());
                case "callsite" -> block();
                default -> throw tokens.malformed(token, "a declaration wanted, " + token.text());
            }
            tokens.accept(";");
        }
    }

    /** {@code { name = value; name := type; typealias …; }}. */
    private TsdlBlock block() throws MalformedInputException {
        TsdlBlock block = new TsdlBlock();
        tokens.expect("{");
        TsdlTypes outer = parser.types();
        parser.enter();
        while (!tokens.accept("}")) {
            if (parser.declaration()) {
                continue;
            }
            StringBuilder name = new StringBuilder(tokens.word("a name"));
            while (tokens.accept(".")) {
                name.append('.').append(tokens.word("a name"));
            }
            String key = name.toString();
            if (tokens.accept(":=")) {
                FieldClass type = parser.specifier();
                if (!(type instanceof StructureClass structure)) {
                    throw tokens.malformed(key + " is no struct");
                }
                if (block.types.put(key, structure) != null) {
                    throw tokens.malformed("a second " + key);
                }
            } else {
                tokens.expect("=");
                value(block, key);
            }
            tokens.expect(";");
        }
        parser.leave(outer);
        return block;
    }

    private void value(TsdlBlock block, String key) throws MalformedInputException {
        TsdlToken token = tokens.peek();
        boolean signed = token.is("-") || token.is("+");
        if (signed || token.kind() == Kind.NUMBER) {
            block.numbers.put(key, tokens.number("a value"));
        } else if (token.kind() == Kind.TEXT) {
            tokens.take();
        } else {
            StringBuilder path = new StringBuilder(tokens.word("a value"));
            while (tokens.accept(".")) {
                path.append('.').append(tokens.word("a value"));
            }
            token = new TsdlToken(Kind.WORD, path.toString(), 0, token.at());
        }
        block.values.put(key, token);
    }

    private void trace(TsdlBlock block) throws MalformedInputException {
        long major = block.number("major", 1);
        long minor = block.number("minor", 8);
        if (major != 1 || minor != 8) {
            throw tokens.malformed("CTF " + major + "." + minor + ", only 1.8 is known in TSDL");
        }
        String uuid = block.text("uuid");
        if (uuid != null) {
            trace.uuid = uuid(uuid);
        }
        StructureClass header = block.types.get("packet.header");
        if (header != null) {
            trace.packetHeader = TsdlRoles.packetHeader(header);
        }
    }

    private byte[] uuid(String text) throws MalformedInputException {
        String digits = text.replace("-", "");
        byte[] uuid = new byte[16];
        if (digits.length() != 32) {
            throw tokens.malformed("the UUID " + text);
        }
        for (int i = 0; i < 16; i++) {
            int high = Character.digit(digits.charAt(2 * i), 16);
            int low = Character.digit(digits.charAt(2 * i + 1), 16);
            if (high < 0 || low < 0) {
                throw tokens.malformed("the UUID " + text);
            }
            uuid[i] = (byte) (high << 4 | low);
        }
        return uuid;
    }

    private void stream(TsdlBlock block) throws MalformedInputException {
        StreamClass stream = new StreamClass(block.number("id", 0));
        stream.packetContext = block.types.get("packet.context");
        stream.eventHeader = block.types.get("event.header");
        stream.commonContext = block.types.get("event.context");
        if (trace.streams.putIfAbsent(stream.id, stream) != null) {
            throw tokens.malformed("a second stream " + stream.id);
        }
    }

    private void event(TsdlBlock block) {
        boolean saysStream = block.numbers.containsKey("stream_id");
        long stream = block.number("stream_id", 0);
        EventClass type =
                new EventClass(
                        block.number("id", 0),
                        block.text("name"),
                        block.types.get("context"),
                        block.types.get("fields"));
        events.add(new PendingEvent(stream, saysStream, type, block.numbers.containsKey("id")));
    }

    private void clock(TsdlToken token, TsdlBlock block) throws MalformedInputException {
        String name = block.text("name");
        long frequency = block.number("freq", 1_000_000_000);
        if (name == null) {
            throw tokens.malformed(token, "a clock without name");
        }
        if (frequency <= 0) {
            throw tokens.malformed(token, "a clock of " + frequency + " Hz");
        }
        TsdlToken absolute = block.values.get("absolute");
        long seconds = block.number("offset_s", 0);
        long cycles = block.number("offset", 0);
        boolean isAbsolute =
                absolute != null
                        && (absolute.text().equalsIgnoreCase("true") || absolute.number() != 0);
        boolean epoch = isAbsolute || seconds != 0 || cycles != 0;
        trace.clocks.putIfAbsent(name, new ClockClass(name, frequency, seconds, cycles, epoch));
    }

    private void environment(TsdlBlock block) {
        block.values.forEach((name, token) -> {
            Long number = block.numbers.get(name);
            trace.environment.put(name, number == null ? token.text() : number);
        });
    }

    private void finish() throws MalformedInputException {
        if (trace.streams.isEmpty() && (!events.isEmpty() || trace.packetHeader == null)) {
            trace.streams.put(0L, new StreamClass(0));
        }
        for (PendingEvent event : events) {
            long id = event.stream;
            if (!event.saysStream && trace.streams.size() == 1) {
                id = trace.streams.keySet().iterator().next();
            }
            StreamClass stream = trace.streams.get(id);
            if (stream == null) {
                throw tokens.malformed("event " + event.type.name() + " is of no stream: " + id);
            }
            if (stream.events.putIfAbsent(event.type.id(), event.type) != null) {
                throw tokens.malformed(
                        "event " + event.type.name() + ": a second one of id " + event.type.id());
            }
        }
        for (StreamClass stream : trace.streams.values()) {
            TsdlRoles.stream(trace, stream);
        }
    }
}
