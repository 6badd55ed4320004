package sonde.view;

/**
 * Makes text of traced programs harmless. Names, paths and arguments are whatever a program chose:
 * terminal sequences, line ends, letters that reverse the direction of a line.
 */
public final class TextEscape {
    private static final char[] HEX = "0123456789abcdef".toCharArray();

    private TextEscape() {}

    /**
     * The text on one line that a terminal shows as it is: C0 and C1 controls become {@code \xNN};
     * direction marks, invisible characters, unpaired surrogates and line separators become {@code
     * \}{@code uNNNN}. Everything else is unchanged.
     */
    public static String line(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x20 || c > 0x7e) {
                return escaped(text, i);
            }
        }
        return text;
    }

    private static String escaped(String text, int from) {
        StringBuilder out = new StringBuilder(text.length() + 16).append(text, 0, from);
        for (int i = from; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (c < 0x20 || c >= 0x7f && c <= 0x9f) {
                hex(out.append("\\x"), c, 2);
            } else if (isHidden(c)) {
                hex(out.append("\\u"), c, c > 0xffff ? 6 : 4);
            } else {
                out.appendCodePoint(c);
            }
        }
        return out.toString();
    }

    /** The text without the characters beyond ASCII that sonde itself writes. */
    static String ascii(String text) {
        return text.replace("…", "...")
                .replace('×', 'x')
                .replace('µ', 'u')
                .replace('›', '>')
                .replace('·', '-')
                .replace('–', '-');
    }

    private static boolean isHidden(int c) {
        return switch (Character.getType(c)) {
            case Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED ->
                    true;
            default -> false;
        };
    }

    static void hex(StringBuilder out, int value, int digits) {
        for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
            out.append(HEX[value >> shift & 15]);
        }
    }

    /** The text with unpaired surrogates replaced by U+FFFD, so that it has a UTF-8 form. */
    static String wellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                if (isPair(text, i)) {
                    i++;
                } else {
                    return replaced(text);
                }
            }
        }
        return text;
    }

    private static boolean isPair(String text, int i) {
        return Character.isHighSurrogate(text.charAt(i))
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
    }

    private static String replaced(String text) {
        StringBuilder out = new StringBuilder(text.length());
        text.codePoints()
                .map(c -> c >= 0xd800 && c <= 0xdfff ? 0xfffd : c)
                .forEach(out::appendCodePoint);
        return out.toString();
    }
}
