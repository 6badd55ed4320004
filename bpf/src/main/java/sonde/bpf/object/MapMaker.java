package sonde.bpf.object;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapException;
import sonde.bpf.MapSpec;
import sonde.bpf.MapSpec.MapTypes;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.call.KernelObject;
import sonde.bpf.map.MappedValues;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectMap.InitialSlot;
import sonde.sys.Errno;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** Makes the maps of an object, those for its variables too, and puts in what they begin with. */
final class MapMaker {
    private static final String SETTINGS = ".kconfig";

    private final ObjectFile object;
    private final LoadOptions options;
    private final Deque<AutoCloseable> made;
    private final @Nullable LoadedBtf types;
    private final Map<String, MappedValues> arenas = new LinkedHashMap<>();

    /**
     * @param made gets everything that is to be closed
     * @param types of the object; null where the kernel takes none
     */
    MapMaker(
            ObjectFile object,
            LoadOptions options,
            Deque<AutoCloseable> made,
            @Nullable LoadedBtf types) {
        this.object = object;
        this.options = options;
        this.made = made;
        this.types = types;
    }

    private ObjectPosition place(ObjectMap map) {
        return object.place().section(".maps").symbol(map.name());
    }

    /** The maps that the object defines, by name. */
    Map<String, BpfMap> maps() throws IOException {
        Map<String, BpfMap> maps = new LinkedHashMap<>();
        for (ObjectMap map : object.maps()) {
            BpfMap one = map.pinned() ? pinned(map) : create(map);
            made.push(one);
            maps.put(map.name(), one);
            if (one.spec().type() == MapType.ARENA) {
                arena(map, one);
            }
        }
        return maps;
    }

    /**
     * Programs are not loaded with an arena that has no address yet: the first mapping gives it.
     */
    private void arena(ObjectMap map, BpfMap one) throws ObjectException {
        try {
            MappedValues memory = MappedValues.of(one, true);
            made.push(memory);
            arenas.put(map.name(), memory);
        } catch (SyscallException e) {
            throw new ObjectException(place(map), "cannot be mapped: " + e.getMessage(), e);
        }
    }

    /** The memory of arenas, by name. */
    Map<String, MappedValues> arenas() {
        return arenas;
    }

    private BpfMap pinned(ObjectMap map) throws IOException {
        Path path = options.pins().resolve(map.name());
        if (Files.exists(path)) {
            BpfMap there = BpfMap.openPinned(path.toString());
            String difference = difference(spec(map, null), there.spec());
            if (!difference.isEmpty()) {
                there.close();
                throw new ObjectException(
                        place(map), "the map pinned at " + path + " has another " + difference);
            }
            return there;
        }
        BpfMap fresh = create(map);
        try {
            fresh.pin(path.toString());
        } catch (SyscallException e) {
            fresh.close();
            throw e;
        }
        // Pushed before the map, so that it is undone after it, and only while loading fails.
        made.push(new Pin(path.toString()));
        return fresh;
    }

    /** A name that is taken back when loading fails. */
    static final class Pin implements AutoCloseable {
        private final String path;
        private boolean kept;

        Pin(String path) {
            this.path = path;
        }

        void keep() {
            kept = true;
        }

        @Override
        public void close() {
            if (!kept) {
                try {
                    KernelObject.unpin(path);
                } catch (SyscallException e) {
                    // Somebody else removed it.
                }
            }
        }
    }

    private static String difference(MapSpec wanted, MapSpec there) {
        if (wanted.type() != there.type()) {
            return "type: " + there.type();
        }
        if (wanted.keyBytes() != there.keyBytes()) {
            return "key size: " + there.keyBytes();
        }
        if (wanted.valueBytes() != there.valueBytes()) {
            return "value size: " + there.valueBytes();
        }
        return wanted.maxEntries() != there.maxEntries()
                ? "number of entries: " + there.maxEntries()
                : "";
    }

