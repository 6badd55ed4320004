package sonde.tools.calls;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import sonde.binary.elf.DynamicTable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.probe.syscall.FunctionPlaces;
import sonde.sys.TargetFile;

/**
 * A program or library as far as its functions can be probed.
 *
 * @param file its identity: device and inode
 * @param soname its DT_SONAME, or the name of its file
 * @param imports functions that it asks of others
 * @param needed names of libraries that it needs
 */
record TracedObject(
        String file,
        String path,
        String soname,
        boolean isMain,
        List<ExportedFunction> functions,
        Set<String> imports,
        List<String> needed) {
    private static final long MOST_BYTES = 4L << 30;

    /**
     * A function.
     *
     * @param offset in the file
     * @param size 0 when not known
     * @param chosenAtStart whether the symbol is that of a function that chooses one
     *     (STT_GNU_IFUNC)
     */
    record ExportedFunction(String name, long offset, long size, boolean chosenAtStart) {}

    /**
     * Reads.
     *
     * @param root of the process that has it: {@code /proc/PID/root}
     * @param isMain whether it is the program; then all its own functions count
     */
    static TracedObject read(String file, String root, String path, boolean isMain)
            throws IOException {
        try (TargetFile opened = TargetFile.openIn(root, path, MOST_BYTES)) {
            ElfFile elf = ElfFile.of(opened);
            Optional<DynamicTable> dynamic = elf.dynamic();
            String name = path.substring(path.lastIndexOf('/') + 1);
            String soname = dynamic.flatMap(DynamicTable::soname).orElse(name);
            Set<String> imports = new HashSet<>();
            List<ExportedFunction> functions = new ArrayList<>();
            Set<String> seen = new HashSet<>();
            if (elf.machine() == ElfFile.EM_X86_64 && elf.is64()) {
                Optional<ElfSymbols> dynamics = elf.symbols(ElfFile.SHT_DYNSYM);
                if (dynamics.isPresent()) {
                    read(elf, dynamics.get(), functions, imports, seen);
                }
                Optional<ElfSymbols> all = elf.symbols(ElfFile.SHT_SYMTAB);
                if (all.isPresent() && isMain) {
                    read(elf, all.get(), functions, new HashSet<>(), seen);
                }
            }
            return new TracedObject(
                    file,
                    path,
                    soname,
                    isMain,
                    functions,
                    imports,
                    dynamic.map(DynamicTable::needed).orElse(List.of()));
        } catch (InternalError e) {
            throw new IOException(path + " has changed while it was read", e);
        }
    }

    private static void read(
            ElfFile elf,
            ElfSymbols symbols,
            List<ExportedFunction> functions,
            Set<String> imports,
            Set<String> seen)
            throws IOException {
        for (int i = 1; i < symbols.count(); i++) {
            int type = symbols.type(i);
            boolean chosen = type == ElfSymbols.STT_GNU_IFUNC;
            if (symbols.section(i) == ElfSymbols.SHN_UNDEF) {
                if (type == ElfSymbols.STT_FUNC || type == ElfSymbols.STT_NOTYPE) {
                    imports.add(symbols.name(i));
                }
            } else if (chosen || type == ElfSymbols.STT_FUNC) {
                long address = symbols.value(i);
                if (elf.isCode(address) && seen.add(symbols.name(i) + "@" + address)) {
                    functions.add(
                            new ExportedFunction(
                                    symbols.name(i),
                                    elf.offsetOf(address),
                                    symbols.size(i),
                                    chosen));
                }
            }
        }
    }

    /** Keeps the file: its process may end before its calls are decoded. */
    TargetFile open(String root) throws IOException {
        return TargetFile.openIn(root, path, MOST_BYTES);
    }

    /** The symbol that a call names which returns to that offset in the file. */
    static Optional<String> called(TargetFile opened, long offset) {
        try {
            return FunctionPlaces.called(ElfFile.of(opened), offset);
        } catch (IOException | InternalError e) {
            return Optional.empty(); // the file has changed; the first name is shown
        }
    }

    /** Where the probes of functions are put, as offsets in the file, in their order. */
    List<OptionalLong> places(String root, List<ExportedFunction> wanted) throws IOException {
        List<OptionalLong> places = new ArrayList<>();
        try (TargetFile opened = TargetFile.openIn(root, path, MOST_BYTES)) {
            ElfFile elf = ElfFile.of(opened);
            for (ExportedFunction function : wanted) {
                places.add(FunctionPlaces.of(elf, function.offset(), function.size()));
            }
        } catch (InternalError e) {
            throw new IOException(path + " has changed while it was read", e);
        }
        return places;
    }
}
