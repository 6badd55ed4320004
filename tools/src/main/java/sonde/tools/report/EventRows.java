package sonde.tools.report;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.filter.RowFilter;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.event.result.Frame;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.open.ReportSource;
import sonde.recording.ftrace.AddressNames;
import sonde.recording.ftrace.CodeNames;
import sonde.recording.ftrace.ColumnText;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.EventListing.ListedLane;
import sonde.recording.ftrace.EventText;
import sonde.recording.ftrace.ListedFields;
import sonde.recording.ftrace.ListingRequest;
import sonde.recording.ftrace.ListingStyle;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.ThreadNames;
import sonde.symbol.ProcessMaps;
import sonde.symbol.line.CodeDetail;
import sonde.symbol.resolve.SymbolResolver;

/** The events of a recording, all its parts by time. */
final class EventRows implements Listing.ListingRows {
    private final ReportSource source;
    private final ReportOptions options;
    private final ThreadNames names;
    private final Map<Source, ThreadNames> namesOf = new IdentityHashMap<>();
    private final EventText.Latest latest = new EventText.Latest();
    private final List<Operator> symbols = new ArrayList<>();
    private final List<PerfCode> codes = new ArrayList<>();
    private final Set<Source> scripts = Collections.newSetFromMap(new IdentityHashMap<>());

    EventRows(ReportSource source, ReportOptions options) {
        this.source = source;
        this.options = options;
        boolean named = source.recordings().stream().anyMatch(one -> one.threadNames().isPresent());
        // A perf.data alone tells all names when they begin to hold.
        this.names = named ? ThreadNames.of(source.comms()) : ThreadNames.following();
    }

    @Override
    public void writeTo(OutputStream out, ListingForm form) throws IOException {
        ListingOptions listing = options.listing();
        List<Source> sources = new ArrayList<>();
        for (Recording recording : source.recordings()) {
            out.write(ListingStyle.of(recording).preface());
            sources.addAll(recording.sources());
        }
        for (RowFilter filter : listing.filters()) {
            filter.check(sources);
        }
        long skip = 0;
        if (listing.last() >= 0) {
            long all = new EventRows(source, options).count();
            skip = Math.max(0, all - listing.last());
        }
        write(out, form, skip, listing.first());
    }

    /** Rows that pass. */
    private long count() throws IOException {
        return write(OutputStream.nullOutputStream(), ListingForm.TEXT, Long.MAX_VALUE, -1);
    }

    private long write(OutputStream out, ListingForm form, long skip, long most)
            throws IOException {
        try {
            return writeAll(out, form, skip, most);
        } finally {
            codes.forEach(PerfCode::close);
        }
    }

    private long writeAll(OutputStream out, ListingForm form, long skip, long most)
            throws IOException {
        List<ListedLane> parts = parts(form);
        EventFilter base = filter(parts);
        EventListing.Filter filter = base.isEverything() ? EventListing.Filter.ALL : base;
        long rows;
        if (options.listing().selects() || skip > 0) {
            RowSelection selection =
                    new RowSelection(
                            filter,
                            options.listing(),
                            this::namesOf,
                            scripts::contains,
                            skip,
                            most);
            new EventListing(parts, selection).writeTo(out);
            rows = selection.accepted();
        } else {
            rows = new EventListing(parts, filter).writeTo(out);
        }
        if (options.isNarrow() && !base.isEverything() && !base.accepted()) {
            throw NoMatchMessages.noRow(options);
        }
        return rows;
    }

    /** The lanes of all recordings, each with what writes its rows. */
    List<ListedLane> parts(ListingForm form) throws IOException {
        List<ListedLane> parts = new ArrayList<>();
        boolean columns = form == ListingForm.TEXT && !options.listing().fields().isUsual();
        for (Recording recording : source.recordings()) {
            ReportListingRequest asked = new ReportListingRequest(recording);
            ListingStyle style = ListingStyle.of(recording);
            boolean own = asked.isAlone() && style.showsSamplesOnly();
            if (own && form == ListingForm.TEXT) {
                scripts.addAll(recording.sources());
            }
            parts.addAll(
                    columns && !own
                            ? columns(recording, style, asked)
                            : parts(recording, style, asked, form));
        }
        return parts;
    }

    /** What chooses the rows of parts; sees all of them, in order. */
    EventFilter filter(List<ListedLane> parts) throws IOException {
        EventFilter filter = new EventFilter(source, options, names, symbols);
        if (!filter.isEverything()) {
            NoMatchMessages.checkEvents(
                    parts.stream().flatMap(part -> part.lane().source().types().stream()).toList(),
                    options.events());
        }
        return filter;
    }

    /** Several files may be of several machines, each with its own threads. */
    private ThreadNames namesOf(Source of) {
        return namesOf.getOrDefault(of, names);
    }

