package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import sonde.format.ftrace.EventText.TimeFormat;
import sonde.format.ftrace.ListedFields;
import sonde.tools.report.ListingOptions;
import sonde.tools.report.ReportRecipe;

/** The arguments of {@code sonde report --events}. */
final class ListingArguments {
    @Option(
            names = "--first",
            paramLabel = "N",
            defaultValue = "-1",
            description = "with --events: the first N")
    private long first = -1;

    @Option(
            names = "--last",
            paramLabel = "N",
            defaultValue = "-1",
            description = "with --events: the last N")
    private long last = -1;

    @Option(
            names = {"-N", "--no-plugins"},
            description =
                    "with --events: by the event's format alone, without the forms of trace-cmd's"
                            + " plugins")
    private boolean plain;

    @Option(
            names = {"-R", "--raw"},
            description = "with --events: fields by name, not in the event's format")
    private boolean raw;

    @Option(
            names = {"-t", "--nanoseconds"},
            description = "with --events: times with nine digits")
    private boolean nanoseconds;

    @Option(
            names = "--time-format",
            paramLabel = "us|ns|raw",
            defaultValue = "us",
            description = "with --events: seconds with six or nine digits, or the number recorded")
    private String timeFormat = "us";

    @Option(
            names = "--ts-offset",
            paramLabel = "NANOS",
            defaultValue = "0",
            description = "with --events: added to every time shown")
    private long offset;

    @Option(names = "--ts-diff", description = "with --events: the time since the event before")
    private boolean differences;

    @Option(
            names = {"-F", "--fields"},
            paramLabel = "LIST",
            description = {
                "with --events: these fields, as perf script -F: comm,tid,pid,time,cpu,event,",
                "trace,period,ip,sym,symoff,dso,srcline,addr,…; +FIELD,-FIELD changes the usual ones;",
                "KIND:LIST speaks of one kind (hw, sw, trace, raw); repeatable"
            })
    private List<String> fields = new ArrayList<>();

    @Option(
            names = "--full-source-path",
            description = "with -F srcline: the folders of source files, too")
    private boolean fullSourcePaths;

    ListingArguments() {}

    private ListedFields fields(CommandSpec spec) {
        try {
            ListedFields parsed = ListedFields.parse(fields);
            return fullSourcePaths ? parsed.withFullSourcePaths() : parsed;
        } catch (ListedFields.UnknownFieldException e) {
            throw new ParameterException(spec.commandLine(), ReportRecipe.noField(e.word()));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--fields: " + e.getMessage());
        }
    }

    ListingOptions options(CommandSpec spec, FilterArguments filters) {
        TimeFormat format =
                switch (timeFormat.toLowerCase(Locale.ROOT)) {
                    case "us" -> nanoseconds ? TimeFormat.NANOS : TimeFormat.MICROS;
                    case "ns" -> TimeFormat.NANOS;
                    case "raw" -> TimeFormat.RAW;
                    default ->
                            throw new ParameterException(
                                    spec.commandLine(),
                                    "--time-format is us, ns or raw, not '" + timeFormat + "'");
                };
        return new ListingOptions(
                filters.cpus(),
                first,
                last,
                filters.filters(spec),
                format,
                offset,
                differences,
                raw,
                plain,
                fields(spec));
    }
}
