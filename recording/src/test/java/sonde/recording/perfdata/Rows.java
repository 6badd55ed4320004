package sonde.recording.perfdata;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.Lane;
import sonde.event.StringField;

/** Rows of a recording as objects, every field of every payload read. */
final class Rows {
    private Rows() {}

    /** One row. */
    record Row(
            String type,
            long time,
            int cpu,
            int pid,
            int tid,
            long weight,
            List<Long> stack,
            List<String> fields) {
        String field(String name) {
            return fields.stream()
                    .filter(field -> field.startsWith(name + "="))
                    .map(field -> field.substring(name.length() + 1))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Directory mode. */
    static PerfDataRecording open(byte[] file, byte[]... parts) throws IOException {
        List<Input> inputs = new ArrayList<>();
        for (byte[] part : parts) {
            MemorySegment copy = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, part);
            inputs.add(Input.of("test." + inputs.size(), copy));
        }
        MemorySegment copy = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, file);
        return PerfDataRecording.open(Input.of("test", copy), inputs);
    }

    static List<Row> of(byte[] file) throws IOException {
        try (PerfDataRecording recording = open(file)) {
            return of(recording);
        }
    }

    static List<Row> of(PerfDataRecording recording) throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            try (lane) {
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        rows.add(row(batch, row));
                    }
                }
            }
        }
        return rows;
    }

    private static Row row(Batch batch, int row) {
        EventType type = batch.source().types().get(batch.type(row));
        List<Long> stack = new ArrayList<>();
        for (int i = 0; i < batch.stackDepth(row); i++) {
            stack.add(batch.stackEntry(row, i));
        }
        List<String> fields = new ArrayList<>();
        for (Field field : type.fields()) {
            fields.add(field.name() + "=" + value(batch, row, type, field));
        }
        return new Row(
                type.qualifiedName(),
                batch.time(row),
                batch.cpu(row),
                batch.pid(row),
                batch.tid(row),
                batch.weight(row),
                stack,
                fields);
    }

    private static String value(Batch batch, int row, EventType type, Field field) {
        if (field.isText()) {
            return StringField.of(field).of(batch, row);
        }
        if (field.kind() == Field.Kind.INTEGER) {
            return Long.toString(type.integer(field.name()).of(batch, row));
        }
        if (field.kind() == Field.Kind.FLOAT) {
            return Double.toString(FloatField.of(field).of(batch, row));
        }
        int at = field.offset(batch, row);
        int end = at + field.sizeBytes(batch, row);
        int element = field.elementBytes();
        List<Long> values = new ArrayList<>();
        for (; at + element <= end; at += element) {
            values.add(
                    switch (element) {
                        case 1 -> (long) batch.u8(row, at);
                        case 8 -> batch.u64(row, at);
                        default -> batch.u32(row, at) & 0xffff_ffffL;
                    });
        }
        return values.toString();
    }
}
