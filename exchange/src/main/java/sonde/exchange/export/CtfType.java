package sonde.exchange.export;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.result.Frame;
import sonde.recording.GrowableBytes;

/**
 * An event record class: which members the payload has, and how they are put. All are aligned to
 * bytes and follow each other. What rows have besides fields comes last, not into the specific
 * context: babeltrace2 2.0 ends itself on sequences there.
 */
final class CtfType {
    /** The longest array whose length is in its class. */
    private static final int MOST_FIXED = 1 << 16;

    /** How a member is put. */
    enum MemberForm {
        INTEGER,
        REAL,
        /** Bytes up to a NUL. */
        TEXT,
        /** As many elements as the type says. */
        FIXED,
        /** A u32 with the number of elements, then these. */
        ARRAY,
        /** The same of bytes that are no integers to anyone. */
        BYTES
    }

    /**
     * A member.
     *
     * @param field null for what rows have besides fields
     * @param sizeBytes of the integer, number or element
     * @param count elements of {@link MemberForm#FIXED}
     */
    record CtfMember(
            @Nullable Field field,
            String name,
            MemberForm form,
            int sizeBytes,
            boolean signed,
            int count) {}

    final int id;
    final String name;
    final List<CtfMember> payload = new ArrayList<>();
    private final Set<String> names = new HashSet<>();

    /**
     * A class.
     *
     * @param named whether entries of call chains are names
     * @param plain whether names may have letters, digits and underscores only
     */
    CtfType(int id, EventType type, RowSurvey.Usage usage, boolean named, boolean plain) {
        this.id = id;
        this.name = type.qualifiedName();
        int end = 0;
        for (Field field : type.fields()) {
            end = Math.max(end, field.offset() + field.sizeBytes());
        }
        for (Field field : type.fields()) {
            if (!isColumn(field.name())) {
                payload.add(member(field, end, plain));
            }
        }
        if (usage.weights) {
            payload.add(new CtfMember(null, unique("period"), MemberForm.INTEGER, 8, false, 0));
        }
        if (usage.stacks && named) {
            payload.add(new CtfMember(null, unique("stack"), MemberForm.TEXT, 1, false, 0));
        } else if (usage.stacks) {
            payload.add(new CtfMember(null, unique("callchain"), MemberForm.ARRAY, 8, false, 0));
        }
    }

    /** A name whose length may have one too. */
    private String unique(String name) {
        String unique = name;
        for (int i = 2; names.contains(unique) || names.contains(lengthOf(unique)); i++) {
            unique = name + "_" + i;
        }
        names.add(unique);
        names.add(lengthOf(unique));
        return unique;
    }

    /** The member with the number of elements of another one. */
    static String lengthOf(String name) {
        return "_" + name + "_length";
    }

    /** Whether the stream or its common context has it already. */
    private static boolean isColumn(String field) {
        return switch (field) {
            case "common_type", "common_pid", "context.tid", "context.pid", "packet.cpu_id" -> true;
            default -> false;
        };
    }

    private CtfMember member(Field field, int end, boolean plain) {
        String unique = unique(plain ? FieldValues.identifier(field.name()) : field.name());
        int size = field.sizeBytes();
        int element = FieldValues.elementBytes(field);
        if (ExportRow.isInteger(field)) {
            return new CtfMember(field, unique, MemberForm.INTEGER, size, field.signed(), 0);
        }
        if (ExportRow.isReal(field)) {
            return new CtfMember(field, unique, MemberForm.REAL, size, true, 0);
        }
        if (field.isText()) {
            return new CtfMember(field, unique, MemberForm.TEXT, 1, false, 0);
        }
        // The last array of a kernel's event is often shorter than it says.
        boolean whole = field.kind() == Field.Kind.ARRAY && size > 0 && size % element == 0;
        if (whole && field.offset() + size < end && size <= MOST_FIXED) {
            return new CtfMember(
                    field, unique, MemberForm.FIXED, element, field.signed(), size / element);
        }
        MemberForm form = element == 1 && !field.signed() ? MemberForm.BYTES : MemberForm.ARRAY;
        return new CtfMember(field, unique, form, element, field.signed(), 0);
    }

    /** Adds the row's payload. */
    void encode(ExportRow row, GrowableBytes out) {
        for (CtfMember member : payload) {
            if (member.field != null) {
                put(member, member.field, row, out);
            } else {
                besides(member, row, out);
            }
        }
    }

    private static void besides(CtfMember member, ExportRow row, GrowableBytes out) {
        switch (member.form) {
            case INTEGER -> out.add(8, row.batch.weight(row.row));
            case TEXT -> {
                StringBuilder chain = new StringBuilder();
                for (Frame frame : row.frames().reversed()) {
                    chain.append(chain.isEmpty() ? "" : ";").append(frame.name());
                }
                text(chain.toString().getBytes(StandardCharsets.UTF_8), out);
            }
            default -> {
                int depth = row.batch.stackDepth(row.row);
                out.add(4, depth);
                for (int i = 0; i < depth; i++) {
                    out.add(8, row.batch.stackEntry(row.row, i));
                }
            }
        }
    }

    private static void text(byte[] text, GrowableBytes out) {
        out.raw(text);
        out.zeros(1);
    }

    private static void put(CtfMember member, Field field, ExportRow row, GrowableBytes out) {
        switch (member.form) {
            case INTEGER -> out.add(member.sizeBytes, row.integer(field));
            case REAL -> {
                double value = row.real(field);
                out.add(
                        member.sizeBytes,
                        member.sizeBytes == 4
                                ? Float.floatToRawIntBits((float) value)
                                : Double.doubleToRawLongBits(value));
            }
            case TEXT -> text(FieldValues.text(row, field), out);
            case FIXED -> {
                int start = out.size();
                FieldValues.elements(row, field, member.count, out);
                out.zeros(start + member.count * member.sizeBytes - out.size());
            }
            case ARRAY, BYTES -> {
                out.add(4, FieldValues.count(row, field));
                FieldValues.elements(row, field, Integer.MAX_VALUE, out);
            }
        }
    }
}
