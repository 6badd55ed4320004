package sonde.bpf.map;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.bpf.BpfMap;
import sonde.bpf.Visit;
import sonde.bpf.call.Attr;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * A map for one thread and many calls: key, value and the call's arguments lie in memory made once,
 * and numbers are passed as long, so that no call makes an object.
 *
 * {@snippet :
 * try (MapAccess counts = new MapAccess(map)) {
 *     counts.put(pid, 0);
 *     long hits = counts.sum(pid);
 * }
 * }
 *
 * <p>Numbers are keys of 4 or 8 bytes; longer ones are written into {@link #key()}.
 */
public final class MapAccess implements AutoCloseable {
    /** Takes an entry without making objects. */
    public interface LongEntries {
        /** One entry; for per-CPU maps the sum over all CPUs. */
        void entry(long key, long value);
    }

    private final Arena arena = Arena.ofConfined();
    private final BpfMap map;
    private final MemorySegment attr;
    private final MemorySegment key;
    private final MemorySegment value;
    private final int keyBytes;

    /** Memory for calls on a map, which stays its maker's to close. */
    public MapAccess(BpfMap map) {
        this.map = map;
        keyBytes = map.spec().keyBytes();
        key = arena.allocate(Math.max(8, keyBytes), 8);
        value = arena.allocate(Math.max(8, map.valueBytes()), 8);
        attr = Attr.allocate(arena);
        attr.set(JAVA_INT, 0, map.fd());
        attr.set(JAVA_LONG, 8, keyBytes == 0 ? 0 : key.address());
    }

    /** Where the key of the next call lies. */
    public MemorySegment key() {
        return key;
    }

    /** Where the value of the last {@link #get()} lies, and that of the next {@link #put()}. */
    public MemorySegment value() {
        return value;
    }

    /** Copies the value of {@link #key()} into {@link #value()}; false when there is none. */
    public boolean get() throws SyscallException {
        return call(Attr.MAP_LOOKUP_ELEM, "get from map");
    }

    /** As {@link #get()}, and removes the entry; see {@link BpfMap#take}. */
    public boolean take() throws SyscallException {
        return call(Attr.MAP_LOOKUP_AND_DELETE_ELEM, "take from map");
    }

    /** Puts {@link #value()} under {@link #key()}. */
    public void put() throws SyscallException {
        call(Attr.MAP_UPDATE_ELEM, "put into map");
    }

    /** Removes {@link #key()}; false when it was not there. */
    public boolean delete() throws SyscallException {
        return call(Attr.MAP_DELETE_ELEM, "delete from map");
    }

    /** Puts a number under a number; into every CPU's value of a per-CPU map. */
    public void put(long number, long newValue) throws SyscallException {
        number(number);
        for (long at = 0; at + 8 <= map.valueBytes(); at += 8) {
            value.set(JAVA_LONG, at, newValue);
        }
        if (map.valueBytes() == 4) {
            value.set(JAVA_INT, 0, (int) newValue);
        }
        put();
    }

    /** The number under a number; the sum over all CPUs of a per-CPU map; 0 when there is none. */
    public long sum(long number) throws SyscallException {
        number(number);
        return get() ? sum(value) : 0;
    }

    /** Whether there is a value under a number. */
    public boolean contains(long number) throws SyscallException {
        number(number);
        return get();
    }

    /** Removes a number; false when it was not there. */
    public boolean delete(long number) throws SyscallException {
        number(number);
        return delete();
    }

    /** All entries of a map from numbers to numbers. */
    public Visit forEach(LongEntries entries) throws SyscallException {
        return map.forEach((k, v) -> entries.entry(number(k), sum(v)));
    }

    private long number(MemorySegment from) {
        return keyBytes == 4 ? from.get(JAVA_INT, 0) & 0xffff_ffffL : from.get(JAVA_LONG, 0);
    }

    private long sum(MemorySegment from) {
        if (map.valueBytes() == 4) {
            return from.get(JAVA_INT, 0) & 0xffff_ffffL;
        }
        long sum = 0;
        for (long at = 0; at + 8 <= map.valueBytes(); at += 8) {
            sum += from.get(JAVA_LONG, at);
        }
        return sum;
    }

    private void number(long number) {
        switch (keyBytes) {
            case 4 -> key.set(JAVA_INT, 0, (int) number);
            case 8 -> key.set(JAVA_LONG, 0, number);
            default -> throw new IllegalStateException(map.spec() + " has no numbers for its keys");
        }
    }

    private boolean call(int command, String action) throws SyscallException {
        // What a command does not use must be zero.
        attr.set(JAVA_LONG, 16, command == Attr.MAP_DELETE_ELEM ? 0 : value.address());
        long result = Bpf.tryCall(command, attr);
        if (result >= 0) {
            return true;
        }
        if (result == -Errno.ENOENT && command != Attr.MAP_UPDATE_ELEM) {
            return false;
        }
        throw map.failure(action, (int) -result);
    }

    /** Frees the memory. */
    @Override
    public void close() {
        arena.close();
    }
}
