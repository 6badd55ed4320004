package sonde.probe.jvm;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.probe.snapshot.ProcessMemory;
import sonde.sys.MappedRange;
import sonde.sys.TargetFile;

/**
 * The tables by which libjvm describes its own structures to debuggers (src/hotspot/share/runtime/
 * vmStructs.cpp): offsets of fields, addresses of static ones, sizes of types, constants. They are
 * data of the process, and nothing in them is believed: lengths are bounded, and what is missing is
 * missing.
 */
final class VmStructs {
    private static final int MOST_ENTRIES = 20_000;
    private static final int MOST_STRIDE = 256;
    private static final int MOST_NAME = 120;
    private static final int PIECE_BYTES = 1 << 14;
    private static final long MOST_FILE = 1L << 30;
    private static final String FIELDS = "gHotSpotVMStruct";
    private static final String TYPES = "gHotSpotVMType";
    private static final String INTS = "gHotSpotVMIntConstant";

    private final ProcessMemory memory;
    private final Map<Long, ByteBuffer> pieces = new HashMap<>();
    private final Map<Long, String> names = new HashMap<>();
    private final Map<String, Long> fields = new HashMap<>();
    private final Map<String, Long> statics = new HashMap<>();
    private final Map<String, Integer> sizes = new HashMap<>();
    private final Map<String, Integer> constants = new HashMap<>();

    private VmStructs(ProcessMemory memory) {
        this.memory = memory;
    }

    /**
     * Reads the tables of the libjvm that a process has mapped.
     *
     * @throws IOException when it has none, or its tables are not there (yet)
     */
    static VmStructs read(int pid, ProcessMemory memory) throws IOException {
        List<MappedRange> ranges = MappedRange.of(pid);
        for (MappedRange range : ranges) {
            if (range.path().endsWith("/libjvm.so") && range.offset() == 0) {
                VmStructs read = new VmStructs(memory);
                read.all(symbols(pid, range));
                read.pieces.clear();
                return read;
            }
        }
        throw new IOException("process " + pid + " has no libjvm.so");
    }

    /** Addresses in the process of the variables whose names begin with gHotSpotVM. */
    private static Map<String, Long> symbols(int pid, MappedRange range) throws IOException {
        String path = "/proc/%d/map_files/%x-%x".formatted(pid, range.start(), range.end());
        Map<String, Long> found = new HashMap<>();
        try (TargetFile file = TargetFile.openTrusted(path, MOST_FILE)) {
            ElfFile elf = ElfFile.of(file);
            long base =
                    elf.segments().stream()
                            .filter(one -> one.type() == ElfFile.PT_LOAD && one.offset() == 0)
                            .mapToLong(one -> one.address())
                            .findFirst()
                            .orElse(0);
            ElfSymbols symbols = elf.symbols(ElfFile.SHT_DYNSYM).orElse(null);
            for (int i = 0; symbols != null && i < symbols.count(); i++) {
                boolean isVariable =
                        symbols.type(i) == ElfSymbols.STT_OBJECT
                                && symbols.section(i) != ElfSymbols.SHN_UNDEF;
                if (isVariable && symbols.name(i).startsWith("gHotSpotVM")) {
                    found.put(symbols.name(i), range.start() - base + symbols.value(i));
                }
            }
        } catch (InternalError e) {
            throw new IOException(path + " became shorter while it was read", e);
        }
        return found;
    }

    private void all(Map<String, Long> symbols) throws IOException {
        StructTable structs = new StructTable(symbols, FIELDS, FIELDS + "s");
        int typeName = structs.offset("TypeName");
        int fieldName = structs.offset("FieldName");
        int isStatic = structs.offset("IsStatic");
        int offset = structs.offset("Offset");
        int address = structs.offset("Address");
        for (ByteBuffer entry : structs.entries(typeName)) {
            String type = name(entry.getLong(typeName));
            String name = type + "::" + name(entry.getLong(fieldName));
            if (entry.getInt(isStatic) == 0) {
                fields.putIfAbsent(name, entry.getLong(offset));
            } else {
                statics.putIfAbsent(name, entry.getLong(address));
            }
        }
        StructTable types = new StructTable(symbols, TYPES, TYPES + "s");
        int size = types.offset("Size");
        typeName = types.offset("TypeName");
        for (ByteBuffer entry : types.entries(typeName)) {
            sizes.putIfAbsent(name(entry.getLong(typeName)), entry.getInt(size));
        }
        StructTable ints = new StructTable(symbols, INTS, INTS + "s");
        int constantName = ints.offset("Name");
        int value = ints.offset("Value");
        for (ByteBuffer entry : ints.entries(constantName)) {
            constants.putIfAbsent(name(entry.getLong(constantName)), entry.getInt(value));
        }
    }

