package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/**
 * Writes events as JSON, an object a line: {@code
 * {"time":ns,"cpu":0,"tid":1,"comm":"sh","event":"sched:sched_switch","fields":{…}}}. Unknown CPUs,
 * threads and names are null. Integers are numbers, texts strings, arrays arrays; the common fields
 * are left out. A sample has {@code period}, {@code ip} (text, hexadecimal) and {@code function}, a
 * loss has {@code count}.
 */
public final class EventJson implements RowText {
    private final List<EventType> types;
    private final ThreadNames threads;
    private final NameRows nameRows;
    private final SampleBody samples;
    private final @Nullable RowKeys[] shapes;
    private long timeOffset;

    /** How rows of a type are written. */
    private record RowKeys(byte[] name, boolean sample, boolean loss, List<FieldKey> members) {}

    /**
     * A field.
     *
     * @param key with quotes and colon, and a comma before it where it is not the first
     */
    private record FieldKey(
            byte[] key, Field field, @Nullable IntegerField number, PayloadArray place) {}

    /** A writer for the rows of one source. */
    public EventJson(
            Source source, TextContext context, ThreadNames threads, AddressNames addresses) {
        this.types = source.types();
        this.threads = threads;
        this.nameRows = new NameRows(types, threads);
        this.samples = new SampleBody(context, addresses);
        this.shapes = new RowKeys[types.size()];
    }

    /** Adds nanoseconds to every time. */
    public EventJson offsetBy(long nanoseconds) {
        timeOffset = nanoseconds;
        return this;
    }

    @Override
    public Turn turn(Batch batch, int row) {
        if (nameRows.teaches(batch, row)) {
            return Turn.ALONE;
        }
        boolean asks = EventText.isSample(types.get(batch.type(row)));
        return asks && SampleBody.address(batch, row) >= 0 ? Turn.IN_ORDER : Turn.ANY;
    }

    @Override
    public void skip(Batch batch, int row) {
        nameRows.learn(batch, row);
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        RowKeys shape = shape(batch.type(row));
        int tid = batch.tid(row);
        out.put("{\"time\":").decimal(batch.time(row) + timeOffset).put(",\"cpu\":");
        numberOrNull(out, batch.cpu(row)).put(",\"tid\":");
        numberOrNull(out, tid).put(",\"comm\":");
        byte[] comm = threads.comm(tid);
        if (comm == null) {
            out.put("null");
        } else {
            JsonBytes.string(out, comm, 0, comm.length);
        }
        out.put(shape.name);
        for (FieldKey member : shape.members) {
            out.put(member.key);
            value(out, member, batch, row);
        }
        if (shape.sample) {
            sample(out.put(shape.members.isEmpty() ? "" : ","), batch, row);
        } else if (shape.loss) {
            out.put("\"count\":").decimal(batch.weight(row));
        }
        out.put("}}\n");
        nameRows.learn(batch, row);
        return false;
    }

    private static TextBuffer numberOrNull(TextBuffer out, int number) {
        return number < 0 ? out.put("null") : out.decimal(number);
    }

    private void sample(TextBuffer out, Batch batch, int row) {
        out.put("\"period\":").decimal(batch.weight(row));
        long address = SampleBody.address(batch, row);
        if (address != 0) {
            TextBuffer name = new TextBuffer(64);
            samples.name(name, batch.pid(row), address);
            out.put(",\"ip\":\"0x").hex(address, 1).put("\",\"function\":");
            byte[] text = name.since(0);
            if (text.length == 0) {
                out.put("null");
            } else {
                JsonBytes.string(out, text, 0, text.length);
            }
        }
    }

    private static void value(TextBuffer out, FieldKey member, Batch batch, int row) {
        IntegerField number = member.number;
        Field field = member.field;
        if (number != null) {
            integer(out, number.of(batch, row), field.signed());
            return;
        }
        if (field.kind() == Field.Kind.FLOAT) {
            FloatField real = FloatField.of(field);
            out.put(Double.isFinite(real.of(batch, row)) ? real.text(batch, row) : "null");
            return;
        }
        int offset = member.place.offset(batch, row);
        int length = member.place.sizeBytes(batch, row);
        if (field.isText()) {
            JsonBytes.string(out, batch, row, offset, length);
            return;
        }
        int element = field.elementBytes();
        out.put('[');
        for (int i = 0; i + element <= length; i += element) {
            if (i > 0) {
                out.put(',');
            }
            long value = PayloadArray.integer(batch, row, offset + i, element);
            int unused = 64 - 8 * element;
            integer(out, field.signed() ? value << unused >> unused : value, field.signed());
        }
        out.put(']');
    }

    private static void integer(TextBuffer out, long value, boolean signed) {
        if (signed) {
            out.decimal(value);
        } else {
            out.unsigned(value);
        }
    }

    private RowKeys shape(int type) {
        RowKeys shape = shapes[type];
        if (shape == null) {
            shape = make(types.get(type));
            shapes[type] = shape;
        }
        return shape;
    }

    private static RowKeys make(EventType type) {
        TextBuffer name = new TextBuffer(64);
        name.put(",\"event\":");
        JsonBytes.string(name, type.qualifiedName());
        name.put(",\"fields\":{");
        List<FieldKey> members = new ArrayList<>();
        for (Field field : type.fields()) {
            if (field.name().startsWith("common_")) {
                continue;
            }
            TextBuffer key = new TextBuffer(64);
            JsonBytes.string(key.put(members.isEmpty() ? "" : ","), field.name());
            boolean integer = field.kind() == Field.Kind.INTEGER;
            members.add(
                    new FieldKey(
                            key.put(':').since(0),
                            field,
                            integer ? IntegerField.of(field) : null,
                            new PayloadArray(field, 1, false)));
        }
        boolean loss = type.qualifiedName().equals("notice:lost");
        return new RowKeys(name.since(0), EventText.isSample(type), loss, members);
    }
}
