package sonde.lang.bpftrace.run;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.output.AggregateValues;
import sonde.lang.output.MapRows;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.output.ValueNames;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.StackType;

/** A map with stacks in its keys that the tracer follows: it is kept here, not in the kernel. */
final class TracerMap {
    private final MapPlan plan;
    private final ValueNames names;
    private final ValueType key;
    private final Map<ByteBuffer, byte[]> values = new LinkedHashMap<>();
    private long lost;

    /** Without entries. */
    TracerMap(MapPlan plan, ValueNames names) {
        this.plan = plan;
        this.names = names;
        this.key = followed(plan.key());
    }

    /**
     * Takes an event of {@link sonde.lang.bpftrace.lower.EventAction.PutAction}, whose key is at 8.
     */
    void put(byte[] bytes, int length) {
        int keyBytes = plan.key().sizeBytes();
        int valueAt = 8 + (keyBytes + 7 & ~7);
        if (length < valueAt + plan.value().sizeBytes()) {
            return;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        write(plan.key(), bytes, 8, out);
        ByteBuffer at = ByteBuffer.wrap(out.toByteArray());
        byte[] value = Arrays.copyOfRange(bytes, valueAt, valueAt + plan.value().sizeBytes());
        byte[] known = values.get(at);
        if (known == null && values.size() >= plan.entries()) {
            lost++;
        } else if (known != null && plan.value() instanceof AggregateType aggregate) {
            byte[] both = Arrays.copyOf(known, 2 * known.length);
            System.arraycopy(value, 0, both, known.length, value.length);
            values.put(at, AggregateValues.merge(aggregate, both, known.length, 2));
        } else {
            values.put(at, value);
        }
    }

    /** What a key is when its stacks have been followed. */
    private static ValueType followed(ValueType type) {
        return switch (type) {
            case StackType s when s.copied() -> new StackType(true, s.mode(), s.frames());
            case TupleType t when t.named() ->
                    TupleType.ofRecord(
                            t.fields().stream().map(TypeField::name).toList(),
                            t.types().stream().map(TracerMap::followed).toList());
            case TupleType t -> TupleType.of(t.types().stream().map(TracerMap::followed).toList());
            default -> type;
        };
    }

    private void write(ValueType type, byte[] bytes, int at, ByteArrayOutputStream out) {
        switch (type) {
            case StackType s when s.copied() -> {
                long[] addresses = names.unwind(bytes, at, s.frames());
                ByteBuffer stack =
                        ByteBuffer.allocate(followed(s).sizeBytes())
                                .order(ByteOrder.LITTLE_ENDIAN)
                                .put(bytes, at, 8);
                for (long address : addresses) {
                    stack.putLong(address);
                }
                out.writeBytes(stack.array());
            }
            case TupleType t -> {
                TupleType to = (TupleType) followed(t);
                int start = out.size();
                for (int i = 0; i < t.fields().size(); i++) {
                    pad(out, start + to.fields().get(i).offsetBytes());
                    TypeField field = t.fields().get(i);
                    write(field.type(), bytes, at + field.offsetBytes(), out);
                }
                pad(out, start + to.sizeBytes());
            }
            default -> out.write(bytes, at, type.sizeBytes());
        }
    }

    private static void pad(ByteArrayOutputStream out, int size) {
        while (out.size() < size) {
            out.write(0);
        }
    }

    /** All rows. */
    MapRows rows() {
        List<MapRow> rows = new ArrayList<>();
        values.forEach((at, value) -> rows.add(new MapRow(at.array(), value)));
        return new MapRows(plan.name(), false, key, plan.value(), rows);
    }

    /** Removes all keys, or sets their values to zero. */
    void empty(boolean keepKeys) {
        if (keepKeys) {
            values.replaceAll((_, value) -> new byte[value.length]);
        } else {
            values.clear();
        }
    }

    /** Values that found no room. */
    long lost() {
        return lost;
    }
}
