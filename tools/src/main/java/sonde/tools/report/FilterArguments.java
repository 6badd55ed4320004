package sonde.tools.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.analysis.filter.FilterException;
import sonde.analysis.filter.RowFilter;
import sonde.event.Glob;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.report.StackOptions.StackOrder;

/** Which events of a recording are asked for. */
public final class FilterArguments {
    public static final String MODEL =
            """

            Filters:
              --time A,B      only from A to B, in seconds from the start; either may be empty
              --thread TID,...
                              only these threads
              --comm NAME     only threads with this name; globs are allowed (repeatable)
              --event NAME    only these event types; globs are allowed; report applies it to
                              --events and --stats (repeatable)
              --cpu N,...     only these CPUs; report applies it to --events
              --filter FILTER
                              only events that match 'SYSTEM/EVENT: FIELD == 1 && NAME ~ "sh*"';
                              without SYSTEM/EVENT all events that have the fields; report
                              applies it to --events (repeatable)
            """;

    private FilterArguments() {}

    /** Seconds from the start; null for the beginning. */
    private static @Nullable Double from(GivenOptions given) {
        return part(given, 0);
    }

    /** Seconds from the start; null for the end. */
    private static @Nullable Double to(GivenOptions given) {
        return part(given, 1);
    }

    private static @Nullable Double part(GivenOptions given, int which) {
        String time = given.text("--time");
        if (time == null) {
            return null;
        }
        String[] parts = time.split(",", 2);
        if (parts.length < 2) {
            throw new OptionException("--time takes A,B in seconds, not '" + time + "'");
        }
        String text = parts[which];
        try {
            return text.isBlank() ? null : Double.valueOf(text);
        } catch (NumberFormatException e) {
            throw new OptionException("--time: '" + text + "' is not a number of seconds");
        }
    }

    private static Set<Integer> threads(GivenOptions given) {
        return new LinkedHashSet<>(given.numbers("--thread"));
    }

    private static List<Glob> comms(GivenOptions given) {
        return given.texts("--comm").stream().map(Glob::shell).toList();
    }

    private static List<Glob> types(GivenOptions given) {
        return given.texts("--event").stream().map(Glob::shell).toList();
    }

    static Set<Integer> cpus(GivenOptions given) {
        return new LinkedHashSet<>(given.numbers("--cpu"));
    }

    static List<RowFilter> filters(GivenOptions given) {
        List<RowFilter> parsed = new ArrayList<>();
        for (String filter : given.texts("--filter")) {
            try {
                parsed.add(RowFilter.parse(filter));
            } catch (FilterException e) {
                throw new OptionException("--filter", e);
            }
        }
        return parsed;
    }

    /** What {@code sonde report} is asked for. */
    public static ReportOptions report(GivenOptions given, List<ReportSection> sections) {
        int rows = (int) given.number("--rows").orElse(0);
        ListingOptions listing = ListingArguments.options(given);
        ReportOptions options = options(given, sections, rows, listing, stacks(given));
        check(given, options);
        return options;
    }

    /** Refuses options that exclude each other. */
    private static void check(GivenOptions given, ReportOptions options) {
        boolean events = given.has("--events");
        boolean html = given.has("--html");
        if (html && given.has("--json")) {
            throw new OptionException("--html and --json exclude each other");
        }
        if (given.words().size() > 1 && !events) {
            throw new OptionException("several files are listed with --events only");
        }
        if (html && events) {
            throw new OptionException("--html and --events exclude each other");
        }
        List<String> ofListings = options.listing().given();
        if (!ofListings.isEmpty() && !events) {
            throw new OptionException(ofListings.getFirst() + " needs --events");
        }
        if (given.has("--event")
                && !events
                && options.sections().stream().noneMatch(ReportSection::takesEventNames)) {
            throw new OptionException("--event needs --events or --stats");
        }
    }

    /** Which events {@code sonde convert} writes. */
    public static ReportOptions export(GivenOptions given) {
        ListingOptions listing = ListingOptions.of(cpus(given), filters(given));
        return options(given, List.of(), 1, listing, StackOptions.DEFAULT);
    }

    private static ReportOptions options(
            GivenOptions given,
            List<ReportSection> sections,
            int rows,
            ListingOptions listing,
            StackOptions stacks) {
        return new ReportOptions(
                sections,
                from(given),
                to(given),
                threads(given),
                comms(given),
                types(given),
                rows,
                listing,
                stacks);
    }

    private static StackOptions stacks(GivenOptions given) {
        List<StackOptions.SortKey> keys = new ArrayList<>();
        for (String name : given.texts("--sort")) {
            try {
                keys.add(StackOptions.SortKey.named(name));
            } catch (IllegalArgumentException e) {
                throw new OptionException(
                        "--sort takes comm, pid, tid, dso, symbol and line, not '" + name + "'");
            }
        }
        return new StackOptions(
                given.text("--call-graph", "caller").equals("callee")
                        ? StackOrder.CALLEE
                        : StackOrder.CALLER,
                keys.isEmpty() ? StackOptions.DEFAULT.keys() : keys,
                given.has("--children"),
                !given.has("--no-inline"),
                given.has("--lines") || keys.contains(StackOptions.SortKey.LINE));
    }
}
