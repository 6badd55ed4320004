package sonde.event;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Names that somebody may have meant. */
public final class NearestNames {
    private static final int SHOWN = 8;

    private NearestNames() {}

    /**
     * {@code "; did you mean 'pid'?"}, or the names there are.
     *
     * @param otherwise before those names: {@code "it has "}
     */
    public static String suggestion(String wanted, List<String> names, String otherwise) {
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

    /** {@code "did you mean 'pid'?"}; empty where nothing is near. */
    public static String question(String wanted, Collection<String> names) {
        List<String> near = near(wanted, names);
        return near.isEmpty() ? "" : "did you mean '" + String.join("' or '", near) + "'?";
    }

    /** {@code "; did you mean 'pid'?"}; empty where nothing is near. */
    public static String meant(String wanted, Collection<String> names) {
        String question = question(wanted, names);
        return question.isEmpty() ? "" : "; " + question;
    }

    /** The three names that differ least, when they differ little. */
    public static List<String> near(String wanted, Collection<String> names) {
        String low = wanted.toLowerCase(Locale.ROOT);
        int limit = Math.max(1, wanted.length() / 3);
        return names.stream()
                .distinct()
                .filter(name -> Math.abs(name.length() - wanted.length()) <= limit)
                .map(name -> new Scored(name, distance(low, name.toLowerCase(Locale.ROOT))))
                .filter(one -> one.distance() <= limit)
                .sorted(Comparator.comparingInt(Scored::distance).thenComparing(Scored::name))
                .limit(3)
                .map(Scored::name)
                .toList();
    }

    private record Scored(String name, int distance) {}

    /** Changes of one letter, and of two neighbours that changed places. */
    public static int distance(String a, String b) {
        int[] before = new int[b.length() + 1];
        int[] last = new int[b.length() + 1];
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            last[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(change, 1 + Math.min(last[j], row[j - 1]));
                boolean swapped =
                        i > 1
                                && j > 1
                                && a.charAt(i - 1) == b.charAt(j - 2)
                                && a.charAt(i - 2) == b.charAt(j - 1);
                if (swapped) {
                    row[j] = Math.min(row[j], before[j - 2] + 1);
                }
            }
            int[] free = before;
            before = last;
            last = row;
            row = free;
        }
        return last[b.length()];
    }
}
