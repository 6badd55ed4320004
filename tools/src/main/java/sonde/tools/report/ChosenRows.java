package sonde.tools.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.stream.Collectors;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.RecordedLosses;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.filter.RowFilter;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Glob;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.open.ReportSource;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.ThreadNames;

/**
 * The rows that a listing of the events of a recording shows, for who writes them elsewhere: those
 * of the recorded processes, and of these what was asked for.
 */
public final class ChosenRows implements EventListing.Filter {
    /** What goes along with the rows that were chosen. */
    public enum Along {
        /** Nothing. */
        NOTHING,
        /** Rows that tell names of threads, processes and tracks, and units. */
        NAMES,
        /** Records of perf: names, mappings, births. */
        RECORDS,
    }

    private final EventFilter base;
    private final EventListing.Filter rows;
    private final ReportOptions options;
    private final Along along;
    private final CountedThreads tree;
    private final boolean everything;
    private final RecordedLosses losses = new RecordedLosses();
    private long seen;
    private long leftOut;

    /**
     * @param everybody whether rows count that are not of the recorded processes, too
     */
    public ChosenRows(ReportSource source, ReportOptions options, boolean everybody, Along along)
            throws IOException {
        this.options = options;
        this.along = along;
        tree = everybody ? CountedThreads.everything() : source.tree();
        List<Source> sources = new ArrayList<>();
        boolean named = false;
        for (Recording recording : source.recordings()) {
            sources.addAll(recording.sources());
            named |= recording.threadNames().isPresent();
        }
        for (RowFilter filter : options.listing().filters()) {
            filter.check(sources);
        }
        NoMatchMessages.checkEvents(
                sources.stream().flatMap(of -> of.types().stream()).toList(), options.events());
        // A perf.data alone tells all names when they begin to hold.
        ThreadNames names = named ? ThreadNames.of(source.comms()) : ThreadNames.following();
        base = new EventFilter(source, tree, options, names, List.of());
        boolean selects = options.listing().selects();
        rows =
                selects
                        ? new RowSelection(base, options.listing(), of -> names, of -> false, 0, -1)
                        : base;
        everything = base.isEverything() && !selects;
    }

    @Override
    public boolean accepts(Batch batch, int row) {
        if (losses.select(batch.source())[batch.type(row)] != 0) {
            losses.accept(batch, row, row + 1);
        }
        if (everything) {
            return true;
        }
        boolean shown = rows.accepts(batch, row);
        EventType type = batch.source().types().get(batch.type(row));
        if (!shown && goesAlong(type, batch, row)) {
            return true;
        }
        if (!type.system().equals(EventType.PERF_RECORD)) {
            seen++;
            leftOut += shown ? 0 : 1;
        }
        return shown;
    }

    /** Whatever the time: programs are mapped before their threads begin to count. */
    private boolean goesAlong(EventType type, Batch batch, int row) {
        boolean record = type.system().equals(EventType.PERF_RECORD);
        boolean named =
                record && type.name().equals("comm")
                        || type.system().equals("trace")
                        || type.qualifiedName().equals("slice:track");
        boolean wanted =
                switch (along) {
                    case NOTHING -> false;
                    case NAMES -> named;
                    case RECORDS -> named || record;
                };
        return wanted && base.isOfTree(batch.pid(row), batch.tid(row));
    }

    /** The choice as a condition on the SQL table {@code events} and those of event types. */
    public String sql(ReportSource source) throws IOException {
        StringJoiner all = new StringJoiner(" AND ").setEmptyValue("true");
        TimeWindow window = ReportOperators.window(source, options);
        if (!window.equals(TimeWindow.ALL)) {
            all.add("ts >= " + window.from() + " AND ts < " + window.to());
        }
        if (!tree.all()) {
            all.add("ts >= " + (tree.fromExec() ? tree.execTime() : 0));
            all.add("tid IN (" + numbers(counted(source)) + ")");
        } else if (!tree.recorder().isEmpty()) {
            all.add("(tid IS NULL OR tid NOT IN (" + numbers(tree.recorder()) + "))");
        }
        if (!options.tids().isEmpty()) {
            all.add("tid IN (" + numbers(options.tids()) + ")");
        }
        if (!options.listing().cpus().isEmpty()) {
            all.add("cpu IN (" + numbers(options.listing().cpus()) + ")");
        }
        if (!options.comms().isEmpty()) {
            StringJoiner names = new StringJoiner(" OR ");
            for (Glob comm : options.comms()) {
                String glob = comm.toString().replace("[", "[[]").replace("'", "''");
                names.add("name GLOB '" + glob + "'");
            }
            all.add("utid IN (SELECT utid FROM thread WHERE " + names + ")");
        }
        return all.toString();
    }

    private Set<Integer> counted(ReportSource source) throws IOException {
        ThreadTable threads = new ThreadTable(tree, source.comms());
        Engine.run(source.recordings(), List.of(threads), 0);
        Set<Integer> tids = new TreeSet<>(Set.of(-1));
        for (int thread = 0; thread < threads.size(); thread++) {
            if (threads.countsFrom(thread) != ThreadTable.NEVER) {
                tids.add(threads.tid(thread));
            }
        }
        return tids;
    }

    private static String numbers(Set<Integer> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    /** Whether an event type is asked for, as SQL calls it: {@code system.name}. */
    public boolean takes(String table) {
        String name = table.substring(table.indexOf('.') + 1);
        return ReportOptions.fits(options.events(), table.replaceFirst("\\.", ":"))
                || ReportOptions.fits(options.events(), name);
    }

    /** Notices of losses among the rows so far. */
    public RecordedLosses losses() {
        return losses;
    }

    /**
     * Says what was left out, after the last row; nothing when nothing was.
     *
     * @throws NothingMatchesException when it was everything that was asked for
     */
    public List<String> notes() throws NothingMatchesException {
        return notes(seen, leftOut);
    }

    /**
     * As above, where another one counted.
     *
     * @param seen events there are
     * @param leftOut of them
     */
    public List<String> notes(long seen, long leftOut) throws NothingMatchesException {
        boolean narrow = options.isNarrow() || options.listing().selects();
        if (narrow && seen > 0 && leftOut == seen) {
            throw NoMatchMessages.noRow(options);
        }
        if (leftOut == 0) {
            return List.of();
        }
        StringJoiner why = new StringJoiner(", ", "", "");
        if (narrow) {
            why.add("by " + NoMatchMessages.filters(options));
        }
        if (!tree.all()) {
            why.add("not of the recorded processes: --all has them");
        } else if (!tree.recorder().isEmpty()) {
            why.add("the recorder's own: --all has them");
        }
        return List.of(
                String.format(Locale.ROOT, "%,d of %,d events left out (%s)", leftOut, seen, why));
    }
}
