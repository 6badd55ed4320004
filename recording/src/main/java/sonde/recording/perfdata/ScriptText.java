package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_DUMMY;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CALLCHAIN;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CPU;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IP;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TIME;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_BREAKPOINT;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_TRACEPOINT;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.recording.ftrace.CodeNames;
import sonde.recording.ftrace.EventText;
import sonde.recording.ftrace.ListedFields;
import sonde.recording.ftrace.ListedFields.Kind;
import sonde.recording.ftrace.ListedFields.ListedField;
import sonde.recording.ftrace.PackedText;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.TextBuffer;
import sonde.recording.ftrace.TextContext;
import sonde.recording.ftrace.ThreadNames;

/**
 * Writes samples as {@code perf script} does without options (tools/perf/builtin-script.c, 6.1):
 * {@code "comm tid [cpu] time: period event: ip symbol+offset (file)"}, for tracepoints their text
 * in place of period and ip, with call chains a line each behind. Other records only tell names.
 */
final class ScriptText implements RowText {
    // PERF_CONTEXT_MAX: markers lie above it.
    private static final long CONTEXT_MAX = PerfAbi.PERF_CONTEXT_MAX;
    private static final int COMM_COLUMNS = 16;
    // PERF_MAX_STACK_DEPTH, what perf script shows unless told otherwise
    private static final int MOST_FRAMES = 127;
    private static final int OUTPUT_TYPES = 8;
    private static final int FLAGS_COLUMNS = 24;
    private static final int HEADS = 64;

    /** Without the digits behind the point. */
    private static final int SECONDS_COLUMNS = 6;

    private static final PackedText COLON = PackedText.of(": ");

    private final @Nullable SampleShape[] shapes;
    private final ScriptNames names;
    private final CodeNames symbols;
    private final EventText texts;
    private final boolean[] teaches;
    // Of each type, whether its rows name code.
    private final boolean[] located;
    // Of each type, whether its rows teach nothing and name no code.
    private final boolean[] free;
    private final ListedFields fields;
    private final StatText counts;
    private final EnumSet<ListedField> absent;
    private final @Nullable LineHead[] heads = new @Nullable LineHead[HEADS];

    /** How samples of a type are written. */
    private record SampleShape(
            EnumSet<ListedField> shown,
            boolean usual,
            boolean thread,
            boolean cpu,
            boolean time,
            boolean period,
            PackedText name,
            boolean trace,
            @Nullable IntegerField[] more,
            boolean ip,
            boolean chain,
            ScriptParts parts) {
        /** Whether nothing but the text of a tracepoint follows its name. */
        boolean isText() {
            return usual && trace && !ip;
        }

        boolean namesCode() {
            return ip || parts.namesCode();
        }
    }

    /** A writer for the rows of a recording. */
    public ScriptText(PerfDataRecording recording, TextContext context, CodeNames symbols) {
        this(recording, context, symbols, ListedFields.USUAL);
    }

    /** With the fields that were asked for. */
    public ScriptText(
            PerfDataRecording recording,
            TextContext context,
            CodeNames symbols,
            ListedFields fields) {
        this.symbols = symbols;
        this.fields = fields;
        this.names = new ScriptNames(recording.source());
        this.texts =
                new EventText(recording.source(), context, ThreadNames.of(Map.of())).withoutForms();
        List<EventType> types = recording.source().types();
        counts = new StatText(recording);
        shapes = new @Nullable SampleShape[types.size()];
        teaches = new boolean[types.size()];
        for (int i = 0; i < teaches.length; i++) {
            teaches[i] = names.teaches(i);
        }
        absent = EnumSet.allOf(ListedField.class);
        located = new boolean[types.size()];
        int columns = columns(recording);
        for (int i = 0; i < recording.attrs().size(); i++) {
            EventType type = recording.typeOf(i);
            SampleShape shape = shape(recording, i, type, columns);
            if (shapes[type.id()] == null) {
                shapes[type.id()] = shape;
                located[type.id()] = shape.namesCode();
            }
            absent.retainAll(absent(recording.attrs().get(i).attr(), shape));
        }
        free = new boolean[types.size()];
        for (int i = 0; i < free.length; i++) {
            free[i] = !teaches[i] && !counts.writes(i) && !located[i];
        }
    }

