package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.binary.dwarf.location.EntryUnit;
import sonde.binary.dwarf.location.FrameRules;
import sonde.binary.dwarf.location.FunctionCopy;
import sonde.binary.dwarf.location.FunctionSearch;
import sonde.binary.dwarf.location.LineRows;
import sonde.binary.dwarf.location.SourceFunction;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceScopes;
import sonde.binary.dwarf.location.SymbolicValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.elf.ElfFile;
import sonde.binary.unwind.FrameRule;
import sonde.binary.unwind.UnwindTable;
import sonde.probe.dynamic.DebugEntryFiles.FoundEntries;
import sonde.symbol.ctype.BtfSourceTypes;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.NamedTypes;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.Arch;
import sonde.sys.MachineFacts;
import sonde.sys.TargetFile;

/**
 * What is probed: a program or library, or the kernel, with its symbols and debugging information.
 * Not safe for several threads.
 */
public final class ProbedObject implements AutoCloseable {
    static final long MOST_BYTES = 16L << 30;

    private final String path;
    private final @Nullable TargetFile file;
    private final @Nullable ElfFile elf;
    private final @Nullable KernelImage kernel;
    private final DebugEntryFiles debugFiles;
    private final @Nullable DebugEntries entries;
    private final ObjectSymbols symbols;
    private final FetchRegisters registers;
    private final @Nullable NamedTypes types;
    private final @Nullable SourceScopes scopes;
    private final java.util.Map<EntryUnit, LineRows> lines = new java.util.HashMap<>();

    private ProbedObject(
            String path,
            @Nullable TargetFile file,
            @Nullable ElfFile elf,
            @Nullable KernelImage kernel,
            DebugEntryFiles debugFiles)
            throws IOException {
        this.path = path;
        this.file = file;
        this.elf = elf;
        this.kernel = kernel;
        this.debugFiles = debugFiles;
        if (elf == null) {
            entries = null;
            symbols = ObjectSymbols.of(List.of());
            registers = FetchRegisters.X86_64;
            scopes = null;
            types = null;
            return;
        }
        registers =
                FetchRegisters.of(elf)
                        .orElseThrow(() ->
                                new ProbeException(
                                        path
                                                + ": of a machine ("
                                                + elf.machine()
                                                + ") whose registers are not known here"));
        FoundEntries found = debugFiles.of(elf, path);
        DebugEntries all = found.entries();
        symbols =
                ObjectSymbols.of(
                        found.elf().equals(elf) ? List.of(elf) : List.of(elf, found.elf()));
        entries = all.units().isEmpty() ? null : all;
        scopes = all.units().isEmpty() ? null : new SourceScopes(all, frames(elf, found.elf()));
        types = all.units().isEmpty() ? null : new DwarfSourceTypes(all);
    }

    /** Read when a variable is first counted from its frame. */
    private static FrameRules frames(ElfFile elf, ElfFile debug) {
        Supplier<List<UnwindTable>> tables =
                SourceType.once(() -> {
                    List<UnwindTable> all = new ArrayList<>();
                    UnwindTable.of(elf).ifPresent(all::add);
                    if (!debug.equals(elf)) {
                        UnwindTable.of(debug).ifPresent(all::add);
                    }
                    return all;
                });
        return address -> {
            for (UnwindTable table : tables.get()) {
                FrameRule rule = table.find(address);
                if (rule != null && rule.cfaRegister() >= 0) {
                    SymbolicValue register = new RegisterValue(rule.cfaRegister());
                    return Optional.of(SymbolicValue.plus(register, rule.cfaOffset()));
                }
            }
            return Optional.empty();
        };
    }

    /**
     * A program or library.
     *
     * @param path that this process can open
     * @param given where separate debugging information may be
     * @throws MalformedInputException when it is not an ELF file
     */
    public static ProbedObject program(String path, GivenPlaces given) throws IOException {
        return program(path, TargetFile.openTrusted(path, MOST_BYTES), given);
    }

    /** {@link #program(String, GivenPlaces)} of a file that is open. */
    static ProbedObject program(String path, TargetFile file, GivenPlaces given)
            throws IOException {
        DebugEntryFiles debugFiles = new DebugEntryFiles(given);
        try {
            return new ProbedObject(path, file, ElfFile.of(file), null, debugFiles);
        } catch (MalformedInputException e) {
            debugFiles.close();
            file.close();
            throw new MalformedInputException(path, "ELF", -1, e.reason());
        } catch (IOException | RuntimeException e) {
            debugFiles.close();
            file.close();
            throw e;
        }
    }

