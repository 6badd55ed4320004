package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.recording.ftrace.PrintConversion.LiteralText;
import sonde.recording.ftrace.PrintConversion.NumberConversion;
import sonde.recording.ftrace.PrintConversion.PointerConversion;
import sonde.recording.ftrace.PrintConversion.StringConversion;
import sonde.recording.ftrace.PrintExpression.CastExpression;
import sonde.recording.ftrace.PrintExpression.FieldValue;

/**
 * Every field as {@code name=value}, in the way of {@code trace-cmd report -R}: an integer that the
 * print format shows by itself is shown by that conversion, with the {@code 0x} before it.
 */
final class RawFields implements EventBody {
    private final List<PrintConversion> pieces = new ArrayList<>();

    private RawFields() {}

    static RawFields of(EventType type, PrintFmt format) {
        RawFields raw = new RawFields();
        List<PrintConversion> printed = format.isFallback() ? List.of() : format.pieces();
        for (Field field : type.fields()) {
            if (field.name().startsWith("common_")) {
                continue;
            }
            TextBuffer name = new TextBuffer(32).put(' ').put(field.name()).put('=');
            int at = field.kind() == Field.Kind.INTEGER ? shown(field, printed) : -1;
            if (at > 0 && endsWith0x(printed.get(at - 1))) {
                name.put("0x");
            }
            raw.pieces.add(new LiteralText(name.since(0)));
            raw.pieces.add(at < 0 ? new RawField(field, false) : printed.get(at));
        }
        return raw;
    }

    /** Index of the piece that shows the field and nothing else, -1 for none. */
    private static int shown(Field field, List<PrintConversion> pieces) {
        for (int i = 0; i < pieces.size(); i++) {
            PrintExpression argument =
                    switch (pieces.get(i)) {
                        case NumberConversion number -> number.value();
                        case PointerConversion pointer -> pointer.pointer().argument();
                        case LiteralText ignored -> null;
                        case StringConversion ignored -> null;
                        case RawField ignored -> null;
                    };
            if (isField(argument, field)) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isField(@Nullable PrintExpression argument, Field field) {
        PrintExpression inner = argument;
        while (inner instanceof CastExpression cast) {
            inner = cast.operand();
        }
        return inner instanceof FieldValue value && value.field().equals(field);
    }

    private static boolean endsWith0x(PrintConversion piece) {
        if (!(piece instanceof LiteralText literal)) {
            return false;
        }
        byte[] text = literal.text();
        int end = text.length;
        return end >= 2 && text[end - 2] == '0' && text[end - 1] == 'x';
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        for (PrintConversion piece : pieces) {
            piece.append(out, batch, row);
        }
        return false;
    }
}
