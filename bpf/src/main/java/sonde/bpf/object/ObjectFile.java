package sonde.bpf.object;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import sonde.binary.btf.BtfType;
import sonde.bpf.object.GlobalSection.GlobalVariable;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectFunction.FunctionStart;
import sonde.bpf.object.ObjectImage.ImageSection;
import sonde.bpf.object.ObjectImage.SectionUse;
import sonde.bpf.object.TypeFixes.FixedTypes;

/**
 * An object with eBPF programs as clang and gcc write it ({@code clang -g -O2 -target bpf -c}), or
 * several linked into one. Reading asks nothing of the kernel; {@link #load} does.
 *
 * <p>Not for several threads at once: {@link GlobalSection#initial()} can be changed.
 */
public final class ObjectFile {
    private static final int MOST_NAME = 15;

    private final ObjectImage image;
    private final FixedTypes fixes;
    private final List<GlobalSection> data;
    private final List<ObjectMap> maps;
    private final Map<FunctionStart, ObjectFunction> functions;
    private final List<ObjectProgram> programs;

    private ObjectFile(ObjectImage image) throws ObjectException {
        this.image = image;
        fixes = TypeFixes.of(image);
        data = data(image, fixes.types());
        maps = MapDefinitions.read(image, fixes.types());
        functions = new FunctionReader(image, fixes, maps, data).read();
        programs = new ArrayList<>();
        for (ObjectFunction function : functions.values()) {
            if (function.isEntry()) {
                programs.add(
                        new ObjectProgram(
                                function.name(),
                                function.section(),
                                ProgramSection.of(function.section()),
                                function.words().length,
                                function.lines()));
            }
        }
    }

    /**
     * Reads an object; several are linked as {@code bpftool gen object} does.
     *
     * @throws ObjectException for what is malformed, missing or contradictory in them
     * @throws IOException when a file cannot be read
     */
    public static ObjectFile read(List<Path> files) throws IOException {
        List<ObjectImage> images = new ArrayList<>();
        for (Path file : files) {
            images.add(ImageReader.read(file));
        }
        return new ObjectFile(ObjectLinker.link(images));
    }

    /** {@link #read(List)} of one or several. */
    public static ObjectFile read(Path... files) throws IOException {
        return read(List.of(files));
    }

    /**
     * Reads an object from memory.
     *
     * @param name for messages; up to its first dot also for the names of maps
     */
    public static ObjectFile of(String name, byte[] elf) throws ObjectException {
        return new ObjectFile(
                ObjectLinker.link(List.of(ImageReader.read(name, MemorySegment.ofArray(elf)))));
    }

    /** {@link #of(String, byte[])} of several, linked in their order. */
    public static ObjectFile of(SequencedMap<String, byte[]> elves) throws ObjectException {
        List<ObjectImage> images = new ArrayList<>();
        for (Map.Entry<String, byte[]> one : elves.entrySet()) {
            images.add(ImageReader.read(one.getKey(), MemorySegment.ofArray(one.getValue())));
        }
        return new ObjectFile(ObjectLinker.link(images));
    }

    private static List<GlobalSection> data(ObjectImage image, List<BtfType> types)
            throws ObjectException {
        List<GlobalSection> all = new ArrayList<>();
        for (ImageSection part : image.parts()) {
            boolean variables =
                    part.use() == SectionUse.DATA
                            || part.use() == SectionUse.ZEROS
                            || part.use() == SectionUse.CONSTANTS;
            if (variables && part.sizeBytes() > 0) {
                all.add(data(image, types, part));
            }
        }
        return List.copyOf(all);
    }

    private static GlobalSection data(ObjectImage image, List<BtfType> types, ImageSection part)
            throws ObjectException {
        ObjectPosition place = image.place().section(part.name());
        List<GlobalVariable> variables = new ArrayList<>();
        int typeId = 0;
        for (int id = 1; id < types.size() && typeId == 0; id++) {
            if (types.get(id) instanceof BtfType.Datasec section
                    && section.name().equals(part.name())) {
                typeId = id;
                for (BtfType.SectionVar one : section.vars()) {
                    if (!(ObjectTypes.at(types, one.type(), place) instanceof BtfType.Var v)) {
                        continue;
                    }
                    if (one.offset() < 0
                            || one.sizeBytes() < 0
                            || one.offset() > part.sizeBytes() - one.sizeBytes()) {
                        throw new ObjectException(
                                place.symbol(v.name()),
                                "%d bytes at %d of %d"
                                        .formatted(
                                                one.sizeBytes(), one.offset(), part.sizeBytes()));
                    }
                    boolean isStatic = v.linkage() == BtfType.Linkage.STATIC;
                    variables.add(
                            new GlobalVariable(
                                    v.name(), one.offset(), one.sizeBytes(), v.type(), isStatic));
                }
            }
        }
        byte[] initial = Arrays.copyOf(part.bytes(), part.sizeBytes());
        return new GlobalSection(
                part.name(), part.use() == SectionUse.CONSTANTS, initial, typeId, variables);
    }

