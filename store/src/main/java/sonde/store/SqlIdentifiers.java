package sonde.store;

import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;

/** The identifiers and keywords of SQL text, in lower case; not those in texts and comments. */
record SqlIdentifiers(Set<String> all) {
    static SqlIdentifiers of(String sql) {
        Set<String> words = new LinkedHashSet<>();
        int at = 0;
        while (at < sql.length()) {
            char c = sql.charAt(at);
            int end = at + 1;
            if (c == '\'') {
                end = after(sql, at + 1, "'");
            } else if (c == '"') {
                end = after(sql, at + 1, "\"");
                words.add(lower(sql.substring(at + 1, Math.max(at + 1, end - 1))));
            } else if (sql.startsWith("--", at)) {
                end = after(sql, at, "\n");
            } else if (sql.startsWith("/*", at)) {
                end = after(sql, at + 2, "*/");
            } else if (Character.isLetter(c) || c == '_') {
                while (end < sql.length() && isPart(sql.charAt(end))) {
                    end++;
                }
                words.add(lower(sql.substring(at, end)));
            }
            at = end;
        }
        return new SqlIdentifiers(words);
    }

    private static boolean isPart(char c) {
        return Character.isLetterOrDigit(c) || c == '_';
    }

    private static int after(String sql, int from, String end) {
        int found = sql.indexOf(end, from);
        return found < 0 ? sql.length() : found + end.length();
    }

    private static String lower(String word) {
        return word.toLowerCase(Locale.ROOT);
    }
}
