package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.elf.SymbolVersions;
import sonde.event.result.ValueOutput;

/** The symbol tables. */
public final class SymbolsPage implements ElfPage {
    private static final List<String> TYPES =
            List.of("NOTYPE", "OBJECT", "FUNC", "SECTION", "FILE", "COMMON", "TLS");
    private static final List<String> VISIBILITIES =
            List.of("DEFAULT", "INTERNAL", "HIDDEN", "PROTECTED");
    private static final int SHN_COMMON = 0xfff2;
    private static final int EM_PARISC = 15;
    private static final int EM_SPARC32PLUS = 18;
    private static final int EM_PPC64 = 21;
    private static final int EM_ALPHA = 0x9026;
    private static final int STO_ALPHA_NOPV = 0x80;
    private static final int STO_ALPHA_GPLOAD = 0x88;
    private static final int STT_LOPROC = 13;
    private static final long LARGEST_DECIMAL = 99_999;

    private final ElfFile elf;

    public SymbolsPage(ElfFile elf) {
        this.elf = elf;
    }

    @Override
    public String key() {
        return "symbols";
    }

    private List<ElfSection> tables() {
        return elf.sections().stream()
                .filter(s -> s.type() == ElfFile.SHT_SYMTAB || s.type() == ElfFile.SHT_DYNSYM)
                .toList();
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        List<ElfSection> tables = tables();
        if (tables.isEmpty()) {
            out.println("There are no symbol tables in this file.");
        }
        String line = "";
        for (ElfSection table : tables) {
            ElfSymbols symbols = elf.symbols(table);
            SymbolVersions versions = versions(table);
            out.print(line);
            out.printf(
                    "Symbol table '%s' contains %s:%n",
                    ElfWording.name(table.name()), ElfWording.entries(symbols.count()));
            out.println(
                    elf.is64()
                            ? "   Num:    Value          Size Type    Bind   Vis      Ndx Name"
                            : "   Num:    Value  Size Type    Bind   Vis      Ndx Name");
            for (int i = 0; i < symbols.count(); i++) {
                out.println(row(symbols, versions, i));
            }
            line = System.lineSeparator();
        }
    }

    private @Nullable SymbolVersions versions(ElfSection table) throws IOException {
        SymbolVersions versions = elf.versions().orElse(null);
        return versions != null && versions.section().link() == table.index() ? versions : null;
    }

    private String row(ElfSymbols symbols, @Nullable SymbolVersions versions, int i) {
        StringBuilder row = new StringBuilder(100);
        right(row, "" + i, 6)
                .append(": ")
                .append(ElfWording.address(elf, symbols.value(i)))
                .append(' ');
        long size = symbols.size(i);
        boolean decimal = size >= 0 && size <= LARGEST_DECIMAL;
        right(row, decimal ? "" + size : ElfWording.hex(size), 5).append(' ');
        left(row, type(symbols.type(i)), 7).append(' ');
        left(row, binding(symbols.binding(i)), 6).append(' ');
        left(row, VISIBILITIES.get(symbols.visibility(i)), 7).append(' ');
        int other = symbols.other(i) & ~3;
        if (other != 0) {
            left(row, other(other), 10).append("  ");
        }
        right(row, place(symbols, i), 4).append(' ').append(name(symbols, versions, i));
        boolean defined = symbols.section(i) != ElfSymbols.SHN_UNDEF;
        if (versions != null && versions.isNeeded(i, defined)) {
            row.append(" (").append(versions.number(i)).append(')');
        }
        return row.toString();
    }

    /** On 64-bit PowerPC the three highest bits say how far the local entry lies (ELFv2 ABI). */
    private String other(int other) {
        if (elf.machine() == EM_ALPHA && (other == STO_ALPHA_NOPV || other == STO_ALPHA_GPLOAD)) {
            return other == STO_ALPHA_NOPV ? "[NOPV]" : "[STD GPLOAD]";
        }
        int entry = other >> 5;
        return elf.machine() == EM_PPC64 && (other & 0x1c) == 0 && entry > 1 && entry < 7
                ? "[<localentry>: " + (1 << entry) + "]"
                : "[<other>: %x]".formatted(other);
    }

    private static StringBuilder right(StringBuilder row, String text, int width) {
        return row.repeat(' ', Math.max(0, width - text.length())).append(text);
    }

    private static StringBuilder left(StringBuilder row, String text, int width) {
        return row.append(text).repeat(' ', Math.max(0, width - text.length()));
    }

    /** The name with its version; of a symbol for a section that section's. */
    private String name(ElfSymbols symbols, @Nullable SymbolVersions versions, int i) {
        String name = symbols.name(i);
        int section = symbols.section(i);
        if (name.isEmpty()
                && symbols.type(i) == ElfSymbols.STT_SECTION
                && section > 0
                && section < elf.sections().size()) {
            name = elf.sections().get(section).name();
        }
        return ElfWording.name(
                versions == null ? name : name + versions.suffix(i, name, section != 0));
    }

    private String type(int type) {
        if (type < TYPES.size()) {
            return TYPES.get(type);
        }
        if (type == ElfSymbols.STT_GNU_IFUNC) {
            return "IFUNC";
        }
        if (type == STT_LOPROC) {
            switch (elf.machine()) {
                case ElfFile.EM_SPARC, EM_SPARC32PLUS, ElfFile.EM_SPARCV9 -> {
                    return "REGISTER";
                }
                case ElfFile.EM_ARM -> {
                    return "THUMB_FUNC";
                }
                case EM_PARISC -> {
                    return "PARISC_MILLI";
                }
                default -> {}
            }
        }
        return type >= STT_LOPROC
                ? "<processor specific>: " + type
                : type >= 10 ? "<OS specific>: " + type : "<unknown>: " + type;
    }

    private static String binding(int binding) {
        return switch (binding) {
            case ElfSymbols.STB_LOCAL -> "LOCAL";
            case ElfSymbols.STB_GLOBAL -> "GLOBAL";
            case ElfSymbols.STB_WEAK -> "WEAK";
            case 10 -> "UNIQUE";
            default -> (binding >= 13 ? "<processor specific>: " : "<unknown>: ") + binding;
        };
    }

    private static String place(ElfSymbols symbols, int i) {
        int section = symbols.section(i);
        if (!symbols.isReserved(i)) {
            return section == ElfSymbols.SHN_UNDEF ? "UND" : "" + section;
        }
        return switch (section) {
            case ElfSymbols.SHN_ABS -> "ABS";
            case SHN_COMMON -> "COM";
            default -> "RSV[0x%04x]".formatted(section);
        };
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginObject();
        for (ElfSection table : tables()) {
            ElfSymbols symbols = elf.symbols(table);
            SymbolVersions versions = versions(table);
            out.beginArray(ElfWording.name(table.name()));
            for (int i = 1; i < symbols.count(); i++) {
                out.beginObject();
                out.field("name", name(symbols, versions, i));
                out.field("value", ElfWording.hex(symbols.value(i)));
                out.field("size_bytes", symbols.size(i));
                out.field("type", type(symbols.type(i)));
                out.field("binding", binding(symbols.binding(i)));
                out.field("visibility", VISIBILITIES.get(symbols.visibility(i)));
                out.field("section", place(symbols, i));
                out.endObject();
            }
            out.endArray();
        }
        out.endObject();
    }
}
