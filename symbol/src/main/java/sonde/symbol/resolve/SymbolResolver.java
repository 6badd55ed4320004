package sonde.symbol.resolve;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.event.result.Frame;
import sonde.symbol.CodeModule;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ModuleImages;
import sonde.symbol.ProcessMaps;
import sonde.symbol.Symbolizer;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.line.CodePlaces;
import sonde.symbol.line.CodePlaces.FoundCode;
import sonde.symbol.line.KernelCode;

/**
 * Names locations of {@link ProcessMaps}: functions, and as far as they are wanted the inlined
 * calls and source lines there. Nothing is read before the first name is asked for. Not safe for
 * several threads, {@link #kernelSymbols} excepted.
 */
public final class SymbolResolver implements AutoCloseable {
    /** Places of code that are remembered. */
    private static final int MOST_KNOWN = 1 << 18;

    /** Most letters of the name of a variable. */
    private static final int MOST_LETTERS = 256;

    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private final ProcessMaps maps;
    private final NameDetail naming;
    private final Supplier<KernelRun> kernel;
    private final Symbolizer functions;
    private final CodePlaces places;
    private final ModuleImages images;
    private final Map<Long, FoundCode> found = new HashMap<>();
    private final Map<Long, List<Frame>> named = new HashMap<>();
    private @Nullable KernelRun run;
    private @Nullable KernelCode kernelCode;
    private @Nullable KernelSymbols kernelSymbols;

    /**
     * Nothing is read yet.
     *
     * @param maps what processes map; fed by the caller
     * @param kernel is asked when an address of the kernel is first named, after the records that
     *     say where it lies
     * @param perfMaps gives the text of {@code perf-PID.map} of a process, once; empty for none
     */
    public SymbolResolver(
            ProcessMaps maps,
            NameDetail naming,
            Supplier<KernelRun> kernel,
            IntFunction<byte[]> perfMaps) {
        this.maps = maps;
        this.naming = naming;
        this.kernel = kernel;
        functions =
                new Symbolizer(
                        maps, this::kernelSymbols, perfMaps, naming.from(), naming.aliases());
        images = new ModuleImages(naming.from());
        places = new CodePlaces(maps, naming.from(), naming.detail(), this::kernelCode);
    }

    /** What processes map. */
    public ProcessMaps maps() {
        return maps;
    }

    /** The function of a location. Never fails: without a name it is the place in its module. */
    public Frame function(long location) {
        return functions.frame(location);
    }

    /** The variable of a program or library at an address of a process; empty for none. */
    public String variable(int pid, long address) {
        long start = maps.codeBelow(pid, address);
        CodeModule module = start < 0 ? null : maps.module(maps.location(pid, start));
        if (module == null || module.kind() != CodeModule.Kind.FILE) {
            return "";
        }
        long offset = ProcessMaps.offset(maps.location(pid, start));
        try {
            return images.read(module, elf -> variable(elf, offset, address - start)).orElse("");
        } catch (InternalError e) {
            return ""; // the file shrank while it was mapped
        }
    }

    /**
     * What the code just before a location does to memory; empty when that is nothing, or unknown.
     */
    public Optional<MemoryAccess> accessBefore(long location) {
        CodeModule module = maps.module(location);
        if (module == null || module.kind() != CodeModule.Kind.FILE) {
            return Optional.empty();
        }
        long offset = ProcessMaps.offset(location);
        long distance = functions.offsetInFunction(location);
        try {
            return images.read(
                            module,
                            elf ->
                                    MemoryAccess.before(
                                            elf,
                                            offset,
                                            distance,
                                            (file, at) -> variable(file, at, true)))
                    .flatMap(found -> found);
        } catch (InternalError e) {
            return Optional.empty(); // the file shrank while it was mapped
        }
    }

    private static String variable(ElfFile elf, long offset, long distance)
            throws MalformedInputException {
        long code = elf.addressOf(offset);
        return code == -1 ? "" : variable(elf, code + distance, false);
    }

    private static String variable(ElfFile elf, long at, boolean within)
            throws MalformedInputException {
        boolean loaded =
                elf.segments().stream()
                        .filter(one -> one.type() == ElfFile.PT_LOAD)
                        .anyMatch(one ->
                                Long.compareUnsigned(at - one.address(), one.memoryBytes()) < 0);
        for (int type : new int[] {ElfFile.SHT_SYMTAB, ElfFile.SHT_DYNSYM}) {
            ElfSymbols symbols = loaded ? elf.symbols(type).orElse(null) : null;
            for (int i = 0; symbols != null && i < symbols.count(); i++) {
                if (symbols.type(i) == ElfSymbols.STT_OBJECT
                        && symbols.section(i) != ElfSymbols.SHN_UNDEF
                        && Long.compareUnsigned(at - symbols.value(i), symbols.size(i)) < 0) {
                    String name = Demangler.demangle(symbols.name(i));
                    String whole = CONTROL.matcher(name).replaceAll("?");
                    long offset = at - symbols.value(i);
                    return whole.substring(0, Math.min(whole.length(), MOST_LETTERS))
                            + (within && offset > 0 ? "+0x" + Long.toHexString(offset) : "");
                }
            }
        }
        return "";
    }

