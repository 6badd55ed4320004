package sonde.cli;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import sonde.analysis.filter.FilterException;
import sonde.analysis.filter.RowFilter;
import sonde.event.Glob;

/** Which events of a recording are asked for. */
final class FilterArguments {
    @Option(
            names = "--time",
            paramLabel = "A,B",
            description = "only from A to B, seconds from the start; either may be empty")
    private @Nullable String time;

    @Option(names = "--thread", split = ",", paramLabel = "TID", description = "only these threads")
    private Set<Integer> tids = new LinkedHashSet<>();

    @Option(
            names = "--comm",
            paramLabel = "NAME",
            description = "only threads of this name; globs; repeatable")
    private List<String> comms = new ArrayList<>();

    @Option(
            names = "--event",
            paramLabel = "NAME",
            description =
                    "only these event types; globs; repeatable (report: with --events and --stats)")
    private List<String> types = new ArrayList<>();

    @Option(
            names = "--cpu",
            split = ",",
            paramLabel = "N",
            description = "only these CPUs (report: with --events)")
    private Set<Integer> cpus = new LinkedHashSet<>();

    @Option(
            names = "--filter",
            paramLabel = "FILTER",
            description = {
                "only what passes, in the kernel's syntax; repeatable (report: with --events):",
                "'SYSTEM/EVENT: FIELD == 1 && NAME ~ \"sh*\"', without events for all that have"
                        + " the fields"
            })
    private List<String> filters = new ArrayList<>();

    FilterArguments() {
        // picocli fills the options
    }

    /** Seconds from the start; null for the beginning. */
    @Nullable Double from(CommandSpec spec) {
        return part(spec, 0);
    }

    /** Seconds from the start; null for the end. */
    @Nullable Double to(CommandSpec spec) {
        return part(spec, 1);
    }

    private @Nullable Double part(CommandSpec spec, int which) {
        if (time == null) {
            return null;
        }
        String[] parts = time.split(",", 2);
        if (parts.length < 2) {
            throw new ParameterException(
                    spec.commandLine(), "--time takes A,B in seconds, not '" + time + "'");
        }
        String text = parts[which];
        try {
            return text.isBlank() ? null : Double.valueOf(text);
        } catch (NumberFormatException e) {
            throw new ParameterException(
                    spec.commandLine(), "--time: '" + text + "' is no number of seconds");
        }
    }

    Set<Integer> tids() {
        return tids;
    }

    List<Glob> comms() {
        return comms.stream().map(Glob::shell).toList();
    }

    List<Glob> types() {
        return types.stream().map(Glob::shell).toList();
    }

    Set<Integer> cpus() {
        return cpus;
    }

    List<RowFilter> filters(CommandSpec spec) {
        List<RowFilter> parsed = new ArrayList<>();
        for (String filter : filters) {
            try {
                parsed.add(RowFilter.parse(filter));
            } catch (FilterException e) {
                throw new ParameterException(spec.commandLine(), "--filter", e);
            }
        }
        return parsed;
    }
}
