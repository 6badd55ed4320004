package sonde.tools.elf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenElf;

/** What a program would look for in vain, because a library that has it is not there. */
public final class MissingSymbols {
    private static final int LIMIT = 100_000;

    private final Set<String> defined = new HashSet<>();
    private final List<MissingSymbol> wanted = new ArrayList<>();

    MissingSymbols() {}

    /** A symbol that no file defines, and the file that refers to it. */
    public record MissingSymbol(String name, String path) {}

    /** Takes the symbols of a file in; one that cannot be read has none. */
    void add(RootFolder root, String path) {
        try (OpenElf file = OpenElf.asIs(FilePlace.named(root.real(path).toString()))) {
            ElfSymbols symbols = file.elf().symbols(ElfFile.SHT_DYNSYM).orElse(null);
            for (int i = 1; symbols != null && i < symbols.count(); i++) {
                add(symbols, i, path);
            }
        } catch (IOException | InternalError e) {
            return;
        }
    }

    private void add(ElfSymbols symbols, int index, String path) {
        int binding = symbols.binding(index);
        if (binding == ElfSymbols.STB_LOCAL) {
            return;
        }
        if (symbols.section(index) != ElfSymbols.SHN_UNDEF) {
            defined.add(symbols.name(index));
        } else if (binding != ElfSymbols.STB_WEAK && wanted.size() < LIMIT) {
            wanted.add(new MissingSymbol(symbols.name(index), path));
        }
    }

    List<MissingSymbol> list() {
        return wanted.stream()
                .filter(symbol -> !symbol.name().isEmpty() && !defined.contains(symbol.name()))
                .distinct()
                .toList();
    }
}
