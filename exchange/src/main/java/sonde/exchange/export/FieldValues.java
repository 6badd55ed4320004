package sonde.exchange.export;

import java.util.Arrays;
import sonde.event.Field;
import sonde.recording.GrowableBytes;

/** Takes the values of fields out of rows, whatever the order of their bytes. */
final class FieldValues {
    private FieldValues() {}

    /** Size of the elements that an array is taken apart into: 1 for what is not an integer. */
    static int elementBytes(Field field) {
        int element = field.elementBytes();
        return element == 2 || element == 4 || element == 8 ? element : 1;
    }

    /** Whole elements that a row has of an array. */
    static int count(ExportRow row, Field field) {
        return field.sizeBytes(row.batch, row.row) / elementBytes(field);
    }

    /** Adds the elements of an array, at most so many. */
    static void elements(ExportRow row, Field field, int most, GrowableBytes out) {
        int element = elementBytes(field);
        int start = field.offset(row.batch, row.row);
        int count = Math.min(most, count(row, field));
        int at = out.zeros(Math.multiplyExact(count, element));
        if (element == 1) {
            row.batch.copy(row.row, start, count, out.array(), at);
            return;
        }
        for (int i = 0; i < count; i++) {
            out.put(at + i * element, element, word(row, start + i * element, element));
        }
    }

    /** An integer at an offset of the payload. */
    static long word(ExportRow row, int offset, int sizeBytes) {
        return switch (sizeBytes) {
            case 1 -> row.batch.u8(row.row, offset);
            case 2 -> row.batch.u16(row.row, offset);
            case 4 -> row.batch.u32(row.row, offset);
            default -> row.batch.u64(row.row, offset);
        };
    }

    /** The bytes of a text up to its NUL. */
    static byte[] text(ExportRow row, Field field) {
        byte[] bytes = row.bytes(field);
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == 0) {
                return Arrays.copyOf(bytes, i);
            }
        }
        return bytes;
    }

    /** A name as C has them: letters, digits and underscores, no digit first. */
    static String identifier(String name) {
        String plain = name.replaceAll("[^A-Za-z0-9_]", "_");
        boolean bare = plain.isEmpty() || Character.isDigit(plain.charAt(0));
        return bare ? "_" + plain : plain;
    }
}
