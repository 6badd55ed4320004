package sonde.bpf.object;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfExtension;
import sonde.binary.btf.BtfType;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfRelocation;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectImage.ImageSection;
import sonde.bpf.object.ObjectImage.ImageSymbol;
import sonde.bpf.object.ObjectImage.Reloc;
import sonde.bpf.object.ObjectImage.SectionUse;

/**
 * Reads a relocatable ELF file for BPF (machine 247; sections as libbpf's documentation "Program
 * Types and ELF Sections" and Documentation/bpf/llvm_reloc.rst name them).
 */
final class ImageReader {
    /** More than any map may hold in one value. */
    private static final long MOST_SECTION_BYTES = 64L << 20;

    private static final int MOST_ALIGNMENT = 1 << 16;
    private static final int MOST_SYMBOLS = 1 << 20;
    private static final int WORD_BYTES = 8;

    private final String name;
    private final ObjectPosition place;
    private final ElfFile elf;
    private final Map<Integer, Integer> partOf = new HashMap<>();
    private final List<ElfSection> kept = new ArrayList<>();

    private ImageReader(String name, MemorySegment bytes) throws ObjectException {
        this.name = name;
        place = ObjectPosition.of(name);
        try {
            elf = ElfFile.of(bytes);
        } catch (MalformedInputException e) {
            throw new ObjectException(place, "not readable as ELF: " + e.reason(), e);
        }
        if (elf.machine() != ElfFile.EM_BPF && elf.machine() != 0) {
            throw new ObjectException(place, "made for machine " + elf.machine() + ", not for BPF");
        }
        if (!elf.is64() || elf.type() != ElfFile.ET_REL) {
            throw new ObjectException(
                    place, "ELF type " + elf.type() + ": no 64-bit relocatable object");
        }
        if (elf.order() != ByteOrder.nativeOrder()) {
            throw new ObjectException(
                    place,
                    "made for "
                            + (elf.order() == ByteOrder.BIG_ENDIAN ? "big" : "little")
                            + "-endian machines, this is none; compile with -target bpf");
        }
    }

    /**
     * Reads an object.
     *
     * @param name for messages
     */
    static ObjectImage read(String name, MemorySegment bytes) throws ObjectException {
        ImageReader reader = new ImageReader(name, bytes);
        try {
            return reader.image();
        } catch (MalformedInputException e) {
            throw new ObjectException(reader.place, String.valueOf(e.getMessage()), e);
        }
    }

    private ObjectImage image() throws ObjectException, MalformedInputException {
        String license = "";
        int version = 0;
        for (ElfSection section : elf.sections()) {
            if (section.name().equals("license") || section.name().equals("license,GPL")) {
                license = text(section);
            } else if (section.name().equals("version") && section.sizeBytes() == 4) {
                version = elf.content(section).get(ValueLayout.JAVA_INT_UNALIGNED, 0);
            } else if (section.name().equals("maps") || section.name().startsWith("maps/")) {
                throw new ObjectException(
                        place.section(section.name()),
                        "maps without types (struct bpf_map_def); define them in SEC(\".maps\")");
            } else if (use(section) != null) {
                partOf.put(section.index(), kept.size());
                kept.add(section);
            }
        }
        List<ImageSymbol> symbols = symbols();
        Btf btf = btf();
        BtfExtension extension = extension(btf);
        List<ImageSection> parts = new ArrayList<>();
        Map<Integer, List<Reloc>> relocations = relocations(symbols.size());
        for (int i = 0; i < kept.size(); i++) {
            parts.add(part(kept.get(i), relocations.getOrDefault(i, List.of()), extension));
        }
        return new ObjectImage(name, List.copyOf(parts), symbols, types(btf), license, version);
    }

