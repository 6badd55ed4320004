package sonde.tools.elf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.dwarf.code.DwarfCode;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.machine.MachineDecoder;
import sonde.event.NearestNames;
import sonde.event.result.ValueOutput;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.RequiredContent;
import sonde.tools.report.NothingMatchesException;

/**
 * Instructions with the source lines they came from: x86 and arm64 by the decoder of {@code
 * sonde.binary.machine}, other machines and files that are not linked by an installed objdump.
 */
public final class DisassemblyPage implements ElfPage {
    private static final Pattern INSTRUCTION = Pattern.compile("^\\s*([0-9a-f]+):\\t(.*)$");
    private static final Pattern FUNCTION = Pattern.compile("^([0-9a-f]+) <(.*)>:$");

    private final OpenElf file;
    private final FilePlace place;
    private final DebugSearch search;
    private final ElfFile elf;
    private final String function;

    /**
     * @param function name as in the symbol table, or as the source has it: {@code shop::spin},
     *     {@code shop::spin(long)}; empty for all code
     */
    public DisassemblyPage(OpenElf file, FilePlace place, DebugSearch search, String function) {
        this.file = file;
        this.place = place;
        this.search = search;
        elf = file.elf();
        this.function = function;
    }

    @Override
    public String key() {
        return "disassembly";
    }

    /** The programs that may know the machine, best first. */
    private List<String> programs() {
        String triple =
                switch (elf.machine()) {
                    case ElfFile.EM_AARCH64 -> "aarch64-linux-gnu";
                    case ElfFile.EM_ARM -> "arm-linux-gnueabihf";
                    case ElfFile.EM_RISCV -> "riscv64-linux-gnu";
                    case ElfFile.EM_S390 -> "s390x-linux-gnu";
                    case ElfFile.EM_MIPS -> "mips64-linux-gnuabi64";
                    case 21 -> "powerpc64le-linux-gnu";
                    default -> "x86_64-linux-gnu";
                };
        boolean host = triple.startsWith(System.getProperty("os.arch", "").replace("amd64", "x86"));
        List<String> names = new ArrayList<>(List.of(triple + "-objdump", "llvm-objdump"));
        names.add(host ? 0 : names.size(), "objdump");
        return names;
    }

    private static Optional<Path> find(String program) {
        for (String folder : System.getenv().getOrDefault("PATH", "/usr/bin").split(":", -1)) {
            if (folder.startsWith("/") && Files.isExecutable(Path.of(folder, program))) {
                return Optional.of(Path.of(folder, program));
            }
        }
        return Optional.empty();
    }

    private interface DisassemblyTaker {
        void line(String line) throws IOException;
    }

    /** The symbols that the function has: one, or several of an overloaded name or a template. */
    private List<String> symbols() throws IOException {
        if (function.isEmpty()) {
            return List.of("");
        }
        List<String> found = new ArrayList<>();
        Set<String> there = new TreeSet<>();
        for (int type : new int[] {ElfFile.SHT_SYMTAB, ElfFile.SHT_DYNSYM}) {
            ElfSymbols table = elf.symbols(type).orElse(null);
            for (int i = 1; table != null && i < table.count(); i++) {
                String name = table.name(i).replaceFirst("@.*", "");
                if (name.equals(function)) {
                    return List.of(function);
                }
                if (table.type(i) == ElfSymbols.STT_FUNC
                        && table.section(i) != ElfSymbols.SHN_UNDEF
                        && there.add(name)
                        && Demangler.means(name, function)) {
                    found.add(name);
                }
            }
        }
        if (found.isEmpty() && function.indexOf('@') < 0) {
            throw nothing(there);
        }
        // objdump makes names of its own: puts@plt
        return found.isEmpty() ? List.of(function) : found;
    }

    private NothingMatchesException nothing(Set<String> symbols) {
        List<String> names = symbols.stream().map(Demangler::functionName).toList();
        String nearest = NearestNames.question(function, names);
        return new NothingMatchesException(
                ElfWording.name(file.place().shown())
                        + ": no function is called '"
                        + ElfWording.name(function)
                        + "'"
                        + (nearest.isEmpty() ? "" : "; " + ElfWording.name(nearest)));
    }

