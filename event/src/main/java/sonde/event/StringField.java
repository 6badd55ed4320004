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
            throw new IllegalArgumentException(field.declaration() + " is not a text");
        }
        return new StringField(field);
    }

    /** The text in that row, without its NUL; cut where the payload ends. */
    public String of(Batch batch, int row) {
        byte[] bytes = batch.bytes(row, field.offset(batch, row), field.sizeBytes(batch, row));
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
