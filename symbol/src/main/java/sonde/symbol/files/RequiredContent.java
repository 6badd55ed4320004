package sonde.symbol.files;

import java.util.Optional;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

/** What a file must have to be an answer. */
public enum RequiredContent {
    /** Entries or line tables of DWARF. */
    DEBUG_INFORMATION("debugging information"),
    /** Entries of DWARF, which tell of types and variables. */
    ENTRIES("entries of debugging information"),
    /** A symbol table with all functions, {@code .symtab}. */
    SYMBOLS("symbol table"),
    /** Tables for unwinding, {@code .debug_frame}. */
    FRAMES(".debug_frame"),
    /** Nothing but being the file. */
    ANY("contents");

    private final String words;

    RequiredContent(String words) {
        this.words = words;
    }

    /** In words, for messages. */
    public String words() {
        return words;
    }

    /** Whether a file has it. */
    public boolean isMetBy(ElfFile elf) {
        return switch (this) {
            case DEBUG_INFORMATION -> has(elf, ".debug_info") || has(elf, ".debug_line");
            case ENTRIES -> has(elf, ".debug_info");
            case SYMBOLS -> elf.sections().stream().anyMatch(RequiredContent::isSymbolTable);
            case FRAMES -> has(elf, ".debug_frame");
            case ANY -> true;
        };
    }

    private static boolean has(ElfFile elf, String name) {
        Optional<ElfSection> section = elf.section(name);
        return section.isPresent()
                && section.get().type() != ElfFile.SHT_NOBITS
                && section.get().sizeBytes() > 0;
    }

    private static boolean isSymbolTable(ElfSection section) {
        return section.type() == ElfFile.SHT_SYMTAB && section.sizeBytes() > section.entryBytes();
    }
}
