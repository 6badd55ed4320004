package sonde.tools.symbolize;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import sonde.symbol.line.SourceSymbols;

/**
 * Addresses as users write them: {@code 4011d6}, {@code 0x4011d6}, {@code main}, {@code main+0x1f},
 * {@code main+0x1f/0x40}.
 */
final class AddressParser {
    /** Stands for a word that is no address: no code has this one. */
    static final long NONE = -1;

    /** Numbers that are words as well: {@code add}, {@code feed}. */
    private static final Pattern LETTERS = Pattern.compile("[a-f]{1,16}");

    private static final Pattern SIZED =
            Pattern.compile(
                    "(?<name>\\S+)\\+0x(?<offset>[0-9a-f]{1,15})/0x(?<size>[0-9a-f]{1,15})");

    private final SourceSymbols symbols;
    private final long base;

    /**
     * @param section that numbers count from the start of; null for none
     */
    AddressParser(SourceSymbols symbols, @Nullable String section) throws IOException {
        this.symbols = symbols;
        long start = 0;
        if (section != null) {
            OptionalLong found = symbols.sectionStart(section);
            if (found.isEmpty()) {
                throw new IOException("there is no section " + section);
            }
            start = found.getAsLong();
        }
        base = start;
    }

    /** As {@link #parse(String)}, of bytes with spaces around; most are plain numbers. */
    long parse(byte[] bytes, int from, int to) throws IOException {
        int start = from;
        int end = to;
        while (start < end && bytes[start] <= ' ' && bytes[start] >= 0) {
            start++;
        }
        while (start < end && bytes[end - 1] <= ' ' && bytes[end - 1] >= 0) {
            end--;
        }
        boolean prefixed = end - start > 2 && bytes[start] == '0' && bytes[start + 1] == 'x';
        int first = prefixed ? start + 2 : start;
        long value = 0;
        boolean letters = true;
        for (int i = first; i < end; i++) {
            int c = bytes[i];
            int digit = c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
            letters &= digit >= 10 && !prefixed;
            if (digit < 0 || end - first > 15) {
                return parse(new String(bytes, start, end - start, StandardCharsets.UTF_8));
            }
            value = value << 4 | digit;
        }
        if (letters && first < end) {
            return parse(new String(bytes, start, end - start, StandardCharsets.UTF_8));
        }
        return first == end ? NONE : value + base;
    }

    private static String digits(String word) {
        return word.startsWith("0x") || word.startsWith("0X") ? word.substring(2) : word;
    }

    /** Whether a word is the number that also stands for no address. */
    static boolean isHighest(String word) {
        return digits(word).equals("ffffffffffffffff");
    }

    /** The address as stated in the ELF; {@link #NONE} for none. */
    long parse(String word) throws IOException {
        return all(word)[0];
    }

    private long unsized(String word) throws IOException {
        String digits = digits(word);
        long number = hexadecimal(digits);
        if (number != NONE && LETTERS.matcher(word).matches() && !symbols.isCode(number + base)) {
            long[] found = symbols.named(word);
            return found.length > 0 ? found[0] : number + base;
        }
        if (number != NONE || digits.equals("ffffffffffffffff")) {
            return number + base;
        }
        int plus = word.lastIndexOf('+');
        long offset = plus > 0 ? offset(word.substring(plus + 1)) : NONE;
        // operator+ is a name.
        long[] found = offset < 0 ? new long[0] : symbols.named(word.substring(0, plus));
        if (found.length > 0) {
            return found[0] + offset;
        }
        found = symbols.named(word);
        return found.length == 0 ? NONE : found[0];
    }

    /**
     * Addresses of {@code FUNCTION+0x1f/0x40}, as the kernel prints them: those of each function of
     * that name and size; of every other word its only one.
     */
    long[] all(String word) throws IOException {
        Matcher sized = SIZED.matcher(word);
        if (!sized.matches()) {
            return new long[] {unsized(word)};
        }
        long offset = hexadecimal(sized.group("offset"));
        long size = hexadecimal(sized.group("size"));
        long[] starts = symbols.addresses(sized.group("name"), size, LogFilter.MOST_PADDING);
        return starts.length == 0 || offset >= size
                ? new long[] {NONE}
                : LongStream.of(starts).map(start -> start + offset).toArray();
    }

    /** Why a word of a size has no address; empty for other words. */
    String mismatch(String word) throws IOException {
        Matcher sized = SIZED.matcher(word);
        if (!sized.matches() || symbols.addresses(sized.group("name")).length == 0) {
            return "";
        }
        return hexadecimal(sized.group("offset")) >= hexadecimal(sized.group("size"))
                ? "the offset is behind the end of the function"
                : "%s has another size in this file: it is of another build than the log"
                        .formatted(sized.group("name"));
    }

    private static long offset(String text) {
        if (text.startsWith("0x")) {
            return hexadecimal(text.substring(2));
        }
        long value = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = Character.digit(text.charAt(i), 10);
            if (digit < 0 || i > 17) {
                return NONE;
            }
            value = 10 * value + digit;
        }
        return text.isEmpty() ? NONE : value;
    }

    private static long hexadecimal(String digits) {
        if (digits.isEmpty() || digits.length() > 16) {
            return NONE;
        }
        long value = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = Character.digit(digits.charAt(i), 16);
            if (digit < 0) {
                return NONE;
            }
            value = value << 4 | digit;
        }
        return value;
    }
}
