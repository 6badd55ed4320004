package sonde.tools.report;

import sonde.recording.ftrace.EventText.TimePrecision;
import sonde.recording.ftrace.ListedFields;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;

/** The arguments of {@code sonde report --events}. */
public final class ListingArguments {
    public static final String MODEL =
            """

            With --events:
              --first N       print the first N events
              --last N        print the last N events
              -N, --no-plugins
                              print fields by the event's format, without the forms of trace-cmd's
                              plugins
              -R, --raw       print fields by name, not in the event's format
              -t, --nanoseconds
                              print times with nine digits
              --time-format us|ns|raw
                              print seconds with six or nine digits, or the number recorded
                              (default us)
              --ts-offset NANOS
                              add this to every time (default 0)
              --ts-diff       print the time since the event before
              -F, --fields LIST
                              print these fields, as perf script -F: comm, tid, pid, time, cpu,
                              event, trace, period, ip, sym, symoff, dso, srcline, addr, ...;
                              +FIELD and -FIELD change the usual ones; KIND:LIST is for one kind:
                              hw, sw, trace or raw (repeatable)
              --full-source-path
                              with -F srcline: print folders of source files too
            """;

    private ListingArguments() {}

    private static ListedFields fields(GivenOptions given) {
        try {
            ListedFields parsed = ListedFields.parse(given.texts("--fields"));
            return given.has("--full-source-path") ? parsed.withFullSourcePaths() : parsed;
        } catch (ListedFields.UnknownFieldException e) {
            throw new OptionException(ReportRecipe.noField(e.word()));
        } catch (IllegalArgumentException e) {
            throw new OptionException("--fields: " + e.getMessage());
        }
    }

    public static ListingOptions options(GivenOptions given) {
        TimePrecision format =
                switch (given.text("--time-format", "us")) {
                    case "ns" -> TimePrecision.NANOS;
                    case "raw" -> TimePrecision.RAW;
                    default ->
                            given.has("--nanoseconds") ? TimePrecision.NANOS : TimePrecision.MICROS;
                };
        return new ListingOptions(
                FilterArguments.cpus(given),
                given.number("--first").orElse(-1),
                given.number("--last").orElse(-1),
                FilterArguments.filters(given),
                format,
                given.number("--ts-offset").orElse(0),
                given.has("--ts-diff"),
                given.has("--raw"),
                given.has("--no-plugins"),
                fields(given));
    }
}
