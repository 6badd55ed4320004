package sonde.lang.output;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.lang.output.FormatConversion.Kind;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.VoidType;

/**
 * The format string of printf and its kin, parsed once. A conversion is {@code %}, then flags in
 * the order {@code - + space # 0}, a width, a precision, a length of {@code hh h l ll j z t L}, and
 * one of {@code d i u x X o c s p}, {@code r rx rh} for buffers, {@code gr} for gfp flags, {@code
 * %}. Whatever else follows a {@code %} is text.
 *
 * <p>As in bpftrace an integer without length is cut to 32 bits, and a precision counts for texts
 * alone.
 */
public final class PrintFormat {
    private static final int MAX_WIDTH = 65_535;

    private static final Pattern UNKNOWN = Pattern.compile("%[-+ #0-9.*hlLjzt]*[a-zA-Z]{1,2}");

    private final String format;
    private final byte[][] pieces;
    private final FormatConversion[] conversions;

    /** Which argument each conversion shows. */
    private final int[] argumentOf;

    /** Made when first asked for, which is with each line that is printed. */
    private @Nullable List<FormatWord> words;

    private PrintFormat(
            String format,
            List<byte[]> pieces,
            List<FormatConversion> conversions,
            int[] argumentOf) {
        this.format = format;
        this.pieces = pieces.toArray(byte[][]::new);
        this.conversions = conversions.toArray(FormatConversion[]::new);
        this.argumentOf = argumentOf;
    }

    /**
     * Takes a format apart.
     *
     * @param format escapes already replaced, one char (0 to 255) for each byte
     * @throws FormatException when a width or precision is above 65535
     */
    public static PrintFormat parse(String format) throws FormatException {
        List<byte[]> pieces = new ArrayList<>();
        List<FormatConversion> conversions = new ArrayList<>();
        StringBuilder piece = new StringBuilder();
        FormatReader reader = new FormatReader(format);
        int at = 0;
        while (at < format.length()) {
            FormatConversion conversion = format.charAt(at) == '%' ? reader.read(at) : null;
            if (conversion == null) {
                piece.append(format.charAt(at++));
                continue;
            }
            at = reader.at;
            if (conversion.spelling().equals("%")) {
                piece.append('%');
            } else {
                pieces.add(TextSink.scriptBytes(piece.toString()));
                piece.setLength(0);
                conversions.add(conversion);
            }
        }
        pieces.add(TextSink.scriptBytes(piece.toString()));
        int[] all = IntStream.range(0, conversions.size()).toArray();
        return new PrintFormat(format, pieces, conversions, all);
    }

