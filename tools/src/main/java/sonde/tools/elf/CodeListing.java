package sonde.tools.elf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.code.CodeReader;
import sonde.binary.dwarf.code.DwarfCode;
import sonde.binary.dwarf.code.UnitCode;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfRelocation;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.machine.MachineDecoder;
import sonde.binary.machine.MachineFlow;
import sonde.binary.machine.MachineInstruction;

/** The code of a linked file in the layout of {@code objdump -d -S -l -w}. */
final class CodeListing {
    /** Takes lines of the listing. */
    interface ListingTaker {
        void line(String line) throws IOException;
    }

    /** A name of code; the better of two at one address has the higher rank. */
    private record CodeName(String name, long size, int rank) {}

    /** Source files above this are not shown. */
    private static final long MAX_SOURCE_BYTES = 16 << 20;

    private static final HexFormat BYTES = HexFormat.ofDelimiter(" ");

    private final ElfFile elf;
    private final MachineDecoder decoder;
    private final @Nullable DwarfCode lines;
    private final @Nullable CodeReader reader;
    private final Map<Integer, UnitCode> units = new HashMap<>();
    private final Map<String, List<String>> sources = new HashMap<>();
    private final TreeMap<Long, CodeName> names = new TreeMap<>(Long::compareUnsigned);
    private String shown = "";

    CodeListing(ElfFile elf, MachineDecoder decoder, @Nullable DwarfCode lines) throws IOException {
        this.elf = elf;
        this.decoder = decoder;
        this.lines = lines;
        reader = lines == null ? null : lines.reader();
        for (int type : new int[] {ElfFile.SHT_SYMTAB, ElfFile.SHT_DYNSYM}) {
            ElfSymbols table = elf.symbols(type).orElse(null);
            for (int i = 1; table != null && i < table.count(); i++) {
                addName(table, i);
            }
        }
        for (ElfSection section : elf.sections()) {
            if (section.isExecutable() && section.name().startsWith(".plt")) {
                addStubs(section);
            }
        }
    }

    private void addName(ElfSymbols table, int index) {
        int type = table.type(index);
        boolean code =
                type == ElfSymbols.STT_FUNC
                        || type == ElfSymbols.STT_GNU_IFUNC
                        || type == ElfSymbols.STT_OBJECT
                        || type == ElfSymbols.STT_NOTYPE;
        String name = table.name(index).replaceFirst("@.*", "");
        if (!code
                || table.section(index) == ElfSymbols.SHN_UNDEF
                || table.isReserved(index)
                || name.isEmpty()
                || name.startsWith("$")) {
            return;
        }
        int rank =
                (type == ElfSymbols.STT_NOTYPE ? 0 : 4)
                        + (table.binding(index) == ElfSymbols.STB_GLOBAL ? 2 : 0)
                        + (table.binding(index) == ElfSymbols.STB_WEAK ? 1 : 0);
        CodeName found = new CodeName(name, table.size(index), rank);
        names.merge(table.value(index), found, (a, b) -> a.rank >= b.rank ? a : b);
    }

    /** Names the entries of a PLT by the slots that they jump through. */
    private void addStubs(ElfSection section) throws MalformedInputException {
        Map<Long, String> slots = new HashMap<>();
        for (ElfSection table : elf.sections()) {
            if (table.isRelocations() && table.address() != 0) {
                ElfSymbols symbols = elf.symbols(ElfFile.SHT_DYNSYM).orElse(null);
                for (ElfRelocation one : elf.relocations(table)) {
                    if (symbols != null && one.symbol() > 0 && one.symbol() < symbols.count()) {
                        String name = symbols.name(one.symbol()).replaceFirst("@.*", "");
                        slots.put(one.offset(), name + "@plt");
                    }
                }
            }
        }
        byte[] code = elf.bytes(section).toArray();
        for (MachineInstruction one : decoder.decodeAll(code, section.address())) {
            String name =
                    one.flow() == MachineFlow.JUMP && one.dataAddress().isPresent()
                            ? slots.get(one.dataAddress().getAsLong())
                            : null;
            if (name != null) {
                names.putIfAbsent(one.address() & ~15L, new CodeName(name, 16, 0));
            }
        }
    }

