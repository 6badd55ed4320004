package sonde.recording.ftrace;

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
