package sonde.store.table;

import java.nio.charset.StandardCharsets;
import sonde.event.Batch;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.IntegerField;
import sonde.store.duckdb.ColumnType;
import sonde.store.duckdb.ColumnVector;

/** Puts one value of a row into a vector. For one thread. */
interface FieldReader {
    void read(Batch batch, int row, ColumnVector out, int at);

    /** Nothing, for rows whose type lacks the field. */
    FieldReader NULL = (batch, row, out, at) -> out.setNull(at);

    /** The type of the column that holds a field. */
    static ColumnType type(Field field) {
        return switch (field.kind()) {
            case INTEGER -> integerType(field);
            case FLOAT -> ColumnType.DOUBLE;
            case CHARS, TAIL_STRING -> ColumnType.VARCHAR;
            case ARRAY, DATA_LOC, REL_LOC, SPAN ->
                    field.isText() ? ColumnType.VARCHAR : ColumnType.BIGINT_LIST;
        };
    }

    /** What is narrower than 64 bits fits a signed type, so that differences never overflow. */
    private static ColumnType integerType(Field field) {
        if (field.declaration().startsWith("bool ")) {
            return ColumnType.BOOLEAN;
        }
        return switch (field.sizeBytes()) {
            case 1, 2 -> ColumnType.INTEGER;
            case 4 -> field.signed() ? ColumnType.INTEGER : ColumnType.BIGINT;
            case 8 -> field.signed() ? ColumnType.BIGINT : ColumnType.UBIGINT;
            default -> ColumnType.BIGINT_LIST;
        };
    }

    /**
     * A reader of a field into a column.
     *
     * @param column {@link #type} of the field, or a wider one of the same kind, or text
     */
    static FieldReader of(Field field, ColumnType column) {
        FieldReader exact = exact(field, column);
        // A payload may be shorter than the format says: then there is no value.
        int end = field.offset() + field.sizeBytes();
        return (batch, row, out, at) -> {
            if (batch.payloadBytes(row) < end) {
                out.setNull(at);
            } else {
                exact.read(batch, row, out, at);
            }
        };
    }

    private static FieldReader exact(Field field, ColumnType column) {
        ColumnType own = type(field);
        if (field.isText()) {
            return new TextReader(field);
        } else if (own.equals(ColumnType.DOUBLE)) {
            FloatField number = FloatField.of(field);
            return column.equals(ColumnType.VARCHAR)
                    ? (batch, row, out, at) -> out.setText(at, number.text(batch, row))
                    : (batch, row, out, at) -> out.setDouble(at, number.of(batch, row));
        } else if (own.equals(ColumnType.BIGINT_LIST)) {
            return new ArrayReader(field, column);
        }
        IntegerField number = IntegerField.of(field);
        if (column.equals(ColumnType.BOOLEAN)) {
            return (batch, row, out, at) -> out.setByte(at, number.of(batch, row) == 0 ? 0 : 1);
        } else if (column.equals(ColumnType.INTEGER)) {
            return (batch, row, out, at) -> out.setInt(at, (int) number.of(batch, row));
        } else if (column.equals(ColumnType.VARCHAR)) {
            return (batch, row, out, at) -> out.setText(at, Long.toString(number.of(batch, row)));
        }
        return (batch, row, out, at) -> out.setLong(at, number.of(batch, row));
    }

    /** Texts are cut at their NUL; what is not UTF-8 becomes U+FFFD. */
    final class TextReader implements FieldReader {
        private final Field field;
        private byte[] bytes = new byte[64];

        TextReader(Field field) {
            this.field = field;
        }

        @Override
        public void read(Batch batch, int row, ColumnVector out, int at) {
            int size = field.sizeBytes(batch, row);
            if (size > bytes.length) {
                bytes = new byte[Math.max(size, 2 * bytes.length)];
            }
            batch.copy(row, field.offset(batch, row), size, bytes, 0);
            int length = 0;
            int high = 0;
            while (length < size && bytes[length] != 0) {
                high |= bytes[length++];
            }
            if (high >= 0) {
                out.setUtf8(at, bytes, length);
            } else {
                out.setText(at, new String(bytes, 0, length, StandardCharsets.UTF_8));
            }
        }
    }

    /** Arrays of integers, whatever their width; of odd widths the bytes. */
    final class ArrayReader implements FieldReader {
        private final Field field;
        private final ColumnType column;
        private long[] values = new long[16];

        ArrayReader(Field field, ColumnType column) {
            this.field = field;
            this.column = column;
        }

        @Override
        public void read(Batch batch, int row, ColumnVector out, int at) {
            int width =
                    switch (field.elementBytes()) {
                        case 2, 4, 8 -> field.elementBytes();
                        default -> 1;
                    };
            int offset = field.offset(batch, row);
            int count = field.sizeBytes(batch, row) / width;
            if (count > values.length) {
                values = new long[Math.max(count, 2 * values.length)];
            }
            for (int i = 0; i < count; i++) {
                int place = offset + i * width;
                values[i] =
                        switch (width) {
                            case 1 -> signed(batch.u8(row, place), 56);
                            case 2 -> signed(batch.u16(row, place), 48);
                            case 4 -> signed(batch.u32(row, place) & 0xffff_ffffL, 32);
                            default -> batch.u64(row, place);
                        };
            }
            if (column.equals(ColumnType.VARCHAR)) {
                out.setText(at, java.util.Arrays.toString(java.util.Arrays.copyOf(values, count)));
            } else {
                out.setList(at, values, count);
            }
        }

        private long signed(long value, int shift) {
            return field.signed() ? value << shift >> shift : value;
        }
    }
}
