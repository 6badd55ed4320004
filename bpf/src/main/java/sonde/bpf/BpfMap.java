package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BiConsumer;
import sonde.bpf.MapSpec.MapTypes;
import sonde.bpf.call.BpfAttr;
import sonde.bpf.call.KernelObject;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * A map of the kernel, shared with programs. Values of the per-CPU kinds are seen here as one value
 * for each possible CPU, each rounded up to 8 bytes ({@link #valueBytes()} is the whole).
 *
 * <p>Keys and values are segments of native memory, at least as long as the map's; maps without
 * keys (queues, stacks, Bloom filters) take {@link MemorySegment#NULL}. {@code sonde.bpf.map} has
 * views with types. Any thread may call; closing while another uses it is an error.
 */
public final class BpfMap implements AutoCloseable {
    /** When {@link #put(MemorySegment, MemorySegment, UpdateMode)} puts: the flags of an update. */
    public enum UpdateMode {
        /** In any case. */
        ANY,
        /** Only where the key is new; else {@link MapException.MapFailure#EXISTS}. */
        IF_ABSENT,
        /** Only where the key is there; else {@link MapException.MapFailure#MISSING}. */
        IF_PRESENT
    }

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
     * Makes a map. Local storage without types gets some that have its sizes. Where a kernel does
     * not know BTF or names of maps, it is made without.
     *
     * @throws BpfRefusedException when policy forbids it, or the memory that may be locked is used
     *     up
     * @throws MapException for sizes and flags the kernel does not take, or want of memory
     */
    public static BpfMap create(MapSpec spec) throws BpfRefusedException, SyscallException {
        if (spec.type().isLocalStorage() && spec.types() == null) {
            try (LoadedBtf btf = LoadedBtf.sized(spec.valueBytes())) {
                return create(spec.withTypes(new MapTypes(btf.fd(), 1, LoadedBtf.SIZED)));
            }
        }
        int valueBytes = valueBytes(spec.type(), spec.valueBytes());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, spec.type().code());
            attr.set(JAVA_INT, 4, spec.keyBytes());
            attr.set(JAVA_INT, 8, spec.valueBytes());
            attr.set(JAVA_INT, 12, spec.maxEntries());
            attr.set(JAVA_INT, 16, spec.flags() | spec.type().impliedFlags());
            attr.set(JAVA_INT, 20, spec.inner() == null ? 0 : spec.inner().fd());
            attr.set(JAVA_INT, 24, Math.max(0, spec.node()));
            BpfAttr.name(attr, 28, spec.name());
            MapTypes types = spec.types();
            if (types != null) {
                attr.set(JAVA_INT, 48, types.btfFd());
                attr.set(JAVA_INT, 52, types.keyType());
                attr.set(JAVA_INT, 56, types.valueType());
            }
            attr.set(JAVA_LONG, 64, spec.extra());
            long fd = create(attr, spec);
            if (fd < 0) {
                BpfRefusedException refused = RefusalCause.of(spec.toString(), (int) -fd);
                if (refused != null) {
                    throw refused;
                }
                throw MapException.creation(spec, (int) -fd);
            }
            return new BpfMap(spec, (int) fd, valueBytes);
        }
    }

    /** Tries, and where a kernel may not know what is not needed, again without that. */
    private static long create(MemorySegment attr, MapSpec spec) {
        long result = Bpf.tryCall(BpfAttr.MAP_CREATE, attr);
        boolean typesNeeded = spec.type().isLocalStorage() || spec.type() == MapType.STRUCT_OPS;
        if ((result == -Errno.EINVAL || result == -BpfAttr.ENOTSUPP)
                && spec.types() != null
                && !typesNeeded) {
            attr.asSlice(48, 12).fill((byte) 0);
            result = Bpf.tryCall(BpfAttr.MAP_CREATE, attr);
        }
        // Before 4.15 the name lies beyond what the kernel knows.
        if (result == -Errno.E2BIG && !spec.name().isEmpty()) {
            BpfAttr.noName(attr, 28);
            result = Bpf.tryCall(BpfAttr.MAP_CREATE, attr);
        }
        return result;
    }

    private static int valueBytes(MapType type, int valueBytes) throws SyscallException {
        return type.isPerCpu()
                ? (valueBytes + 7 & ~7) * MachineFacts.possibleCpus().length()
                : valueBytes;
    }

    /** The numbers of all maps. */
    public static List<Integer> ids() throws SyscallException {
        return KernelObject.ids(BpfAttr.MAP_GET_NEXT_ID);
    }

    /**
     * Opens a map by its number.
     *
     * @throws SyscallException ENOENT when it is gone; EINVAL for a type this class does not know
     */
    public static BpfMap openId(int id) throws SyscallException {
        return adopt(KernelObject.open(BpfAttr.MAP_GET_FD_BY_ID, id, "map " + id));
    }

    /** Opens a map by its name in a bpffs. */
    public static BpfMap openPinned(String path) throws SyscallException {
        return adopt(KernelObject.openPinned(path, "bpf-map"));
    }

    /** Takes over a descriptor of a map; closes it when it is none. */
    public static BpfMap adopt(int fd) throws SyscallException {
        try {
            MapFacts facts = MapFacts.of(fd);
            MapType type = MapType.of(facts.type());
            if (type == null) {
                throw new SyscallException(
                        "bpf", "map of unknown type " + facts.type(), Errno.EINVAL);
            }
            MapSpec spec =
                    new MapSpec(
                            facts.name(),
                            type,
                            facts.keyBytes(),
                            facts.valueBytes(),
                            facts.maxEntries(),
                            facts.flags(),
                            facts.extra(),
                            -1,
                            null,
                            null);
            return new BpfMap(spec, fd, valueBytes(type, facts.valueBytes()));
        } catch (SyscallException e) {
            Fd.discard(fd);
            throw e;
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

    /** What the kernel says of it. */
    public MapFacts facts() throws SyscallException {
        return MapFacts.of(fd);
    }

    /** Gives it a name in a bpffs, by which it outlives this process. */
    public void pin(String path) throws SyscallException {
        KernelObject.pin(fd, path);
    }

    /** From now on nothing can be put from user space (Linux 5.2). */
    public void freeze() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, fd);
            long result = Bpf.tryCall(BpfAttr.MAP_FREEZE, attr);
            if (result < 0) {
                throw MapException.element(spec.name(), "freeze map", (int) -result);
            }
        }
    }

    /** Copies the value of a key; false when there is none. A Bloom filter tests the value. */
    public boolean get(MemorySegment key, MemorySegment value) throws SyscallException {
        return element(BpfAttr.MAP_LOOKUP_ELEM, "get from map", key, value, 0);
    }

    /**
     * Copies the value of a key and removes it: hashes since Linux 5.14, queues and stacks (whose
     * next value it takes) since 4.20; false when there is none.
     */
    public boolean take(MemorySegment key, MemorySegment value) throws SyscallException {
        return element(BpfAttr.MAP_LOOKUP_AND_DELETE_ELEM, "take from map", key, value, 0);
    }

    /**
     * Copies the key behind another; the first behind {@link MemorySegment#NULL} (Linux 4.12).
     * False behind the last. A key that is not there counts as none.
     */
    public boolean nextKey(MemorySegment after, MemorySegment next) throws SyscallException {
        if (next.byteSize() < spec.keyBytes()
                || after.address() != 0 && after.byteSize() < spec.keyBytes()) {
            throw new IllegalArgumentException("keys of " + spec + " need more room");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, fd);
            attr.set(JAVA_LONG, 8, after.address());
            attr.set(JAVA_LONG, 16, next.address());
            long result = Bpf.tryCall(BpfAttr.MAP_GET_NEXT_KEY, attr);
            if (result < 0 && result != -Errno.ENOENT) {
                throw MapException.element(spec.name(), "next key of map", (int) -result);
            }
            return result >= 0;
        }
    }

    /** Sets the value of a key; {@link MapException.MapFailure#FULL} when the map is full. */
    public void put(MemorySegment key, MemorySegment value) throws SyscallException {
        put(key, value, UpdateMode.ANY);
    }

    /** Sets the value of a key if it is there, or is not. */
    public void put(MemorySegment key, MemorySegment value, UpdateMode mode)
            throws SyscallException {
        if (!element(BpfAttr.MAP_UPDATE_ELEM, "put into map", key, value, mode.ordinal())) {
            throw MapException.element(spec.name(), "put into map", Errno.ENOENT);
        }
    }

    /** Removes a key; false when it was not there. */
    public boolean delete(MemorySegment key) throws SyscallException {
        return element(BpfAttr.MAP_DELETE_ELEM, "delete from map", key, MemorySegment.NULL, 0);
    }

    /** {@link #put(MemorySegment, MemorySegment)} for a key and a value of 32 bits. */
    public void put(int key, int value) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(JAVA_INT, 2);
            pair.set(JAVA_INT, 0, key);
            pair.set(JAVA_INT, 4, value);
            put(pair.asSlice(0, 4), pair.asSlice(4, 4));
        }
    }

    /** {@link #delete(MemorySegment)} for a key of 32 bits. */
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
     * Hands every entry to the consumer; the segments are valid during its call. An entry that is
     * there all the while is seen exactly once; those that come and go may be seen or missed.
     *
     * <p>Uses batches (Linux 5.6), whose position is a bucket of the hash. Where the kernel or the
     * type has none it goes from key to key: there the kernel starts anew when the key it stands at
     * has been deleted, which is noticed and told by {@link MapVisit#restarts}.
     */
    public MapVisit forEach(BiConsumer<MemorySegment, MemorySegment> entries)
            throws SyscallException {
        return new MapVisitor(this, entries).visit(false);
    }

    /**
     * As {@link #forEach}, taking each entry out of the map (hashes; batches of Linux 5.6, else key
     * by key). What programs add meanwhile may stay.
     */
    public MapVisit drain(BiConsumer<MemorySegment, MemorySegment> entries)
            throws SyscallException {
        return new MapVisitor(this, entries).visit(true);
    }

    /**
     * Puts many entries, in one call where the kernel has batches.
     *
     * @param keys one behind the other without gaps, as the values
     * @throws MapException of the first that fails; those before it are in
     */
    public void putAll(MemorySegment keys, MemorySegment values, int count)
            throws SyscallException {
        int done = batch(BpfAttr.MAP_UPDATE_BATCH, "put into map", keys, values, count);
        for (int i = done; i < count; i++) {
            put(at(keys, i, spec.keyBytes()), at(values, i, valueBytes));
        }
    }

    /** Removes many keys; how many of them were there. */
    public int deleteAll(MemorySegment keys, int count) throws SyscallException {
        // A batch ends at the first key that is missing; go on behind it.
        int deleted = 0;
        for (int from = 0; from < count; from++) {
            int done =
                    batch(
                            BpfAttr.MAP_DELETE_BATCH,
                            "delete from map",
                            keys.asSlice((long) from * spec.keyBytes()),
                            MemorySegment.NULL,
                            count - from);
            deleted += done;
            from += done;
            if (from < count && delete(at(keys, from, spec.keyBytes()))) {
                deleted++;
            }
        }
        return deleted;
    }

    private static MemorySegment at(MemorySegment parts, int index, int bytes) {
        return parts.asSlice((long) index * bytes, bytes);
    }

    /** How many of the elements are done; 0 where there are no batches. */
    private int batch(
            int command, String action, MemorySegment keys, MemorySegment values, int count)
            throws SyscallException {
        boolean tooShort =
                keys.byteSize() < (long) count * spec.keyBytes()
                        || command == BpfAttr.MAP_UPDATE_BATCH
                                && values.byteSize() < (long) count * valueBytes;
        if (tooShort) {
            throw new IllegalArgumentException(
                    "%d elements need more room than given for %s".formatted(count, spec));
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_LONG, 16, keys.address());
            attr.set(JAVA_LONG, 24, values.address());
            attr.set(JAVA_INT, 32, count);
            attr.set(JAVA_INT, 36, fd);
            long result = Bpf.tryCall(command, attr);
            if (result == -Errno.EINVAL
                    || result == -Errno.EOPNOTSUPP
                    || result == -BpfAttr.ENOTSUPP) {
                return 0;
            }
            int done = Math.clamp(attr.get(JAVA_INT, 32), 0, count);
            if (result < 0 && result != -Errno.ENOENT) {
                throw MapException.element(spec.name(), action, (int) -result);
            }
            return done;
        }
    }

    private boolean element(
            int command, String action, MemorySegment key, MemorySegment value, int flags)
            throws SyscallException {
        if (key.byteSize() < spec.keyBytes()
                || (command != BpfAttr.MAP_DELETE_ELEM && value.byteSize() < valueBytes)) {
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
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, fd);
            attr.set(JAVA_LONG, 8, spec.keyBytes() == 0 ? 0 : key.address());
            attr.set(JAVA_LONG, 16, value.address());
            attr.set(JAVA_LONG, 24, flags);
            long result = Bpf.tryCall(command, attr);
            if (result < 0 && result != -Errno.ENOENT) {
                throw MapException.element(spec.name(), action, (int) -result);
            }
            return result >= 0;
        }
    }

    /** Closes the descriptor; the map lives on while a loaded program uses it or it is pinned. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
        }
    }
}
