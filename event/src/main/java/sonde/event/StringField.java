package sonde.event;

import java.nio.charset.StandardCharsets;

/**
 * Reads one text field of a payload. What is not UTF-8 becomes U+FFFD; control characters stay, so
 * whoever prints must escape.
 */
public final class StringField {
    private final Field field;

    private StringField(Field field) {
        this.field = field;
    }

    /** An accessor for a field whose {@link Field#isText()} holds. */
    public static StringField of(Field field) {
        if (!field.isText()) {
            throw new IllegalArgumentException(field.declaration() + " is no text");
        }
        return new StringField(field);
    }

    /** The text in that row, without its NUL; cut where the payload ends. */
    public String of(Batch batch, int row) {
        int payloadBytes = batch.payloadBytes(row);
        int start = field.offset();
        int limit = payloadBytes;
        switch (field.kind()) {
            case CHARS -> limit = start + field.sizeBytes();
            case DATA_LOC, REL_LOC -> {
                if (start + 4 > payloadBytes) {
                    return "";
                }
                int word = batch.u32(row, start);
                int base = field.kind() == Field.Kind.REL_LOC ? start + 4 : 0;
                start = base + (word & 0xffff);
                limit = start + (word >>> 16);
            }
            case TAIL_STRING, INTEGER, ARRAY -> {}
        }
        limit = Math.min(limit, payloadBytes);
        if (start >= limit) {
            return "";
        }
        byte[] bytes = batch.bytes(row, start, limit - start);
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
