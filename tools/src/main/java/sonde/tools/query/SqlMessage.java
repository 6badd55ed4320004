package sonde.tools.query;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** DuckDB's message about a statement in one or two lines, with the names that would have fit. */
final class SqlMessage {
    private static final Pattern NO_TABLE =
            Pattern.compile("Table with name (.+?) does not exist!");
    private static final Pattern PLACE = Pattern.compile("^LINE (\\d+): (.*)$");

    private SqlMessage() {}

    /**
     * @param message as DuckDB gives it: what, perhaps a suggestion, LINE n: text, a caret
     * @param tables that the statement could have named
     */
    static String of(String message, List<String> tables) {
        List<String> lines = message.lines().toList();
        StringBuilder text = new StringBuilder(lines.isEmpty() ? "no message" : lines.getFirst());
        Matcher missing = NO_TABLE.matcher(text);
        if (missing.find()) {
            text.append(suggestion(missing.group(1), tables));
        } else if (lines.size() > 1 && lines.get(1).startsWith("Did you mean")) {
            text.append(' ').append(lines.get(1));
        }
        for (int i = 1; i < lines.size(); i++) {
            Matcher place = PLACE.matcher(lines.get(i));
            if (place.find()) {
                int caret = i + 1 < lines.size() ? lines.get(i + 1).indexOf('^') : -1;
                int column = caret - place.start(2) + 1;
                text.append("\nat line ").append(place.group(1));
                if (column > 0) {
                    text.append(", column ").append(column);
                }
                text.append(": ").append(place.group(2).strip());
                break;
            }
        }
        return text.toString();
    }

    private static String suggestion(String wanted, List<String> tables) {
        String word = wanted.replace("\"", "").toLowerCase(Locale.ROOT);
        int most = 2 + word.length() / 4;
        List<String> near =
                tables.stream()
                        .filter(table -> nearness(word, table) <= most)
                        .sorted(Comparator.comparingInt(table -> nearness(word, table)))
                        .limit(3)
                        .map(table -> table.contains(".") ? '"' + table + '"' : table)
                        .toList();
        return near.isEmpty() ? "" : " Nearest: " + String.join(", ", near) + ".";
    }

    /** Edits to a name, or to what stands behind its group: sched_switch of sched.sched_switch. */
    private static int nearness(String word, String table) {
        String name = table.substring(table.lastIndexOf('.') + 1);
        return Math.min(distance(word, table), distance(word, name));
    }

    /** Edits between two names. */
    private static int distance(String one, String table) {
        String other = table.toLowerCase(Locale.ROOT);
        if (one.length() > 200 || other.length() > 200) {
            return Integer.MAX_VALUE;
        }
        int[] row = new int[other.length() + 1];
        for (int j = 0; j <= other.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int corner = row[0];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int up = row[j];
                int change = corner + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(change, Math.min(up, row[j - 1]) + 1);
                corner = up;
            }
        }
        return row[other.length()];
    }
}
