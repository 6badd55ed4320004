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
    public static @Nullable Double from(GivenOptions given) {
        return part(given, 0);
    }

    /** Seconds from the start; null for the end. */
    public static @Nullable Double to(GivenOptions given) {
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

    public static Set<Integer> threads(GivenOptions given) {
        return new LinkedHashSet<>(given.numbers("--thread"));
    }

    public static List<Glob> comms(GivenOptions given) {
        return given.texts("--comm").stream().map(Glob::shell).toList();
    }

    public static List<Glob> types(GivenOptions given) {
        return given.texts("--event").stream().map(Glob::shell).toList();
    }

    public static Set<Integer> cpus(GivenOptions given) {
        return new LinkedHashSet<>(given.numbers("--cpu"));
    }

    public static List<RowFilter> filters(GivenOptions given) {
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
}