    private BpfMap create(ObjectMap map) throws IOException {
        ObjectMap inner = map.inner();
        try {
            if (inner == null) {
                return BpfMap.create(spec(map, null));
            }
            try (BpfMap pattern = BpfMap.create(spec(inner, null))) {
                return BpfMap.create(spec(map, pattern));
            }
        } catch (MapException e) {
            throw new ObjectException(place(map), String.valueOf(e.getMessage()), e);
        }
    }

    private MapSpec spec(ObjectMap map, @Nullable BpfMap inner) throws IOException {
        MapType type = MapType.of(map.type());
        if (type == null) {
            throw new ObjectException(place(map), "unknown type of map " + map.type());
        }
        if (type == MapType.STRUCT_OPS) {
            throw new ObjectException(
                    place(map), "structures of functions (struct_ops) are not loaded");
        }
        int entries = options.sizes().getOrDefault(map.name(), map.maxEntries());
        if (type == MapType.PERF_EVENT_ARRAY && entries == 0) {
            entries = MachineFacts.possibleCpus().length();
        }
        if (type == MapType.RING_BUFFER || type == MapType.USER_RING_BUFFER) {
            entries = ringBytes(entries);
        }
        MapSpec spec =
                new MapSpec(map.name(), type, map.keyBytes(), map.valueBytes(), entries)
                        .with(map.flags())
                        .withExtra(map.extra());
        if (map.numaNode() >= 0) {
            spec = spec.onNode(map.numaNode());
        }
        if (inner != null) {
            spec = spec.withInner(inner);
        }
        LoadedBtf btf = types;
        boolean typed = map.keyType() != 0 || map.valueType() != 0;
        return btf == null || !typed || !takesTypes(type)
                ? spec
                : spec.withTypes(new MapTypes(btf.fd(), map.keyType(), map.valueType()));
    }

    /** A power of two, at least a page. */
    private static int ringBytes(int wanted) {
        int page = MachineFacts.pageBytes();
        int least = Math.max(page, wanted);
        int power = Integer.highestOneBit(least);
        return power == least || power > 1 << 29 ? least : 2 * power;
    }

    private static boolean takesTypes(MapType type) {
        return switch (type) {
            case PERF_EVENT_ARRAY,
                    PROG_ARRAY,
                    CGROUP_ARRAY,
                    STACK_TRACE,
                    ARRAY_OF_MAPS,
                    HASH_OF_MAPS,
                    DEVMAP,
                    DEVMAP_HASH,
                    CPUMAP,
                    XSKMAP,
                    SOCKMAP,
                    SOCKHASH,
                    QUEUE,
                    STACK,
                    RING_BUFFER,
                    USER_RING_BUFFER,
                    ARENA ->
                    false;
            default -> true;
        };
    }

    /** An array with one entry for the variables of each section, by the section's name. */
    Map<String, BpfMap> data() throws IOException {
        Map<String, BpfMap> all = new LinkedHashMap<>();
        for (GlobalSection data : object.data()) {
            if (data.section().equals(GlobalSection.IN_ARENA)) {
                continue;
            }
            byte[] bytes = data.initial().toArray(ValueLayout.JAVA_BYTE);
            int flags = MapSpec.MAPPABLE | (data.isConstant() ? MapSpec.READ_ONLY_IN_PROGRAMS : 0);
            String name = object.dataName(data.section());
            BpfMap map = array(name, bytes, flags, data.typeId());
            all.put(data.section(), map);
        }
        return all;
    }

    /**
     * Puts variables of an arena into it, where there are such.
     *
     * @return the arena's name; null for none
     */
    @Nullable String variablesInArena() throws ObjectException {
        GlobalSection data = object.data(GlobalSection.IN_ARENA).orElse(null);
        if (data == null) {
            return null;
        }
        ObjectPosition here = object.place().section(data.section());
        if (arenas.size() != 1) {
            throw new ObjectException(
                    here, "is for the one arena of an object, which has " + arenas.size());
        }
        Map.Entry<String, MappedValues> arena = arenas.entrySet().iterator().next();
        MemorySegment memory = arena.getValue().segment();
        if (data.sizeBytes() > memory.byteSize()) {
            throw new ObjectException(
                    here, data.sizeBytes() + " bytes do not fit the arena " + arena.getKey());
        }
        MemorySegment.copy(data.initial(), 0, memory, 0, data.sizeBytes());
        return arena.getKey();
    }