    /** Fields that were asked for and that samples of an attr do not have. */
    private EnumSet<ListedField> absent(PerfAttr attr, SampleShape shape) {
        EnumSet<ListedField> none = fields.asked(Kind.of(attr.type()));
        EnumSet<ListedField> found = EnumSet.allOf(ListedField.class);
        found.removeAll(shape.parts.absent());
        if (!attr.samples(PERF_SAMPLE_TID)) {
            found.removeAll(EnumSet.of(ListedField.TID, ListedField.PID));
        }
        if (!attr.samples(PERF_SAMPLE_CPU)) {
            found.remove(ListedField.CPU);
        }
        if (!attr.samples(PERF_SAMPLE_TIME)) {
            found.remove(ListedField.TIME);
        }
        if (!attr.samples(PERF_SAMPLE_IP)) {
            found.remove(ListedField.IP);
        }
        if (attr.type() != PERF_TYPE_TRACEPOINT) {
            found.remove(ListedField.TRACE);
        }
        none.removeAll(found);
        return none;
    }

    @Override
    public Set<ListedField> absent() {
        return fields.isUsual() || counts.exist() ? Set.of() : absent;
    }

    /** Whether any line names code. */
    static boolean namesCode(PerfDataRecording recording) {
        return recording.attrs().stream()
                .map(AttrEntry::attr)
                .anyMatch(attr ->
                        attr.type() != PERF_TYPE_TRACEPOINT && attr.samples(PERF_SAMPLE_IP)
                                || attr.samples(PERF_SAMPLE_CALLCHAIN));
    }

    private static int columns(PerfDataRecording recording) {
        int columns = 0;
        for (AttrEntry entry : recording.attrs()) {
            columns = Math.max(columns, entry.name().length());
        }
        return columns;
    }

    private static int outputType(PerfAttr attr) {
        return Integer.compareUnsigned(attr.type(), PERF_TYPE_BREAKPOINT) <= 0
                ? attr.type()
                : OUTPUT_TYPES - 1;
    }

    /** perf asks the first event of each kind what all of that kind have. */
    private static PerfAttr first(PerfDataRecording recording, PerfAttr like) {
        for (AttrEntry entry : recording.attrs()) {
            PerfAttr attr = entry.attr();
            boolean dummy =
                    attr.type() == PERF_TYPE_SOFTWARE && attr.config() == PERF_COUNT_SW_DUMMY;
            if (!dummy && outputType(attr) == outputType(like)) {
                return attr;
            }
        }
        return like;
    }

    private SampleShape shape(PerfDataRecording recording, int index, EventType type, int columns) {
        AttrEntry entry = recording.attrs().get(index);
        PerfAttr attr = first(recording, entry.attr());
        boolean tracepoint = attr.type() == PERF_TYPE_TRACEPOINT;
        Kind kind = Kind.of(attr.type());
        EnumSet<ListedField> shown = fields.of(kind, usual(recording, kind));
        if (!tracepoint) {
            shown.remove(ListedField.TRACE);
        }
        String padded = " ".repeat(columns - entry.name().length()) + entry.name() + ": ";
        @Nullable IntegerField[] more = new @Nullable IntegerField[MORE.length];
        for (int i = 0; i < more.length; i++) {
            boolean asked = shown.contains(ListedField.of(MORE[i]).orElseThrow());
            more[i] = asked ? type.field(MORE[i]).map(IntegerField::of).orElse(null) : null;
        }
        return new SampleShape(
                shown,
                !fields.names(kind),
                shown.contains(ListedField.TID) && attr.samples(PERF_SAMPLE_TID),
                shown.contains(ListedField.CPU) && attr.samples(PERF_SAMPLE_CPU),
                shown.contains(ListedField.TIME) && attr.samples(PERF_SAMPLE_TIME),
                shown.contains(ListedField.PERIOD),
                PackedText.of(padded),
                shown.contains(ListedField.TRACE) && entry.attr().samples(PERF_SAMPLE_RAW),
                more,
                shown.contains(ListedField.IP) && attr.samples(PERF_SAMPLE_IP),
                entry.attr().samples(PERF_SAMPLE_CALLCHAIN),
                new ScriptParts(shown, entry.attr(), type, recording.features().arch(), symbols));
    }

