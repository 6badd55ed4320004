package sonde.recording;

import java.util.ArrayList;
import java.util.List;
import sonde.event.EventType;
import sonde.event.Field;

/**
 * Lays out an event type whose payloads a reader makes itself: fields one behind the other, each at
 * a multiple of its size, text and arrays as {@link Field.Kind#SPAN}. {@link BatchWriter} fills
 * them.
 */
public final class TypeBuilder {
    private final String system;
    private final String name;
    private final List<Field> fields = new ArrayList<>();
    private int bytes;

    /** A type without fields. */
    public TypeBuilder(String system, String name) {
        this.system = system;
        this.name = name;
    }

    /** An integer of 1, 2, 4 or 8 bytes. */
    public TypeBuilder integer(String field, int sizeBytes, boolean signed) {
        fields.add(Field.integer(field, place(sizeBytes), sizeBytes, signed));
        return this;
    }

    /** A byte that is 0 or 1. */
    public TypeBuilder flag(String field) {
        String declaration = "bool " + field;
        fields.add(new Field(field, declaration, Field.Kind.INTEGER, place(1), 1, 1, false));
        return this;
    }

    /** An IEEE 754 double. */
    public TypeBuilder real(String field) {
        int offset = place(8);
        fields.add(new Field(field, "double " + field, Field.Kind.FLOAT, offset, 8, 8, true));
        return this;
    }

    /** Text of any length, UTF-8. */
    public TypeBuilder text(String field) {
        return span(field, "char", 1, false);
    }

    /** Integers of any number. */
    public TypeBuilder array(String field, int elementBytes, boolean signed) {
        return span(field, (signed ? "s" : "u") + 8 * elementBytes, elementBytes, signed);
    }

    private TypeBuilder span(String field, String element, int elementBytes, boolean signed) {
        String declaration = element + " " + field + "[]";
        int offset = place(4, 8);
        fields.add(new Field(field, declaration, Field.Kind.SPAN, offset, 8, elementBytes, signed));
        return this;
    }

    private int place(int sizeBytes) {
        return place(sizeBytes, sizeBytes);
    }

    private int place(int alignment, int sizeBytes) {
        int offset = (bytes + alignment - 1) & -alignment;
        bytes = offset + sizeBytes;
        return offset;
    }

    /** The type. */
    public EventType build(int id) {
        return new EventType(id, system, name, fields, "");
    }
}
