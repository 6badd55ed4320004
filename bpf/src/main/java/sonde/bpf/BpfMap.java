package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.Machine;
import sonde.sys.SyscallException;

/**
 * A map of the kernel, shared with programs. Values of the per-CPU kinds are seen here as one value
 * for each possible CPU, each rounded up to 8 bytes ({@link #valueBytes()} is the whole).
 *
 * <p>Any thread may call; closing while another uses it is an error.
 */
public final class BpfMap implements AutoCloseable {
    /** Entries fetched by one call of {@link #forEach}. */
    private static final int BATCH = 4096;

    private final MapSpec spec;
    private final int fd;
    private final int valueBytes;
    private boolean closed;

    private BpfMap(MapSpec spec, int fd, int valueBytes) {
        this.spec = spec;
        this.fd = fd;
        this.valueBytes = valueBytes;
    }

    /**
     * Makes a map.
     *
     * @throws BpfRefusedException when policy forbids it
     * @throws SyscallException for sizes the kernel does not take (EINVAL, E2BIG, ENOMEM)
     */
    public static BpfMap create(MapSpec spec) throws BpfRefusedException, SyscallException {
        int valueBytes =
                spec.type().isPerCpu()
                        ? (spec.valueBytes() + 7 & ~7) * Machine.possibleCpus().length()
                        : spec.valueBytes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = Attr.allocate(arena);
            attr.set(JAVA_INT, 0, spec.type().code());
            attr.set(JAVA_INT, 4, spec.keyBytes());
            attr.set(JAVA_INT, 8, spec.valueBytes());
            attr.set(JAVA_INT, 12, spec.maxEntries());
            Attr.name(attr, 28, spec.name());
            String what = "map " + spec.name();
            long fd = Bpf.tryCall(Attr.MAP_CREATE, attr);
            if (fd < 0) {
                BpfRefusedException refused = Refusal.of(what, (int) -fd);
                if (refused != null) {
                    throw refused;
                }
                throw new SyscallException("bpf", what, (int) -fd);
            }
            return new BpfMap(spec, (int) fd, valueBytes);
        }
    }

    /** What it was made from. */
    public MapSpec spec() {
        return spec;
    }

    /** Its descriptor, for instructions that refer to it. */
    public int fd() {
        return fd;
    }

    /** Bytes of a value as seen from here; for per-CPU kinds those of all possible CPUs. */
    public int valueBytes() {
        return valueBytes;
    }

    /** Copies the value of a key; false when there is none. */
    public boolean get(MemorySegment key, MemorySegment value) throws SyscallException {
        return element(Attr.MAP_LOOKUP_ELEM, key, value);
    }

    /** Sets the value of a key; E2BIG when the map is full. */
    public void put(MemorySegment key, MemorySegment value) throws SyscallException {
        if (!element(Attr.MAP_UPDATE_ELEM, key, value)) {
            throw new SyscallException("bpf", "put into map " + spec.name(), Errno.ENOENT);
        }
    }

    /** Removes a key; false when it was not there. */
    public boolean delete(MemorySegment key) throws SyscallException {
        return element(Attr.MAP_DELETE_ELEM, key, MemorySegment.NULL);
    }

    /** {@link #put} for a key and a value of 32 bits. */
    public void put(int key, int value) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(JAVA_INT, 2);
            pair.set(JAVA_INT, 0, key);
            pair.set(JAVA_INT, 4, value);
            put(pair.asSlice(0, 4), pair.asSlice(4, 4));
        }
    }

    /** {@link #delete} for a key of 32 bits. */
    public boolean delete(int key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            return delete(arena.allocateFrom(JAVA_INT, key));
        }
    }

    /** Whether a key of 32 bits is there. */
    public boolean contains(int key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            return get(arena.allocateFrom(JAVA_INT, key), arena.allocate(valueBytes, 8));
        }
    }

    /** A 64-bit word of the first entry of an array, for programs that count side by side in it. */
    public long word(int offset) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(valueBytes, 8);
            get(arena.allocateFrom(JAVA_INT, 0), value);
            return value.get(JAVA_LONG, offset);
        }
    }

    /** The sum of all 64-bit words of an entry: for per-CPU counters their total. */
    public long sum(int key) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(valueBytes, 8);
            if (!get(arena.allocateFrom(JAVA_INT, key), value)) {
                return 0;
            }
            long sum = 0;
            for (long at = 0; at + 8 <= valueBytes; at += 8) {
                sum += value.get(JAVA_LONG, at);
            }
            return sum;
        }
    }

    /**
     * Hands every entry to the consumer; the segments are valid during its call. Entries that
     * programs change meanwhile may be seen or missed. Uses batches (Linux 5.6); needs a map kind
     * that has them: arrays and hashes.
     */
    public void forEach(BiConsumer<MemorySegment, MemorySegment> entries) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            int room = Math.min(BATCH, spec.maxEntries());
            MemorySegment keys = arena.allocate((long) room * spec.keyBytes(), 8);
            MemorySegment values = arena.allocate((long) room * valueBytes, 8);
            MemorySegment position = arena.allocate(Math.max(8, spec.keyBytes()), 8);
            MemorySegment attr = Attr.allocate(arena);
            attr.set(JAVA_LONG, 8, position.address());
            attr.set(JAVA_LONG, 16, keys.address());
            attr.set(JAVA_LONG, 24, values.address());
            attr.set(JAVA_INT, 36, fd);
            boolean last = false;
            while (!last) {
                attr.set(JAVA_INT, 32, room);
                long result = Bpf.tryCall(Attr.MAP_LOOKUP_BATCH, attr);
                // ENOENT is the end, with the last entries delivered.
                last = result == -Errno.ENOENT;
                if (result < 0 && !last) {
                    throw new SyscallException("bpf", "batch of map " + spec.name(), (int) -result);
                }
                int count = Math.min(room, attr.get(JAVA_INT, 32));
                for (int i = 0; i < count; i++) {
                    entries.accept(
                            keys.asSlice((long) i * spec.keyBytes(), spec.keyBytes()),
                            values.asSlice((long) i * valueBytes, valueBytes));
                }
                attr.set(JAVA_LONG, 0, position.address());
            }
        }
    }

    private boolean element(int command, MemorySegment key, MemorySegment value)
            throws SyscallException {
        if (key.byteSize() < spec.keyBytes()
                || (command != Attr.MAP_DELETE_ELEM && value.byteSize() < valueBytes)) {
            throw new IllegalArgumentException(
                    "map %s has keys of %d and values of %d bytes, given %d and %d"
                            .formatted(
                                    spec.name(),
                                    spec.keyBytes(),
                                    valueBytes,
                                    key.byteSize(),
                                    value.byteSize()));
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = Attr.allocate(arena);
            attr.set(JAVA_INT, 0, fd);
            attr.set(JAVA_LONG, 8, key.address());
            attr.set(JAVA_LONG, 16, value.address());
            long result = Bpf.tryCall(command, attr);
            if (result < 0 && result != -Errno.ENOENT) {
                throw new SyscallException("bpf", "map " + spec.name(), (int) -result);
            }
            return result >= 0;
        }
    }

    /** Closes the descriptor; the map lives on while a loaded program uses it. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
        }
    }
}