    /** Its file's name; of several the first one's. */
    public String name() {
        return image.name();
    }

    /** The name up to its first dot: what the kernel's names of its data begin with. */
    public String shortName() {
        int dot = image.name().indexOf('.');
        return dot < 0 ? image.name() : image.name().substring(0, dot);
    }

    /** What section {@code license} holds; empty for none. */
    public String license() {
        return image.license();
    }

    /** Its programs, in the order of the file. */
    public List<ObjectProgram> programs() {
        return List.copyOf(programs);
    }

    /** The maps it defines. */
    public List<ObjectMap> maps() {
        return maps;
    }

    /** Its global variables by section. */
    public List<GlobalSection> data() {
        return data;
    }

    /** The variables of a section: {@code ".rodata"}. */
    public Optional<GlobalSection> data(String section) {
        return data.stream().filter(one -> one.section().equals(section)).findFirst();
    }

    /** Its types by BTF id, the first void, made fit for the kernel. */
    public List<BtfType> types() {
        return fixes.types();
    }

    FixedTypes fixes() {
        return fixes;
    }

    Map<FunctionStart, ObjectFunction> functions() {
        return functions;
    }

    /** Whether other objects may call a function, and it is not a program. */
    boolean isSeen(ObjectFunction function) {
        int part = image.part(function.section());
        return function.section().equals(FunctionReader.LIBRARY)
                && image.symbols().stream()
                        .anyMatch(one ->
                                one.isFunction()
                                        && !one.isLocal()
                                        && one.part() == part
                                        && one.name().equals(function.name()));
    }

    ObjectFunction function(FunctionStart place, ObjectPosition from) throws ObjectException {
        ObjectFunction function = functions.get(place);
        if (function == null) {
            throw new ObjectException(
                    from,
                    "no function begins at instruction %d of %s"
                            .formatted(place.slot(), place.section()));
        }
        return function;
    }

    ObjectFunction entry(String name) throws ObjectException {
        for (ObjectFunction function : functions.values()) {
            if (function.isEntry() && function.name().equals(name)) {
                return function;
            }
        }
        throw new ObjectException(place().symbol(name), "no program has that name");
    }

    /** The function that a tag of the entry names as the one to call on bpf_throw (Linux 6.7). */
    List<ObjectFunction> exceptionCallback(ObjectFunction entry) throws ObjectException {
        String mark = "exception_callback:";
        for (BtfType type : types()) {
            if (type instanceof BtfType.DeclTag tag
                    && tag.name().startsWith(mark)
                    && tag.type() > 0
                    && tag.type() < types().size()
                    && types().get(tag.type()).name().equals(entry.name())) {
                String wanted = tag.name().substring(mark.length());
                for (ObjectFunction function : functions.values()) {
                    if (function.name().equals(wanted)) {
                        return List.of(function);
                    }
                }
                throw new ObjectException(place().symbol(wanted), "there is no such function");
            }
        }
        return List.of();
    }

    ObjectPosition place() {
        return image.place();
    }

    /** The kernel's name for a section of data: {@code "counter.bss"}, {@code ".data.shared"}. */
    String dataName(String section) {
        boolean custom = section.indexOf('.', 1) > 0;
        int room = custom ? 0 : MOST_NAME - Math.max(7, section.length());
        String name = shortName();
        String all = name.substring(0, Math.clamp(room, 0, name.length())) + section;
        return all.substring(0, Math.min(all.length(), MOST_NAME));
    }

    /** Loads everything with the usual options. */
    public LoadedObject load() throws IOException {
        return load(LoadOptions.USUAL);
    }

    /**
     * Fits the object to the running kernel, makes its maps and loads its programs; on failure
     * nothing is left.
     *
     * @throws ObjectException when something the object wants is not there
     * @throws sonde.bpf.VerifierException when the verifier finds fault with a program
     * @throws sonde.bpf.BpfRefusedException when the kernel refuses without looking
     */
    public LoadedObject load(LoadOptions options) throws IOException {
        return new ObjectLoader(this, options).load();
    }
}