    private void each(DisassemblyTaker taker) throws IOException {
        MachineDecoder decoder = MachineDecoder.of(elf.machine()).orElse(null);
        if (decoder != null && elf.type() != ElfFile.ET_REL) {
            own(decoder, taker);
            return;
        }
        if (!file.isUnpacked()) {
            each(Path.of(file.place().shown()).toAbsolutePath(), taker);
            return;
        }
        Path unpacked = Files.createTempFile("sonde-", ".elf");
        try {
            try (OutputStream out = Files.newOutputStream(unpacked)) {
                elf.writeTo(out);
            }
            // objdump says the file's name first.
            String shown = file.place().shown();
            each(unpacked, line -> taker.line(line.replace(unpacked.toString(), shown)));
        } finally {
            Files.deleteIfExists(unpacked);
        }
    }

    private void own(MachineDecoder decoder, DisassemblyTaker taker) throws IOException {
        List<String> symbols = symbols();
        String kind = elf.machine() == ElfFile.EM_AARCH64 ? "aarch64" : "x86-64";
        boolean i386 = elf.machine() == ElfFile.EM_386;
        taker.line("");
        taker.line(
                file.place().shown() + ":     file format elf" + (i386 ? "32-i386" : "64-" + kind));
        try (OpenDebug debug =
                OpenDebug.of(search, place, elf, RequiredContent.DEBUG_INFORMATION)) {
            boolean found = debug.found().isFound();
            CodeListing listing =
                    new CodeListing(elf, decoder, found ? DwarfCode.of(debug.elf(), debug) : null);
            for (String symbol : symbols) {
                listing.list(symbol, taker::line);
            }
        }
    }

    private void each(Path path, DisassemblyTaker taker) throws IOException {
        for (String symbol : symbols()) {
            each(path, symbol, taker);
        }
    }

    private void each(Path path, String symbol, DisassemblyTaker taker) throws IOException {
        Path program =
                programs().stream()
                        .map(DisassemblyPage::find)
                        .flatMap(Optional::stream)
                        .findFirst()
                        .orElseThrow(() ->
                                new IOException("no objdump here; it is in the package binutils"));
        boolean llvm = program.endsWith("llvm-objdump");
        List<String> command = new ArrayList<>(List.of(program.toString(), "-d", "-S", "-l"));
        if (!llvm) {
            command.add("-w");
        }
        if (!symbol.isEmpty()) {
            command.set(1, (llvm ? "--disassemble-symbols=" : "--disassemble=") + symbol);
        }
        command.add(path.toString());
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        try (BufferedReader in =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                taker.line(line);
            }
            if (process.waitFor() != 0) {
                throw new IOException(program.getFileName() + " failed on this file");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroy();
        }
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        boolean[] any = {false};
        each(line -> {
            any[0] |= INSTRUCTION.matcher(line).matches();
            out.println(escaped(line));
        });
        if (!any[0] && !function.isEmpty()) {
            throw nothing(Set.of());
        }
        if (!any[0]) {
            out.println("There is no code in this file.");
        }
    }

    /** Tabs stand between the columns of objdump. */
    private static String escaped(String line) {
        return String.join(
                "\t", List.of(line.split("\t", -1)).stream().map(ElfWording::name).toList());
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginArray();
        StringBuilder source = new StringBuilder();
        String[] name = {""};
        each(line -> {
            Matcher head = FUNCTION.matcher(line);
            Matcher instruction = INSTRUCTION.matcher(line);
            if (head.matches()) {
                name[0] = head.group(2);
                source.setLength(0);
            } else if (instruction.matches()) {
                String[] columns = instruction.group(2).split("\t", 2);
                out.beginObject();
                out.field("address", "0x" + instruction.group(1));
                out.field("function", ElfWording.name(name[0]));
                if (columns.length == 2) {
                    out.field("bytes", ElfWording.name(columns[0].strip()));
                }
                out.field(
                        "instruction",
                        ElfWording.name(columns[columns.length - 1].replace('\t', ' ')));
                if (!source.isEmpty()) {
                    out.field("source", source.toString().stripTrailing());
                    source.setLength(0);
                }
                out.endObject();
            } else if (source.length() < 1 << 16) {
                source.append(escaped(line)).append('\n');
            }
        });
        out.endArray();
    }
}
