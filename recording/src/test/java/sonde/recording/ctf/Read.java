package sonde.recording.ctf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.IntegerField;
import sonde.event.Lane;
import sonde.event.Source;
import sonde.event.StringField;
import sonde.recording.InputSet;
import sonde.recording.InputSet.InputOpener;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.EventListing.ListedLane;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.ThreadNames;

/** Traces in memory, read whole. */
final class Read {
    private Read() {}

    static CtfRecording open(Map<String, byte[]> files) throws IOException {
        Map<String, InputOpener> openers = new LinkedHashMap<>();
        files.forEach((name, bytes) -> {
            MemorySegment copy = Arena.ofAuto().allocate(Math.max(1, bytes.length), 8);
            MemorySegment.copy(bytes, 0, copy, ValueLayout.JAVA_BYTE, 0, bytes.length);
            openers.put(name, () -> Input.of(name, copy.asSlice(0, bytes.length)));
        });
        return CtfRecording.open(InputSet.of(openers));
    }

    /** Every line of the listing, as text or JSON. */
    static List<String> lines(CtfRecording recording, boolean json) throws IOException {
        ThreadNames names = ThreadNames.of(Map.of());
        Map<Source, RowText> texts = new LinkedHashMap<>();
        List<ListedLane> parts = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            RowText text =
                    texts.computeIfAbsent(
                            lane.source(),
                            of ->
                                    json
                                            ? recording.json(of, names)
                                            : recording.text(of, ZoneOffset.UTC, names));
            parts.add(new ListedLane(lane, text, ""));
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new EventListing(parts, EventListing.Filter.ALL).writeTo(out);
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    static List<String> text(Map<String, byte[]> files) throws IOException {
        try (CtfRecording recording = open(files)) {
            return lines(recording, false);
        }
    }

    static List<String> json(Map<String, byte[]> files) throws IOException {
        try (CtfRecording recording = open(files)) {
            return lines(recording, true);
        }
    }

    /** Every row with every field: {@code time cpu tid type name=value …}. */
    static List<String> rows(CtfRecording recording) throws IOException {
        List<String> rows = new ArrayList<>();
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

    private static String row(Batch batch, int row) {
        EventType type = batch.source().types().get(batch.type(row));
        StringBuilder text = new StringBuilder();
        text.append(batch.time(row)).append(" cpu").append(batch.cpu(row));
        text.append(" tid").append(batch.tid(row)).append(' ').append(type.qualifiedName());
        for (Field field : type.fields()) {
            text.append(' ').append(field.name()).append('=').append(value(field, batch, row));
        }
        return text.toString();
    }

    private static String value(Field field, Batch batch, int row) {
        if (field.isText()) {
            return '"' + StringField.of(field).of(batch, row) + '"';
        }
        return switch (field.kind()) {
            case INTEGER -> String.valueOf(IntegerField.of(field).of(batch, row));
            case FLOAT -> String.valueOf(FloatField.of(field).of(batch, row));
            default -> field.sizeBytes(batch, row) / field.elementBytes() + " elements";
        };
    }
}
