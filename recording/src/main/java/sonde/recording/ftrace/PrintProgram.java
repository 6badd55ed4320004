package sonde.recording.ftrace;

import java.util.List;
import sonde.event.Batch;
import sonde.event.Field;
import sonde.recording.ftrace.PrintConversion.ConversionSpec;
import sonde.recording.ftrace.PrintConversion.LiteralText;
import sonde.recording.ftrace.PrintConversion.NumberConversion;
import sonde.recording.ftrace.PrintExpression.CastExpression;
import sonde.recording.ftrace.PrintExpression.ConstantExpression;
import sonde.recording.ftrace.PrintExpression.ElementExpression;
import sonde.recording.ftrace.PrintExpression.FieldValue;
import sonde.recording.ftrace.PrintExpression.NumberExpression;

/**
 * The pieces of a print format as steps of one loop. Most formats are texts and integers of the
 * payload in between: those need no call through an interface for each piece, and the one loop is
 * hot, and compiled, from the first events on. Other pieces are called as they are.
 */
final class PrintProgram {
    private static final int PIECE = 0;
    private static final int TEXT = 1;
    private static final int DECIMAL = 2;
    private static final int UNSIGNED = 3;
    private static final int HEX = 4;

    // How an integer is loaded: as IntegerField does; an element that the payload lacks is 0.
    private static final int ELEMENT = 8;

    private final PrintConversion[] pieces;
    private final int[] steps;
    private final PackedText[] texts;
    private final int[] loads;
    private final int[] offsets;
    // What printf's length makes of the number: bits that are shifted out to the left and back.
    private final int[] shifts;
    private final int[] digits;

    PrintProgram(List<PrintConversion> conversions) {
        pieces = conversions.toArray(new PrintConversion[0]);
        int count = pieces.length;
        steps = new int[count];
        texts = new PackedText[count];
        loads = new int[count];
        offsets = new int[count];
        shifts = new int[count];
        digits = new int[count];
        PackedText none = new PackedText(new byte[0]);
        for (int i = 0; i < count; i++) {
            texts[i] = none;
            switch (pieces[i]) {
                case LiteralText literal -> {
                    steps[i] = TEXT;
                    texts[i] = new PackedText(literal.text());
                }
                case NumberConversion number
                        when number.width() == null && number.precision() == null ->
                        number(i, number.spec(), number.value());
                default -> steps[i] = PIECE;
            }
        }
    }

    private void number(int i, ConversionSpec spec, NumberExpression value) {
        int step = step(spec);
        if (step == PIECE || !load(i, value)) {
            return;
        }
        steps[i] = step;
        shifts[i] = 64 - 8 * spec.lengthBytes();
        digits[i] = Math.max(1, spec.width());
    }

    private static int step(ConversionSpec spec) {
        boolean filled =
                spec.letter() == 'x'
                        && spec.zero()
                        && spec.precision() < 0
                        && !spec.left()
                        && !spec.alternative();
        if (!spec.isPlain() && !filled) {
            return PIECE;
        }
        return switch (spec.letter()) {
            case 'd', 'i' -> DECIMAL;
            case 'u' -> UNSIGNED;
            case 'x' -> HEX;
            default -> PIECE;
        };
    }

    /** Whether a value is an integer of the payload, at a place that is known. */
    private boolean load(int i, NumberExpression value) {
        return switch (value) {
            case FieldValue field -> {
                offsets[i] = field.field().offset();
                loads[i] = code(field.field().sizeBytes(), field.field().signed());
                yield true;
            }
            case CastExpression cast -> cast.type().sizeBytes() == 8 && load(i, cast.operand());
            case ElementExpression element -> element(i, element);
            default -> false;
        };
    }

    private boolean element(int i, ElementExpression element) {
        Field array = element.array().field();
        CIntegerType type = element.type();
        int size = element.elementBytes();
        if (!(element.index() instanceof ConstantExpression(long index, _))
                || array.kind() != Field.Kind.ARRAY
                || type.sizeBytes() != size
                || index < 0
                || index >= array.sizeBytes() / size) {
            return false;
        }
        offsets[i] = array.offset() + (int) index * size;
        loads[i] = ELEMENT + code(size, !type.unsigned());
        return true;
    }

    private static int code(int sizeBytes, boolean signed) {
        return Integer.numberOfTrailingZeros(sizeBytes) + (signed ? 4 : 0);
    }

    /** Appends the text of an event. */
    void append(TextBuffer out, Batch batch, int row) {
        for (int i = 0; i < steps.length; i++) {
            int step = steps[i];
            if (step == TEXT) {
                out.put(texts[i]);
                continue;
            }
            if (step == PIECE) {
                pieces[i].append(out, batch, row);
                continue;
            }
            long value = value(batch, row, loads[i], offsets[i]) << shifts[i];
            switch (step) {
                case DECIMAL -> out.decimal(value >> shifts[i]);
                case UNSIGNED -> out.unsigned(value >>> shifts[i]);
                default -> out.hex(value >>> shifts[i], digits[i]);
            }
        }
    }

    private static long value(Batch batch, int row, int load, int offset) {
        if (load >= ELEMENT) {
            int end = offset + (1 << (load & 3));
            return end > batch.payloadBytes(row) ? 0 : value(batch, row, load - ELEMENT, offset);
        }
        return switch (load) {
            case 0 -> batch.u8(row, offset);
            case 1 -> batch.u16(row, offset);
            case 2 -> batch.u32(row, offset) & 0xffff_ffffL;
            case 4 -> (byte) batch.u8(row, offset);
            case 5 -> (short) batch.u16(row, offset);
            case 6 -> batch.u32(row, offset);
            default -> batch.u64(row, offset);
        };
    }
}
