package sonde.symbol.line;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import sonde.binary.AddressOrder;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.code.CodeReader;
import sonde.binary.dwarf.code.DwarfCode;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.dwarf.location.FrameRules;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceScopes;
import sonde.binary.dwarf.location.SourceVariable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfRelocation;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSymbols;
import sonde.symbol.FunctionTable;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.RequiredContent;
import sonde.symbol.line.TableCache.CachedTables;
import sonde.sys.TargetFile;

/**
 * From an address of one file to functions, inlined calls and lines. Not safe for several threads;
 * it uses several itself.
 */
public final class SourceSymbols implements AutoCloseable {
    /** Addresses that are looked up at once; more are taken in parts. */
    private static final int PART = 1 << 18;

    private static final int MOST_THREADS = 8;

    /** So many addresses, in one of so many units, make tables of the whole file. */
    private static final int MANY = 256;

    private static final int SHARE = 8;

    /** Symbols of one name. */
    private static final int MOST_SAME = 64;

    /** Behind the last function of a module the kernel fills a page. */
    private static final int LAST_PADDING = 4096;

    private final OpenElf binary;
    private final OpenDebug debug;
    private final ElfFile elf;
    private final DwarfCode code;
    private final CodeReader reader;
    private final int threads;
    private final boolean cached;
    private boolean cacheAsked;
    private @Nullable TargetFile cacheFile;
    private @Nullable LineTables tables;
    private @Nullable FunctionTable functions;
    private @Nullable ElfSymbols table;
    private ElfFile tableOf;
    private @Nullable Map<String, List<Integer>> names;
    private @Nullable SourceScopes scopes;
    private @Nullable DwarfSourceTypes types;
    private @Nullable WrittenNames written;
    private final Set<String> linked = new HashSet<>();

