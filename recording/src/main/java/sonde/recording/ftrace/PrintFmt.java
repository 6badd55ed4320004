package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.recording.ftrace.PrintArgument.PointedText;
import sonde.recording.ftrace.PrintConversion.ConversionSpec;
import sonde.recording.ftrace.PrintConversion.LiteralText;
import sonde.recording.ftrace.PrintConversion.NumberConversion;
import sonde.recording.ftrace.PrintConversion.PointerConversion;
import sonde.recording.ftrace.PrintConversion.StringConversion;
import sonde.recording.ftrace.PrintExpression.NumberExpression;
import sonde.recording.ftrace.PrintExpression.PayloadArray;
import sonde.recording.ftrace.PrintLexer.Kind;

/**
 * A {@code print fmt}, ready to write events as text.
 *
 * <p>What only the kernel could evaluate (functions of drivers, statement expressions) is shown as
 * {@code field=value} instead; {@link #isFallback()} tells.
 */
public final class PrintFmt {
    private final List<PrintConversion> pieces;
    private final PrintProgram program;
    private final String reason;

    private PrintFmt(List<PrintConversion> pieces, String reason) {
        this.pieces = List.copyOf(pieces);
        this.program = new PrintProgram(pieces);
        this.reason = reason;
    }

    /** Compiles the print format of a type; never fails. */
    public static PrintFmt of(EventType type, TextContext context) {
        try {
            return new PrintFmt(compile(type, context), "");
        } catch (UnsupportedPrintException e) {
            return new PrintFmt(fields(type), String.valueOf(e.getMessage()));
        }
    }

    /** Whether the fields are shown because the format cannot be followed. */
    public boolean isFallback() {
        return !reason.isEmpty();
    }

    /** What it writes, in order. */
    List<PrintConversion> pieces() {
        return pieces;
    }

    /** Why it cannot be followed, empty when it can. */
    public String fallbackReason() {
        return reason;
    }

    /** Appends the text of an event of the type this was made for. */
    public void append(TextBuffer out, Batch batch, int row) {
        program.append(out, batch, row);
    }

    private static List<PrintConversion> compile(EventType type, TextContext context)
            throws UnsupportedPrintException {
        PrintParser in = new PrintParser(type, context, PrintLexer.tokens(type.printFormat()));
        if (in.peek().kind() != Kind.STRING) {
            throw new UnsupportedPrintException("no print format");
        }
        StringBuilder literal = new StringBuilder();
        while (in.peek().kind() == Kind.STRING) {
            literal.append(in.take().text());
        }
        List<PrintExpression> arguments = new ArrayList<>();
        while (in.takes(",")) {
            arguments.add(in.argument());
        }
        if (in.peek().kind() != Kind.END) {
            throw new UnsupportedPrintException(in.peek().text() + " behind the arguments");
        }
        List<PrintConversion> pieces = new FormatString(literal.toString(), arguments, in).pieces();
        String opaque = in.opaque();
        if (opaque != null) {
            throw new UnsupportedPrintException(opaque);
        }
        return pieces;
    }

    /** name=value for every field that is not common. */
    private static List<PrintConversion> fields(EventType type) {
        List<PrintConversion> pieces = new ArrayList<>();
        for (Field field : type.fields()) {
            if (!field.name().startsWith("common_")) {
                pieces.add(new RawField(field, true));
            }
        }
        return pieces;
    }

    /** Cuts a format string and gives each conversion its arguments. */
    static final class FormatString {
        private final String format;
        private final List<PrintExpression> arguments;
        private final PrintParser parser;
        private final List<PrintConversion> pieces = new ArrayList<>();
        private int at;
        private int used;

        FormatString(String format, List<PrintExpression> arguments, PrintParser parser) {
            this.format = format;
            this.arguments = arguments;
            this.parser = parser;
        }

        List<PrintConversion> pieces() throws UnsupportedPrintException {
            StringBuilder literal = new StringBuilder();
            while (at < format.length()) {
                char c = format.charAt(at);
                if (c == '%' && format.startsWith("%%", at)) {
                    literal.append('%');
                    at += 2;
                } else if (c == '%') {
                    flush(literal);
                    at++;
                    conversion();
                } else if (c == '\\' && at + 1 < format.length()) {
                    literal.append(c).append(format.charAt(at + 1));
                    at += 2;
                } else {
                    literal.append(c);
                    at++;
                }
            }
            flush(literal);
            return pieces;
        }