    /** The kernel, with the image that was given or the one that is found by itself. */
    public static ProbedObject kernel(GivenPlaces given) throws IOException {
        KernelImage kernel = KernelImage.open(given);
        DebugEntryFiles debugFiles = new DebugEntryFiles(given);
        try {
            return new ProbedObject("kernel", kernel.file(), kernel.elf(), kernel, debugFiles);
        } catch (IOException | RuntimeException e) {
            debugFiles.close();
            kernel.close();
            throw e;
        }
    }

    /**
     * A module of the running kernel.
     *
     * @param module its name as lsmod has it, or the path of its file; {@code .xz}, {@code .zst}
     *     and {@code .gz} are unpacked
     * @throws ProbeException when it is not loaded and no file of this kernel is it
     */
    public static ProbedObject module(String module, GivenPlaces given) throws IOException {
        KernelImage kernel = KernelImage.ofModule(module, given);
        DebugEntryFiles debugFiles = new DebugEntryFiles(given);
        try {
            String path = java.util.Objects.requireNonNull(kernel.module()).path();
            return new ProbedObject(path, null, kernel.elf(), kernel, debugFiles);
        } catch (IOException | RuntimeException e) {
            debugFiles.close();
            kernel.close();
            throw e;
        }
    }

    /** The module of the kernel; null when it is none. */
    @Nullable KernelModule module() {
        return kernel == null ? null : kernel.module();
    }

    /** Places in the module; null when it is none. */
    @Nullable ModulePlaces modulePlaces() {
        KernelModule module = module();
        return kernel == null || module == null
                ? null
                : new ModulePlaces(this, module, kernel.names());
    }

    /** The file as it is shown; {@code "kernel"} for that. */
    public String path() {
        return path;
    }

    /** Whether it is the kernel. */
    public boolean isKernel() {
        return kernel != null;
    }

    @Nullable KernelImage kernel() {
        return kernel;
    }

    Optional<ElfFile> elf() {
        return Optional.ofNullable(elf);
    }

    Optional<TargetFile> file() {
        return Optional.ofNullable(file);
    }

    /** A source file as the servers have it; empty where there are none. */
    Optional<Path> source(String path) {
        return elf().flatMap(known -> debugFiles.source(known, path));
    }

    /** Whether an address as stated in the file is in its code. */
    boolean isCode(long address) {
        return elf != null && elf.isCode(address);
    }

    ObjectSymbols symbols() {
        return symbols;
    }

    /** Whether there is debugging information. */
    public boolean hasEntries() {
        return entries != null;
    }

    /** What was found on the way and did not fit. */
    public List<String> notes() {
        List<String> notes = new ArrayList<>(debugFiles.notes());
        if (kernel != null) {
            notes.addAll(kernel.notes());
        }
        return notes;
    }

    /** Why what was read is not of the running kernel, and what that means; empty when it is. */
    public Optional<String> foreign() {
        Optional<String> why = kernel == null ? otherMachine() : kernel.foreign();
        return why.map(text -> text + ": 'probe add' will refuse it");
    }

    /** What says that a program cannot run here; empty when it can. */
    Optional<String> otherMachine() {
        Arch here = Arch.current();
        boolean runs =
                elf == null
                        || switch (here) {
                            case X86_64 ->
                                    elf.machine() == ElfFile.EM_X86_64
                                            || elf.machine() == ElfFile.EM_386;
                            case AARCH64 -> elf.machine() == ElfFile.EM_AARCH64;
                        };
        String machine = registers.name().toLowerCase(Locale.ROOT);
        return runs
                ? Optional.empty()
                : Optional.of(
                        path + " is of " + machine + ", and this machine is " + here.machine());
    }

    /**
     * The entries.
     *
     * @throws ProbeException with what to do when there are none
     */
    DebugEntries entries() throws ProbeException {
        DebugEntries known = entries;
        KernelModule module = module();
        if (known == null && module != null) {
            throw new ProbeException(
                    "there is no debugging information of module "
                            + module.name()
                            + ": lines and local variables are not known. Install the package"
                            + " with it (Debian: linux-image-"
                            + MachineFacts.uname().release()
                            + "-dbg), or name the file of one built with it: -m FILE.ko");
        }
        if (known == null) {
            throw new ProbeException(
                    isKernel()
                            ? "there is no debugging information of this kernel: lines and local"
                                    + " variables are not known. Install the package with its"
                                    + " vmlinux (Debian: linux-image-"
                                    + MachineFacts.uname().release()
                                    + "-dbg), or name one: --vmlinux FILE"
                            : path + ": " + absence());
        }
        return known;
    }

