package sonde.open.export;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.IntegerField;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.BatchWriter;
import sonde.recording.TypeBuilder;

/** A recording of random types and values, a lane for each CPU. */
final class MadeRecording implements Recording {
    private static final long[] EXTREMES = {
        0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, Integer.MIN_VALUE, 0xffff_ffffL, 1L << 53, 255
    };

    private final Source source;
    private final TreeMap<Integer, Batch> batches = new TreeMap<>();

    private MadeRecording(Source source) {
        this.source = source;
    }

    /**
     * Makes one.
     *
     * @param plain whether rows have fields only: no process, weight, call chain, loss
     */
    static MadeRecording random(RandomGenerator random, boolean plain) {
        List<EventType> types = new ArrayList<>();
        types.add(new EventType(0, EventType.NOTICE, "lost", List.of(), ""));
        int count = random.nextInt(1, 6);
        for (int i = 1; i <= count; i++) {
            TypeBuilder type = new TypeBuilder("made" + i % 2, "type" + i);
            int fields = random.nextInt(7);
            for (int f = 0; f < fields; f++) {
                field(type, "f" + f, random);
            }
            types.add(type.build(i));
        }
        MadeRecording made = new MadeRecording(new Source("made", Clock.MONO, types));
        for (int cpu = 0; cpu < random.nextInt(1, 4); cpu++) {
            made.batches.put(cpu, made.rows(cpu, random, plain));
        }
        return made;
    }

    private static void field(TypeBuilder type, String name, RandomGenerator random) {
        int size = 1 << random.nextInt(4);
        switch (random.nextInt(4)) {
            case 0 -> type.integer(name, size, random.nextBoolean());
            case 1 -> type.real(name);
            case 2 -> type.text(name);
            default -> type.array(name, size, random.nextBoolean());
        }
    }

    private Batch rows(int cpu, RandomGenerator random, boolean plain) {
        BatchWriter out = new BatchWriter(source);
        long time = random.nextLong(1L << 60);
        for (int i = random.nextInt(200); i > 0; i--) {
            time += random.nextInt(10) == 0 ? random.nextLong(1L << 50) : random.nextInt(1000);
            boolean lost = !plain && random.nextInt(40) == 0;
            EventType type =
                    source.types().get(lost ? 0 : random.nextInt(1, source.types().size()));
            out.begin(time, cpu, lost ? -1 : random.nextInt(1, 1 << 22), type);
            for (Field field : type.fields()) {
                value(out, field, random);
            }
            if (lost) {
                out.sample(-1, random.nextInt(1, 100));
            } else if (!plain && random.nextBoolean()) {
                out.sample(random.nextInt(1, 1 << 22), random.nextLong(1L << 40));
                out.stack(random.longs(4).toArray(), random.nextInt(5));
            }
            out.end();
        }
        return out.batch();
    }

    private static long number(RandomGenerator random) {
        return random.nextBoolean() ? EXTREMES[random.nextInt(EXTREMES.length)] : random.nextLong();
    }

    private static void value(BatchWriter out, Field field, RandomGenerator random) {
        switch (field.kind()) {
            case INTEGER -> out.integer(field, number(random));
            case FLOAT ->
                    out.real(
                            field,
                            random.nextInt(4) == 0
                                    ? Double.NEGATIVE_INFINITY
                                    : random.nextGaussian());
            default -> {
                if (field.isText()) {
                    byte[] text = new byte[random.nextInt(random.nextInt(20) == 0 ? 5000 : 12)];
                    random.nextBytes(text);
                    out.bytes(field, text, 0, text.length);
                } else {
                    long[] values = new long[random.nextInt(6)];
                    Arrays.setAll(values, i -> number(random));
                    out.array(field, values, values.length);
                }
            }
        }
    }

    @Override
    public List<Source> sources() {
        return List.of(source);
    }

    @Override
    public List<Lane> lanes() {
        List<Lane> lanes = new ArrayList<>();
        for (Map.Entry<Integer, Batch> of : batches.entrySet()) {
            lanes.add(new OneBatch(source, of.getValue()));
        }
        return lanes;
    }

    private static final class OneBatch implements Lane {
        private final Source source;
        private @Nullable Batch batch;

        OneBatch(Source source, Batch batch) {
            this.source = source;
            this.batch = batch;
        }

        @Override
        public Source source() {
            return source;
        }

        @Override
        public String buffer() {
            return "";
        }

        @Override
        public @Nullable Batch next() {
            Batch next = batch;
            batch = null;
            return next == null || next.size() == 0 ? null : next;
        }

        @Override
        public void close() {
            batch = null;
        }
    }

    @Override
    public void close() {
        batches.clear();
    }

    /** A row: what every format keeps. */
    record Row(long time, int cpu, int tid, String name, Map<String, String> values) {}

    /** The rows of a recording by lane; notices and what the kernel has in all events left out. */
    static List<Row> rows(Recording recording) throws java.io.IOException {
        List<Row> rows = new ArrayList<>();
        for (Lane lane : recording.lanes()) {
            for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                for (int row = 0; row < batch.size(); row++) {
                    EventType type = batch.source().types().get(batch.type(row));
                    Map<String, String> values = new TreeMap<>();
                    for (Field field : type.fields()) {
                        if (!field.name().startsWith("common_")) {
                            values.put(field.name(), value(batch, row, field));
                        }
                    }
                    if (!type.system().equals(EventType.NOTICE)) {
                        rows.add(
                                new Row(
                                        batch.time(row),
                                        batch.cpu(row),
                                        batch.tid(row),
                                        type.qualifiedName(),
                                        values));
                    }
                }
            }
        }
        return rows;
    }

    static String value(Batch batch, int row, Field field) {
        if (field.kind() == Field.Kind.INTEGER) {
            return Long.toString(IntegerField.of(field).of(batch, row));
        }
        if (field.kind() == Field.Kind.FLOAT) {
            return Double.toString(FloatField.of(field).of(batch, row));
        }
        byte[] bytes = batch.bytes(row, field.offset(batch, row), field.sizeBytes(batch, row));
        if (field.isText()) {
            int end = 0;
            while (end < bytes.length && bytes[end] != 0) {
                end++;
            }
            return "text " + HexFormat.of().formatHex(bytes, 0, end);
        }
        return HexFormat.of().formatHex(bytes);
    }
}
