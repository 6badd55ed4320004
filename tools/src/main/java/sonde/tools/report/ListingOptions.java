package sonde.tools.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.analysis.filter.RowFilter;
import sonde.recording.ftrace.EventText.TimePrecision;
import sonde.recording.ftrace.ListedFields;

/**
 * How events are listed, besides what {@link ReportOptions} selects.
 *
 * @param cpus that count; empty for all
 * @param first most rows from the beginning; negative for no limit
 * @param last most rows up to the end; negative for no limit
 * @param filters of which a row must pass one; empty for all rows
 * @param timeFormat of text
 * @param offsetNanos added to every time shown
 * @param differences whether the time since the event before is shown
 * @param rawFields whether fields are shown by name instead of in the event's own format
 * @param plain whether events are told by their print formats alone, without the forms that
 *     trace-cmd's plugins give some of them
 * @param fields which fields are shown, and in which columns: those of {@code perf script}
 */
public record ListingOptions(
        Set<Integer> cpus,
        long first,
        long last,
        List<RowFilter> filters,
        TimePrecision timeFormat,
        long offsetNanos,
        boolean differences,
        boolean rawFields,
        boolean plain,
        ListedFields fields) {
    /** Everything, as trace-cmd report shows it. */
    public static final ListingOptions ALL =
            new ListingOptions(
                    Set.of(),
                    -1,
                    -1,
                    List.of(),
                    TimePrecision.MICROS,
                    0,
                    false,
                    false,
                    false,
                    ListedFields.USUAL);

    /** With the usual fields. */
    public ListingOptions(
            Set<Integer> cpus,
            long first,
            long last,
            List<RowFilter> filters,
            TimePrecision timeFormat,
            long offsetNanos,
            boolean differences,
            boolean rawFields,
            boolean plain) {
        this(
                cpus,
                first,
                last,
                filters,
                timeFormat,
                offsetNanos,
                differences,
                rawFields,
                plain,
                ListedFields.USUAL);
    }

    /** Some of the events, listed as usual. */
    public static ListingOptions of(Set<Integer> cpus, List<RowFilter> filters) {
        return new ListingOptions(
                cpus, -1, -1, filters, TimePrecision.MICROS, 0, false, false, false);
    }

    public ListingOptions {
        cpus = Set.copyOf(cpus);
        filters = List.copyOf(filters);
    }

    /** Whether rows are left out. */
    boolean selects() {
        return !cpus.isEmpty() || first >= 0 || last >= 0 || !filters.isEmpty();
    }

    /**
     * Names of the options that are not as in {@link #ALL}: only a listing of events takes them.
     */
    public List<String> given() {
        Map<String, Boolean> options = new LinkedHashMap<>();
        options.put("--cpu", !cpus.isEmpty());
        options.put("--filter", !filters.isEmpty());
        options.put("--first", first >= 0);
        options.put("--last", last >= 0);
        options.put("--fields", !fields.isUsual());
        options.put("--raw", rawFields);
        options.put("--no-plugins", plain);
        options.put("--time-format", timeFormat != TimePrecision.MICROS);
        options.put("--ts-offset", offsetNanos != 0);
        options.put("--ts-diff", differences);
        return options.entrySet().stream()
                .filter(Map.Entry::getValue)
                .map(Map.Entry::getKey)
                .toList();
    }
}
