package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The text of {@code /proc/kallsyms}: lines of {@code address type name[\t[module]]}. */
public final class KallsymsText {
    private KallsymsText() {}

    /** Takes one symbol. */
    @FunctionalInterface
    public interface SymbolTaker {
        /**
         * A line of the text.
         *
         * @param address as it stands there; 0 where the reader was not allowed to see it
         * @param type {@code T}, {@code t}, {@code W}, {@code d}, …
         * @param name offset of the name in the text; it ends before the next blank
         */
        void symbol(long address, byte type, int name);
    }

    /** Goes through all lines; those that are none of kallsyms are left out. */
    public static void forEach(byte[] text, SymbolTaker line) {
        int at = 0;
        while (at < text.length) {
            at = line(text, at, line);
        }
    }

    /** Goes through the lines of one name. */
    public static void named(byte[] text, String name, SymbolTaker line) {
        byte[] wanted = name.getBytes(StandardCharsets.UTF_8);
        forEach(
                text,
                (address, type, at) -> {
                    int end = at + wanted.length;
                    if (end <= text.length
                            && (end == text.length || text[end] <= ' ')
                            && Arrays.equals(text, at, end, wanted, 0, wanted.length)) {
                        line.symbol(address, type, at);
                    }
                });
    }

    /** Where a name ends that begins at an offset. */
    public static int nameEnd(byte[] text, int name) {
        int end = name;
        while (end < text.length && text[end] > ' ') {
            end++;
        }
        return end;
    }

    /** A name by its offset. */
    public static String name(byte[] text, int name) {
        return new String(text, name, nameEnd(text, name) - name, StandardCharsets.UTF_8);
    }

    /** The module of a symbol by the offset of its name; empty for the kernel itself. */
    public static String module(byte[] text, int name) {
        int open = nameEnd(text, name) + 1;
        if (open >= text.length || text[open - 1] != '\t' || text[open] != '[') {
            return "";
        }
        String rest = name(text, open + 1);
        return rest.endsWith("]") ? rest.substring(0, rest.length() - 1) : "";
    }

    /** Reads a line and gives the start of the next. */
    private static int line(byte[] text, int start, SymbolTaker line) {
        int at = start;
        long address = 0;
        int digit;
        while (at < text.length && (digit = hex(text[at])) >= 0) {
            address = address << 4 | digit;
            at++;
        }
        // " T x": blank, type, blank, name
        boolean fits = at > start && at + 3 < text.length;
        if (fits && text[at] == ' ' && text[at + 2] == ' ' && text[at + 3] > ' ') {
            line.symbol(address, text[at + 1], at + 3);
            at += 4;
        }
        while (at < text.length && text[at] != '\n') {
            at++;
        }
        return at + 1;
    }

    private static int hex(int c) {
        if (c >= '0' && c <= '9') {
            return c - '0';
        }
        int small = c | 0x20;
        return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
    }
}
