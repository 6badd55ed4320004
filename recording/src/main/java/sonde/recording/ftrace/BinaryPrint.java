package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.recording.ftrace.PrintConversion.ConversionSpec;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/**
 * {@code trace_printk}: the format string lies in the kernel (printk_formats), the arguments lie
 * packed in the event (lib/vsprintf.c vbin_printf).
 */
final class BinaryPrint {
    private static final Pattern CONVERSION =
            Pattern.compile(
                    "%([-+ #0]*)(\\*|\\d{1,4})?(?:\\.(\\*|\\d{0,4}))?([hlLzZtjq]*)([a-zA-Z%])");

    private final TextContext context;
    private final Field buf;
    private final Map<Long, List<FormatPiece>> formats = new ConcurrentHashMap<>();

    /**
     * A literal, or a conversion.
     *
     * @param text the literal, empty for a conversion
     * @param letters behind %p
     */
    private record FormatPiece(
            byte[] text,
            @Nullable ConversionSpec spec,
            boolean starWidth,
            boolean starPrecision,
            String letters) {}

    private BinaryPrint(TextContext context, Field buf) {
        this.context = context;
        this.buf = buf;
    }

    /** The text of {@code ftrace:bprint}; null when fields are missing. */
    static @Nullable EventBody body(EventType type, TextContext context) {
        IntegerField ip = EventBodies.integer(type, "ip");
        IntegerField fmt = EventBodies.integer(type, "fmt");
        Field buf = type.field("buf").orElse(null);
        if (ip == null || fmt == null || buf == null) {
            return null;
        }
        BinaryPrint print = new BinaryPrint(context, buf);
        return EventBody.of((out, batch, row) -> {
            EventBodies.function(out, context, ip.of(batch, row));
            out.put(": ");
            print.append(out, batch, row, fmt.of(batch, row));
        });
    }

    private void append(TextBuffer out, Batch batch, int row, long address) {
        byte[] format = context.printk(address);
        if (format == null) {
            out.put("[format at 0x").hex(address, 1).put(" unknown]");
            return;
        }
        List<FormatPiece> parts = formats.computeIfAbsent(address, key -> parts(format));
        PackedArguments arguments =
                new PackedArguments(batch, row, buf.offset(), context.longBytes());
        for (FormatPiece part : parts) {
            if (part.spec == null) {
                out.put(part.text);
            } else {
                convert(out, part, part.spec, arguments);
            }
        }
    }

    private void convert(
            TextBuffer out, FormatPiece part, ConversionSpec spec, PackedArguments arguments) {
        ConversionSpec used = part.starWidth ? spec.withWidth((int) arguments.next(4)) : spec;
        used = part.starPrecision ? used.withPrecision((int) arguments.next(4)) : used;
        int start = out.size();
        switch (spec.letter()) {
            case 's' -> {
                arguments.text(out);
                PrintConversion.finish(out, used, start);
            }
            case 'p' -> {
                char first = part.letters.isEmpty() ? 'x' : part.letters.charAt(0);
                if ("SsFfBxK".indexOf(first) < 0) {
                    // Rendered by the kernel when it recorded.
                    arguments.text(out);
                    return;
                }
                long value = arguments.next(context.longBytes());
                int symbol = first == 'x' || first == 'K' ? -1 : context.symbols().find(value);
                if (symbol < 0) {
                    out.put("0x").hex(value, 1);
                    return;
                }
                context.symbols().appendName(out, symbol);
                if (first == 'S' || first == 'F') {
                    out.put("+0x").hex(value - context.symbols().address(symbol), 1);
                }
            }
            default -> PrintConversion.number(out, used, arguments.next(spec.lengthBytes()));
        }
    }

    private List<FormatPiece> parts(byte[] bytes) {
        String format = new String(bytes, StandardCharsets.UTF_8);
        List<FormatPiece> parts = new ArrayList<>();
        Matcher matcher = CONVERSION.matcher(format);
        int at = 0;
        while (matcher.find(at)) {
            literal(parts, format.substring(at, matcher.start()));
            at = matcher.end();
            char letter = matcher.group(5).charAt(0);
            if (letter == '%') {
                literal(parts, "%");
                continue;
            }
            String letters = "";
            if (letter == 'p') {
                int length = PointerText.lettersLength(format.substring(at));
                letters = format.substring(at, at + length);
                at += length;
            }
            parts.add(part(matcher, letter, letters));
        }
        literal(parts, format.substring(at));
        return parts;
    }

    private FormatPiece part(Matcher matcher, char letter, String letters) {
        String flags = matcher.group(1);
        String width = matcher.group(2);
        String precision = matcher.group(3);
        int lengthBytes =
                switch (matcher.group(4)) {
                    case "" -> 4;
                    case "h" -> 2;
                    case "hh" -> 1;
                    case "l", "z", "Z", "t" -> context.longBytes();
                    default -> 8;
                };
        boolean starWidth = "*".equals(width);
        boolean starPrecision = "*".equals(precision);
        ConversionSpec spec =
                new ConversionSpec(
                        flags.contains("-"),
                        flags.contains("+"),
                        flags.contains(" "),
                        flags.contains("#"),
                        flags.contains("0"),
                        starWidth || width == null ? -1 : Integer.parseInt(width),
                        starPrecision || precision == null ? -1 : zeroOr(precision),
                        letter == 'c' ? 4 : lengthBytes,
                        letter);
        return new FormatPiece(new byte[0], spec, starWidth, starPrecision, letters);
    }

    private static int zeroOr(String digits) {
        return digits.isEmpty() ? 0 : Integer.parseInt(digits);
    }

    private static void literal(List<FormatPiece> parts, String text) {
        if (!text.isEmpty()) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            parts.add(new FormatPiece(bytes, null, false, false, ""));
        }
    }

    /** Walks the packed arguments. */
    private static final class PackedArguments {
        private final Batch batch;
        private final int row;
        private final int end;
        private final int longBytes;
        private int at;

        PackedArguments(Batch batch, int row, int at, int longBytes) {
            this.batch = batch;
            this.row = row;
            this.at = at;
            this.longBytes = longBytes;
            this.end = batch.payloadBytes(row);
        }

        /** The next integer; 0 behind the end. Eight bytes are aligned to four only. */
        long next(int sizeBytes) {
            int alignment = Math.min(sizeBytes, 4);
            at = (at + alignment - 1) / alignment * alignment;
            if (at + sizeBytes > end || sizeBytes > Math.max(8, longBytes)) {
                at = end;
                return 0;
            }
            long value = PayloadArray.integer(batch, row, at, sizeBytes);
            at += sizeBytes;
            return value;
        }

        /** The next string. */
        void text(TextBuffer out) {
            out.text(batch, row, at, end - at);
            while (at < end && batch.u8(row, at) != 0) {
                at++;
            }
            at++;
        }
    }
}
