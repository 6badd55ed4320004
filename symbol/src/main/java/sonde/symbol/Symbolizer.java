package sonde.symbol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.event.result.Frame;
import sonde.symbol.files.DebugFileRequest;

/**
 * Names locations. Files are opened when the first location in them is asked for and closed again
 * at once. Not thread-safe.
 *
 * <p>A location without a name becomes {@code [module+0xoffset]}, offset being the address as
 * stated in the ELF or, where the file could not be read, the offset in the file; {@link #notes}
 * says why.
 */
public final class Symbolizer {
    /** The page of old entry points at the top of memory, and their offsets in it (x86-64). */
    private static final long VSYSCALL = 0xffffffffff600000L;

    private static final String[] VSYSCALLS = {"gettimeofday", "time", "getcpu"};

    private final ProcessMaps maps;
    private final Supplier<KernelSymbols> kernel;
    private final IntFunction<byte[]> perfMaps;
    private final SymbolOptions options;
    private final ModuleFiles files;
    private final FunctionTable.Aliases aliases;
    private final Map<Integer, ModuleSymbols> modules = new HashMap<>();
    private final Map<Integer, PerfMap> jit = new HashMap<>();
    private @Nullable RuntimeFrames runTimes;
    private final Map<Integer, Frame> kernelFrames = new HashMap<>();
    private KernelSymbols kernelSeen = KernelSymbols.none();

    /**
     * Nothing is opened yet.
     *
     * @param kernel its functions, asked for each name
     * @param perfMaps gives the text of {@code perf-PID.map} when code of a process is first named
     *     and none was given, and {@link RuntimeFrames#FILE} for {@link RuntimeFrames#ALL}; empty
     *     for none
     * @param aliases the choice among names of one address
     */
    public Symbolizer(
            ProcessMaps maps,
            Supplier<KernelSymbols> kernel,
            IntFunction<byte[]> perfMaps,
            SymbolOptions options,
            FunctionTable.Aliases aliases) {
        this.maps = maps;
        this.kernel = kernel;
        this.perfMaps = perfMaps;
        this.options = options;
        this.files = new ModuleFiles(options, aliases);
        this.aliases = aliases;
    }

    /** Takes the text of {@code perf-PID.map} in place of what was there. */
    public void perfMap(int pid, byte[] text) {
        jit.put(pid, PerfMap.parse(text));
    }

    private PerfMap compiled(int pid) {
        return jit.computeIfAbsent(pid, any -> PerfMap.parse(perfMaps.apply(pid)));
    }

    /** The frame of a location of {@link ProcessMaps#location}. Never fails. */
    public Frame frame(long location) {
        CodeModule module = maps.module(location);
        if (module == null) {
            return kernelFrame(location);
        }
        long offset = ProcessMaps.offset(location);
        return switch (module.kind()) {
            case FILE, VDSO -> symbols(module).frame(offset);
            case ANONYMOUS, UNMAPPED -> jitFrame(module, module.base() + offset);
            case KERNEL_SYMBOL -> kernelSymbol(module);
            case RUN_TIME -> runTimes().function(module.base() + offset);
        };
    }

    /** The frames of a location of run times: inlined calls, then the function, with lines. */
    public List<Frame> runTime(long location) {
        CodeModule module = maps.module(location);
        return runTimes().of((module == null ? 0 : module.base()) + ProcessMaps.offset(location));
    }

    private RuntimeFrames runTimes() {
        RuntimeFrames read = runTimes;
        if (read == null) {
            read = RuntimeFrames.parse(perfMaps.apply(RuntimeFrames.ALL));
            runTimes = read;
        }
        return read;
    }

    /** The name of a location's function as its file states it, not demangled; null for none. */
    public @Nullable String plainName(long location) {
        CodeModule module = maps.module(location);
        return module != null
                        && (module.kind() == CodeModule.Kind.FILE
                                || module.kind() == CodeModule.Kind.VDSO)
                ? symbols(module).plainName(ProcessMaps.offset(location))
                : null;
    }

