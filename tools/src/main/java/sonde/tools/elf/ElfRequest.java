package sonde.tools.elf;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import sonde.symbol.files.Debuginfod;

/**
 * What is asked of a file.
 *
 * @param parts pages; none for the summary
 * @param function of {@link ElfPageKind#DISASSEMBLY}; empty for all code
 * @param sections of {@link ElfPageKind#STRINGS}; empty for all that hold strings
 * @param types names of C types to lay out
 * @param symbolFolders where the user's debug files lie
 * @param sysroot folder that stands for the root when libraries are looked for; empty for our own
 * @param servers asked last for debug files; empty for none
 */
public record ElfRequest(
        Set<ElfPageKind> parts,
        String function,
        List<String> sections,
        List<String> types,
        List<String> symbolFolders,
        String sysroot,
        Optional<Debuginfod> servers) {
    /** The pages there are, in the order in which they are shown. */
    public enum ElfPageKind {
        HEADER,
        SEGMENTS,
        SECTIONS,
        DYNAMIC,
        LIBRARIES,
        NOTES,
        SYMBOLS,
        RELOCATIONS,
        LINES,
        FRAMES,
        STRINGS,
        DISASSEMBLY,
    }

    public ElfRequest {
        parts = Set.copyOf(parts);
        sections = List.copyOf(sections);
        types = List.copyOf(types);
        symbolFolders = List.copyOf(symbolFolders);
    }
}