    /**
     * The format as the kernel's own functions take it, with 8 bytes for each number
     * (bpf_bprintf_prepare of kernel/bpf/helpers.c); empty where it has something that they do not
     * know.
     */
    public static Optional<String> inKernel(String format) {
        PrintFormat parts;
        try {
            parts = parse(format);
        } catch (FormatException e) {
            return Optional.empty();
        }
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < parts.pieces.length; i++) {
            String piece = new String(parts.pieces[i], StandardCharsets.ISO_8859_1);
            out.append(piece.replace("%", "%%"));
            if (i < parts.conversions.length) {
                String known = parts.conversions[i].inKernel();
                if (known.isEmpty()) {
                    return Optional.empty();
                }
                out.append(known);
            }
        }
        return Optional.of(out.toString());
    }

    /** Reads one conversion by the grammar above. */
    private static final class FormatReader {
        private final String format;
        private int at;

        FormatReader(String format) {
            this.format = format;
        }

        /** Null when no conversion begins at the percent sign there. */
        @Nullable FormatConversion read(int percent) throws FormatException {
            at = percent + 1;
            boolean left = skip('-');
            boolean plus = skip('+');
            skip(' ');
            boolean prefixed = skip('#');
            boolean zeros = skip('0');
            int width = Math.max(0, count(percent));
            int precision = -1;
            if (at + 1 < format.length() && format.charAt(at) == '.') {
                int dot = at++;
                precision = count(percent);
                if (at == dot + 1) {
                    return null;
                }
            }
            int lengthStart = at;
            while (at < format.length() && "hlLjzt".indexOf(format.charAt(at)) >= 0) {
                at++;
            }
            String length = format.substring(lengthStart, at);
            String spelling = spelling();
            if (spelling == null) {
                return null;
            }
            Kind kind = kind(spelling);
            int bits = kind == Kind.GFP || kind == Kind.POINTER ? 64 : bits(length);
            return new FormatConversion(
                    kind, spelling, left, plus, prefixed, zeros, width, precision, bits);
        }

        private boolean skip(char wanted) {
            boolean found = at < format.length() && format.charAt(at) == wanted;
            at += found ? 1 : 0;
            return found;
        }

        /** A number, or a star that counts as none; -1 for neither. */
        private int count(int percent) throws FormatException {
            if (skip('*')) {
                return -1;
            }
            int start = at;
            int value = 0;
            while (at < format.length() && format.charAt(at) >= '0' && format.charAt(at) <= '9') {
                value = value * 10 + format.charAt(at++) - '0';
                if (value > MAX_WIDTH) {
                    throw new FormatException(
                            "a width or precision is at most " + MAX_WIDTH, percent);
                }
            }
            return at == start ? -1 : value;
        }

        private @Nullable String spelling() {
            for (String known : List.of("gr", "rh", "rx")) {
                if (format.startsWith(known, at)) {
                    at += 2;
                    return known;
                }
            }
            if (at < format.length() && "diouxXeEfFgGaAcspn%r".indexOf(format.charAt(at)) >= 0) {
                return format.substring(at, ++at);
            }
            return null;
        }
    }

    private static int bits(String length) {
        return switch (length) {
            case "hh" -> 8;
            case "h" -> 16;
            case "l", "ll", "j", "z", "t" -> 64;
            default -> 32;
        };
    }

    private static Kind kind(String spelling) {
        return switch (spelling) {
            case "d", "i" -> Kind.SIGNED;
            case "u" -> Kind.UNSIGNED;
            case "o" -> Kind.OCTAL;
            case "x" -> Kind.HEX;
            case "X" -> Kind.UPPER_HEX;
            case "c" -> Kind.CHARACTER;
            case "p" -> Kind.POINTER;
            case "gr" -> Kind.GFP;
            case "s" -> Kind.TEXT;
            case "r" -> Kind.BUFFER;
            case "rx" -> Kind.BUFFER_HEX;
            case "rh" -> Kind.BUFFER_DIGITS;
            default -> Kind.UNSUPPORTED;
        };
    }

    /**
     * A piece of a word.
     *
     * @param literal a text of the format; empty for a conversion
     * @param conversion null for a text
     * @param argument number of its argument
     */
    record WordPart(String literal, @Nullable FormatConversion conversion, int argument) {}

    /** What stands between blanks of the format. */
    record FormatWord(List<WordPart> parts) {
        /** The conversion, where there is nothing else. */
        @Nullable FormatConversion only() {
            return parts.size() == 1 ? parts.getFirst().conversion() : null;
        }

        /** As it is printed, without blanks that fill it up. */
        String text(TupleType arguments, byte[] bytes, int offset, ValueNames names) {
            TextSink text = TextSink.raw();
            for (WordPart part : parts) {
                if (part.conversion() == null) {
                    text.put(part.literal());
                } else if (part.argument() < arguments.fields().size()) {
                    TypeField field = arguments.fields().get(part.argument());
                    int at = offset + field.offsetBytes();
                    part.conversion().unpadded().write(field.type(), bytes, at, names, text);
                }
            }
            return text.toString();
        }

        /** Number of its first argument. */
        int first() {
            return parts.getFirst().argument();
        }

        /** Whether it only sets columns apart: {@code ->}. */
        boolean isRule() {
            return parts.stream()
                    .allMatch(part ->
                            part.conversion() == null
                                    && part.literal()
                                            .chars()
                                            .noneMatch(Character::isLetterOrDigit));
        }
    }

    /** The words of the format. */
    List<FormatWord> words() {
        List<FormatWord> known = words;
        if (known == null) {
            known = List.copyOf(split());
            words = known;
        }
        return known;
    }

    private List<FormatWord> split() {
        List<FormatWord> found = new ArrayList<>();
        List<WordPart> word = new ArrayList<>();
        for (int i = 0; i < pieces.length; i++) {
            for (String run : runs(pieces[i])) {
                if (run.isBlank() && !run.isEmpty()) {
                    end(word, found);
                } else if (!run.isEmpty()) {
                    word.add(new WordPart(run, null, 0));
                }
            }
            if (i < conversions.length) {
                word.add(new WordPart("", conversions[i], argumentOf[i]));
            }
        }
        end(word, found);
        return found;
    }

    /** Blanks and what stands between them, in turn. */
    private static String[] runs(byte[] piece) {
        return new String(piece, StandardCharsets.ISO_8859_1).splitWithDelimiters("[ \n]+", -1);
    }

    /** Without the words of these numbers and the blanks behind them. */
    PrintFormat without(Set<Integer> numbers) {
        List<byte[]> left = new ArrayList<>();
        List<FormatConversion> shown = new ArrayList<>();
        List<Integer> of = new ArrayList<>();
        StringBuilder piece = new StringBuilder();
        int word = 0;
        boolean inWord = false;
        for (int i = 0; i < pieces.length; i++) {
            for (String run : runs(pieces[i])) {
                boolean ends = inWord && run.isBlank() && !run.isEmpty();
                boolean dropped = numbers.contains(word);
                inWord = !ends && (inWord || !run.isBlank());
                word += ends ? 1 : 0;
                if (!dropped || !inWord && !ends) {
                    piece.append(run);
                } else if (ends) {
                    piece.append(run.replace(" ", "")); // line ends stay
                }
            }
            inWord |= i < conversions.length;
            if (i < conversions.length && !numbers.contains(word)) {
                left.add(TextSink.scriptBytes(piece.toString()));
                piece.setLength(0);
                shown.add(conversions[i]);
                of.add(argumentOf[i]);
            }
        }
        left.add(TextSink.scriptBytes(piece.toString()));
        int[] taken = of.stream().mapToInt(Integer::intValue).toArray();
        return new PrintFormat(format, left, shown, taken);
    }

    private static void end(List<WordPart> word, List<FormatWord> words) {
        if (!word.isEmpty()) {
            words.add(new FormatWord(List.copyOf(word)));
            word.clear();
        }
    }

    /** Whether a line ends with it. */
    boolean endsLine() {
        byte[] last = pieces[pieces.length - 1];
        return last.length > 0 && last[last.length - 1] == '\n';
    }

    /** How many arguments it takes. */
    public int count() {
        return conversions.length;
    }

    /** The most bytes of an argument that are shown, -1 for all: 3 for {@code %.3s}. */
    public int limit(int argument) {
        FormatConversion conversion = conversions[argument];
        return conversion.kind() == Kind.TEXT ? conversion.precision() : -1;
    }

    /** What is wrong with arguments of these types; null for nothing. */
    public @Nullable String check(List<ValueType> arguments) {
        if (arguments.size() != conversions.length) {
            String unknown = unknown();
            return (arguments.size() < conversions.length ? "not enough" : "too many")
                    + " arguments for format string ("
                    + arguments.size()
                    + " supplied, "
                    + conversions.length
                    + " expected"
                    + (unknown.isEmpty() ? "" : "; " + unknown + " is not a conversion")
                    + ")";
        }
        for (int i = 0; i < conversions.length; i++) {
            String wrong = check(conversions[i], arguments.get(i));
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }

    /** The first percent sign that stands for itself, with the letter behind it; empty for none. */
    private String unknown() {
        Matcher sign = UNKNOWN.matcher(format.replace("%%", ""));
        while (sign.find()) {
            try {
                if (parse(sign.group()).count() == 0) {
                    return sign.group().replaceFirst("(?<=[a-zA-Z]).$", "");
                }
            } catch (FormatException e) {
                return sign.group();
            }
        }
        return "";
    }

    private static @Nullable String check(FormatConversion conversion, ValueType type) {
        String spelling = conversion.spelling();
        if (type instanceof VoidType) {
            return "unable to print none type for specifier: " + spelling;
        }
        boolean fits =
                switch (conversion.kind()) {
                    case UNSUPPORTED -> false;
                    case TEXT -> true;
                    case BUFFER, BUFFER_HEX, BUFFER_DIGITS -> type instanceof BytesType;
                    case SIGNED, UNSIGNED, OCTAL, HEX, UPPER_HEX, CHARACTER, POINTER, GFP ->
                            FormatConversion.isNumber(type);
                };
        if (fits) {
            return null;
        }
        return conversion.kind() == Kind.UNSUPPORTED
                ? "unsupported format specifier: " + spelling
                : "unsupported format specifier for type '" + type + "': " + spelling;
    }

    /**
     * The text for people, control characters in the arguments made harmless.
     *
     * @param arguments how they lie from the offset on, one for each conversion
     */
    public String render(TupleType arguments, byte[] bytes, int offset, ValueNames names) {
        TextSink out = TextSink.forTerminal();
        render(arguments, bytes, offset, names, out);
        return out.toString();
    }

    /** The text for a command or a file name: every byte of the arguments as it is. */
    public byte[] renderRaw(TupleType arguments, byte[] bytes, int offset, ValueNames names) {
        TextSink out = TextSink.raw();
        render(arguments, bytes, offset, names, out);
        return out.since(0);
    }

    /** Appends the text; nothing is made on the way for numbers and texts. */
    public void render(
            TupleType arguments, byte[] bytes, int offset, ValueNames names, TextSink out) {
        List<TypeField> fields = arguments.fields();
        for (int i = 0; i < conversions.length; i++) {
            out.put(pieces[i]);
            if (argumentOf[i] < fields.size()) {
                TypeField field = fields.get(argumentOf[i]);
                conversions[i].write(field.type(), bytes, offset + field.offsetBytes(), names, out);
            }
        }
        out.put(pieces[conversions.length]);
    }

    @Override
    public String toString() {
        return format;
    }
}