        private void flush(StringBuilder literal) {
            if (!literal.isEmpty()) {
                pieces.add(new LiteralText(CString.unescape(literal.toString())));
                literal.setLength(0);
            }
        }

        private PrintExpression next() throws UnsupportedPrintException {
            if (used == arguments.size()) {
                throw new UnsupportedPrintException("fewer arguments than conversions");
            }
            return arguments.get(used++);
        }

        private void conversion() throws UnsupportedPrintException {
            String flags = run("-+ #0");
            NumberExpression width = star();
            int columns = digits();
            NumberExpression precision = null;
            int exact = -1;
            if (at < format.length() && format.charAt(at) == '.') {
                at++;
                precision = star();
                exact = Math.max(0, digits());
            }
            String length = run("hlLzZtjq");
            char letter = at < format.length() ? format.charAt(at++) : ' ';
            ConversionSpec spec =
                    new ConversionSpec(
                            flags.contains("-"),
                            flags.contains("+"),
                            flags.contains(" "),
                            flags.contains("#"),
                            flags.contains("0"),
                            columns,
                            exact,
                            lengthBytes(length),
                            letter);
            switch (letter) {
                case 'd', 'i', 'u', 'x', 'X', 'o', 'c' -> {
                    PrintExpression argument = next();
                    if (argument instanceof PayloadArray place
                            && place.field().kind() == Field.Kind.FLOAT) {
                        real(place.field());
                    } else {
                        pieces.add(
                                new NumberConversion(spec, numberOf(argument), width, precision));
                    }
                }
                case 's' -> pieces.add(characters(spec, next(), width, precision));
                case 'p' -> pointer(spec, width);
                default -> throw new UnsupportedPrintException("%" + letter);
            }
        }

        /** The format shows the bits of a floating point number, {@code 0x%Lx}: here its value. */
        private void real(Field field) {
            if (!pieces.isEmpty() && pieces.getLast() instanceof LiteralText before) {
                String text = new String(before.text(), StandardCharsets.ISO_8859_1);
                byte[] plain = text.replaceFirst("0x$", "").getBytes(StandardCharsets.ISO_8859_1);
                pieces.set(pieces.size() - 1, new LiteralText(plain));
            }
            pieces.add(new RawField(field, false));
        }

        private static NumberExpression numberOf(PrintExpression argument)
                throws UnsupportedPrintException {
            return PrintParser.value(argument);
        }

        private PrintConversion characters(
                ConversionSpec spec,
                PrintExpression argument,
                @Nullable NumberExpression width,
                @Nullable NumberExpression precision)
                throws UnsupportedPrintException {
            PrintArgument text = parser.text(argument);
            if (text == null) {
                text = new PointedText(PrintParser.value(argument), parser.context());
            }
            return new StringConversion(spec, text, width, precision);
        }

        private void pointer(ConversionSpec spec, @Nullable NumberExpression width)
                throws UnsupportedPrintException {
            int length = PointerText.lettersLength(format.substring(at));
            String letters = format.substring(at, at + length);
            at += length;
            PointerText pointer = new PointerText(letters, next(), parser.context());
            pieces.add(new PointerConversion(spec, pointer, width));
        }

        private String run(String of) {
            int start = at;
            while (at < format.length() && of.indexOf(format.charAt(at)) >= 0) {
                at++;
            }
            return format.substring(start, at);
        }

        private @Nullable NumberExpression star() throws UnsupportedPrintException {
            if (at < format.length() && format.charAt(at) == '*') {
                at++;
                return PrintParser.value(next());
            }
            return null;
        }

        private int digits() {
            int value = -1;
            while (at < format.length() && Character.isDigit(format.charAt(at))) {
                value = Math.min(4096, Math.max(value, 0) * 10 + format.charAt(at++) - '0');
            }
            return value;
        }

        private int lengthBytes(String length) {
            return switch (length) {
                case "" -> 4;
                case "h" -> 2;
                case "hh" -> 1;
                // A long of 4 bytes is printed from 8: trace-cmd shows an unsigned one whole.
                default -> 8;
            };
        }
    }
}
