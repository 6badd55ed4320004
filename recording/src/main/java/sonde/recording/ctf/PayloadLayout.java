package sonde.recording.ctf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.event.Field;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.BitMeaning;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.FieldLength;

/**
 * Gives the shown fields of an event places in its payload: first what the stream's events share,
 * then what the event has of its own.
 */
final class PayloadLayout {
    /** Longer texts become spans. */
    private static final int MOST_CHARS = 256;

    private final List<Field> fields = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private int bytes;

    PayloadLayout() {}

    /** One that goes on behind another. */
    PayloadLayout(PayloadLayout first) {
        fields.addAll(first.fields);
        names.addAll(first.names);
        bytes = first.bytes;
    }

    List<Field> fields() {
        return fields;
    }

    /** Bytes before the spans. */
    int fixedBytes() {
        return bytes;
    }

    /** Places for a root structure's fields, named with a prefix. */
    void place(FieldNode root, String prefix) {
        for (FieldNode child : root.children) {
            if (child.shown) {
                field(child, prefix + child.name);
            }
        }
    }

    /**
     * Without gaps: fields that lie side by side in the trace do so here, and are copied at once.
     */
    private int take(int sizeBytes) {
        int offset = bytes;
        bytes += sizeBytes;
        return offset;
    }

    private void field(FieldNode node, String path) {
        switch (node.type) {
            case BitField bits -> integer(node, path, storedBytes(bits), bits.signed());
            case FieldClass.VariableInteger variable -> integer(node, path, 8, variable.signed());
            case FieldClass.Real real -> {
                node.at = take(8);
                String name = unique(path);
                node.path = name;
                fields.add(
                        new Field(name, "double " + name, Field.Kind.FLOAT, node.at, 8, 8, true));
            }
            case TextClass text -> {
                int inPlace = inPlace(text);
                if (inPlace > 0) {
                    chars(node, path, inPlace);
                } else {
                    span(node, path, "char", 1, false);
                }
            }
            case FieldClass.WideInteger wide -> span(node, path, "char", 1, false);
            case FieldClass.Blob blob -> span(node, path, "u8", 1, false);
            case StructureClass structure -> {
                for (FieldNode child : node.children) {
                    if (child.shown) {
                        field(child, path + "." + child.name);
                    }
                }
            }
            case FieldClass.Array array -> {
                if (array.element() instanceof BitField bits) {
                    int size = storedBytes(bits);
                    String type = (bits.signed() ? "s" : "u") + 8 * size;
                    span(node, path, type, size, bits.signed());
                } else {
                    span(node, path, "char", 1, false);
                    node.valuesAt = take(8);
                }
            }
            case VariantClass variant -> {
                node.at = take(2);
                for (FieldNode child : node.children) {
                    field(child, path + "." + child.name);
                }
            }
            case FieldClass.Optional optional -> {
                node.at = take(2);
                field(node.children.get(0), path);
            }
        }
    }

    private void integer(FieldNode node, String path, int sizeBytes, boolean signed) {
        node.at = take(sizeBytes);
        node.path = unique(path);
        fields.add(Field.integer(node.path, node.at, sizeBytes, signed));
    }

    private void span(
            FieldNode node, String path, String element, int elementBytes, boolean signed) {
        node.at = take(8);
        String name = unique(path);
        node.path = name;
        String declaration = element + " " + name + "[]";
        fields.add(new Field(name, declaration, Field.Kind.SPAN, node.at, 8, elementBytes, signed));
    }

    private void chars(FieldNode node, String path, int sizeBytes) {
        node.at = take(sizeBytes);
        node.path = unique(path);
        String declaration = "char " + node.path + "[" + sizeBytes + "]";
        fields.add(
                new Field(node.path, declaration, Field.Kind.CHARS, node.at, sizeBytes, 1, false));
    }

    /** Bytes of a text that stays as it lies, 0 when it becomes a span. */
    static int inPlace(TextClass text) {
        boolean plain = text.encoding().equals(StandardCharsets.UTF_8);
        return plain
                        && text.length() instanceof FieldLength.Fixed fixed
                        && fixed.count() <= MOST_CHARS
                ? (int) fixed.count()
                : 0;
    }

    private String unique(String path) {
        String name = path;
        for (int i = 2; !names.add(name); i++) {
            name = path + "#" + i;
        }
        return name;
    }

    /** Bytes that an integer takes in a payload. */
    static int storedBytes(BitField bits) {
        int size = bits.bits();
        if (bits.meaning() == BitMeaning.BOOLEAN || size <= 8) {
            return 1;
        }
        return size <= 16 ? 2 : size <= 32 ? 4 : 8;
    }
}