    private String named(long address) {
        String number = Long.toHexString(address);
        Map.Entry<Long, CodeName> name = names.floorEntry(address);
        if (name == null) {
            return number;
        }
        long offset = address - name.getKey();
        if (offset != 0 && Long.compareUnsigned(offset, name.getValue().size) >= 0) {
            return number;
        }
        String plus = offset == 0 ? "" : "+0x" + Long.toHexString(offset);
        return number + " <" + name.getValue().name + plus + ">";
    }

    /**
     * @param function as in the symbol table; empty for all code
     */
    void list(String function, ListingTaker taker) throws IOException {
        for (ElfSection section : elf.sections()) {
            if (!section.isExecutable() || section.type() == ElfFile.SHT_NOBITS) {
                continue;
            }
            byte[] code = elf.bytes(section).toArray();
            long end = section.address() + code.length;
            boolean[] head = {false};
            if (function.isEmpty()) {
                range(section, code, section.address(), end, head, taker);
                continue;
            }
            for (Map.Entry<Long, CodeName> name :
                    names.subMap(section.address(), true, end, false).entrySet()) {
                if (name.getValue().name.equals(function)) {
                    Long next = names.higherKey(name.getKey());
                    long size = name.getValue().size;
                    long to = size > 0 ? name.getKey() + size : next == null ? end : next;
                    range(section, code, name.getKey(), Math.min(to, end), head, taker);
                }
            }
        }
    }

    private void range(
            ElfSection section, byte[] code, long from, long to, boolean[] head, ListingTaker taker)
            throws IOException {
        if (!head[0]) {
            taker.line("");
            taker.line("Disassembly of section " + section.name() + ":");
            head[0] = true;
        }
        for (long at = from; at < to; ) {
            CodeName name = names.get(at);
            if (name != null || at == from) {
                taker.line("");
                String shownName = name == null ? section.name() : name.name;
                taker.line("%016x <%s>:".formatted(at, shownName));
                shown = "";
            }
            source(at, taker);
            int offset = (int) (at - section.address());
            int end = (int) (to - section.address());
            MachineInstruction one = decoder.decode(code, offset, end, at);
            taker.line(
                    padded(" ".repeat(8), Long.toHexString(at), true)
                            + ":\t"
                            + padded(" ".repeat(21), bytes(code, offset, one), false)
                            + "\t"
                            + columns(one));
            at += one.length();
        }
    }

    private static String bytes(byte[] code, int offset, MachineInstruction one) {
        return BYTES.formatHex(code, offset, offset + one.length()) + " ";
    }

    private static String padded(String blanks, String text, boolean before) {
        String rest = blanks.substring(Math.min(blanks.length(), text.length()));
        return before ? rest + text : text + rest;
    }

    private String columns(MachineInstruction one) {
        String text = one.text(this::named);
        int space = text.indexOf(' ');
        return space < 0
                ? text
                : padded("      ", text.substring(0, space), false) + text.substring(space);
    }

    private void source(long address, ListingTaker taker) throws IOException {
        int unit = lines == null ? -1 : lines.unitOf(address);
        if (unit < 0 || reader == null) {
            return;
        }
        UnitCode code = units.get(unit);
        if (code == null) {
            code = reader.read(unit, null, false);
            if (code == null) {
                return;
            }
            units.clear();
            units.put(unit, code);
        }
        int row = code.rowAt(address);
        if (row < 0 || code.rowFile(row) == UnitCode.NONE) {
            return;
        }
        String path = code.path(code.rowFile(row));
        int line = code.rowLine(row);
        String place = path + ":" + line;
        if (!place.equals(shown)) {
            shown = place;
            taker.line(place);
            List<String> text = sources.computeIfAbsent(path, CodeListing::read);
            if (line > 0 && line <= text.size()) {
                taker.line(text.get(line - 1));
            }
        }
    }

    private static List<String> read(String path) {
        try {
            Path file = Path.of(path);
            return Files.isRegularFile(file) && Files.size(file) < MAX_SOURCE_BYTES
                    ? Files.readString(file, StandardCharsets.ISO_8859_1).lines().toList()
                    : List.of();
        } catch (IOException | RuntimeException e) {
            return List.of();
        }
    }
}
