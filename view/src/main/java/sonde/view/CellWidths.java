package sonde.view;

import java.util.ArrayList;
import java.util.List;

/** Widths of text in terminal cells. */
final class CellWidths {
    private CellWidths() {}

    /** Cells that escaped text takes: 0 for combining marks, 2 for East Asian wide letters. */
    static int width(String text) {
        int cells = 0;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            cells += width(c);
        }
        return cells;
    }

    /** Blocks that UAX #11 calls wide; fine differences inside the blocks do not matter here. */
    private static int width(int c) {
        if (c < 0x300) {
            return 1;
        }
        int type = Character.getType(c);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
            return 0;
        }
        boolean wide =
                c >= 0x1100 && c <= 0x115f
                        || c >= 0x2e80 && c <= 0xa4cf
                        || c >= 0xac00 && c <= 0xd7a3
                        || c >= 0xf900 && c <= 0xfaff
                        || c >= 0xfe30 && c <= 0xfe6f
                        || c >= 0xff00 && c <= 0xff60
                        || c >= 0x1f300 && c <= 0x1faff
                        || c >= 0x20000 && c <= 0x3fffd;
        return wide ? 2 : 1;
    }

    /** The text, cut to a number of cells with a mark where something is missing. */
    static String cut(String text, int cells, boolean unicode) {
        if (text.length() <= cells && width(text) <= cells) {
            return text;
        }
        String mark = unicode ? "…" : "~";
        int used = 0;
        int end = 0;
        while (end < text.length()) {
            int c = text.codePointAt(end);
            if (used + width(c) > cells - 1) {
                break;
            }
            used += width(c);
            end += Character.charCount(c);
        }
        return cells <= 0 ? "" : width(text) <= cells ? text : text.substring(0, end) + mark;
    }

    /** The text on lines of so many cells: broken at spaces where there are any, else anywhere. */
    static List<String> lines(String text, int cells) {
        if (text.length() <= cells && width(text) <= cells) {
            return List.of(text);
        }
        List<String> lines = new ArrayList<>();
        int start = 0;
        while (start < text.length()) {
            int end = start;
            int used = 0;
            int space = -1;
            while (end < text.length()) {
                int c = text.codePointAt(end);
                if (used + width(c) > cells && end > start) {
                    break;
                }
                space = c == ' ' && end > start ? end : space;
                used += width(c);
                end += Character.charCount(c);
            }
            if (end < text.length() && text.charAt(end) == ' ') {
                space = end;
            }
            boolean broken = end < text.length() && space > start;
            lines.add(text.substring(start, broken ? space : end));
            start = broken ? space + 1 : end;
        }
        return lines;
    }

    static String padRight(String text, int cells) {
        return text + " ".repeat(Math.max(0, cells - width(text)));
    }

    static String padLeft(String text, int cells) {
        return " ".repeat(Math.max(0, cells - width(text))) + text;
    }
}