    /** Why a program has no entries, and what was met on the way. */
    private String absence() {
        String cut = elf != null && elf.isCut() ? elf.cut() : "";
        StringBuilder why =
                new StringBuilder(
                        !cut.isEmpty()
                                ? cut + "; lines and variables are not known"
                                : "has no debugging information: lines and variables are not known."
                                        + " Build it with -g, install its debug package, or say"
                                        + " where it is: --symbols DIR");
        notes().forEach(note -> why.append("\n  ").append(note));
        return why.toString();
    }

    /** Why only the symbol table of a program is known. */
    String bareNames() {
        String cut = elf != null && elf.isCut() ? elf.cut() : "";
        StringBuilder why =
                new StringBuilder(
                        !cut.isEmpty()
                                ? "It " + cut + ", so that few names are known"
                                : "It has no debugging information, so that only the names of its"
                                        + " symbol table are known; --symbols DIR says where that"
                                        + " is");
        notes().forEach(note -> why.append("\n  ").append(note));
        return why.toString();
    }

    FunctionSearch functions() throws ProbeException {
        return new FunctionSearch(entries());
    }

    SourceScopes scopes() throws ProbeException {
        entries();
        return java.util.Objects.requireNonNull(scopes);
    }

    /** What an address sees; null for what is in no function. */
    @Nullable SourceScope scopes(long address) throws MalformedInputException {
        return scopes == null ? null : scopes.at(address).orElse(null);
    }

    FetchRegisters registers() {
        return registers;
    }

    int addressBytes() {
        return elf == null || elf.is64() ? 8 : 4;
    }

    NamedTypes types() {
        NamedTypes known = types;
        if (known != null) {
            return known;
        }
        KernelImage image = kernel;
        BtfSourceTypes btf = image == null ? null : image.types();
        return btf == null ? (_, _) -> Optional.empty() : btf;
    }

    LineRows lines(EntryUnit unit) throws MalformedInputException {
        LineRows known = lines.get(unit);
        if (known == null) {
            known = LineRows.of(unit);
            lines.put(unit, known);
        }
        return known;
    }

    /**
     * Where a function is written.
     *
     * @param file absolute where the compiler's folder is known; empty where it is not said
     * @param line 0 where it is not said
     */
    record Written(String file, int line) {}

    /** Where a function is written. */
    Written written(SourceFunction function) throws MalformedInputException {
        FunctionCopy first = function.copies().isEmpty() ? null : function.copies().getFirst();
        return first == null
                ? new Written(function.file(lines(function.unit())), function.line())
                : written(function.declared(), first.entry(), first.entryAddress());
    }

    /** As its declaration says, else (Go) as the row of the line table where its code begins. */
    Written written(DebugEntry declared, DebugEntry copy, long address)
            throws MalformedInputException {
        long line = declared.constant(DwarfAttribute.DECL_LINE, 0);
        String file =
                lines(declared.unit()).fileName(declared.constant(DwarfAttribute.DECL_FILE, -1));
        LineRows rows = lines(copy.unit());
        int row = line > 0 ? -1 : rows.rowAt(address);
        return row < 0
                ? new Written(file, (int) line)
                : new Written(rows.file(row), Math.min(rows.line(row), parameterLine(copy)));
    }

    /** The line of the first parameter; the greatest number where it is not said. */
    private static int parameterLine(DebugEntry function) throws MalformedInputException {
        for (DebugEntry child : function.children()) {
            long line = child.constant(DwarfAttribute.DECL_LINE, 0);
            if (child.tag() == DwarfTag.FORMAL_PARAMETER && line > 0) {
                return (int) line;
            }
        }
        return Integer.MAX_VALUE;
    }

    /** Whether a function was compiled by Go: its names have the package in front. */
    boolean isGo(String function) {
        return function.indexOf('.') > 0 && elf != null && elf.section(".go.buildinfo").isPresent();
    }

    @Override
    public void close() {
        debugFiles.close();
        if (kernel != null) {
            kernel.close();
        } else if (file != null) {
            file.close();
        }
    }
}