    /** How far into its function a location lies; -1 when it has none. */
    public long offsetInFunction(long location) {
        CodeModule module = maps.module(location);
        if (module == null) {
            int symbol = kernel.get().find(location);
            return symbol < 0 ? -1 : location - kernel.get().address(symbol);
        }
        long offset = ProcessMaps.offset(location);
        return switch (module.kind()) {
            case FILE, VDSO -> symbols(module).offsetInFunction(offset);
            case KERNEL_SYMBOL -> offset;
            case RUN_TIME -> 0;
            case ANONYMOUS, UNMAPPED -> {
                long address = module.base() + offset;
                PerfMap map = compiled(module.pid());
                yield map.find(address) < 0 ? -1 : address - map.start(address);
            }
        };
    }

    /** Why modules have no names, a line each. */
    public List<String> notes() {
        List<String> all = new ArrayList<>(files.notes());
        if (kernel.get().isRestricted()) {
            all.add(
                    "kernel addresses are hidden: sysctl kernel.kptr_restrict or missing"
                            + " CAP_SYSLOG when recording");
        }
        return Collections.unmodifiableList(all);
    }

    private Frame kernelFrame(long address) {
        int vsyscall = (int) (address - VSYSCALL >>> 10);
        if (Long.compareUnsigned(address - VSYSCALL, 4096) < 0) {
            String name = vsyscall < VSYSCALLS.length ? VSYSCALLS[vsyscall] : "[vsyscall]";
            return new Frame(name, "[vsyscall]", Frame.Kind.USER);
        }
        KernelSymbols symbols = kernel.get();
        if (symbols != kernelSeen) {
            kernelFrames.clear();
            kernelSeen = symbols;
        }
        int symbol = symbols.find(address);
        if (symbol < 0) {
            String name = ModuleSymbols.place("[kernel]", address);
            return new Frame(name, "[kernel]", Frame.Kind.KERNEL);
        }
        return kernelFrames.computeIfAbsent(
                symbol,
                s ->
                        new Frame(
                                ModuleSymbols.printable(symbols.name(s)),
                                ModuleSymbols.printable(symbols.module(s)),
                                Frame.Kind.KERNEL));
    }

    private static Frame kernelSymbol(CodeModule module) {
        String name = ModuleSymbols.printable(module.mapping().path());
        String owner = name.startsWith("bpf_") ? "[bpf]" : "[kernel]";
        return new Frame(name, owner, Frame.Kind.KERNEL);
    }

    private Frame jitFrame(CodeModule module, long address) {
        PerfMap map = compiled(module.pid());
        int line = map.find(address);
        if (line >= 0) {
            String name = ModuleSymbols.printable(map.name(line));
            return new Frame(name, "[jit]", Frame.Kind.JIT);
        }
        return switch (module.kind()) {
            case ANONYMOUS ->
                    new Frame(ModuleSymbols.place("[anon]", address), "[anon]", Frame.Kind.USER);
            default ->
                    new Frame(
                            ModuleSymbols.place("[unknown]", address),
                            "[unknown]",
                            Frame.Kind.USER);
        };
    }

    private ModuleSymbols symbols(CodeModule module) {
        ModuleSymbols symbols = modules.get(module.index());
        if (symbols == null) {
            symbols =
                    module.kind() == CodeModule.Kind.VDSO
                            ? vdsoSymbols(module)
                            : files.load(module);
            modules.put(module.index(), symbols);
        }
        return symbols;
    }

    private ModuleSymbols vdsoSymbols(CodeModule module) {
        byte @Nullable [] image = options.sameMachine() ? Vdso.ofThisProcess().orElse(null) : null;
        if (image == null) {
            return ModuleSymbols.unknown("[vdso]");
        }
        try {
            ElfFile elf = ElfFile.of(image);
            byte[] wanted = module.mapping().buildId();
            byte[] found = elf.buildId().orElse(new byte[0]);
            boolean fits = wanted.length == 0 || DebugFileRequest.isSame(wanted, found);
            Optional<FunctionTable> functions =
                    ModuleSymbols.functions(elf, ElfFile.SHT_DYNSYM, aliases);
            return fits && functions.isPresent()
                    ? ModuleSymbols.of("[vdso]", elf, functions.get())
                    : ModuleSymbols.unknown("[vdso]");
        } catch (MalformedInputException e) {
            return ModuleSymbols.unknown("[vdso]");
        }
    }
}
