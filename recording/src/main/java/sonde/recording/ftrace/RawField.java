package sonde.recording.ftrace;

import sonde.event.Batch;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.IntegerField;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/**
 * A field without the help of a print format.
 *
 * @param named whether {@code " name="} stands before it
 */
record RawField(Field field, boolean named) implements PrintConversion {
    @Override
    public void append(TextBuffer out, Batch batch, int row) {
        if (named) {
            out.put(' ').put(field.name()).put('=');
        }
        if (field.kind() == Field.Kind.INTEGER) {
            long value = IntegerField.of(field).of(batch, row);
            String declaration = field.declaration();
            boolean hex = declaration.contains("*") || declaration.contains("long");
            if (hex && !(field.signed() && field.sizeBytes() == 8)) {
                out.put("0x").hex(value, 1);
            } else if (field.signed()) {
                out.decimal(value);
            } else {
                out.unsigned(value);
            }
            return;
        }
        if (field.kind() == Field.Kind.FLOAT) {
            out.put(FloatField.of(field).text(batch, row));
            return;
        }
        PayloadArray place = new PayloadArray(field, 1, false);
        int offset = place.offset(batch, row);
        int length = place.sizeBytes(batch, row);
        if (field.isText()) {
            out.text(batch, row, offset, length);
            return;
        }
        out.put("ARRAY[");
        for (int i = 0; i < length; i++) {
            out.put(i > 0 ? ", " : "").hex(batch.u8(row, offset + i), 2);
        }
        out.put(']');
    }
}