    /** An array of entries, ended by one without a name. */
    private final class StructTable {
        private final Map<String, Long> symbols;
        private final String prefix;
        private final long start;
        private final int stride;

        StructTable(Map<String, Long> symbols, String prefix, String array) throws IOException {
            this.symbols = symbols;
            this.prefix = prefix + "Entry";
            start = word(array);
            stride = Math.clamp(word(this.prefix + "ArrayStride"), 0, MOST_STRIDE + 1);
            if (stride < 8 || stride > MOST_STRIDE) {
                throw new IOException(prefix + ": entries of " + stride + " bytes");
            }
        }

        private long word(String symbol) throws IOException {
            Long at = symbols.get(symbol);
            if (at == null) {
                throw new IOException("libjvm.so does not export " + symbol);
            }
            return memoryWord(at);
        }

        int offset(String field) throws IOException {
            long offset = word(prefix + field + "Offset");
            if (offset < 0 || offset > stride - 8) {
                throw new IOException(prefix + field + ": offset " + offset);
            }
            return (int) offset;
        }

        List<ByteBuffer> entries(int name) throws IOException {
            if (name > stride - 8) {
                throw new IOException(prefix + ": offset " + name);
            }
            List<ByteBuffer> all = new ArrayList<>();
            ByteBuffer some = ByteBuffer.allocate(0);
            for (int i = 0; i < MOST_ENTRIES; i++) {
                if (some.remaining() < stride) {
                    some = memory.read(start + (long) i * stride, 64 * stride);
                }
                if (some.remaining() < stride) {
                    throw new IOException(prefix + ": cannot be read");
                }
                ByteBuffer entry = some.slice(some.position(), stride).order(some.order());
                some.position(some.position() + stride);
                if (entry.getLong(name) == 0) {
                    return all;
                }
                all.add(entry);
            }
            throw new IOException(prefix + ": has no end");
        }
    }

    /** The names are constants of libjvm and lie close together: pieces of memory are kept. */
    private String name(long address) {
        return names.computeIfAbsent(address, this::readName);
    }

    private String readName(long address) {
        ByteBuffer piece =
                pieces.computeIfAbsent(
                        address & -PIECE_BYTES, at -> memory.read(at, PIECE_BYTES + MOST_NAME));
        int from = (int) (address & PIECE_BYTES - 1);
        int end = from;
        while (end < piece.limit() && end - from < MOST_NAME && piece.get(end) != 0) {
            end++;
        }
        return from < end ? new String(piece.array(), from, end - from, UTF_8) : "";
    }

    private long memoryWord(long address) throws IOException {
        ByteBuffer word = memory.read(address, 8);
        if (word.remaining() < 8) {
            throw new IOException("address %x cannot be read".formatted(address));
        }
        return word.getLong();
    }

    /** Offset in its structure of the first of these fields that there is. */
    int offset(String... names) throws IOException {
        return find(names).orElseThrow(() -> new IOException("no field " + names[0]));
    }

    /** As {@link #offset}, where versions differ. */
    OptionalInt find(String... names) {
        for (String name : names) {
            Long offset = fields.get(name);
            if (offset != null && offset >= 0 && offset < 1 << 16) {
                return OptionalInt.of(offset.intValue());
            }
        }
        return OptionalInt.empty();
    }

    /** Where a static field lies. */
    long address(String name) throws IOException {
        Long address = statics.get(name);
        if (address == null) {
            throw new IOException("no variable " + name);
        }
        return address;
    }

    /** Size of a type in bytes. */
    int size(String type) throws IOException {
        Integer size = sizes.get(type);
        if (size == null || size < 0 || size > 1 << 16) {
            throw new IOException("no type " + type);
        }
        return size;
    }

    int constant(String name, int otherwise) {
        return constants.getOrDefault(name, otherwise);
    }
}