    /** In the style of the recording, each line labelled with its buffer where that has several. */
    private List<ListedLane> parts(
            Recording recording, ListingStyle style, ReportListingRequest asked, ListingForm form)
            throws IOException {
        boolean text = form == ListingForm.TEXT;
        Map<Source, RowText> rows = new IdentityHashMap<>();
        for (Source of : recording.sources()) {
            namesOf.put(of, asked.threads());
            RowText row = text ? style.text(of, asked) : style.json(of, asked);
            if (!row.absent().isEmpty()) {
                throw NoMatchMessages.noField(row.absent());
            }
            rows.put(of, row);
        }
        Function<Lane, RowText> ofLane = lane -> Objects.requireNonNull(rows.get(lane.source()));
        if (text && style.buffers().isEmpty()) {
            return EventListing.labelled(recording.lanes(), ofLane);
        }
        Map<String, String> labels = text ? labels(recording, style) : Map.of();
        List<ListedLane> parts = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            String label = labels.getOrDefault(lane.buffer(), "");
            parts.add(new ListedLane(lane, ofLane.apply(lane), label));
        }
        return parts;
    }

    private EventText styled(EventText text) {
        ListingOptions listing = options.listing();
        text.withTimes(listing.timeFormat());
        if (listing.rawFields()) {
            text.withRawFields();
        }
        if (listing.plain()) {
            text.withoutForms();
        }
        return listing.differences() ? text.withDifferences(latest) : text;
    }

    /**
     * What stands before the lines of each buffer, in columns of equal width: of several files the
     * file for its first buffer, and the names of the others.
     */
    private Map<String, String> labels(Recording recording, ListingStyle style) {
        // The buffers of a bundle are a matter of the recorder: they have no label.
        if (source.meta() != null) {
            return Map.of();
        }
        int columns = 0;
        for (Recording one : source.recordings()) {
            for (String buffer : ListingStyle.of(one).buffers()) {
                columns = Math.max(columns, label(one, buffer).length());
            }
        }
        Map<String, String> labels = new HashMap<>();
        for (String buffer : style.buffers()) {
            String label = label(recording, buffer);
            String padded = " ".repeat(columns - label.length()) + label;
            String end = label.isEmpty() ? "  " : ": ";
            labels.put(buffer, columns == 0 ? "" : padded + end);
        }
        return labels;
    }

    private String label(Recording recording, String buffer) {
        return buffer.isEmpty() && source.isSeveral() ? source.fileOf(recording) : buffer;
    }

    /** Any recording, with the fields that were asked for. */
    private List<ListedLane> columns(
            Recording recording, ListingStyle style, ReportListingRequest asked)
            throws IOException {
        Map<Source, RowText> rows = new IdentityHashMap<>();
        for (Source of : recording.sources()) {
            rows.put(
                    of,
                    new ColumnText(
                            of,
                            names,
                            recording.frames(),
                            recording.hasKernelRecords() ? asked.code() : null,
                            style.details(of, asked),
                            options.listing().fields()));
        }
        List<ListedLane> parts = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            parts.add(new ListedLane(lane, Objects.requireNonNull(rows.get(lane.source())), ""));
        }
        return parts;
    }

    /** What is asked of the style of a recording. */
    private final class ReportListingRequest implements ListingRequest {
        private final Recording recording;
        private final ThreadNames threads;
        private @Nullable AddressNames addresses;
        private @Nullable PerfCode code;

        ReportListingRequest(Recording recording) {
            this.recording = recording;
            // Several files may be of several machines, each with its own threads.
            this.threads =
                    source.isSeveral()
                            ? recording.threadNames().map(ThreadNames::of).orElse(names)
                            : names;
        }

        @Override
        public boolean isAlone() {
            return source.meta() == null;
        }

        @Override
        public boolean isStacked(EventType type) {
            return source.isStacked(type.qualifiedName());
        }

        @Override
        public ListedFields fields() {
            return options.listing().fields();
        }

        @Override
        public EventText styled(EventText text, long offsetNanos) {
            return EventRows.this
                    .styled(text)
                    .offsetBy(offsetNanos + options.listing().offsetNanos());
        }

        @Override
        public ThreadNames threads() {
            return threads;
        }

        @Override
        public AddressNames addresses() throws IOException {
            AddressNames known = addresses;
            if (known == null) {
                known = named();
                addresses = known;
            }
            return known;
        }

        private AddressNames named() throws IOException {
            SymbolResolver resolver = RecordedCode.resolver(source, CodeDetail.NONE);
            ProcessMaps maps = resolver.maps();
            symbols.add(new ProcessSymbols(maps, resolver::function, source.fileIds()));
            return (pid, address) -> {
                Frame frame = resolver.function(maps.location(pid, address));
                return frame.name() + " (" + frame.module() + ")";
            };
        }

        /** Fed by the rows of the listing; closed at its end. */
        @Override
        public CodeNames code() throws IOException {
            PerfCode known = code;
            if (known == null) {
                known = new PerfCode(recording, source, options.listing().fields());
                code = known;
                codes.add(known);
                if (options.listing().first() < 0) { // a few rows are not worth another look at all
                    known.lookAhead(recording);
                }
                symbols.add(known.follower());
            }
            return known;
        }

        /** What the recording kept, else what perf knows: that takes the kernel 60 ms to print. */
        @Override
        public byte[] kallsyms() {
            return source.kallsyms().length > 0
                    ? source.kallsyms()
                    : RecordedKernel.kallsyms(recording, source.given().folders());
        }
    }
}
