package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNames;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.elf.RelocationTable;
import sonde.binary.elf.SymbolVersions;
import sonde.event.result.ValueOutput;

/** The relocation tables. */
public final class RelocationsPage implements ElfPage {
    private final ElfFile elf;

    public RelocationsPage(ElfFile elf) {
        this.elf = elf;
    }

    @Override
    public String key() {
        return "relocations";
    }

    private List<ElfSection> tables() {
        return elf.sections().stream().filter(s -> s.isRelocations() && s.sizeBytes() > 0).toList();
    }

    private @Nullable ElfSymbols symbols(ElfSection table) throws IOException {
        if (table.link() <= 0 || table.link() >= elf.sections().size()) {
            return null;
        }
        ElfSection section = elf.sections().get(table.link());
        boolean symbols =
                section.type() == ElfFile.SHT_SYMTAB || section.type() == ElfFile.SHT_DYNSYM;
        return symbols ? elf.symbols(section) : null;
    }

    private @Nullable SymbolVersions versions(ElfSection table) throws IOException {
        SymbolVersions versions = elf.versions().orElse(null);
        return versions != null && versions.section().link() == table.link() ? versions : null;
    }

    private String name(ElfSymbols symbols, @Nullable SymbolVersions versions, int symbol) {
        String name = symbols.name(symbol);
        int section = symbols.section(symbol);
        if (name.isEmpty() && symbols.type(symbol) != ElfSymbols.STT_SECTION) {
            return "<null>";
        }
        if (name.isEmpty() && section > 0 && section < elf.sections().size()) {
            name = elf.sections().get(section).name();
        }
        return ElfWording.name(
                versions == null ? name : name + versions.suffix(symbol, name, section != 0));
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        List<ElfSection> tables = tables();
        List<ElfSection> packed =
                elf.sections().stream().filter(s -> s.type() == ElfFile.SHT_RELR).toList();
        if (tables.isEmpty() && packed.isEmpty()) {
            out.println("There are no relocations in this file.");
        }
        String line = "";
        for (ElfSection table : tables) {
            RelocationTable entries = elf.relocationTable(table);
            out.print(line);
            out.printf(
                    "Relocation section '%s' at offset %s contains %s:%n",
                    ElfWording.name(table.name()),
                    ElfWording.hex(table.offset()),
                    ElfWording.entries(entries.count()));
            String tail = entries.hasAddends() ? " + Addend" : "";
            out.println(
                    elf.is64()
                            ? "    Offset             Info             Type               Symbol's"
                                    + " Value  Symbol's Name"
                                    + tail
                            : " Offset     Info    Type                Sym. Value  Symbol's Name"
                                    + tail);
            rows(out, table, entries);
            line = System.lineSeparator();
        }
        for (ElfSection table : packed) {
            long[] places = elf.relativeRelocations(table);
            out.print(line);
            out.printf(
                    "Relocation section '%s' at offset %s contains %s:%n  %d offsets%n",
                    ElfWording.name(table.name()),
                    ElfWording.hex(table.offset()),
                    ElfWording.entries(table.sizeBytes() / (elf.is64() ? 8 : 4)),
                    places.length);
            for (long place : places) {
                out.println(ElfWording.address(elf, place));
            }
            line = System.lineSeparator();
        }
    }

    private void rows(PrintWriter out, ElfSection table, RelocationTable entries)
            throws IOException {
        ElfSymbols symbols = symbols(table);
        SymbolVersions versions = versions(table);
        for (long i = 0; i < entries.count(); i++) {
            int type = entries.type(i);
            boolean triple = elf.is64() && elf.machine() == ElfFile.EM_MIPS;
            StringBuilder row = new StringBuilder(120);
            row.append(ElfWording.address(elf, entries.offset(i))).append("  ");
            row.append(ElfWording.address(elf, entries.info(i))).append(' ');
            row.append(padded(ElfNames.relocation(elf.machine(), triple ? type & 0xff : type)));
            int symbol = entries.symbol(i);
            long addend = entries.addend(i);
            if (symbol == 0 || symbols == null) {
                if (entries.hasAddends()) {
                    row.repeat(' ', elf.is64() ? 20 : 12);
                    row.append(addend < 0 ? "-" : "").append(Long.toHexString(Math.abs(addend)));
                }
            } else if (symbol < 0 || symbol >= symbols.count()) {
                row.append(" bad symbol index: %08x".formatted(symbol));
            } else {
                row.append(' ').append(ElfWording.address(elf, symbols.value(symbol)));
                row.append(elf.is64() ? " " : "   ").append(name(symbols, versions, symbol));
                if (entries.hasAddends()) {
                    row.append(addend < 0 ? " - " : " + ");
                    row.append(Long.toHexString(Math.abs(addend)));
                }
            }
            out.println(row);
            if (triple) {
                out.println("                    Type2: " + second(type >> 8));
                out.println("                    Type3: " + second(type >> 16));
            }
        }
    }

    private static String padded(String type) {
        int width = type.startsWith("unrecognized: ") ? 21 : 22;
        return type + " ".repeat(Math.max(0, width - type.length()));
    }

    private String second(int type) {
        return "%-17s".formatted(ElfNames.relocation(elf.machine(), type & 0xff));
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginObject();
        for (ElfSection table : tables()) {
            RelocationTable entries = elf.relocationTable(table);
            ElfSymbols symbols = symbols(table);
            SymbolVersions versions = versions(table);
            out.beginArray(ElfWording.name(table.name()));
            for (long i = 0; i < entries.count(); i++) {
                out.beginObject();
                out.field("offset", ElfWording.hex(entries.offset(i)));
                out.field("type", ElfNames.relocation(elf.machine(), entries.type(i)));
                int symbol = entries.symbol(i);
                if (symbols != null && symbol > 0 && symbol < symbols.count()) {
                    out.field("symbol", name(symbols, versions, symbol));
                }
                if (entries.hasAddends()) {
                    out.field("addend", entries.addend(i));
                }
                out.endObject();
            }
            out.endArray();
        }
        for (ElfSection table : elf.sections()) {
            if (table.type() == ElfFile.SHT_RELR) {
                out.beginArray(ElfWording.name(table.name()));
                for (long place : elf.relativeRelocations(table)) {
                    out.value(ElfWording.hex(place));
                }
                out.endArray();
            }
        }
        out.endObject();
    }
}
