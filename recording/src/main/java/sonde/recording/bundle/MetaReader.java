package sonde.recording.bundle;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.recording.bundle.RecordingMeta.BundleLayout;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.CommandExit;
import sonde.recording.bundle.RecordingMeta.EventOwner;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedMachine;
import sonde.recording.bundle.RecordingMeta.RecordedRing;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.bundle.RecordingMeta.TargetMode;

/**
 * Reads {@code meta.json}. Unknown keys are ignored, missing ones become empty, -1 or "other"; only
 * text that is no JSON object, a value of the wrong kind, or a file without {@code formatVersion}
 * is refused.
 */
public final class MetaReader {
    /** Largest file read: ten thousand processes with a hundred descriptors each. */
    public static final long MAX_BYTES = 64L << 20;

    /** JVMs of a recording whose compiled code has names. */
    private static final int MOST_MAPS = 4096;

    private static final JsonFactory JSON =
            JsonFactory.builder()
                    .streamReadConstraints(
                            StreamReadConstraints.builder()
                                    .maxNestingDepth(16)
                                    .maxDocumentLength(MAX_BYTES)
                                    .maxStringLength(1 << 20)
                                    .build())
                    .build();

    private MetaReader() {}

    /**
     * @throws MalformedInputException when the bytes are no meta.json
     */
    public static RecordingMeta read(byte[] bytes) throws IOException {
        if (bytes.length > MAX_BYTES) {
            throw malformed("file", bytes.length + " bytes");
        }
        try (JsonParser parser = JSON.createParser(bytes)) {
            parser.nextToken();
            if (!(value(parser) instanceof Map<?, ?> root)) {
                throw malformed("file", "no JSON object");
            }
            return meta(new JsonObject("", root));
        } catch (JacksonException e) {
            throw malformed("JSON", String.valueOf(e.getOriginalMessage()));
        }
    }

    private static RecordingMeta meta(JsonObject root) throws MalformedInputException {
        long version = root.number("formatVersion");
        if (version < 1 || version > Integer.MAX_VALUE) {
            throw malformed("formatVersion", Long.toString(version));
        }
        JsonObject times = root.node("times");
        List<String> notes = new ArrayList<>(root.texts("notes"));
        List<RecordedLoss> losses = new ArrayList<>();
        for (JsonObject loss : root.nodes("losses")) {
            losses.add(
                    new RecordedLoss(
                            loss.text("source"),
                            loss.text("subject"),
                            loss.integer("cpu"),
                            loss.name(
                                    "kind",
                                    RecordingMeta.LossKind::valueOf,
                                    RecordingMeta.LossKind.OTHER),
                            loss.number("count")));
        }
        List<RecordingMeta.Descriptors> tables = new ArrayList<>();
        for (JsonObject table : root.nodes("descriptors")) {
            tables.add(
                    new RecordingMeta.Descriptors(
                            table.integer("pid"), table.number("atNanos"), table.targets()));
        }
        List<RecordingMeta.JvmMap> maps = new ArrayList<>();
        List<JsonObject> told = root.nodes("jvmMaps");
        for (JsonObject map : told.subList(0, Math.min(MOST_MAPS, told.size()))) {
            maps.add(
                    new RecordingMeta.JvmMap(
                            map.integer("pid"), map.fileName("file"), map.number("atNanos")));
        }
        return new RecordingMeta(
                (int) version,
                root.text("sondeVersion"),
                root.name("state", RecordingState::valueOf, RecordingState.RECORDING),
                target(root.node("target")),
                recorder(root.node("recorder")),
                machine(root.node("machine")),
                new RecordingTimes(
                        times.number("startNanos"),
                        times.number("startWallNanos"),
                        times.number("execNanos"),
                        times.number("endNanos")),
                layout(root.node("layout"), notes),
                losses,
                tables,
                maps,
                notes);
    }