    /** The name of a location's function as its file states it, not demangled; null for none. */
    public @Nullable String plainName(long location) {
        return functions.plainName(location);
    }

    /** How far into its function a location lies; -1 when it has none. */
    public long offsetInFunction(long location) {
        return functions.offsetInFunction(location);
    }

    /** Looks places up that are not known yet, those of a file at once. */
    public void learn(long[] locations) {
        long[] unknown =
                LongStream.of(locations).filter(at -> !found.containsKey(at)).distinct().toArray();
        if (unknown.length == 0) {
            return;
        }
        if (found.size() > MOST_KNOWN) {
            found.clear();
        }
        for (long location : unknown) {
            found.put(location, FoundCode.UNKNOWN);
        }
        found.putAll(places(unknown));
    }

    /** The inlined calls and the line of a location, looked up unless that was done before. */
    public FoundCode place(long location) {
        learn(new long[] {location});
        return found.getOrDefault(location, FoundCode.UNKNOWN);
    }

    /** As {@link #place}, of many locations; has those of which more than the function is known. */
    public Map<Long, FoundCode> places(long[] locations) {
        if (!naming.detail().isWanted()) {
            return Map.of();
        }
        Map<Long, FoundCode> all = new HashMap<>(places.of(locations));
        for (long location : locations) {
            CodeModule module = maps.module(location);
            if (module != null && module.kind() == CodeModule.Kind.RUN_TIME) {
                all.put(location, runTime(location));
            }
        }
        return all;
    }

    /** The calls inlined at a location, innermost first, then the function, with their lines. */
    public List<Frame> frames(long location) {
        List<Frame> known = named.get(location);
        if (known == null) {
            FoundCode place = place(location);
            List<Frame> all = new ArrayList<>(place.inlined());
            Frame function = function(location);
            boolean lines = naming.detail().lines() && !place.file().isEmpty();
            all.add(lines ? function.at(place.file(), place.line()) : function);
            known = List.copyOf(all);
            if (named.size() >= MOST_KNOWN) {
                named.clear();
            }
            named.put(location, known);
        }
        return known;
    }

    private FoundCode runTime(long location) {
        List<Frame> frames = functions.runTime(location);
        Frame function = frames.getLast();
        boolean lines = naming.detail().lines();
        List<Frame> inlined =
                frames.subList(0, naming.detail().inlines() ? frames.size() - 1 : 0).stream()
                        .map(frame -> lines ? frame : frame.at("", 0))
                        .toList();
        return lines
                ? new FoundCode(inlined, function.file(), function.line())
                : new FoundCode(inlined, "", 0);
    }

    /** The kernel that ran. */
    public synchronized KernelRun kernel() {
        KernelRun known = run;
        if (known == null) {
            known = kernel.get();
            run = known;
        }
        return known;
    }

    private synchronized KernelCode kernelCode() {
        KernelCode known = kernelCode;
        if (known == null) {
            known = new KernelCode(kernel(), naming.from(), naming.vmlinux());
            kernelCode = known;
        }
        return known;
    }

    /** The functions of the kernel that ran; any thread may ask. */
    public synchronized KernelSymbols kernelSymbols() {
        KernelSymbols known = kernelSymbols;
        if (known == null) {
            known = kernelCode().symbols(maps.kernel().starts());
            kernelSymbols = known;
        }
        return known;
    }

    /**
     * Asks for the kernel again, now that all records have come which say where it lies.
     *
     * @param locations that are going to be named: only their parts of the kernel are read
     */
    public synchronized void settleKernel(long[] locations) {
        run = null;
        kernelCode = null;
        kernelSymbols = kernelCode().symbols(locations);
    }

    /** Takes the text of {@code perf-PID.map} in place of what was there: the file only grows. */
    public void perfMap(int pid, byte[] text) {
        functions.perfMap(pid, text);
    }

    /** Why modules have no names, a line each. */
    public List<String> notes() {
        return functions.notes();
    }

    /** Why files have no lines, a line each. */
    public List<String> lineNotes() {
        return places.notes();
    }

    /** Closes the files; what was not asked for yet opens them again. */
    @Override
    public void close() {
        places.close();
    }
}
