package sonde.recording.ctf.tsdl;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.BitMeaning;
import sonde.recording.ctf.tsdl.TsdlLexer.Kind;
import sonde.recording.ctf.tsdl.TsdlLexer.TsdlToken;

/** The attributes in braces of {@code integer}, {@code floating_point} and {@code string}. */
final class TsdlAttributes {
    private static final long MOST_ALIGNMENT = 1L << 32;

    private final TokenCursor tokens;
    private final boolean nativeBigEndian;
    private long size = -1;
    private long alignment = -1;
    private boolean signed;
    private boolean bigEndian;
    private int base = 10;
    private boolean character;
    private @Nullable String clock;
    private long exponent = -1;
    private long mantissa = -1;

    TsdlAttributes(TokenCursor tokens, boolean nativeBigEndian) {
        this.tokens = tokens;
        this.nativeBigEndian = nativeBigEndian;
        this.bigEndian = nativeBigEndian;
    }

    FieldClass integer() throws MalformedInputException {
        read();
        if (size > 64 && size <= FieldClass.WideInteger.MOST_BITS && clock == null) {
            return new FieldClass.WideInteger(
                    (int) size,
                    alignment > 0 ? alignment : size % 8 == 0 ? 8 : 1,
                    bigEndian,
                    false,
                    signed,
                    base);
        }
        if (size < 1 || size > 64) {
            throw tokens.malformed(
                    size < 0 ? "an integer without size" : "an integer of " + size + " bits");
        }
        return new BitField(
                (int) size,
                alignment > 0 ? alignment : size % 8 == 0 ? 8 : 1,
                bigEndian,
                false,
                signed,
                BitMeaning.INTEGER,
                base,
                character,
                List.of(),
                Set.of(),
                clock);
    }

    FieldClass real() throws MalformedInputException {
        read();
        long bits = exponent + mantissa;
        boolean known =
                bits == 16 && mantissa == 11
                        || bits == 32 && mantissa == 24
                        || bits == 64 && mantissa == 53
                        || bits == 128 && mantissa == 113;
        if (!known) {
            throw tokens.malformed(
                    "a floating_point of exp_dig " + exponent + " and mant_dig " + mantissa);
        }
        return new FieldClass.Real((int) bits, alignment > 0 ? alignment : 1, bigEndian, false);
    }

    void text() throws MalformedInputException {
        read();
    }

    private void read() throws MalformedInputException {
        tokens.expect("{");
        while (!tokens.accept("}")) {
            String name = tokens.word("an attribute");
            tokens.expect("=");
            switch (name) {
                case "size" -> size = tokens.number("a size");
                case "align" -> alignment = alignment(tokens.number("an alignment"));
                case "signed" -> signed = bool();
                case "byte_order" -> bigEndian = order(tokens, nativeBigEndian);
                case "base" -> base = base();
                case "encoding" -> character = encoding();
                case "map" -> clock = clock();
                case "exp_dig" -> exponent = tokens.number("digits");
                case "mant_dig" -> mantissa = tokens.number("digits");
                default -> skipValue();
            }
            tokens.expect(";");
        }
    }

    private long alignment(long value) throws MalformedInputException {
        if (Long.bitCount(value) != 1 || value < 0 || value > MOST_ALIGNMENT) {
            throw tokens.malformed("an alignment of " + value + " bits");
        }
        return value;
    }

    private boolean bool() throws MalformedInputException {
        TsdlToken token = tokens.take();
        if (token.kind() == Kind.NUMBER) {
            return token.number() != 0;
        }
        return switch (token.text().toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw tokens.malformed(token, "true or false wanted");
        };
    }

    /** {@code be}, {@code network}, {@code le} or {@code native}. */
    static boolean order(TokenCursor tokens, boolean nativeBigEndian)
            throws MalformedInputException {
        TsdlToken token = tokens.take();
        return switch (token.text()) {
            case "be", "network" -> true;
            case "le" -> false;
            case "native" -> nativeBigEndian;
            default -> throw tokens.malformed(token, "the byte order " + token.text());
        };
    }

    private int base() throws MalformedInputException {
        TsdlToken token = tokens.take();
        if (token.kind() == Kind.NUMBER) {
            long value = token.number();
            if (value == 2 || value == 8 || value == 10 || value == 16) {
                return (int) value;
            }
            throw tokens.malformed(token, "the base " + value);
        }
        return switch (token.text()) {
            case "decimal", "dec", "d", "i", "u" -> 10;
            case "hexadecimal", "hex", "x", "X", "p" -> 16;
            case "octal", "oct", "o" -> 8;
            case "binary", "b" -> 2;
            default -> throw tokens.malformed(token, "the base " + token.text());
        };
    }

    private boolean encoding() throws MalformedInputException {
        TsdlToken token = tokens.take();
        return switch (token.text()) {
            case "UTF8", "utf8", "utf-8", "UTF-8", "ASCII", "ascii" -> {
                if (tokens.accept("-")) {
                    tokens.take();
                }
                yield true;
            }
            case "none" -> false;
            default -> throw tokens.malformed(token, "the encoding " + token.text());
        };
    }

    /** {@code clock.NAME.value}. */
    private String clock() throws MalformedInputException {
        TsdlToken first = tokens.peek();
        StringBuilder path = new StringBuilder(tokens.word("a clock"));
        while (tokens.accept(".")) {
            path.append('.').append(tokens.word("a clock's name"));
        }
        String text = path.toString();
        if (!text.startsWith("clock.") || !text.endsWith(".value")) {
            throw tokens.malformed(first, "clock.NAME.value wanted, " + text + " found");
        }
        return text.substring("clock.".length(), text.length() - ".value".length());
    }

    private void skipValue() throws MalformedInputException {
        while (!tokens.peek().is(";")) {
            if (tokens.peek().kind() == Kind.END || tokens.peek().is("}")) {
                throw tokens.unexpected("';'");
            }
            tokens.take();
        }
    }
}
