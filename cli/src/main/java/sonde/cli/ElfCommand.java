package sonde.cli;

import java.nio.file.Path;
import sonde.binary.MalformedInputException;
import sonde.tools.elf.ElfArguments;
import sonde.tools.elf.ElfRecipe;
import sonde.tools.elf.ElfRequest;
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

    private ElfCommand() {}

    static int run(CommandCall call) throws Exception {
        ElfArguments arguments = ElfArguments.of(call.given());
        ElfRequest request = arguments.request(call::say);
        boolean whole = true;
        for (Path file : arguments.files()) {
            ElfRecipe recipe = new ElfRecipe(file, request, call::say);
            try {
                ResultPrinter.onOut(recipe.result(arguments.files().size() > 1), call.json());
                whole &= recipe.isWhole();
            } catch (MalformedInputException e) {
                throw new MalformedInputException(file.toString(), "ELF", -1, e.reason());
            }
        }
        return whole ? ExitCode.DONE : ExitCode.MALFORMED;
    }
}
