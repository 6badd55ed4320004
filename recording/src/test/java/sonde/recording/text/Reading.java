package sonde.recording.text;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FrameNames;
import sonde.event.IntegerField;
import sonde.event.Lane;
import sonde.event.StringField;

/** A text read whole, for tests. */
record Reading(
        TextFormat format,
        List<Row> rows,
        List<String> notes,
        Map<Integer, String> comms,
        List<String> buffers) {

    /** A row with its fields by name, and its chain, callee first. */
    record Row(
            long time,
            int cpu,
            int tid,
            int pid,
            String event,
            Map<String, Object> fields,
            List<String> chain,
            long weight) {

        Object field(String name) {
            return fields.getOrDefault(name, "(no " + name + ")");
        }
    }

    static Input input(byte[] text) {
        return Input.of("test", MemorySegment.ofArray(text));
    }

    static Reading of(String text) throws IOException {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    static Reading of(byte[] text) throws IOException {
        try (TextRecording recording = TextRecording.open(input(text))) {
            List<Row> rows = new ArrayList<>();
            List<String> buffers = new ArrayList<>();
            for (Lane lane : recording.lanes()) {
                buffers.add(lane.buffer());
                long last = Long.MIN_VALUE;
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        if (batch.time(row) < last) {
                            throw new AssertionError("time goes back at " + batch.time(row));
                        }
                        last = batch.time(row);
                        rows.add(row(batch, row, recording.frames()));
                    }
                }
                lane.close();
            }
            return new Reading(
                    recording.format(),
                    rows,
                    recording.notes(),
                    recording.threadNames().orElseThrow(),
                    buffers);
        }
    }

    private static Row row(Batch batch, int row, FrameNames names) {
        EventType type = batch.source().types().get(batch.type(row));
        Map<String, Object> fields = new LinkedHashMap<>();
        for (Field field : type.fields()) {
            if (field.isText()) {
                fields.put(field.name(), StringField.of(field).of(batch, row));
            } else if (field.kind() == Field.Kind.INTEGER) {
                fields.put(field.name(), IntegerField.of(field).of(batch, row));
            }
        }
        List<String> chain = new ArrayList<>();
        for (int i = 0; i < batch.stackDepth(row); i++) {
            chain.add(names.frame(batch.stackEntry(row, i)).name());
        }
        return new Row(
                batch.time(row),
                batch.cpu(row),
                batch.tid(row),
                batch.pid(row),
                type.qualifiedName(),
                fields,
                chain,
                batch.weight(row));
    }

    Row only() {
        if (rows.size() != 1) {
            throw new AssertionError(rows.size() + " rows: " + rows);
        }
        return rows.getFirst();
    }

    List<String> events() {
        return rows.stream().map(Row::event).toList();
    }
}
