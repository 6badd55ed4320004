package sonde.exchange.export;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.IntegerField;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.StringField;
import sonde.event.result.Frame;

/** A row with its fields by name; holds until the next one is asked for. */
final class ExportRow {
    /** perf_event.h PERF_CONTEXT_MAX: markers lie above it. */
    private static final long PERF_CONTEXT_MAX = -4095;

    final Recording recording;
    final Lane lane;
    final Batch batch;
    final int row;
    final EventType type;
    private final ChainNames names;

    ExportRow(Recording recording, Lane lane, Batch batch, int row, ChainNames names) {
        this.recording = recording;
        this.lane = lane;
        this.batch = batch;
        this.row = row;
        this.type = batch.source().types().get(batch.type(row));
        this.names = names;
    }

    long time() {
        return batch.time(row);
    }

    int cpu() {
        return batch.cpu(row);
    }

    int pid() {
        return batch.pid(row);
    }

    int tid() {
        return batch.tid(row);
    }

    boolean is(String system, String name) {
        return type.system().equals(system) && type.name().equals(name);
    }

    /** Whether it is a sample: a counter, a clock, an allocator, without fields of its own. */
    boolean isSample() {
        boolean system = type.system().equals("perf") || type.system().equals("profile");
        return system && (type.fields().stream().allMatch(ExportRow::isPlace) || made());
    }

    /** Whether it is one that carries more than time, thread, weight and call chain. */
    boolean isFullSample() {
        boolean system = type.system().equals("perf") || type.system().equals("profile");
        return system && !isSample() && batch.stackDepth(row) > 0;
    }

    private boolean made() {
        return batch.isChainMade(row);
    }

    /** What every row of a text has (its line, flags) says nothing about the sample. */
    private static boolean isPlace(Field field) {
        return field.name().startsWith("common_");
    }

    /** Whether it is a row of the reader's own, about what the file lacks. */
    boolean isNotice() {
        return type.system().equals(EventType.NOTICE);
    }

    private static boolean fits(Field field, Batch batch, int row) {
        return field.offset() + field.sizeBytes() <= batch.payloadBytes(row);
    }

    static boolean isInteger(Field field) {
        int size = field.sizeBytes();
        return field.kind() == Field.Kind.INTEGER
                && (size == 1 || size == 2 || size == 4 || size == 8);
    }

    static boolean isReal(Field field) {
        return field.kind() == Field.Kind.FLOAT
                && (field.sizeBytes() == 4 || field.sizeBytes() == 8);
    }

    long integer(Field field) {
        return isInteger(field) && fits(field, batch, row)
                ? IntegerField.of(field).of(batch, row)
                : 0;
    }

    double real(Field field) {
        if (isReal(field) && fits(field, batch, row)) {
            return FloatField.of(field).of(batch, row);
        }
        return integer(field);
    }

    /** Text, or a number in decimals, or an array's elements with commas. */
    String text(Field field) {
        if (field.isText()) {
            return StringField.of(field).of(batch, row);
        }
        if (isInteger(field)) {
            long value = integer(field);
            return field.signed() || field.sizeBytes() < 8
                    ? Long.toString(value)
                    : Long.toUnsignedString(value);
        }
        if (isReal(field)) {
            return fits(field, batch, row) ? FloatField.of(field).text(batch, row) : "0.0";
        }
        StringBuilder out = new StringBuilder();
        for (byte b : bytes(field)) {
            out.append(String.format("%02x", b));
        }
        return out.toString();
    }

    byte[] bytes(Field field) {
        return batch.bytes(row, field.offset(batch, row), field.sizeBytes(batch, row));
    }

    long integer(String field, long otherwise) {
        return type.field(field).filter(ExportRow::isInteger).map(this::integer).orElse(otherwise);
    }

    double real(String field) {
        return type.field(field).map(this::real).orElse(0.0);
    }

    String text(String field) {
        return type.field(field).map(this::text).orElse("");
    }

    /** Fields without those that every event of a kernel has. */
    List<Field> fields() {
        return type.fields().stream().filter(field -> !field.name().startsWith("common_")).toList();
    }

    /** Frames of the call chain, callee first, markers left out. */
    List<Frame> frames() {
        return places().stream().flatMap(List::stream).toList();
    }

    /** As {@link #frames}, the calls that were inlined at a place together with its function. */
    List<List<Frame>> places() {
        return chain(address -> names.frames(recording, pid(), address));
    }

    /** A place in code: the calls that were inlined there and the function, and where it lies. */
    record Located(List<Frame> calls, @Nullable CodePlace place) {}

    /** As {@link #places}, with where they lie. */
    List<Located> located() {
        return chain(address ->
                new Located(
                        names.frames(recording, pid(), address),
                        names.place(recording, pid(), address)));
    }

    private <T> List<T> chain(LongFunction<T> of) {
        List<T> places = new ArrayList<>();
        boolean addresses = recording.frames() == null;
        boolean first = true;
        for (int i = 0; i < batch.stackDepth(row); i++) {
            long entry = batch.stackEntry(row, i);
            boolean marker = Long.compareUnsigned(entry, PERF_CONTEXT_MAX) >= 0;
            if (!marker && entry != 0) {
                // all but a part's first are return addresses: the call lies before
                places.add(of.apply(addresses && !first ? entry - 1 : entry));
            }
            first = marker;
        }
        return places;
    }
}
