package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.binary.MalformedInputException;

/**
 * Versions of the symbols in {@code .dynsym} (LSB, "Symbol Versioning"): {@code .gnu.version} has a
 * number for each symbol, {@code .gnu.version_d} what is defined here, {@code .gnu.version_r} what
 * is needed from others.
 */
public final class SymbolVersions {
    /** Numbers with a meaning of their own: a symbol that is local, or of no version. */
    public static final int VER_NDX_LOCAL = 0;

    public static final int VER_NDX_GLOBAL = 1;

    private static final int ENTRY_LIMIT = 1 << 16;
    private static final int NAME_LIMIT = 4096;
    private static final int HIDDEN = 0x8000;

    private final ElfBytes elf;
    private final ElfSection section;
    private final MemorySegment numbers;
    private final List<VersionDefinition> definitions;
    private final List<Needed> needs;
    private final Map<Integer, String> defined = new HashMap<>();
    private final Map<Integer, String> wanted = new HashMap<>();

    /**
     * A version defined here.
     *
     * @param flags 1: the file's own name, 2: weak
     * @param parents versions that it follows
     */
    public record VersionDefinition(int number, int flags, String name, List<String> parents) {}

    /** Versions needed from one file. */
    public record Needed(String file, List<Version> versions) {}

    /**
     * A version needed.
     *
     * @param flags 2: weak
     */
    public record Version(int number, int flags, String name) {}

    private SymbolVersions(
            ElfBytes elf,
            ElfSection section,
            MemorySegment numbers,
            List<VersionDefinition> definitions,
            List<Needed> needs) {
        this.elf = elf;
        this.section = section;
        this.numbers = numbers;
        this.definitions = definitions;
        this.needs = needs;
        definitions.forEach(d -> defined.putIfAbsent(d.number(), d.name()));
        needs.forEach(n -> n.versions().forEach(v -> wanted.putIfAbsent(v.number(), v.name())));
    }

    static Optional<SymbolVersions> read(ElfFile elf) throws MalformedInputException {
        for (ElfSection section : elf.sections()) {
            if (section.type() == ElfFile.SHT_GNU_VERSYM) {
                return Optional.of(
                        new SymbolVersions(
                                elf.bytes(),
                                section,
                                elf.content(section),
                                definitions(elf),
                                needs(elf)));
            }
        }
        return Optional.empty();
    }

    private static Optional<ElfSection> first(ElfFile elf, int type) {
        return elf.sections().stream().filter(s -> s.type() == type).findFirst();
    }

    private static MemorySegment strings(ElfFile elf, ElfSection section)
            throws MalformedInputException {
        return section.link() > 0 && section.link() < elf.sections().size()
                ? elf.content(elf.sections().get(section.link()))
                : MemorySegment.ofArray(new byte[0]);
    }

    /** Elf64_Verdef: version, flags, ndx, cnt u16; hash, aux, next u32. Verdaux: name, next. */
    private static List<VersionDefinition> definitions(ElfFile elf) throws MalformedInputException {
        Optional<ElfSection> section = first(elf, ElfFile.SHT_GNU_VERDEF);
        if (section.isEmpty()) {
            return List.of();
        }
        ElfBytes n = elf.bytes();
        MemorySegment bytes = elf.content(section.get());
        MemorySegment strings = strings(elf, section.get());
        List<VersionDefinition> list = new ArrayList<>();
        long at = 0;
        int seen = 0;
        while (at + 20 <= bytes.byteSize() && seen++ < ENTRY_LIMIT) {
            int count = Short.toUnsignedInt(bytes.get(n.half, at + 6));
            long aux = at + n.u32(bytes, at + 12);
            List<String> names = new ArrayList<>();
            for (int i = 0; i < count && aux + 8 <= bytes.byteSize() && seen++ < ENTRY_LIMIT; i++) {
                names.add(ElfBytes.string(strings, n.u32(bytes, aux), NAME_LIMIT));
                aux += n.u32(bytes, aux + 4);
            }
            list.add(
                    new VersionDefinition(
                            Short.toUnsignedInt(bytes.get(n.half, at + 4)) & ~HIDDEN,
                            Short.toUnsignedInt(bytes.get(n.half, at + 2)),
                            names.isEmpty() ? "" : names.getFirst(),
                            List.copyOf(names.isEmpty() ? names : names.subList(1, names.size()))));
            long next = n.u32(bytes, at + 16);
            if (next == 0) {
                break;
            }
            at += next;
        }
        return List.copyOf(list);
    }