    private static RecordedTarget target(JsonObject node) throws MalformedInputException {
        RecordingMeta.@Nullable CommandExit exit = null;
        if (node.has("exit")) {
            JsonObject end = node.node("exit");
            exit =
                    new CommandExit(
                            end.integer("status"),
                            end.number("userNanos"),
                            end.number("systemNanos"),
                            end.number("maxRssBytes"),
                            end.number("minorFaults"),
                            end.number("majorFaults"),
                            end.number("voluntarySwitches"),
                            end.number("involuntarySwitches"));
        }
        List<RecordingMeta.TargetReading> counters = new ArrayList<>();
        for (JsonObject counter : node.nodes("counters")) {
            counters.add(
                    new RecordingMeta.TargetReading(
                            counter.text("name"),
                            counter.text("subject"),
                            counter.number("first"),
                            counter.number("last"),
                            counter.number("most")));
        }
        return new RecordedTarget(
                node.name("mode", TargetMode::valueOf, TargetMode.ALL),
                node.texts("argv"),
                node.integers("rootPids"),
                exit,
                counters);
    }

    private static RecordingMeta.Recorder recorder(JsonObject node) throws MalformedInputException {
        return new RecordingMeta.Recorder(
                node.integer("pid"),
                node.integers("tids"),
                node.number("startTicks"),
                node.number("cpuNanos"),
                node.number("peakRssBytes"));
    }

    private static RecordedMachine machine(JsonObject node) throws MalformedInputException {
        return new RecordedMachine(
                node.text("hostname"),
                node.text("kernelRelease"),
                node.text("architecture"),
                node.text("bootId"),
                node.number("pidNamespace"),
                node.integers("cpus"),
                node.number("memoryBytes"));
    }

    /** A part that is named again would be read, and its events counted, again. */
    private static BundleLayout layout(JsonObject node, List<String> notes)
            throws MalformedInputException {
        List<EventOwner> owners = new ArrayList<>();
        for (JsonObject owner : node.nodes("owners")) {
            owners.add(
                    new EventOwner(
                            owner.text("event"),
                            owner.text("source"),
                            owner.text("buffer"),
                            owner.text("reason"),
                            owner.flag("stacks"),
                            owner.text("filter"),
                            owner.node("userStacks").numbers()));
        }
        List<RecordedRing> rings = new ArrayList<>();
        for (JsonObject ring : node.nodes("rings")) {
            rings.add(
                    new RecordedRing(
                            ring.text("source"),
                            ring.text("buffer"),
                            ring.number("bytesPerCpu"),
                            ring.flag("overwrite")));
        }
        Map<String, BundlePart> parts = new LinkedHashMap<>();
        int repeated = 0;
        for (JsonObject part : node.nodes("parts")) {
            BundlePart read =
                    new BundlePart(
                            part.fileName("name"),
                            part.name(
                                    "kind",
                                    RecordingMeta.PartKind::valueOf,
                                    RecordingMeta.PartKind.OTHER),
                            part.text("buffer"),
                            part.integer("cpu"));
            repeated += parts.putIfAbsent(read.name(), read) == null ? 0 : 1;
        }
        if (repeated > 0) {
            notes.add(RecordingMeta.FILE + " names parts more than once; each is read once.");
        }
        return new BundleLayout(owners, rings, List.copyOf(parts.values()));
    }

