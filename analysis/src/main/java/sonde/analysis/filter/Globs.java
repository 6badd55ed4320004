package sonde.analysis.filter;

import java.util.regex.Pattern;

/**
 * Patterns of the kernel's lib/glob.c: {@code *}, {@code ?}, {@code [a-z]}, {@code \} before one.
 */
final class Globs {
    private Globs() {}

    static Pattern pattern(String glob) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            // A bracket that closes at once is a member.
            boolean not = glob.startsWith("!", i + 1) || glob.startsWith("^", i + 1);
            int close = c == '[' ? glob.indexOf(']', i + (not ? 3 : 2)) : -1;
            if (c == '*') {
                // Several are as good as one, and much quicker.
                if (i == 0 || glob.charAt(i - 1) != '*') {
                    regex.append(".*");
                }
            } else if (c == '?') {
                regex.append('.');
            } else if (close > 0) {
                regex.append(set(glob.substring(i + 1, close)));
                i = close;
            } else {
                boolean escaped = c == '\\' && i + 1 < glob.length();
                regex.append(Pattern.quote(String.valueOf(escaped ? glob.charAt(++i) : c)));
            }
        }
        return Pattern.compile(regex.toString(), Pattern.DOTALL);
    }

    private static String set(String members) {
        boolean not = members.startsWith("!") || members.startsWith("^");
        StringBuilder set = new StringBuilder(not ? "[^" : "[");
        String rest = not ? members.substring(1) : members;
        for (int i = 0; i < rest.length(); i++) {
            char c = rest.charAt(i);
            boolean between = c == '-' && i > 0 && i + 1 < rest.length();
            // A range that goes backwards holds nothing but would be no pattern.
            boolean range = between && rest.charAt(i - 1) <= rest.charAt(i + 1);
            // A backslash before a letter or digit would mean something else.
            set.append(range || Character.isLetterOrDigit(c) ? "" : "\\").append(c);
        }
        return set.append(']').toString();
    }
}
