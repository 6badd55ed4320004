package sonde.open.format;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.FrameNames;
import sonde.event.IntegerField;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.StringField;

/**
 * Rows of a recording as lines, every field of every payload read: {@code time cpu pid/tid
 * system:name field=value … < callee < caller}, with {@code *weight} where it is not 1.
 */
public final class RecordedRows {
    private RecordedRows() {}

    /** Opens bytes. */
    @FunctionalInterface
    public interface Opener {
        /** The recording, or an exception. */
        Recording open(Input input) throws IOException;
    }

    public static Input input(byte[] file) {
        return Input.of("test", MemorySegment.ofArray(file));
    }

    public static List<String> of(byte[] file, Opener opener) throws IOException {
        try (Recording recording = opener.open(input(file))) {
            return of(recording);
        }
    }

    public static List<String> of(Recording recording) throws IOException {
        return of(recording, true);
    }

    /** Of readers that leave times as they stand, where a ring or a packet goes back in time. */
    public static List<String> asStated(Recording recording) throws IOException {
        return of(recording, false);
    }

    private static List<String> of(Recording recording, boolean sorted) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            try (lane) {
                long last = Long.MIN_VALUE;
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        if (sorted && batch.time(row) < last) {
                            throw new AssertionError("not by time: " + batch.time(row));
                        }
                        last = batch.time(row);
                        lines.add(line(batch, row, recording.frames()));
                    }
                }
            }
        }
        return lines;
    }

    private static String line(Batch batch, int row, FrameNames names) {
        EventType type = batch.source().types().get(batch.type(row));
        StringBuilder line = new StringBuilder();
        line.append(batch.time(row)).append(' ').append(batch.cpu(row)).append(' ');
        line.append(batch.pid(row)).append('/').append(batch.tid(row)).append(' ');
        line.append(type.qualifiedName());
        if (batch.weight(row) != 1) {
            line.append(" *").append(batch.weight(row));
        }
        for (Field field : type.fields()) {
            line.append(' ').append(field.name()).append('=').append(value(batch, row, field));
        }
        for (int i = 0; i < batch.stackDepth(row); i++) {
            long entry = batch.stackEntry(row, i);
            line.append(" < ");
            line.append(names == null ? Long.toHexString(entry) : names.frame(entry).name());
        }
        return line.toString();
    }

    private static String value(Batch batch, int row, Field field) {
        if (field.isText()) {
            return StringField.of(field).of(batch, row);
        }
        if (field.kind() == Field.Kind.INTEGER) {
            return Long.toString(IntegerField.of(field).of(batch, row));
        }
        if (field.kind() == Field.Kind.FLOAT) {
            return Double.toString(FloatField.of(field).of(batch, row));
        }
        byte[] bytes = batch.bytes(row, field.offset(batch, row), field.sizeBytes(batch, row));
        return Arrays.toString(bytes);
    }
}
