package sonde.exchange.jfr;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;
import sonde.exchange.jfr.JfrMetadata.JfrClass;
import sonde.exchange.jfr.JfrMetadata.JfrField;

/**
 * A chunk: header, events, checkpoints with constants, metadata. Values are Long, Double, String,
 * Object[] (of an array, or the fields of a class) or {@link PoolReference}.
 */
final class JfrChunk {
    static final int HEADER_BYTES = 68;
    private static final int CHECKPOINT = 1;
    private static final int MOST_DEPTH = 16;
    private static final int MOST_CONSTANTS = 50_000_000;

    /** What a chunk's header says; big-endian. */
    record ChunkHeader(
            long size,
            long pools,
            long metadata,
            long startNanos,
            long startTicks,
            long perSecond,
            boolean compressed) {

        static ChunkHeader read(FieldCursor in) throws MalformedInputException {
            in.s32("magic");
            in.u16("major");
            in.u16("minor");
            long size = in.u64("chunk size");
            long pools = in.u64("constant pool offset");
            long metadata = in.u64("metadata offset");
            long nanos = in.u64("start time");
            in.u64("duration");
            long ticks = in.u64("start ticks");
            long frequency = in.u64("ticks per second");
            boolean compressed = (in.s32("features") & 1) != 0;
            if (frequency <= 0) {
                throw in.malformed("ticks per second", Long.toString(frequency));
            }
            return new ChunkHeader(size, pools, metadata, nanos, ticks, frequency, compressed);
        }

        /** A duration in nanoseconds. */
        long nanos(long ticks) {
            return perSecond == 1_000_000_000 ? ticks : (long) (ticks * (1e9 / perSecond));
        }

        /** A moment in nanoseconds of CLOCK_REALTIME. */
        long time(long ticks) {
            return startNanos + nanos(ticks - startTicks);
        }
    }

    /** A value that stands in a pool. */
    record PoolReference(long type, long key) {}

    final ChunkHeader header;
    final JfrMetadata metadata;
    private final JfrCursor in;
    private final long end;
    private final Map<Long, Map<Long, Object>> pools = new HashMap<>();
    private int constants;
    private long budget;

    JfrChunk(ChunkHeader header, MemorySegment bytes) throws MalformedInputException {
        this.header = header;
        this.end = bytes.byteSize();
        // Classes without fields take no bytes: a hostile file could nest them without end.
        this.budget = 64 * end + (1 << 20);
        this.in = new JfrCursor(bytes, header.compressed);
        this.metadata = JfrMetadata.read(in, header.metadata);
    }

    /** Takes events. */
    @FunctionalInterface
    interface JfrEventTaker {
        /** An event whose fields begin at the position of {@link #value}. */
        void take(JfrClass type) throws MalformedInputException;
    }

    /** Reads the constants of all checkpoints, from the last one back. */
    void readConstants() throws MalformedInputException {
        Set<Long> seen = new HashSet<>();
        long at = header.pools;
        while (at > 0 && seen.add(at)) {
            in.seek("checkpoint", at);
            in.small("size");
            long type = in.integer("type");
            if (type != CHECKPOINT) {
                throw in.malformed("checkpoint", "an event of type " + type);
            }
            in.integer("start time");
            in.integer("duration");
            long delta = in.integer("delta to the checkpoint before");
            in.u8("checkpoint type");
            int count = in.small("pool count");
            for (int i = 0; i < count; i++) {
                pool();
            }
            at = delta == 0 ? 0 : at + delta;
        }
    }

    private void pool() throws MalformedInputException {
        long id = in.integer("class of constants");
        JfrClass type = metadata.type(id);
        if (type == null) {
            throw in.malformed("class of constants", "unknown class " + id);
        }
        int count = in.small("constant count");
        Map<Long, Object> pool = pools.computeIfAbsent(id, ignored -> new HashMap<>());
        for (int i = 0; i < count; i++) {
            if (constants++ > MOST_CONSTANTS) {
                throw in.malformed("constant", "more than " + MOST_CONSTANTS);
            }
            long key = in.integer("constant's key");
            Object value = value(type, 0);
            if (value != null) {
                pool.putIfAbsent(key, value);
            }
        }
    }

    /** Hands out the events; the number of bytes behind the last good one that were not read. */
    long forEach(JfrEventTaker taker) throws MalformedInputException {
        long at = HEADER_BYTES;
        while (at < end) {
            in.seek("event", at);
            long size = in.small("event size") & 0xffff_ffffL;
            if (size == 0 || size > end - at) {
                return end - at;
            }
            long type = in.integer("event type");
            JfrClass known = type <= CHECKPOINT ? null : metadata.type(type);
            if (known != null) {
                taker.take(known);
            }
            at += size;
        }
        return 0;
    }

    /** The next field of an event. */
    @Nullable Object field(JfrField field) throws MalformedInputException {
        return field(field, 0);
    }

    private @Nullable Object field(JfrField field, int depth) throws MalformedInputException {
        JfrClass type = metadata.type(field.type());
        if (type == null || depth > MOST_DEPTH) {
            throw in.malformed(field.name(), "class " + field.type());
        }
        if (!field.array()) {
            return one(field, type, depth);
        }
        int count = in.count(field.name());
        List<@Nullable Object> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            elements.add(one(field, type, depth));
        }
        return elements.toArray();
    }

    private @Nullable Object one(JfrField field, JfrClass type, int depth)
            throws MalformedInputException {
        return field.pooled()
                ? new PoolReference(field.type(), in.integer(field.name()))
                : value(type, depth);
    }

    private @Nullable Object value(JfrClass type, int depth) throws MalformedInputException {
        String name = type.name();
        return switch (name) {
            case "boolean", "byte" -> (long) (byte) in.u8(name);
            case "char" -> (long) in.tiny(name);
            case "short" -> (long) (short) in.tiny(name);
            case "int" -> (long) in.small(name);
            case "long" -> in.integer(name);
            case "float" -> (double) in.real32(name);
            case "double" -> in.real64(name);
            case "java.lang.String" -> {
                Object text = in.text(name);
                yield text instanceof JfrCursor.Pooled pooled
                        ? new PoolReference(type.id(), pooled.key())
                        : text;
            }
            default -> {
                budget -= 1 + type.fields().size();
                if (budget < 0) {
                    throw in.malformed(name, "more values than bytes");
                }
                @Nullable Object[] fields = new @Nullable Object[type.fields().size()];
                for (int i = 0; i < fields.length; i++) {
                    fields[i] = field(type.fields().get(i), depth + 1);
                }
                yield fields;
            }
        };
    }

    /** A value out of its pool; null when it is not there. */
    @Nullable Object resolve(@Nullable Object value) {
        Object at = value;
        for (int i = 0; i < MOST_DEPTH && at instanceof PoolReference constant; i++) {
            at = pools.getOrDefault(constant.type(), Map.of()).get(constant.key());
        }
        return at instanceof PoolReference ? null : at;
    }

    /** A member of a value of that class, resolved. */
    @Nullable Object member(JfrClass type, @Nullable Object value, String name) {
        if (resolve(value) instanceof Object[] fields) {
            for (int i = 0; i < type.fields().size() && i < fields.length; i++) {
                if (type.fields().get(i).name().equals(name)) {
                    return fields[i];
                }
            }
        }
        return null;
    }

    /** The class of a member. */
    @Nullable JfrClass memberType(JfrClass type, String name) {
        for (JfrField field : type.fields()) {
            if (field.name().equals(name)) {
                return metadata.type(field.type());
            }
        }
        return null;
    }
}
