package sonde.probe.dynamic;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Names that somebody may have meant. */
final class Nearest {
    private static final int SHOWN = 8;

    private Nearest() {}

    /**
     * {@code "; did you mean 'pid'?"}, or the names there are.
     *
     * @param otherwise before those names: {@code "it has "}
     */
    static String suggestion(String wanted, List<String> names, String otherwise) {
        List<String> near = near(wanted, names);
        if (!near.isEmpty()) {
            return "; did you mean " + String.join(" or ", near) + "?";
        }
        if (names.isEmpty()) {
            return "";
        }
        List<String> shown = names.stream().distinct().limit(SHOWN).toList();
        String more = names.size() > SHOWN ? ", … (" + names.size() + ")" : "";
        return "; " + otherwise + String.join(", ", shown) + more;
    }

    /** The three names that differ least, when they differ little. */
    static List<String> near(String wanted, List<String> names) {
        String low = wanted.toLowerCase(Locale.ROOT);
        int limit = Math.max(1, wanted.length() / 3);
        return names.stream()
                .distinct()
                .filter(name -> name.length() < 200)
                .map(name -> new Scored(name, distance(low, name.toLowerCase(Locale.ROOT))))
                .filter(one -> one.distance() <= limit)
                .sorted(Comparator.comparingInt(Scored::distance).thenComparing(Scored::name))
                .limit(3)
                .map(Scored::name)
                .toList();
    }

    private record Scored(String name, int distance) {}

    /** Levenshtein. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(change, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
