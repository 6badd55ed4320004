package sonde.exchange.jfr;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;

/** The classes of a chunk: its metadata event is a tree of elements with attributes. */
final class JfrMetadata {
    private static final int MOST_DEPTH = 64;
    private static final int MOST_ELEMENTS = 1 << 20;

    final Map<Long, JfrClass> classes = new HashMap<>();
    private final List<String> strings = new ArrayList<>();
    private final JfrCursor in;
    private int elements;

    private JfrMetadata(JfrCursor in) {
        this.in = in;
    }

    /**
     * A class.
     *
     * @param event whether it is one of events
     * @param simple whether its one field stands for it
     */
    record JfrClass(long id, String name, boolean event, boolean simple, List<JfrField> fields) {}

    /**
     * A field.
     *
     * @param pooled whether its value is a key into the constants of its class
     * @param unit of {@code jdk.jfr.Timespan} or {@code Timestamp}; empty for other fields
     */
    record JfrField(
            String name,
            long type,
            boolean pooled,
            boolean array,
            boolean timestamp,
            String unit) {}

    private record MetadataElement(
            String name, Map<String, String> attributes, List<MetadataElement> children) {
        String attribute(String key) {
            return attributes.getOrDefault(key, "");
        }

        long number(String key) throws MalformedInputException {
            try {
                return attribute(key).isEmpty() ? 0 : Long.parseLong(attribute(key));
            } catch (NumberFormatException e) {
                throw new MalformedInputException(JfrCursor.FORMAT, key, -1, attribute(key));
            }
        }
    }

    /** Reads the metadata event at an offset of a chunk. */
    static JfrMetadata read(JfrCursor in, long offset) throws MalformedInputException {
        in.seek("metadata", offset);
        in.small("size");
        long type = in.integer("type");
        if (type != 0) {
            throw in.malformed("metadata", "an event of type " + type);
        }
        in.integer("start time");
        in.integer("duration");
        in.integer("metadata id");
        JfrMetadata metadata = new JfrMetadata(in);
        int count = in.count("string count");
        for (int i = 0; i < count; i++) {
            Object text = in.text("string");
            metadata.strings.add(text instanceof String string ? string : "");
        }
        MetadataElement root = metadata.element(0);
        for (MetadataElement part : root.children) {
            if (part.name.equals("metadata")) {
                metadata.classes(part);
            }
        }
        return metadata;
    }

    private String string(int index) {
        return index >= 0 && index < strings.size() ? strings.get(index) : "";
    }

    private MetadataElement element(int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH || elements++ > MOST_ELEMENTS) {
            throw in.malformed("element", "too many");
        }
        String name = string(in.small("element name"));
        Map<String, String> attributes = new HashMap<>();
        int count = in.count("attribute count");
        for (int i = 0; i < count; i++) {
            String key = string(in.small("attribute"));
            attributes.put(key, string(in.small("value")));
        }
        List<MetadataElement> children = new ArrayList<>();
        int nested = in.count("child count");
        for (int i = 0; i < nested; i++) {
            children.add(element(depth + 1));
        }
        return new MetadataElement(name, attributes, children);
    }

    private void classes(MetadataElement metadata) throws MalformedInputException {
        Map<Long, String> names = new HashMap<>();
        for (MetadataElement one : metadata.children) {
            names.put(one.number("id"), one.attribute("name"));
        }
        for (MetadataElement one : metadata.children) {
            if (!one.name.equals("class")) {
                continue;
            }
            List<JfrField> fields = new ArrayList<>();
            for (MetadataElement child : one.children) {
                if (child.name.equals("field")) {
                    fields.add(field(child, names));
                }
            }
            boolean event = one.attribute("superType").equals("jdk.jfr.Event");
            boolean simple = one.attribute("simpleType").equals("true");
            long id = one.number("id");
            classes.put(id, new JfrClass(id, one.attribute("name"), event, simple, fields));
        }
    }

    private static JfrField field(MetadataElement field, Map<Long, String> names)
            throws MalformedInputException {
        String unit = "";
        boolean timestamp = false;
        for (MetadataElement annotation : field.children) {
            String name = names.getOrDefault(annotation.number("class"), "");
            if (name.equals("jdk.jfr.Timespan") || name.equals("jdk.jfr.Timestamp")) {
                timestamp = name.endsWith("Timestamp");
                // An array of one value is written value-0.
                unit =
                        Objects.requireNonNullElse(
                                annotation.attributes.get("value"),
                                annotation.attribute("value-0"));
            }
        }
        return new JfrField(
                field.attribute("name"),
                field.number("class"),
                field.attribute("constantPool").equals("true"),
                field.number("dimension") > 0,
                timestamp,
                unit);
    }

    @Nullable JfrClass type(long id) {
        return classes.get(id);
    }
}
