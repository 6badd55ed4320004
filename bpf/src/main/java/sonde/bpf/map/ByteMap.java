package sonde.bpf.map;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.MapVisit;
import sonde.sys.SyscallException;

/** A map whose keys and values are bytes: for those that learn their layout when they run. */
public final class ByteMap {
    private final BpfMap map;

    /** Does not close the map. */
    public ByteMap(BpfMap map) {
        this.map = map;
    }

    /** The map. */
    public BpfMap map() {
        return map;
    }

    private static MemorySegment copy(Arena arena, byte[] bytes) {
        MemorySegment segment = arena.allocate(Math.max(8, bytes.length), 8);
        MemorySegment.copy(bytes, 0, segment, JAVA_BYTE, 0, bytes.length);
        return segment;
    }

    /** The value of a key, of all CPUs where each has its own; null for none. */
    public byte @Nullable [] get(byte[] key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(map.valueBytes(), 8);
            return map.get(copy(arena, key), value) ? value.toArray(JAVA_BYTE) : null;
        }
    }

    /** Sets the value of a key. */
    public void put(byte[] key, byte[] value) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(Math.max(map.valueBytes(), value.length), 8);
            MemorySegment.copy(value, 0, room, JAVA_BYTE, 0, value.length);
            map.put(copy(arena, key), room);
        }
    }

    /** Removes a key; false when it was not there. */
    public boolean delete(byte[] key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            return map.delete(copy(arena, key));
        }
    }

    /** Hands every entry to the consumer, as copies; see {@link BpfMap#forEach}. */
    public MapVisit forEach(BiConsumer<byte[], byte[]> entries) throws SyscallException {
        int keyBytes = map.spec().keyBytes();
        return map.forEach((key, value) ->
                entries.accept(
                        key.asSlice(0, keyBytes).toArray(JAVA_BYTE), value.toArray(JAVA_BYTE)));
    }
}
