package sonde.exchange.export;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Field;
import sonde.event.FrameNames;
import sonde.event.result.Frame;
import sonde.exchange.export.FtraceLayout.PayloadSlot;
import sonde.recording.GrowableBytes;

/** An event type as ftrace writes it: its number, its format file, and how payloads are made. */
final class FtraceType {
    /** A payload ends before this: {@code __data_loc} has 16 bits for offset and length. */
    static final int MOST_BYTES = 0xf000;

    final int id;
    final String system;
    final String name;
    final byte[] format;
    private final Making making;
    private final List<Field> fields;
    private final @Nullable FtraceLayout layout;

    /** How payloads come about. */
    private enum Making {
        /** The bytes are those of the file. */
        COPIED,
        /** The layout is that of the file, the order of bytes is not. */
        TURNED,
        /** Laid out anew. */
        MADE
    }

    private FtraceType(
            int id,
            String system,
            String name,
            byte[] format,
            Making making,
            List<Field> fields,
            @Nullable FtraceLayout layout) {
        this.id = id;
        this.system = system;
        this.name = name;
        this.format = format;
        this.making = making;
        this.fields = fields;
        this.layout = layout;
    }

    /** A type whose payloads are the kernel's. */
    static FtraceType kernel(
            int id, String system, String name, byte[] format, List<Field> fields, boolean turned) {
        Making making = turned ? Making.TURNED : Making.COPIED;
        return new FtraceType(id, system, name, format, making, fields, null);
    }

    /** A type whose payloads are laid out here. */
    static FtraceType made(
            int id, String system, String name, FtraceLayout layout, String print, boolean common) {
        byte[] format = layout.format(name, id, print).getBytes(StandardCharsets.UTF_8);
        List<Field> none = List.of();
        // A kernel's own flags and preempt count are kept where there are some.
        List<Field> flags = List.of(Field.integer("common_flags", 2, 2, false));
        return new FtraceType(id, system, name, format, Making.MADE, common ? flags : none, layout);
    }

    /** Whether the payload has the row's call chain. */
    boolean hasChain() {
        return layout != null && layout.hasChain();
    }

    /** Puts a row's payload into {@code out}; what had to be cut is counted. */
    void encode(ExportRow row, GrowableBytes out, ExportLosses losses) {
        FtraceLayout made = layout;
        if (made != null) {
            lay(made, row, out, losses);
            return;
        }
        int size = row.batch.payloadBytes(row.row);
        out.begin(size);
        row.batch.copy(row.row, 0, size, out.array(), 0);
        if (making == Making.TURNED) {
            fields.forEach(field -> turn(field, row, out));
        }
        out.put(0, 2, id);
    }

    /** Puts the integers of a field in the order of bytes of the file. */
    static void turn(Field field, ExportRow row, GrowableBytes out) {
        if (field.offset() + field.sizeBytes() > out.size()) {
            return;
        }
        boolean located =
                switch (field.kind()) {
                    case DATA_LOC, REL_LOC, SPAN -> true;
                    case INTEGER, ARRAY, CHARS, TAIL_STRING, FLOAT -> false;
                };
        if (located || ExportRow.isInteger(field)) {
            int size = field.sizeBytes();
            out.put(field.offset(), size, FieldValues.word(row, field.offset(), size));
        }
        int element = FieldValues.elementBytes(field);
        if (!ExportRow.isInteger(field) && element > 1) {
            int start = field.offset(row.batch, row.row);
            for (int i = 0; i < FieldValues.count(row, field); i++) {
                int at = start + i * element;
                out.put(at, element, FieldValues.word(row, at, element));
            }
        }
    }

    private void lay(FtraceLayout made, ExportRow row, GrowableBytes out, ExportLosses losses) {
        out.begin(made.fixedBytes());
        out.put(0, 2, id);
        boolean flagged = !fields.isEmpty() && row.batch.payloadBytes(row.row) >= 4;
        out.put(2, 1, flagged ? row.batch.u8(row.row, 2) : 0);
        out.put(3, 1, flagged ? row.batch.u8(row.row, 3) : 0);
        out.put(4, 4, row.tid());
        for (PayloadSlot slot : made.slots) {
            switch (slot.form()) {
                case PID -> out.put(slot.offset(), 4, row.pid());
                case WEIGHT -> out.put(slot.offset(), 8, row.batch.weight(row.row));
                case CHAIN -> {
                    int start = begin(slot, out);
                    for (int i = 0; i < row.batch.stackDepth(row.row); i++) {
                        out.add(8, row.batch.stackEntry(row.row, i));
                    }
                    end(slot, start, row, out, losses);
                }
                case NAMES -> text(slot, names(row), row, out, losses);
                case INTEGER, REAL, FIXED, TEXT, ARRAY -> {
                    if (slot.field() != null) {
                        field(slot, slot.field(), row, out, losses);
                    }
                }
            }
        }
    }

    private void field(
            PayloadSlot slot, Field field, ExportRow row, GrowableBytes out, ExportLosses losses) {
        switch (slot.form()) {
            case INTEGER -> out.put(slot.offset(), slot.sizeBytes(), row.integer(field));
            case REAL ->
                    text(
                            slot,
                            row.text(field).getBytes(StandardCharsets.US_ASCII),
                            row,
                            out,
                            losses);
            case FIXED -> fixed(slot, field, row, out);
            case TEXT -> text(slot, row.bytes(field), row, out, losses);
            default -> {
                int start = begin(slot, out);
                FieldValues.elements(row, field, MOST_BYTES, out);
                end(slot, start, row, out, losses);
            }
        }
    }

    private static void fixed(PayloadSlot slot, Field field, ExportRow row, GrowableBytes out) {
        int element = slot.elementBytes();
        int start = field.offset(row.batch, row.row);
        int count = Math.min(slot.sizeBytes(), field.sizeBytes(row.batch, row.row)) / element;
        for (int i = 0; i < count; i++) {
            int at = i * element;
            out.put(slot.offset() + at, element, FieldValues.word(row, start + at, element));
        }
    }

    private void text(
            PayloadSlot slot, byte[] text, ExportRow row, GrowableBytes out, ExportLosses losses) {
        int start = begin(slot, out);
        out.raw(text);
        if (text.length == 0 || text[text.length - 1] != 0) {
            out.zeros(1);
        }
        end(slot, start, row, out, losses);
        if (out.size() == MOST_BYTES) {
            out.put(MOST_BYTES - 1, 1, 0);
        }
    }

    private static int begin(PayloadSlot slot, GrowableBytes out) {
        out.align(slot.elementBytes());
        return out.size();
    }

    private void end(
            PayloadSlot slot, int start, ExportRow row, GrowableBytes out, ExportLosses losses) {
        if (out.size() > MOST_BYTES) {
            Field field = slot.field();
            String what = field == null ? "call chain" : field.name();
            losses.add("end of " + what + " in " + row.type.qualifiedName() + " (beyond 60 KiB)");
            out.truncate(Math.max(start, MOST_BYTES & -slot.elementBytes()));
        }
        out.put(slot.offset(), 4, (long) out.size() - start << 16 | start & 0xffff);
    }

    /** The chain outermost first, as folded stacks have it. */
    private static byte[] names(ExportRow row) {
        StringBuilder names = new StringBuilder();
        FrameNames of = row.recording.frames();
        for (int i = row.batch.stackDepth(row.row) - 1; i >= 0 && of != null; i--) {
            Frame frame = of.frame(row.batch.stackEntry(row.row, i));
            names.append(names.isEmpty() ? "" : ";").append(frame.name());
        }
        return names.toString().getBytes(StandardCharsets.UTF_8);
    }
}