    /** What perf shows of events of a kind when nothing is asked for. */
    private EnumSet<ListedField> usual(PerfDataRecording recording, Kind kind) {
        EnumSet<ListedField> names =
                EnumSet.of(
                        ListedField.COMM,
                        ListedField.TID,
                        ListedField.CPU,
                        ListedField.TIME,
                        ListedField.EVENT,
                        ListedField.IP,
                        ListedField.SYM,
                        ListedField.SYMOFF,
                        ListedField.DSO,
                        ListedField.PERIOD);
        if (kind == Kind.RAW) {
            for (String more : MORE) {
                names.add(ListedField.of(more).orElseThrow());
            }
        }
        if (kind == Kind.TRACE) {
            names.remove(ListedField.PERIOD);
            names.add(ListedField.TRACE);
            boolean chains =
                    recording.attrs().stream()
                            .map(AttrEntry::attr)
                            .filter(other -> other.type() == PERF_TYPE_TRACEPOINT)
                            .anyMatch(other -> other.samples(PERF_SAMPLE_CALLCHAIN));
            // perf: only when nothing was asked for
            if (!chains || fields.names(kind)) {
                names.removeAll(
                        EnumSet.of(
                                ListedField.IP,
                                ListedField.SYM,
                                ListedField.SYMOFF,
                                ListedField.DSO));
            }
        }
        return names;
    }

    /** What perf adds for events of raw numbers, in its order. */
    private static final String[] MORE = {
        "addr", "data_src", "weight", "ins_lat", "phys_addr", "data_page_size", "code_page_size"
    };

    @Override
    public Turn turn(Batch batch, int row) {
        int type = batch.type(row);
        if (teaches[type] || counts.writes(type)) {
            return Turn.ALONE;
        }
        SampleShape shape = shapes[type];
        if (shape == null || !located[type]) {
            return Turn.ANY;
        }
        if (shape.parts.namesCode()) {
            return Turn.IN_ORDER;
        }
        int depth = batch.stackDepth(row);
        for (int i = 0; i < depth; i++) {
            if (symbols.changes(batch.stackEntry(row, i))) {
                return Turn.IN_ORDER;
            }
        }
        return Turn.ANY;
    }

