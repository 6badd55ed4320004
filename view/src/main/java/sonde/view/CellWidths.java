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

    /** The text, with a mark in its middle where it is longer than a number of cells. */
    static String shorten(String text, int cells, boolean unicode) {
        if (width(text) <= cells) {
            return text;
        }
        int[] points = text.codePoints().toArray();
        int first = 0;
        int last = points.length;
        int left = cells - 1;
        for (boolean atEnd = true; first < last; atEnd = !atEnd) {
            int cost = width(atEnd ? points[last - 1] : points[first]);
            if (cost > left) {
                break;
            }
            left -= cost;
            if (atEnd) {
                last--;
            } else {
                first++;
            }
        }
        String mark = unicode ? "…" : "~";
        return new String(points, 0, first) + mark + new String(points, last, points.length - last);
    }

    /** The text on lines of so many cells, broken at spaces; longer words are shortened. */
    static List<String> lines(String text, int cells, boolean unicode) {
        if (text.length() <= cells && width(text) <= cells) {
            return List.of(text);
        }
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        int used = 0;
        for (String whole : text.split(" ", -1)) {
            String word = shorten(whole, cells, unicode);
            int wide = width(word);
            if (used > 0 && used + 1 + wide > cells) {
                lines.add(line.toString());
                line.setLength(0);
                used = 0;
            }
            line.append(used > 0 ? " " : "").append(word);
            used += (used > 0 ? 1 : 0) + wide;
        }
        lines.add(line.toString());
        return lines;
    }

    static String padRight(String text, int cells) {
        return text + " ".repeat(Math.max(0, cells - width(text)));
    }

    static String padLeft(String text, int cells) {
        return " ".repeat(Math.max(0, cells - width(text))) + text;
    }
}
