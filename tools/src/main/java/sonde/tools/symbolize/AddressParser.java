package sonde.tools.symbolize;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.symbol.line.SourceSymbols;

/**
 * Addresses as users write them: {@code 4011d6}, {@code 0x4011d6}, {@code main}, {@code main+0x1f}.
 */
final class AddressParser {
    /** Stands for a word that is no address: no code has this one. */
    static final long NONE = -1;

    /** Numbers that are words as well: {@code add}, {@code feed}. */
    private static final Pattern LETTERS = Pattern.compile("[a-f]{1,16}");

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
