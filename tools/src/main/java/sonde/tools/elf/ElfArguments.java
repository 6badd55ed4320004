package sonde.tools.elf;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import sonde.tools.elf.ElfRequest.ElfPageKind;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;

/** Reads the files and pages to show from the options of {@code sonde elf}. */
public final class ElfArguments {
    /** The options of the command. */
    public static final String MODEL =
            """
            sonde elf [PAGES] [OPTIONS] FILE...

            Show what is in an ELF file. That is a program, library, object, kernel module, kernel
            or core file. Without pages it shows what the file is, its libraries, and where its
            debug information is or would be. Nothing of the file is run.

            Arguments:
              [FILE...]       ELF files

            Pages:
              --headers       the file header
              -l, --segments  the program headers, and which sections each of them holds
              -S, --sections  the section headers
              -s, --symbols   the symbol tables, with versions
              -d, --dynamic   the dynamic section
              --libs          the libraries that would be loaded, as ldd
              -n, --notes     the notes: build-id, properties, USDT probes, packages, notes of cores
              -r, --relocations
                              the relocations
              --lines         the line tables, from the debug file if there is one
              --frames        the unwind rules of each function, from .eh_frame
              --strings [SECTION]
                              the strings of a section (--strings=.rodata), or of all that have any
              --disassemble [FUNCTION]
                              the code of a function (--disassemble=main) or of all, with source
                              lines
              --types TYPE    a C type with offsets, sizes and holes (repeatable)

            Options:
              --json          print a JSON object per file
              --sysroot DIR   look for libraries below this folder instead of /
            """
                    + SymbolArguments.PROGRAMS
                    + """

                    Examples:
                      sonde elf /usr/bin/ssh
                      sonde elf --segments --sections a.out        as readelf -lSW
                      sonde elf --libs /usr/bin/ssh                as ldd, without running it
                      sonde elf --types task_struct /sys/kernel/btf/vmlinux
                      sonde elf --disassemble main a.out

                    Exit status:
                      0 done, 1 no type or function of that name, 2 no such file, 4 no ELF file or
                      damaged
                    """;

    private static final Map<String, ElfPageKind> PAGES =
            Map.ofEntries(
                    Map.entry("--headers", ElfPageKind.HEADER),
                    Map.entry("--segments", ElfPageKind.SEGMENTS),
                    Map.entry("--sections", ElfPageKind.SECTIONS),
                    Map.entry("--symbols", ElfPageKind.SYMBOLS),
                    Map.entry("--dynamic", ElfPageKind.DYNAMIC),
                    Map.entry("--libs", ElfPageKind.LIBRARIES),
                    Map.entry("--notes", ElfPageKind.NOTES),
                    Map.entry("--relocations", ElfPageKind.RELOCATIONS),
                    Map.entry("--lines", ElfPageKind.LINES),
                    Map.entry("--frames", ElfPageKind.FRAMES),
                    Map.entry("--strings", ElfPageKind.STRINGS),
                    Map.entry("--disassemble", ElfPageKind.DISASSEMBLY));

    private final GivenOptions given;
    private final List<Path> files = new ArrayList<>();
    private final List<String> folders = new ArrayList<>();
    private boolean symbols;
    private String strings;
    private String disassemble;

    private ElfArguments(GivenOptions given) {
        this.given = given;
        this.symbols = given.has("--symbols");
        this.strings = given.text("--strings", "");
        this.disassemble = given.text("--disassemble", "");
    }

    /** Reads the words. */
    public static ElfArguments of(GivenOptions given) {
        ElfArguments read = new ElfArguments(given);
        read.folders.addAll(SymbolArguments.folders(given));
        read.takeFolders();
        read.takeFile();
        return read;
    }

    /** The files to show. */
    public List<Path> files() {
        return files;
    }

    /** {@code --symbols DIR} was {@code --debug-dir DIR} in other commands. */
    private void takeFolders() {
        List<Path> words = given.paths();
        for (Path file : words) {
            if (symbols && Files.isDirectory(file)) {
                folders.add(file.toString());
            } else {
                files.add(file);
            }
        }
        symbols &= files.size() == words.size();
    }

    /** {@code --disassemble FILE} means the whole file, though a word may follow the option. */
    private void takeFile() {
        String word = disassemble.isEmpty() ? strings : disassemble;
        if (files.isEmpty() && !word.isEmpty() && Files.exists(Path.of(word))) {
            files.add(Path.of(word));
            disassemble = word.equals(disassemble) ? "" : disassemble;
            strings = word.equals(strings) ? "" : strings;
        }
        if (files.isEmpty()) {
            throw new OptionException("a word is missing: FILE...");
        }
    }

    /** The pages to show; {@code say} gets notes. */
    public ElfRequest request(Consumer<String> say) {
        Set<ElfPageKind> parts = EnumSet.noneOf(ElfPageKind.class);
        PAGES.forEach((option, part) -> {
            if (part == ElfPageKind.SYMBOLS ? symbols : given.has(option)) {
                parts.add(part);
            }
        });
        return new ElfRequest(
                parts,
                disassemble,
                strings.isEmpty() ? List.of() : List.of(strings),
                given.texts("--types"),
                folders,
                given.text("--sysroot", ""),
                SymbolArguments.servers(given, say));
    }
}
