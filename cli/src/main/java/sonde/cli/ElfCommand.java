package sonde.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.binary.MalformedInputException;
import sonde.tools.elf.ElfRecipe;
import sonde.tools.elf.ElfRequest;
import sonde.tools.elf.ElfRequest.ElfPageKind;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;

/** {@code sonde elf}. */
final class ElfCommand {
    static final String MODEL =
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

    private final CommandCall call;
    private final GivenOptions given;
    private final List<Path> files = new ArrayList<>();
    private final List<String> folders = new ArrayList<>();
    private boolean symbols;
    private String strings;
    private String disassemble;

    private ElfCommand(CommandCall call) {
        this.call = call;
        this.given = call.given();
        this.symbols = given.has("--symbols");
        this.strings = given.text("--strings", "");
        this.disassemble = given.text("--disassemble", "");
    }

    static int run(CommandCall call) throws Exception {
        return new ElfCommand(call).run();
    }

    private int run() throws IOException {
        folders.addAll(SymbolArguments.folders(call.given()));
        takeFolders();
        takeFile();
        ElfRequest request = request();
        boolean whole = true;
        for (Path file : files) {
            ElfRecipe recipe = new ElfRecipe(file, request, call::say);
            try {
                ResultPrinter.onOut(recipe.result(files.size() > 1), call.json());
                whole &= recipe.isWhole();
            } catch (MalformedInputException e) {
                throw new MalformedInputException(file.toString(), "ELF", -1, e.reason());
            }
        }
        return whole ? ExitCode.DONE : ExitCode.MALFORMED;
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

    private ElfRequest request() {
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
                SymbolArguments.servers(call.given(), call::say));
    }
}