    private SourceSymbols(OpenElf binary, OpenDebug debug, boolean cached) throws IOException {
        this.binary = binary;
        this.debug = debug;
        elf = binary.elf();
        tableOf = elf;
        code = DwarfCode.of(debug.elf(), debug);
        reader = code.reader();
        this.cached = cached;
        threads = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MOST_THREADS);
    }

    /**
     * Opens a program, library, kernel or module, and the separate file with its debugging
     * information where it has none itself.
     *
     * @throws MalformedInputException when it is not an ELF file
     * @throws IOException when it cannot be read
     */
    public static SourceSymbols open(Path file, SourceOptions options) throws IOException {
        return open(FilePlace.named(file.toString()), options);
    }

    /** As {@link #open(Path, SourceOptions)}, of a place that a traced process may have named. */
    public static SourceSymbols open(FilePlace place, SourceOptions options) throws IOException {
        DebugSearch search = new DebugSearch(options.folders());
        OpenElf binary = OpenElf.asIs(place);
        OpenDebug debug = null;
        try {
            debug = OpenDebug.of(search, place, binary.elf(), RequiredContent.DEBUG_INFORMATION);
            return new SourceSymbols(binary, debug, options.cache());
        } catch (IOException | RuntimeException | InternalError e) {
            // InternalError: the file shrank while it was mapped
            if (debug != null) {
                debug.close();
            }
            binary.close();
            throw e;
        }
    }

    /** Where debugging information was found, or which places were tried. */
    public DebugFile debugFile() {
        return debug.found();
    }

    /** Whether there is debugging information, so that lines can be told. */
    public boolean hasLines() {
        return !code.isEmpty();
    }

    /** Where the file lies, as we see it. */
    String path() {
        return binary.place().shown();
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
        int[] places = new int[elfAddresses.length];
        long[] sorted = distinct(elfAddresses, places);
        List<SourceFrame>[] answers;
        try {
            answers = answers(sorted);
            for (int i = 0; i < sorted.length; i++) {
                answers[i] = named(sorted[i], answers[i]);
            }
        } catch (InternalError e) {
            throw MalformedInputException.shrunk(e);
        }
        for (int place : places) {
            into.add(answers[place]);
        }
    }

    /** Ascending as signed numbers, each once; {@code places} gets where each address went. */
    private static long[] distinct(long[] addresses, int[] places) {
        long[] keys = new long[addresses.length];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = addresses[i] ^ Long.MIN_VALUE;
        }
        long[] sorted = new long[keys.length];
        int count = 0;
        for (int i : AddressOrder.of(keys, keys.length)) {
            if (count == 0 || sorted[count - 1] != addresses[i]) {
                sorted[count++] = addresses[i];
            }
            places[i] = count - 1;
        }
        return Arrays.copyOf(sorted, count);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private List<SourceFrame>[] answers(long[] sorted) throws MalformedInputException {
        LineTables all = tables(sorted);
        if (all == null) {
            return new BatchLookup(code, reader, threads, sorted).run();
        }
        all.expect(sorted.length);
        List<SourceFrame>[] answers = new List[sorted.length];
        for (int i = 0; i < sorted.length; i++) {
            answers[i] = isCode(sorted[i]) ? all.frames(sorted[i]) : List.of();
        }
        return answers;
    }

    /** Tables of the whole file where they were made before, or are worth making. */
    private @Nullable LineTables tables(long[] sorted) throws MalformedInputException {
        String id = elf.buildId().map(HexFormat.of()::formatHex).orElse("");
        if (tables != null || !cached || id.isEmpty() || code.isEmpty()) {
            return tables;
        }
        TableCache cache = TableCache.ofUser();
        if (cache == null) {
            return null;
        }
        if (hasTables()) {
            return tables;
        }
        if (isMuch(sorted)) {
            LineTables made = build();
            if (made != null && code.missingSplits() == 0) {
                cache.keep(id, made);
            }
            tables = made;
        }
        return tables;
    }

    /** Whether tables of the whole file are there, made before or from the cache. */
    boolean hasTables() throws MalformedInputException {
        String id = elf.buildId().map(HexFormat.of()::formatHex).orElse("");
        TableCache cache = cached && !cacheAsked && !id.isEmpty() ? TableCache.ofUser() : null;
        cacheAsked = true;
        if (tables == null && cache != null) {
            CachedTables kept = cache.find(id, code.fingerprint());
            if (kept != null) {
                cacheFile = kept.file();
                tables = kept.tables();
            }
        }
        return tables != null;
    }

    /** How large the file with the debugging information is. */
    long debugBytes() {
        return debug.elf().sizeBytes();
    }

    /** Answers from tables of the whole file from now on, which no cache keeps. */
    void makeTables() throws MalformedInputException {
        tables = build();
    }

    @Nullable LineTables build() throws MalformedInputException {
        long base = code.layout().lowest();
        return LineTableBuilder.build(code, reader, threads, base, code.fingerprint());
    }

    /** Whether so many units are to be read that all of them cost little more. */
    private boolean isMuch(long[] sorted) {
        if (sorted.length < MANY) {
            return false;
        }
        BitSet touched = new BitSet();
        for (long address : sorted) {
            int unit = code.statedUnit(address);
            if (unit >= 0) {
                touched.set(unit);
            }
        }
        int units = 0;
        for (int i = 0; i < code.unitCount(); i++) {
            units += code.mayHaveCode(i) ? 1 : 0;
        }
        return SHARE * touched.cardinality() >= units;
    }

    /** Takes the name of the function from the symbol table where DWARF has none. */
    private List<SourceFrame> named(long address, List<SourceFrame> frames)
            throws MalformedInputException {
        if (!frames.isEmpty()) {
            String function = frames.getLast().function();
            if (linked.contains(function) || isLinked(function)) {
                linked.add(function);
                return withMangled(address, frames);
            }
        }
        String name = functionAt(address);
        if (frames.isEmpty()) {
            return List.of(
                    name.isEmpty() ? SourceFrame.UNKNOWN : new SourceFrame(name, "", 0, 0, false));
        }
        if (name.isEmpty()) {
            return frames;
        }
        return withLast(frames, name);
    }

    private static List<SourceFrame> withLast(List<SourceFrame> frames, String name) {
        List<SourceFrame> changed = new ArrayList<>(frames);
        changed.set(frames.size() - 1, frames.getLast().withFunction(name));
        return changed;
    }

    /**
     * Compilers leave the name of linking out where nothing links to it: static functions, unnamed
     * name spaces, local classes. That of the symbol table has the length and the name in it
     * (Itanium C++ ABI §5.1.2).
     */
    private List<SourceFrame> withMangled(long address, List<SourceFrame> frames) {
        String function = frames.getLast().function();
        if (function.startsWith("_Z") || function.startsWith("_R")) {
            return frames;
        }
        try {
            FunctionTable all = functions();
            int symbol = all == null ? -1 : all.find(address);
            if (all == null || symbol < 0 || !all.isMangled(symbol)) {
                return frames;
            }
            String name = all.name(symbol);
            return name.contains(function.length() + function) ? withLast(frames, name) : frames;
        } catch (MalformedInputException e) {
            return frames; // the symbol table alone is damaged
        }
    }

    /** Whether a linker could have the name: local classes and lambdas have only written ones. */
    private static boolean isLinked(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean usual = c >= 'a' && c <= 'z' || c == '_' || c >= '0' && c <= '9';
            if (!usual && !Character.isLetterOrDigit(c) && ".$@".indexOf(c) < 0) {
                return false;
            }
        }
        return !name.isEmpty();
    }

    /** The function of the symbol table that holds an address; empty for none. */
    public String functionAt(long elfAddress) throws MalformedInputException {
        FunctionTable all = functions();
        int symbol = all == null ? -1 : all.find(elfAddress);
        return all == null || symbol < 0 ? "" : all.name(symbol);
    }

    private static final int R_X86_64_PC32 = 2;

    private @Nullable FunctionTable functions() throws MalformedInputException {
        if (functions == null) {
            Optional<ElfSymbols> symbols = symbols();
            if (symbols.isPresent()) {
                boolean loose = tableOf.type() == ElfFile.ET_REL;
                functions =
                        loose
                                ? FunctionTable.of(tableOf, symbols.get(), code.layout()::base)
                                : FunctionTable.of(tableOf, symbols.get());
            }
        }
        return functions;
    }

    private Optional<ElfSymbols> symbols() throws MalformedInputException {
        if (table == null) {
            table = elf.symbols(ElfFile.SHT_SYMTAB).orElse(null);
            if (table == null && debug.separate().isPresent()) {
                tableOf = debug.elf();
                table = tableOf.symbols(ElfFile.SHT_SYMTAB).orElse(null);
            }
            if (table == null) {
                tableOf = elf;
                table = dynamic().orElse(null);
            }
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

    /** Takes a symbol of code. */
    interface EachFunction {
        void function(long elfAddress, boolean isGlobal, String name);
    }

    /** All names of code in the symbol table, also those that mark a place in it. */
    void forEachFunction(EachFunction each) throws MalformedInputException {
        Optional<ElfSymbols> found = symbols();
        if (found.isEmpty()) {
            return;
        }
        ElfSymbols all = found.get();
        List<ElfSection> sections = tableOf.sections();
        for (int i = 1; i < all.count(); i++) {
            int section = all.section(i);
            boolean isCode =
                    section > 0
                            && section < sections.size()
                            && sections.get(section).isExecutable()
                            && (all.type(i) == ElfSymbols.STT_NOTYPE
                                    || all.type(i) == ElfSymbols.STT_FUNC);
            if (isCode && isLinked(all.name(i))) {
                boolean loose = tableOf.type() == ElfFile.ET_REL;
                long base = loose ? code.layout().base(section) : 0;
                each.function(
                        base + all.value(i), all.binding(i) == ElfSymbols.STB_GLOBAL, all.name(i));
            }
        }
    }

    /**
     * The functions and blocks around an address, with the places of their variables there; empty
     * without debugging information of it.
     *
     * @param elfAddress as stated in the ELF
     */
    public Optional<SourceScope> scope(long elfAddress) throws IOException {
        SourceScopes known = scopes;
        if (known == null) {
            DebugEntries entries = debug.entries(_ -> {});
            known = new SourceScopes(entries, FrameRules.NONE);
            types = new DwarfSourceTypes(entries);
            scopes = known;
        }
        return known.at(linked(elfAddress));
    }

    /** The address in {@link ElfFile#linked}, which lays out relocatable files in its own way. */
    private long linked(long elfAddress) {
        ElfFile file = debug.elf();
        for (ElfSection section : file.sections()) {
            long offset = elfAddress - code.layout().base(section.index());
            boolean isIn = section.isExecutable() && offset >= 0 && offset < section.sizeBytes();
            if (file.type() == ElfFile.ET_REL && isIn) {
                return file.linked().sections().get(section.index()).address() + offset;
            }
        }
        return elfAddress;
    }

    /** The type of a variable of such a scope. */
    public SourceType type(SourceVariable variable) {
        DwarfSourceTypes known = types;
        return known == null ? SourceType.Opaque.UNKNOWN : known.type(variable.type());
    }

    /** Where a section begins, for addresses that count from there; empty when there is none. */
    public OptionalLong sectionStart(String name) {
        Optional<ElfSection> section = debug.elf().section(name);
        return section.isPresent()
                ? OptionalLong.of(code.layout().base(section.get().index()))
                : OptionalLong.empty();
    }

    /** Addresses of the functions and variables of a symbol's name, ascending. */
    public long[] addresses(String name) throws MalformedInputException {
        return addresses(name, -1, 0);
    }

    /**
     * Addresses of the functions and variables of a name. It is that of the symbol, or as {@code
     * sonde probe funcs} shows it: demangled, with name spaces or not, with parameters or not. A
     * function that was inlined everywhere is where its copies begin.
     */
    public long[] named(String name) throws IOException {
        long[] found = addresses(name);
        if (found.length > 0 || name.isEmpty()) {
            return found;
        }
        WrittenNames known = written;
        if (known == null) {
            known = new WrittenNames(List.copyOf(names == null ? Set.of() : names.keySet()), debug);
            written = known;
        }
        LongStream.Builder all = LongStream.builder();
        for (String symbol : known.symbols(name)) {
            LongStream.of(addresses(symbol)).forEach(all);
        }
        found = all.build().sorted().distinct().toArray();
        if (found.length > 0 || code.isEmpty() || elf.type() == ElfFile.ET_REL) {
            return found;
        }
        return LongStream.of(known.addresses(name)).filter(this::isCode).toArray();
    }

    /**
     * A variable of the symbol table.
     *
     * @param offset in it
     */
    public record DataPlace(String name, long offset) {}

    /**
     * The variable whose address an instruction of x86-64 has in its bytes; null for none.
     *
     * @param target what the bytes say; the relocation counts in a file that is not linked
     */
    public @Nullable DataPlace data(long instruction, int length, long target)
            throws MalformedInputException {
        ElfSymbols all = symbols().orElse(null);
        if (all == null || tableOf != elf) {
            return null;
        }
        int section = ElfSymbols.SHN_UNDEF;
        long at = target;
        if (elf.type() == ElfFile.ET_REL) {
            for (ElfSection table : elf.sections()) {
                boolean isRelocations =
                        table.type() == ElfFile.SHT_RELA
                                && table.info() > 0
                                && table.info() < elf.sections().size();
                ElfSection of = isRelocations ? elf.sections().get(table.info()) : table;
                long from = instruction - code.layout().base(of.index());
                boolean isIn =
                        isRelocations && of.isExecutable() && from >= 0 && from < of.sizeBytes();
                for (ElfRelocation one : isIn ? elf.relocations(table) : List.<ElfRelocation>of()) {
                    long behind = from + length - one.offset();
                    if (behind > 0 && behind <= length && one.symbol() < all.count()) {
                        boolean isRelative = one.type() == R_X86_64_PC32;
                        section = all.section(one.symbol());
                        at = all.value(one.symbol()) + one.addend() + (isRelative ? behind : 0);
                    }
                }
            }
            if (section == ElfSymbols.SHN_UNDEF) {
                return null;
            }
        }
        for (int i = 1; i < all.count(); i++) {
            long offset = at - all.value(i);
            if (all.type(i) == ElfSymbols.STT_OBJECT
                    && offset >= 0
                    && offset < all.size(i)
                    && (section == ElfSymbols.SHN_UNDEF || section == all.section(i))) {
                return new DataPlace(all.name(i), offset);
            }
        }
        return null;
    }

    /** Whether an address lies in a section with code. */
    public boolean isCode(long elfAddress) {
        return code.layout().isCode(elfAddress);
    }

    /**
     * Addresses of the functions of a name that have a size, ascending: names of local functions
     * are often used more than once.
     *
     * @param sizeBytes as the kernel prints it, up to the next function; negative for any
     * @param padding bytes that may lie between two functions
     */
    public long[] addresses(String name, long sizeBytes, int padding)
            throws MalformedInputException {
        Optional<ElfSymbols> found = symbols();
        if (found.isEmpty()) {
            return new long[0];
        }
        ElfSymbols symbols = found.get();
        LongStream.Builder all = LongStream.builder();
        for (int i : byName(symbols).getOrDefault(withoutVersion(name), List.of())) {
            long rest = sizeBytes - symbols.size(i);
            boolean fits =
                    sizeBytes < 0
                            || symbols.size(i) == 0
                            || rest >= 0 && rest < (isLast(symbols, i) ? LAST_PADDING : padding);
            if (fits) {
                boolean loose = elf.type() == ElfFile.ET_REL;
                long base = loose ? code.layout().base(symbols.section(i)) : 0;
                all.add(base + symbols.value(i) - (isThumb(symbols, i) ? 1 : 0));
            }
        }
        return all.build().sorted().distinct().toArray();
    }

    /** Whether it is of a module and nothing follows it in its section. */
    private boolean isLast(ElfSymbols symbols, int symbol) {
        if (elf.type() != ElfFile.ET_REL) {
            return false;
        }
        for (int i = 1; i < symbols.count(); i++) {
            boolean after =
                    symbols.section(i) == symbols.section(symbol)
                            && symbols.type(i) == ElfSymbols.STT_FUNC
                            && Long.compareUnsigned(symbols.value(i), symbols.value(symbol)) > 0;
            if (after) {
                return false;
            }
        }
        return true;
    }

    /** A function in the shorter instructions of Arm (ELF for the Arm Architecture, 5.5.3). */
    private boolean isThumb(ElfSymbols symbols, int symbol) {
        return elf.machine() == ElfFile.EM_ARM
                && symbols.type(symbol) == ElfSymbols.STT_FUNC
                && (symbols.value(symbol) & 1) != 0;
    }

    /** Linkers write {@code NAME@@VERSION} into {@code .symtab}, the name alone for callers. */
    private static String withoutVersion(String name) {
        int version = name.indexOf('@');
        return version > 0 ? name.substring(0, version) : name;
    }

    private Map<String, List<Integer>> byName(ElfSymbols symbols) {
        Map<String, List<Integer>> known = names;
        if (known == null) {
            known = new HashMap<>();
            for (int i = 1; i < symbols.count(); i++) {
                if (symbols.section(i) != ElfSymbols.SHN_UNDEF) {
                    String name = withoutVersion(symbols.name(i));
                    List<Integer> one = known.get(name);
                    if (one == null) {
                        known.put(name, List.of(i));
                    } else {
                        List<Integer> more = new ArrayList<>(one);
                        more.add(i);
                        known.put(name, more.size() < MOST_SAME ? more : one);
                    }
                }
            }
            names = known;
        }
        return known;
    }

    @Override
    public void close() {
        if (cacheFile != null) {
            cacheFile.close();
        }
        debug.close();
        binary.close();
    }
}