    /** The array of the kernel's settings; null for none. */
    @Nullable BpfMap settings(byte[] bytes) throws IOException {
        if (bytes.length == 0) {
            return null;
        }
        int type = 0;
        for (int id = 1; id < object.types().size() && type == 0; id++) {
            if (object.types().get(id) instanceof sonde.binary.btf.BtfType.Datasec d
                    && d.name().equals(SETTINGS)) {
                type = id;
            }
        }
        int flags = MapSpec.MAPPABLE | MapSpec.READ_ONLY_IN_PROGRAMS;
        return array(object.dataName(SETTINGS), bytes, flags, type);
    }

    private BpfMap array(String name, byte[] bytes, int flags, int typeId) throws IOException {
        MapSpec spec = new MapSpec(name, MapType.ARRAY, 4, bytes.length, 1).with(flags);
        LoadedBtf btf = types;
        if (btf != null && typeId != 0) {
            spec = spec.withTypes(new MapTypes(btf.fd(), 0, typeId));
        }
        BpfMap map = create(name, spec);
        made.push(map);
        boolean zero = true;
        for (byte b : bytes) {
            zero &= b == 0;
        }
        if (!zero) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment value = arena.allocate(bytes.length, 8);
                MemorySegment.copy(bytes, 0, value, ValueLayout.JAVA_BYTE, 0, bytes.length);
                map.put(arena.allocateFrom(ValueLayout.JAVA_INT, 0), value);
            }
        }
        if ((flags & MapSpec.READ_ONLY_IN_PROGRAMS) != 0) {
            freeze(map);
        }
        return map;
    }

    /** Before Linux 5.5 arrays cannot be mapped. */
    private BpfMap create(String name, MapSpec spec) throws IOException {
        try {
            return BpfMap.create(spec);
        } catch (MapException e) {
            if (e.errno() == Errno.EINVAL && KernelBtfs.version() < 0x050500) {
                return BpfMap.create(
                        new MapSpec(name, MapType.ARRAY, 4, spec.valueBytes(), 1)
                                .with(spec.flags() & ~MapSpec.MAPPABLE)
                                .withTypes(spec.types()));
            }
            throw new ObjectException(
                    object.place().section(name), String.valueOf(e.getMessage()), e);
        }
    }

    private static void freeze(BpfMap map) throws SyscallException {
        try {
            map.freeze();
        } catch (MapException e) {
            if (KernelBtfs.version() >= 0x050200) {
                throw e;
            }
        }
    }

    /** Puts maps into maps and programs into program arrays, as the object says. */
    void fill(Map<String, BpfMap> maps, Map<String, Program> programs) throws IOException {
        for (ObjectMap map : object.maps()) {
            for (InitialSlot slot : map.initial()) {
                BpfMap into = maps.get(map.name());
                BpfMap inner = maps.get(slot.name());
                Program program = programs.get(slot.name());
                boolean wantsProgram = map.type() == MapType.PROG_ARRAY.code();
                if (into == null || (wantsProgram ? program == null : inner == null)) {
                    if (wantsProgram) {
                        continue; // it is not loaded
                    }
                    throw new ObjectException(place(map), "there is no map " + slot.name());
                }
                int fd = wantsProgram && program != null ? program.fd() : 0;
                try {
                    into.put(slot.index(), inner != null && !wantsProgram ? inner.fd() : fd);
                } catch (MapException e) {
                    throw new ObjectException(
                            place(map),
                            "slot %d does not take %s: %s"
                                    .formatted(slot.index(), slot.name(), e.getMessage()),
                            e);
                }
            }
        }
    }
}
