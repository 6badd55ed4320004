package sonde.tools.explain;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A regular expression of a line, and the longest text that each match contains: most lines are
 * refused by a search for it.
 */
final class LinePattern {
    private final Pattern pattern;
    private final String literal;
    private final boolean isAnchored;

    LinePattern(String regex) {
        pattern = Pattern.compile(regex);
        literal = literal(regex);
        isAnchored = regex.startsWith("^");
    }

    /** The match in a line; null for none. A pattern that begins with ^ is tried there only. */
    @Nullable Matcher match(String text) {
        if (!text.contains(literal)) {
            return null;
        }
        Matcher matcher = pattern.matcher(text);
        boolean found = isAnchored ? matcher.lookingAt() : matcher.find();
        return found ? matcher : null;
    }

    /** The longest run of characters outside of groups, classes and choices; may be empty. */
    static String literal(String regex) {
        String longest = "";
        StringBuilder run = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < regex.length(); i++) {
            char c = regex.charAt(i);
            if (c == '|' && depth == 0) {
                return "";
            }
            boolean isPlain = depth == 0 && ".^$*+?{}()[]\\".indexOf(c) < 0;
            if (c == '\\') {
                char next = regex.charAt(++i);
                isPlain = depth == 0 && !Character.isLetterOrDigit(next);
                c = next;
            } else if (c == '[') {
                i = endOfClass(regex, i);
            } else {
                depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            }
            boolean isOptional = i + 1 < regex.length() && "?*{".indexOf(regex.charAt(i + 1)) >= 0;
            if (isPlain && !isOptional) {
                run.append(c);
                longest = run.length() > longest.length() ? run.toString() : longest;
            } else {
                run.setLength(0);
            }
        }
        return longest;
    }

    private static int endOfClass(String regex, int from) {
        int at = from + 1;
        while (regex.charAt(at) != ']' || at == from + 1) {
            at += regex.charAt(at) == '\\' ? 2 : 1;
        }
        return at;
    }
}
