package sonde.symbol.line;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.code.CodeReader;
import sonde.format.dwarf.code.DwarfCode;
import sonde.format.elf.ElfFile;
import sonde.format.elf.ElfSymbols;
import sonde.format.elf.Section;
import sonde.symbol.FunctionTable;
import sonde.sys.TargetFile;

/**
 * From an address of one file to functions, inlined calls and lines. Not safe for several threads;
 * it uses several itself.
 */
public final class SourceSymbols implements AutoCloseable {
    private static final long MOST_BYTES = 64L << 30;

    /** Addresses that are looked up at once; more are taken in parts. */
    private static final int PART = 1 << 18;

    private static final int MOST_THREADS = 8;

    private final TargetFile target;
    private final ElfFile elf;
    private final DebugCompanions companions;
    private final DwarfCode code;
    private final CodeReader reader;
    private final int threads;
    private @Nullable FunctionTable functions;
    private @Nullable ElfSymbols table;

    private SourceSymbols(
            TargetFile target, ElfFile elf, DebugCompanions companions, DwarfCode code) {
        this.target = target;
        this.elf = elf;
        this.companions = companions;
        this.code = code;
        reader = code.reader();
        threads = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MOST_THREADS);
    }

    /**
     * Opens a program, library, kernel or module.
     *
     * @throws MalformedInputException when it is no ELF file
     * @throws IOException when it cannot be read
     */
    public static SourceSymbols open(Path file, SourceOptions options) throws IOException {
        TargetFile target = TargetFile.openTrusted(file.toString(), MOST_BYTES);
        DebugCompanions companions = new DebugCompanions(file, options.debugFolders());
        try {
            ElfFile elf = ElfFile.of(target);
            return new SourceSymbols(target, elf, companions, DwarfCode.of(elf, companions));
        } catch (IOException | RuntimeException e) {
            companions.close();
            target.close();
            throw e;
        }
    }

    /** Whether there is debugging information, so that lines can be told. */
    public boolean hasLines() {
        return !code.isEmpty();
    }

    /** The file itself. */
    public ElfFile elf() {
        return elf;
    }

    /**
     * What is at an address, innermost first; never empty.
     *
     * @param elfAddress as stated in the ELF; the one of a call, not the one it returns to
     */
    public List<SourceFrame> lookup(long elfAddress) throws IOException {
        return lookup(new long[] {elfAddress}).getFirst();
    }

    /** As {@link #lookup(long)} for many addresses in any order, which is much faster. */
    public List<List<SourceFrame>> lookup(long[] elfAddresses) throws IOException {
        List<List<SourceFrame>> all = new ArrayList<>(elfAddresses.length);
        for (int from = 0; from < elfAddresses.length; from += PART) {
            int to = Math.min(elfAddresses.length, from + PART);
            part(Arrays.copyOfRange(elfAddresses, from, to), all);
        }
        return all;
    }

    private void part(long[] elfAddresses, List<List<SourceFrame>> into) throws IOException {
        long[] sorted = Arrays.stream(elfAddresses).sorted().distinct().toArray();
        List<SourceFrame>[] answers;
        try {
            answers = new BatchLookup(code, reader, threads, sorted).run();
            for (int i = 0; i < sorted.length; i++) {
                answers[i] = named(sorted[i], answers[i]);
            }
        } catch (InternalError e) {
            throw MalformedInputException.shrunk(e);
        }
        for (long address : elfAddresses) {
            into.add(answers[Arrays.binarySearch(sorted, address)]);
        }
    }

    /** Takes the name of the function from the symbol table where DWARF has none. */
    private List<SourceFrame> named(long address, List<SourceFrame> frames)
            throws MalformedInputException {
        boolean nameless = frames.isEmpty() || frames.getLast().function().isEmpty();
        if (!nameless) {
            return frames;
        }
        String name = functionAt(address);
        if (frames.isEmpty()) {
            return List.of(
                    name.isEmpty() ? SourceFrame.UNKNOWN : new SourceFrame(name, "", 0, 0, false));
        }
        List<SourceFrame> changed = new ArrayList<>(frames);
        changed.set(frames.size() - 1, frames.getLast().withFunction(name));
        return changed;
    }

    /** The function of the symbol table that holds an address; empty for none. */
    public String functionAt(long elfAddress) throws MalformedInputException {
        FunctionTable all = functions();
        int symbol = all == null ? -1 : all.find(elfAddress);
        return all == null || symbol < 0 ? "" : all.name(symbol);
    }

    private @Nullable FunctionTable functions() throws MalformedInputException {
        if (functions == null) {
            Optional<ElfSymbols> symbols = symbols();
            if (symbols.isPresent()) {
                functions = FunctionTable.of(elf, symbols.get());
            }
        }
        return functions;
    }

    private Optional<ElfSymbols> symbols() throws MalformedInputException {
        if (table == null) {
            table = elf.symbols(ElfFile.SHT_SYMTAB).or(() -> dynamic()).orElse(null);
        }
        return Optional.ofNullable(table);
    }

    private Optional<ElfSymbols> dynamic() {
        try {
            return elf.symbols(ElfFile.SHT_DYNSYM);
        } catch (MalformedInputException e) {
            return Optional.empty();
        }
    }

    /** Where a section begins, for addresses that count from there; empty when there is none. */
    public OptionalLong sectionStart(String name) {
        Optional<Section> section = elf.section(name);
        return section.isPresent()
                ? OptionalLong.of(code.layout().base(section.get().index()))
                : OptionalLong.empty();
    }

    /**
     * Addresses of the functions or variables of a name.
     *
     * @param sizeBytes theirs, where several have the name; negative when not known
     */
    public long[] addresses(String name, long sizeBytes) throws MalformedInputException {
        Optional<ElfSymbols> found = symbols();
        if (found.isEmpty()) {
            return new long[0];
        }
        ElfSymbols symbols = found.get();
        List<Long> fitting = new ArrayList<>();
        List<Long> all = new ArrayList<>();
        for (int i = 1; i < symbols.count(); i++) {
            if (symbols.section(i) != ElfSymbols.SHN_UNDEF && symbols.name(i).equals(name)) {
                long base =
                        elf.type() == ElfFile.ET_REL ? code.layout().base(symbols.section(i)) : 0;
                all.add(base + symbols.value(i));
                if (symbols.size(i) == sizeBytes) {
                    fitting.add(base + symbols.value(i));
                }
            }
        }
        List<Long> chosen = fitting.isEmpty() ? all : fitting;
        return chosen.stream().mapToLong(a -> a).sorted().distinct().toArray();
    }

    @Override
    public void close() {
        companions.close();
        target.close();
    }
}