    private static @Nullable Object value(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == JsonToken.START_OBJECT) {
            Map<String, @Nullable Object> object = new LinkedHashMap<>();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String key = parser.currentName();
                parser.nextToken();
                object.put(key, value(parser));
            }
            return object;
        }
        if (token == JsonToken.START_ARRAY) {
            List<@Nullable Object> array = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                array.add(value(parser));
            }
            return array;
        }
        if (token == JsonToken.VALUE_NUMBER_INT) {
            return parser.getLongValue();
        }
        if (token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE) {
            return token == JsonToken.VALUE_TRUE;
        }
        return token == null || token == JsonToken.VALUE_NULL ? null : parser.getText();
    }

    private static MalformedInputException malformed(String field, String found) {
        return new MalformedInputException(RecordingMeta.FILE, field, 0, found);
    }

    /** An object of the file and the path to it. */
    private record JsonObject(String path, Map<?, ?> object) {
        boolean has(String key) {
            return object.get(key) != null;
        }

        JsonObject node(String key) throws MalformedInputException {
            return asNode(path + key, object.get(key));
        }

        List<JsonObject> nodes(String key) throws MalformedInputException {
            List<JsonObject> nodes = new ArrayList<>();
            for (Object item : list(key)) {
                nodes.add(asNode(path + key, item));
            }
            return nodes;
        }

        String text(String key) throws MalformedInputException {
            Object value = object.get(key);
            if (value == null) {
                return "";
            }
            if (value instanceof String text) {
                return text;
            }
            throw malformed(path + key, "no text: " + value);
        }

        /** A name that stays in the bundle: no slash, not "..", not empty. */
        String fileName(String key) throws MalformedInputException {
            String name = text(key);
            if (name.isEmpty() || name.startsWith(".") || name.matches("(?s).*[/\\x00].*")) {
                throw malformed(path + key, "no file name: " + name);
            }
            return name;
        }

        long number(String key) throws MalformedInputException {
            Object value = object.get(key);
            return value == null ? -1 : asLong(path + key, value);
        }

        int integer(String key) throws MalformedInputException {
            return asInt(path + key, number(key));
        }

        boolean flag(String key) {
            return Boolean.TRUE.equals(object.get(key));
        }

        <E> E name(String key, Function<String, E> valueOf, E unknown)
                throws MalformedInputException {
            try {
                return valueOf.apply(text(key).toUpperCase(Locale.ROOT));
            } catch (IllegalArgumentException e) {
                return unknown;
            }
        }

        List<String> texts(String key) throws MalformedInputException {
            List<String> texts = new ArrayList<>();
            for (Object item : list(key)) {
                texts.add(String.valueOf(item));
            }
            return texts;
        }

        List<Integer> integers(String key) throws MalformedInputException {
            List<Integer> numbers = new ArrayList<>();
            for (Object item : list(key)) {
                numbers.add(asInt(path + key, asLong(path + key, item)));
            }
            return numbers;
        }

        Map<Integer, String> targets() throws MalformedInputException {
            Map<Integer, String> targets = new HashMap<>();
            for (Map.Entry<?, ?> entry : node("targets").object().entrySet()) {
                try {
                    targets.put(
                            Integer.parseInt(String.valueOf(entry.getKey())),
                            String.valueOf(entry.getValue()));
                } catch (NumberFormatException e) {
                    throw malformed("descriptors.targets", String.valueOf(entry.getKey()));
                }
            }
            return targets;
        }

        Map<String, Long> numbers() throws MalformedInputException {
            Map<String, Long> numbers = new LinkedHashMap<>();
            for (Map.Entry<?, ?> entry : object.entrySet()) {
                String key = String.valueOf(entry.getKey());
                numbers.put(key, asLong(path + key, entry.getValue()));
            }
            return numbers;
        }

        private List<?> list(String key) throws MalformedInputException {
            Object value = object.get(key);
            if (value == null) {
                return List.of();
            }
            if (value instanceof List<?> list) {
                return list;
            }
            throw malformed(path + key, "no array");
        }

        private static JsonObject asNode(String path, @Nullable Object value)
                throws MalformedInputException {
            if (value == null) {
                return new JsonObject(path + ".", Map.of());
            }
            if (value instanceof Map<?, ?> map) {
                return new JsonObject(path + ".", map);
            }
            throw malformed(path, "no object");
        }

        private static long asLong(String path, @Nullable Object value)
                throws MalformedInputException {
            if (value instanceof Long number) {
                return number;
            }
            throw malformed(path, "no number: " + value);
        }

        private static int asInt(String path, long value) throws MalformedInputException {
            if (value != (int) value) {
                throw malformed(path, "out of range: " + value);
            }
            return (int) value;
        }
    }
}
