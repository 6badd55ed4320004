package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.FrameNames;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.result.Frame;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/**
 * Writes rows of any source: {@code "comm-tid [cpu] seconds.micros: event: field=value …"}, times
 * with nine digits where they have them, and a call chain in the lines below. Fields whose names
 * begin with {@code common_} are left out.
 */
public final class FieldText implements RowText {
    private static final int NAME_COLUMNS = 20;
    private static final String NOBODY = "           <...>-?     [";

    private final List<EventType> types;
    private final boolean nanos;
    private final ThreadNames threads;
    private final NameRows nameRows;
    private final @Nullable FrameNames frames;
    private final Details details;
    private final byte[][] names;

    /** What stands behind an event's name. */
    @FunctionalInterface
    public interface Details {
        /** Fields as {@code name=value}. */
        Details FIELDS = FieldText::fields;

        /** Appends it for a row. */
        void append(TextBuffer out, Batch batch, int row);
    }

    /**
     * A writer for the rows of one source.
     *
     * @param threads names, which it also learns
     * @param frames of call chains, null to leave chains out
     */
    public FieldText(
            Source source, ThreadNames threads, @Nullable FrameNames frames, Details details) {
        this.types = source.types();
        this.nanos = source.clock().isNanos();
        this.threads = threads;
        this.nameRows = new NameRows(types, threads);
        this.frames = frames;
        this.details = details;
        this.names = new byte[types.size()][];
        for (EventType type : types) {
            String name = type.name();
            String padded =
                    " " + name + ": " + " ".repeat(Math.max(0, NAME_COLUMNS - name.length()));
            names[type.id()] = padded.getBytes(StandardCharsets.UTF_8);
        }
    }

    @Override
    public Turn turn(Batch batch, int row) {
        return nameRows.teaches(batch, row) ? Turn.ALONE : Turn.ANY;
    }

    @Override
    public void skip(Batch batch, int row) {
        nameRows.learn(batch, row);
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        EventType type = types.get(batch.type(row));
        if (type.system().equals(EventType.NOTICE)) {
            notice(out, batch, row, type);
            return false;
        }
        head(out, batch, row);
        out.put(names[type.id()]);
        details.append(out, batch, row);
        out.put('\n');
        chain(out, batch, row);
        nameRows.learn(batch, row);
        return false;
    }

    private static void notice(TextBuffer out, Batch batch, int row, EventType type) {
        if (batch.cpu(row) >= 0) {
            out.put("CPU:").decimal(batch.cpu(row)).put(' ');
        }
        out.put('[');
        if (batch.weight(row) > 0) {
            out.decimal(batch.weight(row)).put(' ');
        }
        switch (type.name()) {
            case "lost" -> out.put("EVENTS DROPPED]\n");
            case "corrupt" -> out.put("CORRUPT]\n");
            default -> out.put(type.name()).put("]\n");
        }
    }

    private void head(TextBuffer out, Batch batch, int row) {
        int tid = batch.tid(row);
        if (tid >= 0) {
            out.put(threads.head(tid));
        } else {
            out.put(NOBODY);
        }
        int cpu = batch.cpu(row);
        if (cpu >= 0) {
            out.digits(cpu, 3);
        } else {
            out.put("---");
        }
        out.put(']');
        long time = batch.time(row);
        int start = out.size();
        if (!nanos || time < 0) {
            out.put(' ').decimal(time).pad(start, 12, false).put(':');
            return;
        }
        long second = time / 1_000_000_000;
        long rest = time - second * 1_000_000_000;
        out.put(' ').blanks(second < 10 ? 4 : second < 100 ? 3 : second < 1000 ? 2 : 1);
        out.digits(second, 1).put('.');
        boolean micros = rest % 1000 == 0;
        out.digits(micros ? rest / 1000 : rest, micros ? 6 : 9).put(':');
    }

    private void chain(TextBuffer out, Batch batch, int row) {
        FrameNames of = frames;
        if (of == null) {
            return;
        }
        for (int i = 0; i < batch.stackDepth(row); i++) {
            Frame frame = of.frame(batch.stackEntry(row, i));
            out.put(" => ").put(frame.name());
            if (!frame.module().isEmpty()) {
                out.put(" (").put(frame.module()).put(')');
            }
            out.put('\n');
        }
    }

    private static void fields(TextBuffer out, Batch batch, int row) {
        boolean first = true;
        for (Field field : batch.source().types().get(batch.type(row)).fields()) {
            if (field.name().startsWith("common_")) {
                continue;
            }
            out.put(first ? "" : " ").put(field.name()).put('=');
            first = false;
            value(out, field, batch, row);
        }
    }

    private static void value(TextBuffer out, Field field, Batch batch, int row) {
        if (field.isText()) {
            PayloadArray place = new PayloadArray(field, 1, false);
            out.text(batch, row, place.offset(batch, row), place.sizeBytes(batch, row));
            return;
        }
        switch (field.kind()) {
            case INTEGER -> {
                long value = IntegerField.of(field).of(batch, row);
                if (field.signed()) {
                    out.decimal(value);
                } else {
                    out.unsigned(value);
                }
            }
            case FLOAT -> out.put(FloatField.of(field).text(batch, row));
            default -> array(out, field, batch, row);
        }
    }

    private static void array(TextBuffer out, Field field, Batch batch, int row) {
        int element = Math.max(1, field.elementBytes());
        int offset = field.offset(batch, row);
        int length = field.sizeBytes(batch, row);
        out.put('{');
        for (int i = 0; i + element <= length; i += element) {
            out.put(i == 0 ? "0x" : ",0x")
                    .hex(PayloadArray.integer(batch, row, offset + i, element), 1);
        }
        out.put('}');
    }
}
