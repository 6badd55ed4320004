package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BiConsumer;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/** Goes through all entries of a map, in batches or from key to key. */
final class MapVisitor {
    /** Entries of the first batch. */
    private static final int BATCH = 4096;

    /** Memory of a batch at most. */
    private static final long MOST_BYTES = 64L << 20;

    /** Restarts after which a map changes faster than it can be read. */
    private static final int MOST_RESTARTS = 64;

    private final BpfMap map;
    private final BiConsumer<MemorySegment, MemorySegment> consumer;
    private final int keyBytes;
    private final int valueBytes;

    MapVisitor(BpfMap map, BiConsumer<MemorySegment, MemorySegment> consumer) {
        this.map = map;
        this.consumer = consumer;
        keyBytes = map.spec().keyBytes();
        valueBytes = map.valueBytes();
    }

    MapVisit visit(boolean take) throws SyscallException {
        long seen = batches(take);
        return seen >= 0 ? new MapVisit(seen, 0, true, true) : keyByKey(take);
    }

    /** Entries seen; -1 where the kernel has no batches for this map. */
    private long batches(boolean take) throws SyscallException {
        long pair = Math.max(1, (long) keyBytes + valueBytes);
        int most = Math.clamp(MOST_BYTES / pair, 1, 1 << 22);
        int room = Math.clamp(map.spec().maxEntries(), 1, Math.min(BATCH, most));
        long seen = 0;
        try (Arena outer = Arena.ofConfined()) {
            MemorySegment position = outer.allocate(Math.max(8, keyBytes), 8);
            MemorySegment attr = BpfAttr.allocate(outer);
            attr.set(JAVA_LONG, 8, position.address());
            attr.set(JAVA_INT, 36, map.fd());
            while (true) {
                VisitRound round = round(attr, room, take, seen == 0);
                if (round == VisitRound.UNSUPPORTED) {
                    return -1;
                }
                seen += Math.max(0, attr.get(JAVA_INT, 32));
                if (round == VisitRound.END) {
                    return seen;
                }
                if (round == VisitRound.BUCKET_TOO_LARGE) {
                    // One bucket of the hash must fit a batch.
                    if (room >= most) {
                        throw MapException.element(map.spec().name(), "batch of map", Errno.ENOSPC);
                    }
                    room = Math.min(most, room * 2);
                } else {
                    attr.set(JAVA_LONG, 0, position.address());
                }
            }
        }
    }

    private enum VisitRound {
        MORE,
        END,
        BUCKET_TOO_LARGE,
        UNSUPPORTED
    }

    private VisitRound round(MemorySegment attr, int room, boolean take, boolean first)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keys = arena.allocate(Math.max(1, (long) room * keyBytes), 8);
            MemorySegment values = arena.allocate(Math.max(1, (long) room * valueBytes), 8);
            attr.set(JAVA_LONG, 16, keys.address());
            attr.set(JAVA_LONG, 24, values.address());
            attr.set(JAVA_INT, 32, room);
            long result =
                    Bpf.tryCall(
                            take ? BpfAttr.MAP_LOOKUP_AND_DELETE_BATCH : BpfAttr.MAP_LOOKUP_BATCH,
                            attr);
            if (result == -Errno.ENOSPC) {
                attr.set(JAVA_INT, 32, 0);
                return VisitRound.BUCKET_TOO_LARGE;
            }
            if (first
                    && (result == -Errno.EINVAL
                            || result == -Errno.EOPNOTSUPP
                            || result == -BpfAttr.ENOTSUPP)) {
                return VisitRound.UNSUPPORTED;
            }
            // ENOENT is the end, with the last entries delivered.
            if (result < 0 && result != -Errno.ENOENT) {
                throw MapException.element(map.spec().name(), "batch of map", (int) -result);
            }
            int count = Math.clamp(attr.get(JAVA_INT, 32), 0, room);
            attr.set(JAVA_INT, 32, count);
            for (int i = 0; i < count; i++) {
                consumer.accept(
                        keys.asSlice((long) i * keyBytes, keyBytes),
                        values.asSlice((long) i * valueBytes, valueBytes));
            }
            return result < 0 ? VisitRound.END : VisitRound.MORE;
        }
    }

    /**
     * From key to key. The keys handed over are remembered: when the one we stand at has been
     * deleted the kernel goes on with its first key, and those already seen are passed over.
     */
    MapVisit keyByKey(boolean take) throws SyscallException {
        Set<ByteBuffer> seen = new HashSet<>();
        int restarts = 0;
        boolean passing = false;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(Math.max(8, keyBytes), 8).asSlice(0, keyBytes);
            MemorySegment next = arena.allocate(Math.max(8, keyBytes), 8).asSlice(0, keyBytes);
            MemorySegment value = arena.allocate(Math.max(8, valueBytes), 8);
            MemorySegment attr = BpfAttr.allocate(arena);
            boolean more = next(attr, MemorySegment.NULL, next);
            while (more && restarts < MOST_RESTARTS) {
                boolean isNew = seen.add(ByteBuffer.wrap(next.toArray(JAVA_BYTE)));
                if (!isNew && !passing) {
                    restarts++;
                }
                passing = !isNew;
                key.copyFrom(next);
                more = next(attr, key, next);
                if (isNew && !deliver(key, value, take)) {
                    seen.remove(ByteBuffer.wrap(key.toArray(JAVA_BYTE)));
                }
            }
            return new MapVisit(seen.size(), restarts, !more, false);
        }
    }

    /** False when the entry is gone meanwhile. */
    private boolean deliver(MemorySegment key, MemorySegment value, boolean take)
            throws SyscallException {
        boolean found = map.get(key, value);
        if (found && take) {
            found = map.delete(key);
        }
        if (found) {
            consumer.accept(key, value.asSlice(0, valueBytes));
        }
        return found;
    }

    private boolean next(MemorySegment attr, MemorySegment key, MemorySegment next)
            throws SyscallException {
        attr.set(JAVA_INT, 0, map.fd());
        attr.set(JAVA_LONG, 8, key.address());
        attr.set(JAVA_LONG, 16, next.address());
        long result = Bpf.tryCall(BpfAttr.MAP_GET_NEXT_KEY, attr);
        if (result < 0 && result != -Errno.ENOENT) {
            throw MapException.element(map.spec().name(), "next key of map", (int) -result);
        }
        return result >= 0;
    }
}
