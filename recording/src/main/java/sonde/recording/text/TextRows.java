package sonde.recording.text;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.recording.ftrace.FieldText;
import sonde.recording.ftrace.TextBuffer;

/** What a text itself says behind an event's name; fields for rows that have no line. */
final class TextRows implements FieldText.Details {
    private final MemorySegment text;
    private final IntegerField[][] places;

    TextRows(Source source, MemorySegment text) {
        this.text = text;
        this.places = new IntegerField[source.types().size()][];
        for (EventType type : source.types()) {
            Field line = type.field(LearntType.LINE).orElse(null);
            Field bytes = type.field(LearntType.LINE_BYTES).orElse(null);
            places[type.id()] =
                    line == null || bytes == null
                            ? new IntegerField[0]
                            : new IntegerField[] {IntegerField.of(line), IntegerField.of(bytes)};
        }
    }

    @Override
    public void append(TextBuffer out, Batch batch, int row) {
        IntegerField[] place = places[batch.type(row)];
        if (place.length == 0) {
            FieldText.Details.FIELDS.append(out, batch, row);
            return;
        }
        int count = (int) place[1].of(batch, row);
        byte[] bytes = new byte[count];
        MemorySegment.copy(text, ValueLayout.JAVA_BYTE, place[0].of(batch, row), bytes, 0, count);
        int start = 0;
        for (int i = 0; i < count; i++) {
            if (bytes[i] >= 0 && bytes[i] < ' ' && bytes[i] != '\t' || bytes[i] == 0x7f) {
                out.put(bytes, start, i - start).put('\\').put('x').hex(bytes[i], 2);
                start = i + 1;
            }
        }
        out.put(bytes, start, count - start);
    }
}
