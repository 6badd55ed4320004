package sonde.symbol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.format.MalformedInputException;
import sonde.format.elf.ElfFile;
import sonde.symbol.files.Wanted;

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
    private KernelSymbols kernel;
    private final SymbolOptions options;
    private final ModuleFiles files;
    private final FunctionTable.Aliases aliases;
    private final Map<Integer, ModuleSymbols> modules = new HashMap<>();
    private final Map<Integer, List<PerfMap>> jit = new HashMap<>();
    private IntFunction<byte[]> perfMaps = pid -> new byte[0];
    private final Map<Integer, Frame> kernelFrames = new HashMap<>();
    private byte @Nullable [] vdso;

    /** Nothing is opened yet. */
    public Symbolizer(ProcessMaps maps, KernelSymbols kernel, SymbolOptions options) {
        this(maps, kernel, options, FunctionTable.Aliases.LINKED);
    }

    /** As above, with a choice among names of one address. */
    public Symbolizer(
            ProcessMaps maps,
            KernelSymbols kernel,
            SymbolOptions options,
            FunctionTable.Aliases aliases) {
        this.maps = maps;
        this.kernel = kernel;
        this.options = options;
        this.files = new ModuleFiles(options, aliases);
        this.aliases = aliases;
    }

    /**
     * Adds a dump of a process's JIT code, the text of {@code perf-PID.map}. A newer dump goes
     * before an older one, which still names code that has since been thrown away.
     */
    public void addPerfMap(int pid, long timeNanos, byte[] text) {
        List<PerfMap> dumps = jit.computeIfAbsent(pid, p -> new ArrayList<>());
        dumps.add(PerfMap.parse(timeNanos, text));
        dumps.sort((a, b) -> Long.compare(b.timeNanos(), a.timeNanos()));
    }

    /**
     * Asks for the dump of a process of which none was added, when code of it is first named.
     *
     * @param source gives the text for a process; empty for none
     */
    public void perfMapsFrom(IntFunction<byte[]> source) {
        perfMaps = source;
    }

    private List<PerfMap> dumps(int pid) {
        return jit.computeIfAbsent(
                pid,
                any -> {
                    byte[] text = perfMaps.apply(pid);
                    return text.length == 0
                            ? new ArrayList<>()
                            : new ArrayList<>(List.of(PerfMap.parse(0, text)));
                });
    }

    /** As {@link #addPerfMap}, in place of all that were there: the file only grows. */
    public void replacePerfMap(int pid, long timeNanos, byte[] text) {
        jit.put(pid, new ArrayList<>(List.of(PerfMap.parse(timeNanos, text))));
    }

    /** When the newest dump of a process was made; empty when there is none. */
    public OptionalLong perfMapTime(int pid) {
        List<PerfMap> dumps = jit.getOrDefault(pid, List.of());
        return dumps.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(dumps.getFirst().timeNanos());
    }

    /** Names the kernel's functions by these symbols from now on. */
    public void kernel(KernelSymbols symbols) {
        kernel = symbols;
        kernelFrames.clear();
    }

    /** Uses this vdso image in place of our own: that of the machine that recorded. */
    public void vdso(byte[] image) {
        vdso = image.clone();
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
        };
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

    /** How far into its function a location of user code lies; -1 when it has none. */
    public long offsetInFunction(long location) {
        CodeModule module = maps.module(location);
        if (module == null) {
            return -1;
        }
        long offset = ProcessMaps.offset(location);
        return switch (module.kind()) {
            case FILE, VDSO -> symbols(module).offsetInFunction(offset);
            case KERNEL_SYMBOL -> offset;
            case ANONYMOUS, UNMAPPED -> {
                long address = module.base() + offset;
                for (PerfMap dump : dumps(module.pid())) {
                    if (dump.find(address) >= 0) {
                        yield address - dump.start(address);
                    }
                }
                yield -1;
            }
        };
    }

    /** Why modules have no names, a line each. */
    public List<String> notes() {
        List<String> all = new ArrayList<>(files.notes());
        if (kernel.isRestricted()) {
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
        int symbol = kernel.find(address);
        if (symbol < 0) {
            String name = ModuleSymbols.place("[kernel]", address);
            return new Frame(name, "[kernel]", Frame.Kind.KERNEL);
        }
        return kernelFrames.computeIfAbsent(
                symbol,
                s ->
                        new Frame(
                                ModuleSymbols.printable(kernel.name(s)),
                                ModuleSymbols.printable(kernel.module(s)),
                                Frame.Kind.KERNEL));
    }

    private static Frame kernelSymbol(CodeModule module) {
        String name = ModuleSymbols.printable(module.mapping().path());
        String owner = name.startsWith("bpf_") ? "[bpf]" : "[kernel]";
        return new Frame(name, owner, Frame.Kind.KERNEL);
    }

    private Frame jitFrame(CodeModule module, long address) {
        for (PerfMap dump : dumps(module.pid())) {
            int line = dump.find(address);
            if (line >= 0) {
                String name = ModuleSymbols.printable(dump.name(line));
                return new Frame(name, "[jit]", Frame.Kind.JIT);
            }
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
        byte @Nullable [] image = vdso;
        if (image == null && options.sameMachine()) {
            image = Vdso.ofThisProcess().orElse(null);
        }
        if (image == null) {
            return ModuleSymbols.unknown("[vdso]");
        }
        try {
            ElfFile elf = ElfFile.of(image);
            byte[] wanted = module.mapping().buildId();
            byte[] found = elf.buildId().orElse(new byte[0]);
            boolean fits = wanted.length == 0 || Wanted.isSame(wanted, found);
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
