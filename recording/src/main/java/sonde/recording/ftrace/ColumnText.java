package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.FrameNames;
import sonde.event.Source;
import sonde.event.result.Frame;
import sonde.recording.ftrace.ListedFields.Kind;
import sonde.recording.ftrace.ListedFields.ListedField;

/**
 * Writes rows of any source with the fields that were asked for, in the columns that {@code perf
 * script -F} gives them.
 */
public final class ColumnText implements RowText {
    private static final EnumSet<ListedField> USUAL =
            EnumSet.of(
                    ListedField.COMM,
                    ListedField.TID,
                    ListedField.CPU,
                    ListedField.TIME,
                    ListedField.EVENT,
                    ListedField.TRACE,
                    ListedField.IP,
                    ListedField.SYM,
                    ListedField.DSO);
    private static final int COMM_COLUMNS = 16;

    // include/uapi/linux/perf_event.h: markers in call chains lie above it.
    private static final long PERF_CONTEXT_MAX = -4095;

    private static final byte[] UNKNOWN = "?".getBytes(StandardCharsets.US_ASCII);

    private final List<EventType> types;
    private final ThreadNames threads;
    private final NameRows nameRows;
    private final @Nullable FrameNames frames;
    private final @Nullable CodeNames code;
    private final FieldText.Details details;
    private final EnumSet<ListedField> shown;
    private final boolean nanos;
    private final int nameColumns;

    /**
     * A writer for the rows of one source.
     *
     * @param frames of call chains, null for addresses
     * @param code names addresses of call chains; null for addresses alone
     * @param details what TRACE shows
     */
    public ColumnText(
            Source source,
            ThreadNames threads,
            @Nullable FrameNames frames,
            @Nullable CodeNames code,
            FieldText.Details details,
            ListedFields fields) {
        this.types = source.types();
        this.nanos = source.clock().isNanos();
        this.threads = threads;
        this.nameRows = new NameRows(types, threads);
        this.frames = frames;
        this.code = code;
        this.details = details;
        this.shown = fields.of(Kind.TRACE, USUAL);
        this.nameColumns =
                types.stream().mapToInt(type -> type.qualifiedName().length()).max().orElse(0);
    }

    @Override
    public Turn turn(Batch batch, int row) {
        if (nameRows.teaches(batch, row)) {
            return Turn.ALONE;
        }
        CodeNames names = shown.contains(ListedField.IP) ? code : null;
        for (int i = 0; names != null && i < batch.stackDepth(row); i++) {
            if (names.changes(batch.stackEntry(row, i))) {
                return Turn.IN_ORDER;
            }
        }
        return Turn.ANY;
    }

    @Override
    public void skip(Batch batch, int row) {
        nameRows.learn(batch, row);
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        EventType type = types.get(batch.type(row));
        head(out, batch, row);
        if (shown.contains(ListedField.PERIOD)) {
            int start = out.size();
            out.unsigned(batch.weight(row)).pad(start, 10, false).put(' ');
        }
        if (shown.contains(ListedField.EVENT)) {
            int start = out.size();
            out.put(type.qualifiedName()).pad(start, nameColumns, false).put(": ");
        }
        if (shown.contains(ListedField.TRACE)) {
            details.append(out, batch, row);
            if (out.size() > 0 && out.at(out.size() - 1) == '\n') {
                out.truncate(out.size() - 1);
            }
        }
        if (shown.contains(ListedField.IP) && batch.stackDepth(row) > 0) {
            chain(out, batch, row);
        }
        out.put('\n');
        nameRows.learn(batch, row);
        return false;
    }

    private void head(TextBuffer out, Batch batch, int row) {
        int tid = batch.tid(row);
        if (shown.contains(ListedField.COMM)) {
            byte[] comm = tid < 0 ? null : threads.comm(tid);
            int start = out.size();
            out.put(comm == null ? UNKNOWN : comm).pad(start, COMM_COLUMNS, false).put(' ');
        }
        boolean pid = shown.contains(ListedField.PID);
        if (pid) {
            int start = out.size();
            out.decimal(batch.pid(row)).pad(start, 5, false);
        }
        if (shown.contains(ListedField.TID)) {
            int start = pid ? out.put('/').size() : out.size();
            out.decimal(tid).pad(start, 5, pid);
        }
        if (pid || shown.contains(ListedField.TID)) {
            out.put(' ');
        }
        if (shown.contains(ListedField.CPU)) {
            out.put('[');
            if (batch.cpu(row) >= 0) {
                out.digits(batch.cpu(row), 3);
            } else {
                out.put("---");
            }
            out.put("] ");
        }
        if (shown.contains(ListedField.TIME)) {
            time(out, batch.time(row));
        }
    }

    private void time(TextBuffer out, long time) {
        int start = out.size();
        if (!nanos || time < 0) {
            out.decimal(time);
        } else {
            long rest = time % 1_000_000_000;
            out.digits(time / 1_000_000_000, 1).put('.').digits(rest / 1000, 6);
        }
        out.pad(start, 12, false).put(": ");
    }

    private void chain(TextBuffer out, Batch batch, int row) {
        FrameNames of = frames;
        CodeNames names = code;
        boolean caller = false;
        for (int i = 0; i < batch.stackDepth(row); i++) {
            long entry = batch.stackEntry(row, i);
            boolean marker = of == null && Long.compareUnsigned(entry, PERF_CONTEXT_MAX) >= 0;
            if (!marker) {
                out.put("\n\t");
                if (of != null) {
                    frame(out, of.frame(entry));
                } else if (names != null) {
                    long call = caller ? entry - 1 : entry;
                    names.append(out, batch.pid(row), entry, true, call, shown);
                } else {
                    int start = out.size();
                    out.hex(entry, 1).pad(start, 16, false);
                }
            }
            caller = !marker;
        }
    }

    private void frame(TextBuffer out, Frame frame) {
        if (shown.contains(ListedField.SYM)) {
            out.put(frame.name());
        }
        if (shown.contains(ListedField.DSO) && !frame.module().isEmpty()) {
            out.put(" (").put(frame.module()).put(')');
        }
        if (shown.contains(ListedField.SRCLINE) && !frame.place().isEmpty()) {
            out.put("\n  ").put(frame.place());
        }
    }
}
