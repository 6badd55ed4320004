package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.format.MalformedInputException;
import sonde.tools.elf.ElfRecipe;
import sonde.tools.elf.ElfRequest;
import sonde.tools.elf.ElfRequest.Part;

/** {@code sonde elf}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        customSynopsis = "sonde elf [PAGES] [--json] FILE…",
        description = {
            "Says what is in a program, library, object, kernel module, kernel or core file. Without"
                    + " pages: what it is, its libraries, and where its debug information is or"
                    + " would be. Nothing of it is run."
        },
        footer = {
            "",
            "Examples:",
            "  sonde elf /usr/bin/ssh",
            "  sonde elf --segments --sections a.out        as readelf -lSW",
            "  sonde elf --libs /usr/bin/ssh                as ldd, without running it",
            "  sonde elf --types task_struct /sys/kernel/btf/vmlinux",
            "  sonde elf --disassemble main a.out",
            "",
            "Exit status: 0 done, 1 no type or function of that name, 2 no such file, 4 no ELF file"
                    + " or damaged."
        })
final class ElfCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "FILE", arity = "0..*", description = "what to look into")
    private List<Path> files = new ArrayList<>();

    @Option(names = "--headers", description = "the file header")
    private boolean header;

    @Option(
            names = {"-l", "--segments"},
            description = "the program headers, and which sections each holds")
    private boolean segments;

    @Option(
            names = {"-S", "--sections"},
            description = "the section headers")
    private boolean sections;

    @Option(
            names = {"-s", "--symbols"},
            description =
                    "the symbol tables, with versions; with a folder behind it as --debug-dir")
    private boolean symbols;

    @Option(
            names = {"-d", "--dynamic"},
            description = "the dynamic section")
    private boolean dynamic;

    @Option(names = "--libs", description = "the libraries that would be loaded, as ldd")
    private boolean libraries;

    @Option(
            names = {"-n", "--notes"},
            description = "the notes: build-id, properties, USDT probes, packages, of cores")
    private boolean notes;

    @Option(
            names = {"-r", "--relocations"},
            description = "the relocations")
    private boolean relocations;

    @Option(names = "--lines", description = "the line tables, from the debug file if need be")
    private boolean lines;

    @Option(names = "--frames", description = "how to leave each function: rules of .eh_frame")
    private boolean frames;

    @Option(
            names = "--strings",
            paramLabel = "SECTION",
            arity = "0..1",
            fallbackValue = "",
            description = "the strings of a section (--strings=.rodata), or of all that hold some")
    private @Nullable String strings;

    @Option(
            names = "--disassemble",
            paramLabel = "FUNC",
            arity = "0..1",
            fallbackValue = "",
            description = "the code of a function (--disassemble=main) or all, with source lines")
    private @Nullable String disassemble;

    @Option(
            names = "--types",
            paramLabel = "NAME",
            description = "a C type with offsets, sizes and holes; repeatable")
    private List<String> types = new ArrayList<>();

    @Option(
            names = "--debug-dir",
            paramLabel = "DIR",
            description = "also look for debug files in a sysroot or build tree; repeatable")
    private List<String> folders = new ArrayList<>();

    @Option(
            names = "--sysroot",
            paramLabel = "DIR",
            description = "the folder that stands for / when libraries are looked for")
    private String sysroot = "";

    @Mixin private ServerArguments servers = new ServerArguments();

    @Option(names = "--json", description = "as JSON: one object a file")
    private boolean json;

    ElfCommand() {}

    @Override
    public Integer call() throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        takeFolders();
        takeFile();
        ElfRequest request = request();
        boolean whole = true;
        for (Path file : files) {
            ElfRecipe recipe = new ElfRecipe(file, request, line -> Failures.say(err, line));
            try {
                Shown.onOut(recipe.result(files.size() > 1), json);
                whole &= recipe.isWhole();
            } catch (MalformedInputException e) {
                throw new MalformedInputException(file.toString(), "ELF", -1, e.reason());
            }
        }
        return whole ? ExitCode.DONE : ExitCode.MALFORMED;
    }

    /** {@code --symbols DIR} is the option of other commands, not the page of symbols. */
    private void takeFolders() {
        List<Path> kept = new ArrayList<>();
        for (Path file : files) {
            if (symbols && Files.isDirectory(file)) {
                folders.add(file.toString());
            } else {
                kept.add(file);
            }
        }
        symbols &= kept.size() == files.size();
        files = kept;
    }

    /** {@code --disassemble FILE} means the whole file, though a word may follow the option. */
    private void takeFile() {
        String word = disassemble != null && !disassemble.isEmpty() ? disassemble : strings;
        if (files.isEmpty() && word != null && !word.isEmpty() && Files.exists(Path.of(word))) {
            files = List.of(Path.of(word));
            disassemble = word.equals(disassemble) ? "" : disassemble;
            strings = word.equals(strings) ? "" : strings;
        }
        if (files.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "Missing required parameter: 'FILE…'");
        }
    }

    private ElfRequest request() {
        Set<Part> parts = EnumSet.noneOf(Part.class);
        add(parts, header, Part.HEADER);
        add(parts, segments, Part.SEGMENTS);
        add(parts, sections, Part.SECTIONS);
        add(parts, symbols, Part.SYMBOLS);
        add(parts, dynamic, Part.DYNAMIC);
        add(parts, libraries, Part.LIBRARIES);
        add(parts, notes, Part.NOTES);
        add(parts, relocations, Part.RELOCATIONS);
        add(parts, lines, Part.LINES);
        add(parts, frames, Part.FRAMES);
        add(parts, strings != null, Part.STRINGS);
        add(parts, disassemble != null, Part.DISASSEMBLY);
        return new ElfRequest(
                parts,
                disassemble == null ? "" : disassemble,
                strings == null || strings.isEmpty() ? List.of() : List.of(strings),
                types,
                folders,
                sysroot,
                servers.servers());
    }

    private static void add(Set<Part> parts, boolean wanted, Part part) {
        if (wanted) {
            parts.add(part);
        }
    }
}
