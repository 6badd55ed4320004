package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ftrace.PrintExpression.NumberExpression;

/** A piece of a format string with its arguments. */
sealed interface PrintConversion
        permits PrintConversion.LiteralText,
                PrintConversion.NumberConversion,
                PrintConversion.StringConversion,
                PrintConversion.PointerConversion,
                RawField {
    /** Appends the piece for that row. */
    void append(TextBuffer out, Batch batch, int row);

    /**
     * What stands between % and the letter.
     *
     * @param width least columns, -1 for none
     * @param precision -1 for none
     * @param lengthBytes what h, l, ll, z make of an int: 1, 2, 4 or 8
     */
    record ConversionSpec(
            boolean left,
            boolean plus,
            boolean blank,
            boolean alternative,
            boolean zero,
            int width,
            int precision,
            int lengthBytes,
            char letter) {
        boolean isPlain() {
            return width < 0 && precision < 0 && !plus && !blank && !alternative;
        }

        ConversionSpec withWidth(long value) {
            int columns = (int) Math.max(-4096, Math.min(4096, value));
            return new ConversionSpec(
                    left || columns < 0,
                    plus,
                    blank,
                    alternative,
                    zero,
                    Math.abs(columns),
                    precision,
                    lengthBytes,
                    letter);
        }

        ConversionSpec withPrecision(long value) {
            int digits = (int) Math.max(-1, Math.min(4096, value));
            return new ConversionSpec(
                    left, plus, blank, alternative, zero, width, digits, lengthBytes, letter);
        }
    }

    record LiteralText(byte[] text) implements PrintConversion {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            out.put(text);
        }
    }

    /**
     * {@code %d} and its kin.
     *
     * @param width the argument of a {@code *} before the point
     * @param precision the argument of a {@code *} behind it
     */
    record NumberConversion(
            ConversionSpec spec,
            NumberExpression value,
            @Nullable NumberExpression width,
            @Nullable NumberExpression precision)
            implements PrintConversion {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            long number = value.of(batch, row);
            if (width == null && precision == null) {
                number(out, spec, number);
                return;
            }
            number(out, starred(spec, width, precision, batch, row), number);
        }
    }

    /** {@code %s}. */
    record StringConversion(
            ConversionSpec spec,
            PrintArgument text,
            @Nullable NumberExpression width,
            @Nullable NumberExpression precision)
            implements PrintConversion {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            int start = out.size();
            text.append(out, batch, row);
            ConversionSpec used = starred(spec, width, precision, batch, row);
            finish(out, used, start);
        }
    }

    /** {@code %p}. */
    record PointerConversion(
            ConversionSpec spec, PointerText pointer, @Nullable NumberExpression width)
            implements PrintConversion {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            int bytes = width == null ? spec.width : (int) width.of(batch, row);
            pointer.append(out, batch, row, bytes);
        }
    }

    private static ConversionSpec starred(
            ConversionSpec spec,
            @Nullable NumberExpression width,
            @Nullable NumberExpression precision,
            Batch batch,
            int row) {
        ConversionSpec used = width == null ? spec : spec.withWidth((int) width.of(batch, row));
        return precision == null ? used : used.withPrecision((int) precision.of(batch, row));
    }

    /** Precision cuts a text, width fills it. */
    static void finish(TextBuffer out, ConversionSpec spec, int start) {
        if (spec.precision >= 0 && out.size() - start > spec.precision) {
            out.truncate(start + spec.precision);
        }
        if (spec.width > 0) {
            out.pad(start, spec.width, spec.left);
        }
    }

    /** A number as printf writes it. */
    static void number(TextBuffer out, ConversionSpec spec, long wide) {
        boolean signed = spec.letter == 'd' || spec.letter == 'i';
        long value = new CIntegerType(spec.lengthBytes, !signed).wrap(wide);
        if (spec.isPlain()) {
            switch (spec.letter) {
                case 'd', 'i' -> out.decimal(value);
                case 'u' -> out.unsigned(value);
                case 'x' -> out.hex(value, 1);
                default -> formatted(out, spec, value);
            }
            return;
        }
        if (spec.letter == 'x' && spec.precision < 0 && !spec.left) {
            int prefix = spec.alternative && value != 0 ? 2 : 0;
            if (spec.zero || spec.width <= 1) {
                out.put(prefix == 2 ? "0x" : "").hex(value, spec.width - prefix);
                return;
            }
        }
        formatted(out, spec, value);
    }

    private static void formatted(TextBuffer out, ConversionSpec spec, long value) {
        int start = out.size();
        if (spec.letter == 'c') {
            int character = (int) value & 0xff;
            if (character == 0) {
                return; // the end of a string that is put together
            }
            if (character < ' ' || character >= 0x7f) {
                out.put('\\').put('x').hex(character, 2);
            } else {
                out.put((char) character);
            }
            finish(out, spec.withPrecision(-1), start);
            return;
        }
        boolean negative = (spec.letter == 'd' || spec.letter == 'i') && value < 0;
        String digits =
                switch (spec.letter) {
                    case 'd', 'i' -> negative ? Long.toString(value).substring(1) : value + "";
                    case 'o' -> Long.toOctalString(value);
                    case 'x' -> Long.toHexString(value);
                    case 'X' -> Long.toHexString(value).toUpperCase(java.util.Locale.ROOT);
                    default -> Long.toUnsignedString(value);
                };
        String sign = negative ? "-" : spec.plus ? "+" : spec.blank ? " " : "";
        if (spec.alternative && value != 0) {
            sign = spec.letter == 'o' ? "0" : spec.letter == 'u' ? "" : "0" + spec.letter;
        }
        int least = spec.precision;
        if (least < 0 && spec.zero && !spec.left) {
            least = spec.width - sign.length();
        }
        out.put(sign.getBytes(StandardCharsets.US_ASCII));
        out.fill('0', least - digits.length());
        out.put(digits.getBytes(StandardCharsets.US_ASCII));
        if (spec.width > 0) {
            out.pad(start, spec.width, spec.left);
        }
    }
}
