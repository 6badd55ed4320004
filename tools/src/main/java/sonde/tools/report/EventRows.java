package sonde.tools.report;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import sonde.analysis.Operator;
import sonde.analysis.filter.RowFilter;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.FrameNames;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.event.result.Frame;
import sonde.event.result.Listing;
import sonde.format.ctf.CtfRecording;
import sonde.format.ftrace.AddressNames;
import sonde.format.ftrace.CodeNames;
import sonde.format.ftrace.ColumnText;
import sonde.format.ftrace.EventJson;
import sonde.format.ftrace.EventListing;
import sonde.format.ftrace.EventListing.Part;
import sonde.format.ftrace.EventText;
import sonde.format.ftrace.FieldText;
import sonde.format.ftrace.PageLayout;
import sonde.format.ftrace.RowText;
import sonde.format.ftrace.TextContext;
import sonde.format.ftrace.ThreadNames;
import sonde.format.perfdata.PerfDataRecording;
import sonde.format.perfdata.ScriptText;
import sonde.format.perfdata.TracingData;
import sonde.format.text.TextRecording;
import sonde.format.tracedat.TraceDatRecording;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.Symbolizer;

/** The events of a recording, all its parts by time. */
final class EventRows implements Listing.Rows {
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
        boolean named =
                source.recordings().stream()
                        .anyMatch(one ->
                                one instanceof TraceDatRecording || one instanceof TextRecording);
        // A perf.data alone tells all names when they begin to hold.
        this.names = named ? ThreadNames.of(source.comms()) : ThreadNames.following();
    }

    @Override
    public void writeTo(OutputStream out, Listing.Form form) throws IOException {
        ListingOptions listing = options.listing();
        List<Source> sources = new ArrayList<>();
        for (Recording recording : source.recordings()) {
            if (recording instanceof TraceDatRecording trace && trace.latencyText().length > 0) {
                out.write(trace.latencyText());
            }
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
        return write(OutputStream.nullOutputStream(), Listing.Form.TEXT, Long.MAX_VALUE, -1);
    }

    private long write(OutputStream out, Listing.Form form, long skip, long most)
            throws IOException {
        try {
            return writeAll(out, form, skip, most);
        } finally {
            codes.forEach(PerfCode::close);
        }
    }

    private long writeAll(OutputStream out, Listing.Form form, long skip, long most)
            throws IOException {
        List<Part> parts = new ArrayList<>();
        boolean columns = form == Listing.Form.TEXT && !options.listing().fields().isUsual();
        for (Recording recording : source.recordings()) {
            if (columns && !(recording instanceof PerfDataRecording && source.meta() == null)) {
                parts.addAll(columns(recording));
                continue;
            }
            switch (recording) {
                case TraceDatRecording trace -> parts.addAll(parts(trace, form));
                case PerfDataRecording perf -> parts.addAll(parts(perf, form));
                case CtfRecording ctf -> parts.addAll(parts(ctf, form));
                case TextRecording text -> parts.addAll(parts(text, form));
                default -> parts.addAll(named(recording, form));
            }
        }
        EventFilter base = new EventFilter(source, options, names, symbols);
        if (!base.isEverything()) {
            Matches.checkEvents(
                    parts.stream().flatMap(part -> part.lane().source().types().stream()).toList(),
                    options.events());
        }
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
            throw Matches.noRow(options);
        }
        return rows;
    }

    /** Several files may be of several machines, each with its own threads. */
    private ThreadNames namesOf(Source of) {
        return namesOf.getOrDefault(of, names);
    }

    private List<Part> parts(TraceDatRecording trace, Listing.Form form) throws IOException {
        ThreadNames threads = source.isSeveral() ? ThreadNames.of(trace.comms()) : names;
        for (Source of : trace.sources()) {
            namesOf.put(of, threads);
        }
        EventText text = styled(trace.eventText(threads));
        text.offsetBy(trace.timeOffset() + options.listing().offsetNanos());
        TextContext context = trace.textContext();
        List<Part> parts = new ArrayList<>();
        Map<String, String> labels = labels(trace, form);
        for (Lane lane : trace.lanes()) {
            RowText row = text;
            if (form == Listing.Form.JSON_LINES) {
                row =
                        new EventJson(lane.source(), context, threads, AddressNames.NONE)
                                .offsetBy(trace.timeOffset());
            }
            parts.add(new Part(lane, row, labels.getOrDefault(lane.buffer(), "")));
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
    private Map<String, String> labels(TraceDatRecording trace, Listing.Form form) {
        // The buffers of a bundle are a matter of the recorder: they have no label.
        if (form != Listing.Form.TEXT || source.meta() != null) {
            return Map.of();
        }
        int columns = 0;
        for (Recording recording : source.recordings()) {
            if (recording instanceof TraceDatRecording one) {
                for (String buffer : one.buffers()) {
                    columns = Math.max(columns, label(one, buffer).length());
                }
            }
        }
        Map<String, String> labels = new HashMap<>();
        for (String buffer : trace.buffers()) {
            String label = label(trace, buffer);
            String padded = " ".repeat(columns - label.length()) + label;
            String end = label.isEmpty() ? "  " : ": ";
            labels.put(buffer, columns == 0 ? "" : padded + end);
        }
        return labels;
    }

    private String label(TraceDatRecording trace, String buffer) {
        return buffer.isEmpty() && source.isSeveral() ? source.fileOf(trace) : buffer;
    }

    /**
     * A perf.data by itself is told as perf script tells it; in a bundle it stands among others.
     */
    private List<Part> script(PerfDataRecording perf) throws IOException {
        PerfCode code = null;
        if (ScriptText.namesCode(perf)) {
            code = code(perf);
        }
        ScriptText text =
                new ScriptText(
                        perf,
                        context(perf),
                        code == null ? CodeNames.NONE : code,
                        options.listing().fields());
        if (!text.absent().isEmpty()) {
            throw Matches.noField(text.absent());
        }
        List<Part> parts = new ArrayList<>();
        for (Lane lane : perf.lanes()) {
            parts.add(new Part(lane, text, ""));
            scripts.add(lane.source());
        }
        return parts;
    }

    private List<Part> parts(PerfDataRecording perf, Listing.Form form) throws IOException {
        if (form == Listing.Form.TEXT && source.meta() == null) {
            return script(perf);
        }
        TextContext context = context(perf);
        ProcessMaps maps = new ProcessMaps();
        Symbolizer symbolizer = new Symbolizer(maps, KernelSymbols.none(), source.symbolOptions());
        source.jvmMaps().forEach((pid, text) -> symbolizer.addPerfMap(pid, 0, text));
        symbols.add(new ProcessSymbols(maps, symbolizer::frame, source.fileIds()));
        AddressNames addresses =
                (pid, address) -> {
                    Frame frame = symbolizer.frame(maps.location(pid, address));
                    return frame.name() + " (" + frame.module() + ")";
                };
        List<Part> parts = new ArrayList<>();
        for (Lane lane : perf.lanes()) {
            Source of = lane.source();
            RowText row =
                    form == Listing.Form.TEXT
                            ? styled(new EventText(of, context, names, addresses))
                                    .offsetBy(options.listing().offsetNanos())
                            : new EventJson(of, context, names, addresses);
            parts.add(new Part(lane, row, ""));
        }
        return parts;
    }

    /** Recordings whose call chains have names. */
    private List<Part> named(Recording recording, Listing.Form form) throws IOException {
        TextContext context = TextContext.of(PageLayout.NATIVE, new byte[0], new byte[0]);
        FrameNames frames = recording.frames();
        AddressNames chains =
                frames == null ? AddressNames.NONE : (pid, entry) -> frames.frame(entry).name();
        List<Part> parts = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            Source of = lane.source();
            RowText row =
                    form == Listing.Form.TEXT
                            ? new FieldText(of, names, frames, FieldText.Details.FIELDS)
                            : new EventJson(of, context, names, chains);
            parts.add(new Part(lane, row, ""));
        }
        return parts;
    }

    /** Names of code, fed by the rows of the listing; closed at its end. */
    private PerfCode code(PerfDataRecording perf) throws IOException {
        PerfCode code = new PerfCode(perf, source, options.listing().fields());
        codes.add(code);
        if (options.listing().first() < 0) { // a few rows are not worth another look at all
            code.lookAhead(perf);
        }
        symbols.add(code.follower());
        return code;
    }

    /** Any recording, with the fields that were asked for. */
    private List<Part> columns(Recording recording) throws IOException {
        Map<Source, RowText> rows = new IdentityHashMap<>();
        for (Source of : recording.sources()) {
            FieldText.Details details = FieldText.Details.FIELDS;
            PerfCode code = null;
            if (recording instanceof TraceDatRecording trace) {
                details = styled(trace.eventText(names))::appendBody;
            } else if (recording instanceof PerfDataRecording perf) {
                details = styled(new EventText(of, context(perf), names))::appendBody;
                code = code(perf);
            }
            rows.put(
                    of,
                    new ColumnText(
                            of,
                            names,
                            recording.frames(),
                            code,
                            details,
                            options.listing().fields()));
        }
        List<Part> parts = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            parts.add(new Part(lane, Objects.requireNonNull(rows.get(lane.source())), ""));
        }
        return parts;
    }

    private List<Part> parts(CtfRecording ctf, Listing.Form form) {
        ZoneId zone = ZoneId.systemDefault();
        Map<Source, RowText> rows = new IdentityHashMap<>();
        for (Source of : ctf.sources()) {
            boolean text = form == Listing.Form.TEXT;
            rows.put(of, text ? ctf.text(of, zone, names) : ctf.json(of, names));
        }
        List<Part> parts = new ArrayList<>();
        for (Lane lane : ctf.lanes()) {
            parts.add(new Part(lane, Objects.requireNonNull(rows.get(lane.source())), ""));
        }
        return parts;
    }

    private List<Part> parts(TextRecording text, Listing.Form form) {
        if (form == Listing.Form.TEXT) {
            return EventListing.labelled(text.lanes(), text.rowText(names));
        }
        TextContext context = TextContext.of(PageLayout.NATIVE, new byte[0], new byte[0]);
        List<Part> parts = new ArrayList<>();
        for (Lane lane : text.lanes()) {
            RowText row = new EventJson(lane.source(), context, names, AddressNames.NONE);
            parts.add(new Part(lane, row, ""));
        }
        return parts;
    }

    private TextContext context(PerfDataRecording perf) {
        TracingData tracing = perf.features().tracingData().orElse(null);
        byte[] printk = {};
        PageLayout layout = PageLayout.NATIVE;
        if (tracing != null) {
            printk = tracing.printk().getBytes(StandardCharsets.UTF_8);
            int longBytes = tracing.longBytes() == 4 ? 4 : 8;
            layout = new PageLayout(perf.order(), longBytes, 8 + longBytes);
        }
        return TextContext.of(layout, () -> kallsyms(perf), printk);
    }

    /** What the recording kept, else what perf knows: that takes the kernel 60 ms to print. */
    private byte[] kallsyms(PerfDataRecording perf) {
        return source.kallsyms().length > 0
                ? source.kallsyms()
                : RecordedKernel.kallsyms(perf, source.given().folders());
    }
}
