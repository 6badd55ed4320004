package sonde.tools.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.stream.Collectors;
import sonde.event.EventType;
import sonde.event.Glob;
import sonde.event.NearestNames;
import sonde.recording.ftrace.ListedFields.ListedField;

/** Says which filter of a report leaves nothing. */
final class NoMatchMessages {
    private static final int MAX_NAMES = 5;

    private NoMatchMessages() {}

    /**
     * Checks {@code --event} patterns against the types that have rows.
     *
     * @throws NothingMatchesException naming the pattern and the nearest names
     */
    static void checkEvents(Collection<EventType> types, List<Glob> patterns)
            throws NothingMatchesException {
        TreeSet<String> names = new TreeSet<>();
        types.forEach(type -> names.add(type.qualifiedName()));
        for (Glob pattern : patterns) {
            if (types.stream()
                    .noneMatch(type ->
                            pattern.matches(type.qualifiedName())
                                    || pattern.matches(type.name()))) {
                throw new NothingMatchesException(
                        "no event of this recording matches '"
                                + pattern
                                + "'"
                                + nearest(pattern.toString(), names));
            }
        }
    }

    /** What kept every thread from being shown. */
    static NothingMatchesException noThread(ReportOperators found, ReportOptions options) {
        TreeSet<String> names = new TreeSet<>();
        TreeSet<Integer> tids = new TreeSet<>();
        for (int thread = 0; thread < found.threads().size(); thread++) {
            if (found.mayCount(thread)) {
                names.add(found.threads().name(thread));
                tids.add(found.threads().tid(thread));
            }
        }
        boolean noName =
                names.stream().noneMatch(name -> ReportOptions.fits(options.comms(), name));
        boolean noTid =
                !options.tids().isEmpty() && tids.stream().noneMatch(options.tids()::contains);
        if (noName) {
            String asked =
                    options.comms().stream()
                            .map(Glob::toString)
                            .collect(Collectors.joining("', '"));
            return new NothingMatchesException(
                    "no recorded thread is called '" + asked + "'" + nearest(asked, names));
        }
        if (noTid) {
            return new NothingMatchesException(
                    "no recorded thread has the number "
                            + list(options.tids().stream().sorted().map(String::valueOf).toList())
                            + "; there are "
                            + list(tids.stream().map(String::valueOf).toList()));
        }
        return new NothingMatchesException(nothing(options));
    }

    /** The message of a listing without a row. */
    static NothingMatchesException noRow(ReportOptions options) {
        return new NothingMatchesException(nothing(options));
    }

    private static String nothing(ReportOptions options) {
        return "nothing in this recording fits " + filters(options);
    }

    /** The options that leave rows out. */
    static String filters(ReportOptions options) {
        StringJoiner filters = new StringJoiner(" and ");
        if (!options.events().isEmpty()) {
            filters.add("--event");
        }
        if (!options.comms().isEmpty()) {
            filters.add("--comm");
        }
        if (!options.tids().isEmpty()) {
            filters.add("--thread");
        }
        if (options.fromSeconds() != null || options.toSeconds() != null) {
            filters.add("--time");
        }
        if (!options.listing().cpus().isEmpty()) {
            filters.add("--cpu");
        }
        if (!options.listing().filters().isEmpty()) {
            filters.add("--filter");
        }
        return filters.toString();
    }

    /** What to do about fields that no sample has. */
    static NothingMatchesException noField(Set<ListedField> absent) {
        String names = String.join(", ", absent.stream().map(ListedField::word).toList());
        return new NothingMatchesException(
                "no sample of this recording has " + names + ": perf record was not asked for it");
    }

    /** A message about a word of --fields that is not a field. */
    static String noField(String word) {
        return "--fields: '"
                + word
                + "' is not a field"
                + nearest(
                        word, Arrays.stream(ListedField.values()).map(ListedField::word).toList());
    }

    /** "; the nearest are …" or, where none is near, "; there are …"; empty without a name. */
    private static String nearest(String asked, Collection<String> names) {
        List<String> sorted = new ArrayList<>(names);
        String plain = asked.replaceAll("[*?]", "").toLowerCase(Locale.ROOT);
        sorted.sort(
                Comparator.comparingInt((String name) -> distance(plain, name))
                        .thenComparing(Comparator.naturalOrder()));
        List<String> near =
                sorted.stream()
                        .filter(name -> distance(plain, name) <= asked.length() / 2)
                        .toList();
        if (near.isEmpty()) {
            return names.isEmpty() ? "" : "; there are " + list(List.copyOf(names));
        }
        return "; the nearest are " + list(near);
    }

    private static String list(List<String> names) {
        String text = String.join(", ", names.subList(0, Math.min(MAX_NAMES, names.size())));
        return names.size() > MAX_NAMES ? text + ", …" : text;
    }

    /** Changes to the name or its part behind the colon; 0 for a part of it. */
    private static int distance(String asked, String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (!asked.isEmpty() && lower.contains(asked)) {
            return 0;
        }
        String tail = lower.substring(lower.indexOf(':') + 1);
        return 1
                + Math.min(NearestNames.distance(asked, lower), NearestNames.distance(asked, tail));
    }
}