    private String text(ElfSection section) throws MalformedInputException {
        byte[] bytes = elf.content(section).toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < bytes.length && end < 128 && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    private static @Nullable SectionUse use(ElfSection section) {
        String name = section.name();
        boolean bits = section.type() == ElfFile.SHT_PROGBITS;
        if (bits && section.isExecutable()) {
            return SectionUse.CODE;
        }
        if (section.type() == ElfFile.SHT_NOBITS && isOrBelow(name, ".bss")) {
            return SectionUse.ZEROS;
        }
        if (!bits) {
            return null;
        }
        if (isOrBelow(name, ".data") || name.equals(GlobalSection.IN_ARENA)) {
            return SectionUse.DATA;
        }
        if (isOrBelow(name, ".rodata")) {
            return SectionUse.CONSTANTS;
        }
        if (isOrBelow(name, ".bss")) {
            return SectionUse.DATA;
        }
        return switch (name) {
            case ".maps" -> SectionUse.MAPS;
            case ".struct_ops", ".struct_ops.link", "?.struct_ops", "?.struct_ops.link" ->
                    SectionUse.STRUCT_OPS;
            default -> null;
        };
    }

    private static boolean isOrBelow(String name, String top) {
        return name.equals(top) || name.startsWith(top + ".");
    }

    private ImageSection part(ElfSection section, List<Reloc> relocations, BtfExtension extension)
            throws ObjectException, MalformedInputException {
        ObjectPosition here = place.section(section.name());
        SectionUse use = use(section);
        if (use == null || section.sizeBytes() < 0 || section.sizeBytes() > MOST_SECTION_BYTES) {
            throw new ObjectException(
                    here,
                    Long.toUnsignedString(section.sizeBytes())
                            + " bytes, at most "
                            + MOST_SECTION_BYTES);
        }
        int size = (int) section.sizeBytes();
        byte[] bytes =
                use == SectionUse.ZEROS
                        ? new byte[0]
                        : elf.content(section).toArray(ValueLayout.JAVA_BYTE);
        if (use != SectionUse.ZEROS) {
            size = bytes.length;
        }
        if (use == SectionUse.CODE && size % WORD_BYTES != 0) {
            throw new ObjectException(
                    here, size + " bytes are no whole number of instructions of 8 bytes");
        }
        long alignment = elf.alignment(section);
        if (alignment > MOST_ALIGNMENT || Long.bitCount(alignment) > 1) {
            throw new ObjectException(here, "alignment " + alignment);
        }
        return new ImageSection(
                section.name(),
                use,
                bytes,
                size,
                (int) Math.max(alignment, use == SectionUse.CODE ? WORD_BYTES : 1),
                relocations,
                extension.functions().getOrDefault(section.name(), List.of()),
                extension.lines().getOrDefault(section.name(), List.of()),
                extension.relocations().getOrDefault(section.name(), List.of()));
    }

    private List<ImageSymbol> symbols() throws ObjectException, MalformedInputException {
        ElfSymbols table = elf.symbols(ElfFile.SHT_SYMTAB).orElse(null);
        if (table == null) {
            throw new ObjectException(place, "no symbol table (stripped?)");
        }
        if (table.count() > MOST_SYMBOLS) {
            throw new ObjectException(place, table.count() + " symbols, at most " + MOST_SYMBOLS);
        }
        List<ImageSymbol> symbols = new ArrayList<>(table.count());
        for (int i = 0; i < table.count(); i++) {
            int section = table.section(i);
            int part =
                    section == ElfSymbols.SHN_UNDEF
                            ? ImageSymbol.UNDEFINED
                            : partOf.getOrDefault(section, ImageSymbol.ELSEWHERE);
            String symbol = table.name(i);
            if (table.type(i) == ElfSymbols.STT_SECTION
                    && symbol.isEmpty()
                    && section > 0
                    && section < elf.sections().size()) {
                symbol = elf.sections().get(section).name();
            }
            symbols.add(
                    new ImageSymbol(
                            symbol,
                            part,
                            table.value(i),
                            table.size(i),
                            table.type(i),
                            table.binding(i),
                            table.visibility(i)));
        }
        return List.copyOf(symbols);
    }

    /** By index of the part that they apply to. */
    private Map<Integer, List<Reloc>> relocations(int symbols)
            throws ObjectException, MalformedInputException {
        Map<Integer, List<Reloc>> all = new HashMap<>();
        for (ElfSection section : elf.sections()) {
            boolean table = section.type() == ElfFile.SHT_REL || section.type() == ElfFile.SHT_RELA;
            Integer part = partOf.get(section.info());
            if (!table || part == null) {
                continue;
            }
            ElfSection target = kept.get(part);
            ObjectPosition here = place.section(target.name());
            if (section.type() == ElfFile.SHT_RELA) {
                throw new ObjectException(here, "relocations with addends, which BPF lacks");
            }
            List<Reloc> list = all.computeIfAbsent(part, _ -> new ArrayList<>());
            for (ElfRelocation one : elf.relocations(section)) {
                if (one.offset() < 0
                        || one.offset() > target.sizeBytes() - 4
                        || one.symbol() < 0
                        || one.symbol() >= symbols) {
                    throw new ObjectException(
                            here,
                            "relocation at %d of %d for symbol %d of %d"
                                    .formatted(
                                            one.offset(),
                                            target.sizeBytes(),
                                            one.symbol(),
                                            symbols));
                }
                list.add(new Reloc((int) one.offset(), one.type(), one.symbol()));
            }
        }
        return all;
    }

    private @Nullable Btf btf() throws MalformedInputException {
        ElfSection section = elf.section(".BTF").orElse(null);
        if (section == null) {
            return null;
        }
        byte[] bytes = elf.content(section).toArray(ValueLayout.JAVA_BYTE);
        return Btf.read(Input.of(name + " .BTF", MemorySegment.ofArray(bytes)));
    }

    private BtfExtension extension(@Nullable Btf btf) throws MalformedInputException {
        ElfSection section = elf.section(".BTF.ext").orElse(null);
        if (section == null || btf == null) {
            return BtfExtension.NONE;
        }
        byte[] bytes = elf.content(section).toArray(ValueLayout.JAVA_BYTE);
        return BtfExtension.read(Input.of(name + " .BTF.ext", MemorySegment.ofArray(bytes)), btf);
    }

    private static List<BtfType> types(@Nullable Btf btf) throws MalformedInputException {
        if (btf == null) {
            return List.of(new BtfType.Void());
        }
        BtfType[] types = new BtfType[btf.end()];
        for (int id = 0; id < types.length; id++) {
            types[id] = btf.type(id);
        }
        return Arrays.asList(types);
    }

    /** The same from a file. */
    static ObjectImage read(Path path) throws IOException {
        try (Input input = Input.open(path)) {
            Path file = path.getFileName();
            return read(file == null ? path.toString() : file.toString(), input.segment());
        }
    }
}