    @Override
    public boolean isFree(Batch batch) {
        int size = batch.size();
        for (int row = 0; row < size; row++) {
            if (!free[batch.type(row)]) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void skip(Batch batch, int row) {
        names.learn(batch, row);
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        int type = batch.type(row);
        SampleShape shape = shapes[type];
        if (shape == null) {
            if (teaches[type]) {
                names.learn(batch, row);
            } else if (counts.writes(type)) {
                counts.append(out, batch, row);
            }
            return false;
        }
        if (shape.shown.isEmpty()) {
            return false;
        }
        head(out, shape, batch, row);
        if (shape.isText()) {
            out.put(shape.name);
            text(out, batch, row);
            out.put('\n');
        } else {
            sample(out, shape, batch, row);
        }
        return false;
    }

    private void text(TextBuffer out, Batch batch, int row) {
        texts.appendBody(out, batch, row);
        if (out.at(out.size() - 1) == '\n') {
            out.truncate(out.size() - 1);
        }
    }

    private void sample(TextBuffer out, SampleShape shape, Batch batch, int row) {
        if (shape.period) {
            int start = out.size();
            out.unsigned(batch.weight(row)).pad(start, 10, false).put(' ');
        }
        if (shape.shown.contains(ListedField.EVENT)) {
            out.put(shape.name);
        }
        if (shape.shown.contains(ListedField.FLAGS)) {
            // perf's words for branches of instruction tracing: no sample here has any.
            out.blanks(FLAGS_COLUMNS);
        }
        if (shape.trace) {
            text(out, batch, row);
        }
        for (int i = 0; i < 4; i++) {
            more(out, shape.more[i], i, batch, row);
            if (i == 0 && shape.more[0] != null) {
                shape.parts.data(out, batch, row, shape.more[0]);
            }
        }
        if (shape.ip) {
            code(out, shape, batch, row);
        }
        shape.parts.append(out, batch, row);
        for (int i = 4; i < MORE.length; i++) {
            more(out, shape.more[i], i, batch, row);
        }
        out.put('\n');
    }

    /**
     * The line up to the point in its seconds, of a thread on a CPU within a second: most lines
     * begin as one of the last few did. Threads that write may overwrite each other's entries, not
     * parts of them.
     */
    private record LineHead(
            SampleShape shape,
            byte[] name,
            int pid,
            int tid,
            int cpu,
            long seconds,
            PackedText text) {}

    private void head(TextBuffer out, SampleShape shape, Batch batch, int row) {
        if (!shape.time) {
            head(out, shape, batch, row, 0);
            return;
        }
        long time = batch.time(row);
        long seconds = time >= 0 ? time / 1_000_000_000 : Long.divideUnsigned(time, 1_000_000_000);
        int pid = batch.pid(row);
        int tid = batch.tid(row);
        int cpu = batch.cpu(row);
        byte[] name = names.name(tid);
        int place = (tid * 31 + cpu) * 31 + batch.type(row) & HEADS - 1;
        LineHead head = heads[place];
        if (head == null
                || head.tid != tid
                || head.cpu != cpu
                || head.seconds != seconds
                || head.pid != pid
                || !same(head, shape, name)) {
            head = newHead(shape, batch, row, seconds);
            heads[place] = head;
        }
        out.put(head.text);
        out.sixDigits((int) ((time - seconds * 1_000_000_000) / 1000)).put(COLON);
    }

    private LineHead newHead(SampleShape shape, Batch batch, int row, long seconds) {
        TextBuffer text = new TextBuffer(64);
        head(text, shape, batch, row, seconds);
        int tid = batch.tid(row);
        return new LineHead(
                shape,
                names.name(tid),
                batch.pid(row),
                tid,
                batch.cpu(row),
                seconds,
                new PackedText(text.since(0)));
    }

    /** A name that a thread got has an array of its own. */
    @SuppressWarnings("ReferenceEquality")
    private static boolean same(LineHead head, SampleShape shape, byte[] name) {
        return head.shape == shape && head.name == name;
    }

    private void head(TextBuffer out, SampleShape shape, Batch batch, int row, long seconds) {
        int tid = batch.tid(row);
        int start = out.size();
        if (shape.shown.contains(ListedField.COMM)) {
            out.put(names.name(tid));
            if (!shape.ip || !shape.chain) {
                out.pad(start, COMM_COLUMNS, false);
            }
            out.put(' ');
        }
        boolean pid = shape.shown.contains(ListedField.PID);
        if (pid) {
            start = out.size();
            out.decimal(batch.pid(row)).pad(start, 5, false).put(shape.thread ? '/' : ' ');
        }
        if (shape.thread) {
            start = out.size();
            out.decimal(tid).pad(start, 5, pid).put(' ');
        }
        if (shape.cpu) {
            out.put('[').digits(Math.max(0, batch.cpu(row)), 3).put(']').put(' ');
        }
        if (shape.time) {
            start = out.size();
            out.digits(seconds, 1).put('.').pad(start, SECONDS_COLUMNS, false);
        }
    }

    private static void more(
            TextBuffer out, @Nullable IntegerField field, int which, Batch batch, int row) {
        if (field == null) {
            return;
        }
        int start = out.size();
        long value = field.of(batch, row);
        switch (MORE[which]) {
            case "weight", "ins_lat" -> out.unsigned(value);
            case "data_page_size", "code_page_size" -> {
                out.put(' ').put(pageSize(value));
                return;
            }
            case "data_src" -> {
                out.hex(value, 1).pad(start, 16, false).put(' ').put(DataSource.text(value));
                return;
            }
            default -> out.hex(value, 1);
        }
        out.pad(start, 16, false);
    }

    /** get_page_size_name of tools/perf/util/event.c. */
    private static String pageSize(long bytes) {
        if (bytes <= 0) {
            return "N/A";
        }
        int unit = Math.min(6, (63 - Long.numberOfLeadingZeros(bytes)) / 10);
        return (bytes >> 10 * unit) + (unit == 0 ? "" : "KMGTPE".substring(unit - 1, unit));
    }

    private void code(TextBuffer out, SampleShape shape, Batch batch, int row) {
        int depth = batch.stackDepth(row);
        int pid = batch.pid(row);
        if (!shape.chain) {
            out.put(' ');
            if (depth > 0) {
                long address = batch.stackEntry(row, 0);
                place(out, shape, pid, address, address, symbols);
            }
            return;
        }
        out.put('\n');
        int frames = 0;
        boolean user = false;
        boolean unwound = batch.isChainMade(row);
        int first = 0;
        for (int i = 0; i < depth && frames < MOST_FRAMES; i++) {
            long address = batch.stackEntry(row, i);
            if (Long.compareUnsigned(address, CONTEXT_MAX) >= 0) {
                user = address == PerfAbi.PERF_CONTEXT_USER;
                first = i + 1;
                continue;
            }
            long call = i > first ? address - 1 : address;
            if (user && unwound) {
                address = call; // perf shows the call of frames that it has unwound
            }
            frames++;
            out.put('\t');
            // What looks like the kernel in a user's call chain was never an address.
            CodeNames names = user && address < 0 ? CodeNames.NONE : symbols;
            place(out, shape, pid, address, call, names);
            out.put('\n');
        }
    }

    private static void place(
            TextBuffer out, SampleShape shape, int pid, long address, long call, CodeNames names) {
        if (shape.usual) {
            names.append(out, pid, address, shape.chain);
            return;
        }
        names.append(out, pid, address, shape.chain, call, shape.shown);
    }
}