    /** Verneed: version, cnt u16; file, aux, next u32. Vernaux: hash, flags, other, name, next. */
    private static List<Needed> needs(ElfFile elf) throws MalformedInputException {
        Optional<ElfSection> section = first(elf, ElfFile.SHT_GNU_VERNEED);
        if (section.isEmpty()) {
            return List.of();
        }
        ElfBytes n = elf.bytes();
        MemorySegment bytes = elf.content(section.get());
        MemorySegment strings = strings(elf, section.get());
        List<Needed> list = new ArrayList<>();
        long at = 0;
        int seen = 0;
        while (at + 16 <= bytes.byteSize() && seen++ < ENTRY_LIMIT) {
            int count = Short.toUnsignedInt(bytes.get(n.half, at + 2));
            long aux = at + n.u32(bytes, at + 8);
            List<Version> versions = new ArrayList<>();
            for (int i = 0;
                    i < count && aux + 16 <= bytes.byteSize() && seen++ < ENTRY_LIMIT;
                    i++) {
                versions.add(
                        new Version(
                                Short.toUnsignedInt(bytes.get(n.half, aux + 6)) & ~HIDDEN,
                                Short.toUnsignedInt(bytes.get(n.half, aux + 4)),
                                ElfBytes.string(strings, n.u32(bytes, aux + 8), NAME_LIMIT)));
                aux += n.u32(bytes, aux + 12);
            }
            String file = ElfBytes.string(strings, n.u32(bytes, at + 4), NAME_LIMIT);
            list.add(new Needed(file, List.copyOf(versions)));
            long next = n.u32(bytes, at + 12);
            if (next == 0) {
                break;
            }
            at += next;
        }
        return List.copyOf(list);
    }

    /** The section of the numbers; its link is the symbol table that they are for. */
    public ElfSection section() {
        return section;
    }

    /** What is defined here. */
    public List<VersionDefinition> definitions() {
        return definitions;
    }

    /** What is needed from others. */
    public List<Needed> needs() {
        return needs;
    }

    /** The number of a symbol's version, without the bit that hides it; 1 beyond the table. */
    public int number(int symbol) {
        return raw(symbol) & ~HIDDEN;
    }

    /** Whether a symbol is not found by its name alone. */
    public boolean isHidden(int symbol) {
        return (raw(symbol) & HIDDEN) != 0;
    }

    private int raw(int symbol) {
        long at = 2L * symbol;
        return at + 2 <= numbers.byteSize()
                ? Short.toUnsignedInt(numbers.get(elf.half, at))
                : VER_NDX_GLOBAL;
    }

    /** Whether a symbol's version is one that is needed from another file. */
    public boolean isNeeded(int symbol, boolean isDefined) {
        int number = number(symbol);
        return number > VER_NDX_GLOBAL
                && wanted.containsKey(number)
                && !(isDefined && defined.containsKey(number));
    }

    /**
     * How a symbol's name goes on: {@code @VERSION}, {@code @@VERSION} for the default of a name
     * that is defined here, nothing without a version, nor for the symbol that is the version.
     */
    public String suffix(int symbol, String name, boolean isDefined) {
        int number = number(symbol);
        if (number <= VER_NDX_GLOBAL) {
            return "";
        }
        String own = isDefined ? defined.get(number) : null;
        if (own != null) {
            return own.equals(name) ? "" : (isHidden(symbol) ? "@" : "@@") + own;
        }
        String other = wanted.getOrDefault(number, defined.getOrDefault(number, ""));
        return other.isEmpty() ? "" : "@" + other;
    }
}
